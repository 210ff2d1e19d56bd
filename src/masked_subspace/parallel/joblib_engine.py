"""Block work on joblib's processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from joblib import Parallel, delayed

from masked_subspace.parallel.engine import Block, Result, Shared, limited_threads


def _limited(work: Callable[[Shared, Block], Result], shared: Shared, block: Block) -> Result:
    with limited_threads(limits=1, user_api="blas"):
        return work(shared, block)


class JoblibEngine:
    """The processes of the joblib backend that is active when `run` is called.

    joblib maps large arrays of `shared` into files once, which all its workers read and which it removes.
    """

    shares_memory = False

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def run(self, work: Callable[[Shared, Block], Result], shared: Shared, blocks: Sequence[Block]) -> Iterator[Result]:
        parallel = Parallel(n_jobs=self.n_jobs, return_as="generator", pre_dispatch="2*n_jobs", batch_size=1)
        results: Iterator[Result] = parallel(delayed(_limited)(work, shared, block) for block in blocks)
        return results
