"""The base class of every clusterer here: checks, preparation, the rounds, known pairs.

Convention, said once: samples are rows. X is n × d, row i of Z rebuilds sample i, X ≈ Z X. The paper's columns are our
rows, its Z is our Zᵀ.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, wraps
from numbers import Integral
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import numpy.typing as npt
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from masked_subspace._common.compilation import compiling_is_said
from masked_subspace._common.progress import Events, events_of_estimator
from masked_subspace._common.reporting import ReportMixin
from masked_subspace._common.sparse.implicit import Rows
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray, IntArray, MatrixLike, RandomSeed, Record
from masked_subspace._common.validation import Interval, StrOptions
from masked_subspace.estimators.out_of_sample import OutOfSampleMixin
from masked_subspace.label.graph import KINDS, LINKS, embedding_margin
from masked_subspace.label.group_assignment import refuse_impossible
from masked_subspace.label.labeler import CUTS, Evidence, GraphLabeler, NumberWanted, bounds_of
from masked_subspace.label.number_of_clusters import Number
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.parallel.engine import limited_threads, thread_count
from masked_subspace.represent.model import SolverResult
from masked_subspace.rounds.recursion import OneMember, RoundsResult, run_rounds
from masked_subspace.rows.checks import (
    SeenRows,
    check_samples,
    is_counts,
    refuse_degenerate,
    refuse_vanished,
    warn_of_copies,
)
from masked_subspace.rows.preparation import VIEWS, Preparation, View, without_direction

if TYPE_CHECKING:
    from sklearn.utils import Tags

# Fitted attributes that depend on the parameters: those of an earlier fit must not outlive it.
_OF_SOME_FITS = (
    "noise_", "outliers_", "member_labels_", "choices_", "n_clusters_scores_", "n_clusters_candidates_",
)  # fmt: skip

# A first fit compiles the kernels of its representation; another process compiles those of the cut meanwhile.
WARM_UP_BESIDE = "masked_subspace.label.warm_up:cut_small_graph"

SHARED_CONSTRAINTS: Record = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "affinity": [StrOptions(set(KINDS))],
    "n_links": [Interval(Integral, 1, None, closed="left")],
    "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
    "cut": [StrOptions(set(CUTS))],
    "center": ["boolean"],
    "normalize": ["boolean"],
    "constraints": [StrOptions({"soft", "hard"})],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(method: Method) -> Method:
    """Put the object's attributes back when the method raises (Ctrl-C too): a failed fit leaves the fit before it."""

    @wraps(method)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return cast("Method", guarded)


@dataclass(frozen=True)
class Task:
    """What one call of `fit` is about: checked samples, what is known of them, and how to work."""

    X: FloatArray
    known: KnownPairs | None
    hard: bool
    seed: int
    n_threads: int
    events: Events

    def evidence(self, rows: FloatArray) -> Evidence:
        return Evidence(rows, self.known, self.hard, self.n_threads)


@dataclass(frozen=True)
class Fit:
    """What a fit leaves behind: the samples as given, how rows are prepared, the prepared rows, and the rounds."""

    X: FloatArray | None  # None where a graph was given
    preparation: Preparation
    rows: Rows
    rounds: RoundsResult
    choices: list[Record] | None = None
    views_chosen: bool = False  # by the judge or the closed form, and not by the user
    outliers: csr_array | None = None
    strength: float | None = None  # prediction strength of the labels, where a judge has measured it
    number: Number | None = None  # how the number of clusters was chosen, if it was
    other_votes: Sequence[list[IntArray]] = ()  # on all samples, of each family of views that was not taken

    @cached_property
    def without_direction(self) -> IntArray:
        """Samples of which no view that votes sees anything."""
        names = next((record["views"] for record in self.choices or [] if record["taken"]), None)
        voting = [self.preparation.view] if names is None else [VIEWS[name] for name in names]
        return without_direction(self.X, voting)


@dataclass(frozen=True)
class OneSolve:
    """A method without a mask as the frame's representer."""

    solve: Callable[[], SolverResult]

    def represent(self, _soft_mask: object, _progress: object = None) -> SolverResult:
        return self.solve()


