"""A fit on a Dask cluster in which nothing of the size of the data reaches the client."""

from masked_subspace.distributed.fit import DistributedResult, fit_distributed
from masked_subspace.distributed.sources import open_rows

__all__ = ["DistributedResult", "fit_distributed", "open_rows"]
