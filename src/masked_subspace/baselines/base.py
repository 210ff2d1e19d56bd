"""What all baselines have in common besides the base class of every clusterer: parameters, labeler, progress."""

from __future__ import annotations

import time
from abc import abstractmethod
from numbers import Real
from typing import NamedTuple

from masked_subspace._common.progress import events_for, iterations_told
from masked_subspace._common.types import FloatArray, RandomSeed
from masked_subspace._common.validation import Interval
from masked_subspace.baselines.labeler import BaselineLabeler
from masked_subspace.baselines.result import Progress, Representation
from masked_subspace.estimators.base import SHARED_CONSTRAINTS, SelfExpressiveClusterer
from masked_subspace.label.labeler import GraphLabeler
from masked_subspace.parallel.engine import thread_count
from masked_subspace.represent.model import SolverResult

POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
SHARE = Interval(Real, 0, 1, closed="right")


class Work(NamedTuple):
    """How a method may work: its seed, how many threads it has, and whom it tells of its steps."""

    seed: int
    n_threads: int
    progress: Progress


class BaselineClusterer(SelfExpressiveClusterer):
    """A clusterer of one round: a subclass gives `_solve`."""

    _parameter_constraints = SHARED_CONSTRAINTS
    n_links: int
    # What only some methods have as parameters; these values leave the step out.
    max_iter: int = 1
    max_epochs: int = 0
    affinity_power: float = 4.0
    threshold: float = 1.0

    def __init__(
        self,
        n_clusters: int,
        affinity: str,
        n_links: int,
        n_components: int | str | None,
        cut: str,
        center: bool,
        normalize: bool,
        constraints: str,
        random_state: RandomSeed,
        n_jobs: int | None,
        verbose: int,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_links = n_links
        self.n_components = n_components
        self.cut = cut
        self.center = center
        self.normalize = normalize
        self.constraints = constraints
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _solve(self, rows: FloatArray, work: Work) -> Representation:
        """The representation of the prepared rows."""

    def _represent(self, rows: FloatArray, seed: int) -> SolverResult:
        started = time.perf_counter()
        most = self.max_epochs or self.max_iter
        with iterations_told(events_for(self.verbose), type(self).__name__, most) as progress:
            found = self._solve(rows, Work(seed, thread_count(self.n_jobs), progress))
        return found.as_solver_result(time.perf_counter() - started)

    def _labeler(self) -> GraphLabeler:
        return BaselineLabeler(
            self.n_clusters_,
            affinity=self.affinity,
            n_links=self.n_links,
            n_components=self.n_components,
            cut=self.cut,
            rank=self._affinity_rank(),
            power=self.affinity_power,
            threshold=self.threshold,
        )

    def _affinity_rank(self) -> int | None:
        """How many directions `affinity="shape-interaction"` keeps; None: those above 1e-4 of the first."""
        return None
