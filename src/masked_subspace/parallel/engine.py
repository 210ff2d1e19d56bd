"""Who does the work: how many threads a fit may use, work that is shared among them, and engines.

An engine runs the same work over many blocks behind one protocol. Those that stay inside this process are here, and
which one a call should use: what joblib's `parallel_config` says, else threads.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Protocol, TypeVar

from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

Shared = TypeVar("Shared")
Block = TypeVar("Block")
Result = TypeVar("Result")
Item = TypeVar("Item")
Made = TypeVar("Made")


class Engine(Protocol):
    """Runs `work(shared, block)` for every block and yields the results in the order of the blocks.

    `work` is a function of a module (so that it can be sent), `shared` is what all blocks read and nobody changes.

    Examples
    --------
    >>> from masked_subspace.parallel import Engine, local_engine
    >>> def total(shared, block):
    ...     return shared + block
    >>> list(local_engine().run(total, 10, [1, 2, 3]))
    [11, 12, 13]
    """

    shares_memory: bool  # whether work may leave something in `shared` for a later call

    def run(self, work: Callable[[Shared, Block], Result], shared: Shared, blocks: Sequence[Block]) -> Iterator[Result]:
        """Do the work of every block.

        Parameters
        ----------
        work : callable
            A function of a module, so that it can be sent; it is called with `shared` and a block.
        shared : object
            What all blocks read and nobody changes.
        blocks : sequence
            What differs from call to call.

        Yields
        ------
        result : object
            What `work` returned, in the order of the blocks.
        """
        ...


class SerialEngine(Engine):
    """One block after the other, BLAS on one thread.

    Examples
    --------
    >>> from masked_subspace.parallel import SerialEngine
    >>> def total(shared, block):
    ...     return shared + block
    >>> list(SerialEngine().run(total, 10, [1, 2, 3]))
    [11, 12, 13]
    """

    shares_memory = True

    def run(self, work: Callable[[Shared, Block], Result], shared: Shared, blocks: Sequence[Block]) -> Iterator[Result]:
        with limited_threads(limits=1, user_api="blas"):
            for block in blocks:
                yield work(shared, block)


class ThreadEngine(Engine):
    """Threads of this process: the work spends its time in BLAS and numba, which both let go of the interpreter.

    BLAS is held to one thread meanwhile, and only a few blocks are ahead of the consumer, so memory stays bounded.

    Parameters
    ----------
    n_threads : int
        How many blocks are worked on at once.

    Examples
    --------
    >>> from masked_subspace.parallel import ThreadEngine
    >>> def total(shared, block):
    ...     return shared + block
    >>> list(ThreadEngine(2).run(total, 10, [1, 2, 3]))
    [11, 12, 13]
    """

    shares_memory = True

    def __init__(self, n_threads: int) -> None:
        self.n_threads = n_threads

    def run(self, work: Callable[[Shared, Block], Result], shared: Shared, blocks: Sequence[Block]) -> Iterator[Result]:
        waiting: deque[Future[Result]] = deque()
        with limited_threads(limits=1, user_api="blas"), ThreadPoolExecutor(self.n_threads) as pool:
            try:
                for block in blocks:
                    waiting.append(pool.submit(work, shared, block))
                    if len(waiting) > 2 * self.n_threads:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()


def local_engine(n_threads: int = 1) -> Engine:
    """The engine for work inside this process.

    Parameters
    ----------
    n_threads : int, default=1
        How many blocks are worked on at once.

    Returns
    -------
    engine : Engine
        A `SerialEngine` for one thread, a `ThreadEngine` for several.

    Raises
    ------
    ValueError
        If `n_threads` is below 1.

    Examples
    --------
    >>> from masked_subspace.parallel import local_engine
    >>> type(local_engine(2)).__name__
    'ThreadEngine'
    """
    if n_threads < 1:
        raise ValueError(f"n_threads is {n_threads!r}; it must be a whole number ≥ 1.")
    return SerialEngine() if n_threads == 1 else ThreadEngine(n_threads)


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


def thread_count(n_jobs: int | None) -> int:
    """`None` means one for each core, but no more than OMP_NUM_THREADS allows; other values mean what joblib says.

    joblib sets that variable in its worker processes, so a fit inside a grid search does not oversubscribe. Most
    estimators of scikit-learn mean 1 by `None`; its k-means, which like ours uses threads, means all cores too.
    """
    if n_jobs is not None:
        return max(1, int(effective_n_jobs(n_jobs)))
    allowed = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(int(cpu_count()), int(allowed))) if allowed.isdigit() else max(1, int(cpu_count()))


def limited_threads(limits: int, user_api: str | None = None) -> AbstractContextManager[object]:
    """`threadpoolctl.threadpool_limits`, whose look for libraries (4 ms, fifty times a fit) is made once for the
    modules that are loaded."""
    limited: AbstractContextManager[object] = _controller(len(sys.modules)).limit(limits=limits, user_api=user_api)
    return limited


@lru_cache(maxsize=1)
def _controller(_n_modules: int) -> ThreadpoolController:
    return ThreadpoolController()


class OrderedMap(Protocol):
    """`map`, all results at once and in order."""

    def __call__(self, work: Callable[[Item], Made], items: Iterable[Item]) -> list[Made]: ...


@contextmanager
def ordered_map(n_threads: int) -> Iterator[OrderedMap]:
    """A `map` over threads. BLAS stays on one thread in each: its own threads would fight with these."""
    with limited_threads(limits=1, user_api="blas"):
        if n_threads == 1:
            yield _in_turn
            return
        with ThreadPoolExecutor(n_threads) as pool:

            def shared(work: Callable[[Item], Made], items: Iterable[Item]) -> list[Made]:
                return list(pool.map(work, items))

            yield shared


def _in_turn(work: Callable[[Item], Made], items: Iterable[Item]) -> list[Made]:
    return [work(item) for item in items]
