"""Which engine a call should use: what joblib's `parallel_config` says, else threads of this process."""

from __future__ import annotations

from joblib.parallel import get_active_backend

from masked_subspace.parallel.engine import Engine, local_engine


def active_engine(n_threads: int = 1) -> Engine:
    """The engine for the surrounding `joblib.parallel_config`.

    `backend="dask"` gives the cluster of its client; a process backend with `n_jobs` other than 1 gives its processes;
    anything else, and no `parallel_config` at all, gives `n_threads` threads, which share memory.

    Parameters
    ----------
    n_threads : int, default=1
        Threads where nothing else is configured.

    Returns
    -------
    engine : Engine
        What runs the blocks.

    Examples
    --------
    >>> from masked_subspace.parallel import active_engine
    >>> type(active_engine()).__name__
    'SerialEngine'
    """
    backend, n_jobs = get_active_backend()
    client = getattr(backend, "client", None)
    if client is not None:
        from masked_subspace.parallel.dask_engine import DaskEngine

        return DaskEngine.of(client)
    if n_jobs not in (None, 1) and not getattr(backend, "supports_sharedmem", False):
        from masked_subspace.parallel.joblib_engine import JoblibEngine

        return JoblibEngine(n_jobs)
    return local_engine(n_threads)
