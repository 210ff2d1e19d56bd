"""Kernels that are not on disk yet are compiled in a process beside the worker: a compiler stays in the memory of the
process that ran it, about 100 MB, and a worker should hold its share of the rows instead."""

from __future__ import annotations

import os

import numpy as np
from numba import njit

from masked_subspace._common.compilation import compile_beside

_SECONDS = 300.0  # a compiler that takes longer is not waited for: the worker then compiles itself
_COMPILING = "MASKED_SUBSPACE_COMPILING"
_done = False


@njit(cache=True)
def _plus_one(number: int) -> int:
    """Compiled in the first fit after an installation only, as the kernels are."""
    return number + 1


def kernels_on_disk() -> None:
    """Once in a process: where nothing is compiled yet, wait until another process has done it."""
    global _done
    if _done or os.environ.get(_COMPILING):
        return
    _done = True
    if _were_there():
        return
    process = compile_beside("masked_subspace.distributed.warm_up:fit_small", {_COMPILING: "1"})
    if process is not None:
        process.wait(_SECONDS)


def _were_there() -> bool:
    _plus_one(1)
    return not _plus_one.stats.cache_misses


def fit_small() -> None:
    """A fit with each cut, on a cluster of threads in this process."""
    import dask.array as da
    from distributed import Client

    from masked_subspace.distributed.fit import fit_distributed

    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.standard_normal((500, 3)) @ rng.standard_normal((3, 20)) for _ in range(4)])
    X = da.from_array(rows.astype(np.float32), chunks=(500, -1))
    with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as client:
        for cut in ("spectral", "modularity"):
            fit_distributed(X, 4, client=client, cut=cut).compute()
