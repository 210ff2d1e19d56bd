"""Block work on threads, processes or a Dask cluster, behind one protocol."""

from masked_subspace._common.rows import block_ranges
from masked_subspace.parallel.engine import Engine, SerialEngine, ThreadEngine, active_engine, local_engine, read_rows

__all__ = ["Engine", "SerialEngine", "ThreadEngine", "active_engine", "block_ranges", "local_engine", "read_rows"]