class SelfExpressiveClusterer(ReportMixin, OutOfSampleMixin, ClusterMixin, BaseEstimator):
    """A clusterer that rebuilds each sample from the others and cuts the graph of who rebuilds whom.

    A subclass says how to represent, `_represent(rows, seed) -> SolverResult`, or which rounds to play,
    `_play(rows, task) -> RoundsResult`. It has at least the parameters `n_clusters, affinity, n_links, n_components,
    cut, center, normalize, constraints, random_state, n_jobs, verbose`.
    """

    _parameter_constraints: Record = SHARED_CONSTRAINTS

    n_clusters: NumberWanted
    affinity: str
    n_links: int | str
    n_components: int | str | None
    cut: str
    center: bool
    normalize: bool
    constraints: str
    random_state: RandomSeed
    n_jobs: int | None
    verbose: int
    missing: str | None = None  # what is done about NaN, where that is a parameter
    n_candidates: int = 64  # training samples a new one is rebuilt from
    _bounds: tuple[int, int]

    @all_or_nothing
    def fit(
        self,
        X: MatrixLike,
        y: object = None,  # noqa: ARG002
        *,
        must_link: npt.ArrayLike | None = None,
        cannot_link: npt.ArrayLike | None = None,
        partial_labels: npt.ArrayLike | None = None,
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_samples, n_features)
            Samples as rows: an array, a table (pandas, polars, pyarrow), a memmap, a dask array, or scipy.sparse, which
            is never made dense as a whole. With `affinity="precomputed"` a symmetric, nonnegative graph of shape
            (n_samples, n_samples), also sparse.
        y : object, default=None
            Not used; it is there for pipelines.
        must_link : array-like of int of shape (n_pairs, 2) or None, default=None
            Pairs of sample indices that belong together.
        cannot_link : array-like of int of shape (n_pairs, 2) or None, default=None
            Pairs of sample indices that belong apart.
        partial_labels : array-like of int of shape (n_samples,) or None, default=None
            Known labels from 0 to n_clusters − 1, −1 where unknown.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If X has infinite or missing values, a row of zeros, only equal rows or fewer rows than clusters, if known
            pairs contradict each other, or `n_clusters` cannot keep them.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before its tolerance.
        UserWarning
            If many rows have an identical copy.

        Examples
        --------
        Two samples of different subspaces that must go together, and stay so:

        >>> from masked_subspace import BMSC
        >>> from masked_subspace.datasets import make_subspaces
        >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
        >>> model = BMSC(3, constraints="hard", random_state=0).fit(X, must_link=[[0, 20]])
        >>> bool(model.labels_[0] == model.labels_[20])
        True
        """
        self._validate_params()

        def known_of(n_samples: int) -> KnownPairs | None:
            if must_link is None and cannot_link is None and partial_labels is None:
                return None
            return KnownPairs.of(n_samples, must_link, cannot_link, partial_labels)

        if self._fit_graph(X, known_of) is not None:
            return self
        counts = is_counts(X)
        X = self._taken(check_samples(self, X, reset=True))
        known = known_of(len(X))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        X = self._completed(X, seed)
        refuse_degenerate(X, center=self.center, counts=counts, zero_rows=self._gives_zeros_a_direction())
        hard = self.constraints == "hard"
        self._set_bounds(len(X), known, hard=hard)
        self._check_settings(X)
        warn_of_copies(X)
        self._forget_some_fits()
        task = Task(X, known, hard, seed, thread_count(self.n_jobs), events_of_estimator(self.verbose))
        # Threads are ours, over blocks and members; BLAS and OpenMP threads under them would fight for the same cores.
        with limited_threads(1), compiling_is_said(beside=WARM_UP_BESIDE):
            fit = self._cluster(task)
            self._set_fitted(fit)
        self._warn_if_not_converged(fit.rounds.last.solution)
        return self

    def _fit_graph(self, _X: MatrixLike, _known_of: Callable[[int], KnownPairs | None]) -> Self | None:
        """The fit of a class that takes a graph for X, where X is one; None where it is not."""
        return None

    def _taken(self, X: FloatArray) -> FloatArray:
        """Sparse samples as the method needs them; arrays stay as they are."""
        if not isinstance(X, SparseSamples):
            return X
        self._refuse_sparse()
        return replace(X, always_coordinates=self._needs_coordinates())

    def _refuse_sparse(self) -> None:
        """Raise if the method looks at more of samples than their inner products."""

    def _needs_coordinates(self) -> bool:
        """Whether the method needs rows as arrays; if so, many sparse samples become coordinates in their row space."""
        return True

    def _gives_zeros_a_direction(self) -> bool:
        """Whether a row of zeros is a sample like others, because rows are centred or lifted."""
        return self.center

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # The tag promises that rows without entries are taken too; uncentred they have no direction and are refused.
        tags.input_tags.sparse = bool(self.center)
        return tags

    def _completed(self, X: FloatArray, _seed: int) -> FloatArray:
        """The samples without unknown entries; only a class with `missing` lets such entries come so far."""
        return X

    def _set_bounds(self, n_samples: int, known: KnownPairs | None, *, hard: bool) -> None:
        """Between which numbers K lies; what is known must fit, and known labels need as many clusters."""
        low, high = bounds_of(self.n_clusters, n_samples)
        if known is not None:
            refuse_impossible(known, high, hard=hard)
            if low < high and known.partial_labels is not None:
                low = max(low, int(known.partial_labels.max()) + 1)
        self._bounds = (low, high)
        self.n_clusters_: int = high  # until it is chosen

    def _forget_some_fits(self) -> None:
        for name in _OF_SOME_FITS:
            self.__dict__.pop(name, None)

    def _check_settings(self, X: FloatArray) -> None:
        """What a class has to say about its parameters and these samples before work starts."""

    def _cluster(self, task: Task) -> Fit:
        """Prepare the rows, play the rounds."""
        view = View("plain", center=self.center)
        preparation = Preparation.learn(task.X, view, normalize=self.normalize)
        rows = preparation.apply(task.X)
        refuse_vanished(rows)
        return Fit(task.X, preparation, rows, self._play(rows, task))

    def _play(self, rows: FloatArray, task: Task) -> RoundsResult:
        """One round without a mask; the masked methods run Algorithm 2."""
        task.events.message(f"{type(self).__name__}: {len(rows)} samples, {rows.shape[1]} features")
        represented = OneSolve(lambda: self._represent(rows, task.seed))
        strategy = OneMember(represented, self._labeler(), no_mask, task.evidence(rows), task.seed)
        return run_rounds(strategy, None, max_rounds=1, tol=0.0)

    def _represent(self, rows: FloatArray, seed: int) -> SolverResult:
        """The representation of the prepared rows, for a class with one round and no mask."""
        raise TypeError(f"{type(self).__name__} must define _represent or _play ({rows.shape}, {seed}).")

    def _labeler(self) -> GraphLabeler:
        n_links = LINKS if isinstance(self.n_links, str) else self.n_links
        return GraphLabeler(
            self._wanted(), affinity=self.affinity, n_links=n_links, n_components=self.n_components, cut=self.cut
        )

    def _wanted(self) -> NumberWanted:
        """K for a labeler: one number, or the range in which it is to be found."""
        low, high = self._bounds
        return low if low == high else (low, high)

    def _set_fitted(self, fit: Fit) -> None:
        result, last = fit.rounds, fit.rounds.last
        solution, labeling = last.solution, last.labeling
        number = labeling.number if fit.number is None else fit.number
        if number is not None:
            self.n_clusters_ = number.n_clusters
            self.n_clusters_scores_: list[Record] = number.records
            self.n_clusters_candidates_: list[int] = number.candidates
        self._preparation, self._rows = fit.preparation, fit.rows
        # Referred to, not copied: the subspaces are computed from them when they are first asked for.
        self._samples = fit.X.bare() if isinstance(fit.X, SparseSamples) else fit.X
        self._subspaces, self._nearest, self._on_workers = None, None, False
        if fit.X is not None:
            self._seen = SeenRows.of(fit.X)
        self.view_: str = fit.preparation.view.name
        self.labels_: IntArray = labeling.labels
        self._labels_of_all: IntArray = labeling.labels
        self.representation_matrix_: csr_array = solution.representation
        self.affinity_matrix_: csr_array = labeling.affinity
        self.embedding_: FloatArray = labeling.embedding
        self.certainty_: FloatArray = (
            embedding_margin(labeling.embedding, labeling.labels) if last.certainty is None else last.certainty
        )
        if fit.X is not None and labeling.labels.max() > 0:
            self.certainty_ = self.certainty_.copy()
            self.certainty_[fit.without_direction] = 0
        self.n_iter_: int = int(solution.n_iter)
        self.n_rounds_: int = len(result.history)
        self.history_: list[Record] = result.history
        self.round_affinities_: list[csr_array] = [one.affinity for one in result.labelings]
        self.round_labels_: list[IntArray] = [one.labels for one in result.labelings]
        self.soft_mask_ = result.soft_mask
        if solution.noise is not None:
            self.noise_ = solution.noise
        outliers = solution.outliers if fit.outliers is None else fit.outliers
        if outliers is not None:
            self.outliers_ = outliers
        if last.votes:
            self.member_labels_: list[IntArray] = last.votes
        if fit.choices is not None:
            self.choices_: list[Record] = fit.choices

    def _warn_if_not_converged(self, solution: SolverResult) -> None:
        if solution.converged:
            return
        warnings.warn(
            f"{type(self).__name__} stopped after {solution.n_iter} iterations with a change of "
            f"{solution.stopping_value:.2g}, above its tolerance; raise {self._remedy()}.",
            ConvergenceWarning,
            stacklevel=4,
        )

    def _remedy(self) -> str:
        return "max_iter or tol"


def no_mask(labeling: object) -> None:
    """ψ of a method without prices."""
