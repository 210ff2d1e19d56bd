"""Block work on threads, processes or a Dask cluster, behind one protocol."""

from masked_subspace._common.rows import block_ranges, read_rows
from masked_subspace.parallel.engine import Engine, SerialEngine, ThreadEngine, active_engine, local_engine

__all__ = ["Engine", "SerialEngine", "ThreadEngine", "active_engine", "block_ranges", "local_engine", "read_rows"]
