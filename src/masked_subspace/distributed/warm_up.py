"""Kernels that are not on disk yet are compiled in a process beside the worker: a compiler stays in the memory of the
process that ran it, about 100 MB, and a worker should hold its share of the rows instead."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from subprocess import TimeoutExpired

import numpy as np

import masked_subspace
from masked_subspace._common.compilation import compile_beside
from masked_subspace.represent.neighbors.kernels import scan_rows

_SECONDS = 300.0  # a compiler that takes longer is not waited for: the worker then compiles itself
_COMPILING = "MASKED_SUBSPACE_COMPILING"
_done = False


def kernels_on_disk() -> None:
    """Once in a process: where nothing is compiled yet, wait until another process has done it.

    Of several workers with one disk one starts that process; the others wait for it.
    """
    global _done
    if _done or os.environ.get(_COMPILING):
        return
    if not _are_there():
        from locket import LockError, lock_file

        with suppress(OSError, LockError):  # a folder that nobody may write to, or a compiler that takes too long
            _sign().parent.mkdir(parents=True, exist_ok=True)
            with lock_file(f"{_sign()}.lock", timeout=_SECONDS):
                if not _are_there():
                    _compile_in_another_process()
    _done = True


def _compile_in_another_process() -> None:
    process = compile_beside("masked_subspace.distributed.warm_up:fit_small", {_COMPILING: "1"})
    if process is not None:
        with suppress(TimeoutExpired):
            process.wait(_SECONDS)


def _sign() -> Path:
    """An empty file beside the compiled kernels: those of a distributed fit are all there."""
    return Path(str(scan_rows.stats.cache_path)) / "kernels_of_a_distributed_fit"


def _are_there() -> bool:
    """A sign that is older than any source file is that of an earlier version, whose kernels are not ours."""
    sources = Path(masked_subspace.__file__).parent.rglob("*.py")
    try:
        return _sign().stat().st_mtime >= max(source.stat().st_mtime for source in sources)
    except OSError:
        return False


def fit_small() -> None:
    """A fit with each cut, on a cluster of threads in this process; then the sign that it has ended."""
    import dask.array as da
    from distributed import Client

    from masked_subspace.distributed.fit import fit_distributed

    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.standard_normal((500, 3)) @ rng.standard_normal((3, 20)) for _ in range(4)])
    X = da.from_array(rows.astype(np.float32), chunks=(500, -1))
    with Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0") as client:
        for cut in ("spectral", "modularity"):
            fit_distributed(X, 4, client=client, cut=cut).compute()
    _sign().touch()
