"""How many threads a fit may use, and work that is shared among them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Protocol, TypeVar

from joblib import cpu_count, effective_n_jobs
from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Made = TypeVar("Made")


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
def _controller(n_modules: int) -> ThreadpoolController:  # noqa: ARG001
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
