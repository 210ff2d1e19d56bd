"""A fit on a Dask cluster in which nothing of the size of the data reaches the client.

For dask arrays and files that only the workers can hold: every stage is written anew in blocks. A fit that has its rows
in the client and only lends loops to workers uses `parallel/dask_engine.py` and none of this.
"""

from masked_subspace.distributed.fit import DistributedResult, fit_distributed
from masked_subspace.distributed.sources import open_rows

__all__ = ["DistributedResult", "fit_distributed", "open_rows"]
