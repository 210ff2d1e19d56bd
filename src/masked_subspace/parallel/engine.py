"""Work in blocks: where the rows of a block live, how many threads a fit may use, and who runs the blocks.

Rows may be in memory, in a file or in a dask array; every stage that scales reads them by blocks. An array that lives
in a file (`MappedArray`) is not sent to other processes: they open the file. Rows that are too many for memory go to a
temporary file, which disappears with the last array that looks at it.

An engine runs the same work over many blocks behind one protocol. Those that stay inside this process are here, and
which one a call should use: what joblib's `parallel_config` says, else threads.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from joblib import cpu_count, effective_n_jobs
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from masked_subspace._common.rows import block_ranges, rows_of_a_block
from masked_subspace._common.types import Array, DType

if TYPE_CHECKING:
    from masked_subspace._common.sparse.implicit import ImplicitRows

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


def read_rows(X: Array, start: int, stop: int, dtype: npt.DTypeLike | None = None) -> Array:
    """Some rows of an array, a memmap or a dask array; only they are read.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Anything that can be sliced by rows.
    start : int
        The first row.
    stop : int
        The row behind the last.
    dtype : dtype or None, default=None
        Of the result; None: that of X.

    Returns
    -------
    rows : ndarray of shape (stop − start, n_features)
        In memory and contiguous.

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.parallel import read_rows
    >>> read_rows(np.arange(6).reshape(3, 2), 1, 3, np.float32).tolist()
    [[2.0, 3.0], [4.0, 5.0]]
    """
    return np.ascontiguousarray(np.asarray(X[start:stop]), dtype=dtype)


def float_dtype(X: Array | ImplicitRows) -> DType:
    """float32 stays float32; everything else is computed in float64."""
    return np.dtype(np.float32) if X.dtype == np.float32 else np.dtype(np.float64)


def check_rows(X: Array, name: str = "X") -> None:
    """Refuse what cannot be read by rows."""
    if getattr(X, "ndim", None) != 2:
        raise ValueError(
            f"{name} has {getattr(X, 'ndim', 'no')} dimensions; give a 2-D array, memmap or dask array "
            "with one sample for each row."
        )


@dataclass(frozen=True)
class MappedArray:
    """Where a C-contiguous `np.memmap` is found."""

    path: str
    offset: int
    shape: tuple[int, ...]
    dtype: str

    @classmethod
    def of(cls, array: Array) -> MappedArray | None:
        """The file behind an array, or None if it has none of its own (or is only a part of one)."""
        base = array if isinstance(array, np.memmap) else getattr(array, "base", None)
        if not isinstance(base, np.memmap) or base.filename is None or base.offset is None:
            return None
        same = base.shape == array.shape and base.ctypes.data == array.ctypes.data and base.dtype == array.dtype
        if not same or not array.flags.c_contiguous or _is_part(base):
            return None
        return cls(str(base.filename), int(base.offset), array.shape, array.dtype.str)

    def open(self) -> Array:
        """The array again, read-only."""
        try:
            mapped = np.memmap(self.path, mode="r", dtype=np.dtype(self.dtype), shape=self.shape, offset=self.offset)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"{self.path} is not there on this worker; put memory-mapped data on a file system that every worker "
                "sees, or pass an array."
            ) from error
        return np.asarray(mapped)


def _is_part(mapped: np.memmap) -> bool:
    """A slice of a memmap keeps the offset of the whole file, so it cannot be opened by it."""
    return isinstance(mapped.base, np.memmap)


def is_dask_array(X: object) -> bool:
    """Whether X is a dask array; nobody who has none needs dask for the answer."""
    dask_array = sys.modules.get("dask.array")
    return dask_array is not None and isinstance(X, dask_array.Array)


def empty_in_file(shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.memmap:
    """An array in a temporary file. The file goes when the array is collected, at the latest with the interpreter."""
    folder = tempfile.mkdtemp(prefix="masked-subspace-")
    try:
        mapped = np.memmap(Path(folder) / "rows", mode="w+", dtype=dtype, shape=shape)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(mapped, shutil.rmtree, folder, ignore_errors=True)
    return mapped


def rows_in_file(X: Array) -> np.memmap:
    """A dask array (or anything that is read by rows) written to a temporary file, one block in memory at a time."""
    check_rows(X)
    shape = (int(X.shape[0]), int(X.shape[1]))
    small_numbers = X.dtype.kind in "ui" and X.dtype.itemsize <= 2
    out = empty_in_file(shape, np.float32 if small_numbers else float_dtype(X))
    for start, stop in _blocks_of(X):
        out[start:stop] = read_rows(X, start, stop, out.dtype)
    return out


def _blocks_of(X: Array) -> list[tuple[int, int]]:
    """The array's own chunks of rows if it has any: each is then computed once."""
    if is_dask_array(X):
        stops = np.cumsum(getattr(X, "chunks")[0]).tolist()  # noqa: B009 (numpy arrays have none)
        return list(zip([0, *stops[:-1]], stops, strict=True))
    return list(block_ranges(int(X.shape[0]), rows_of_a_block(int(X.shape[1]) * np.dtype(X.dtype).itemsize)))
