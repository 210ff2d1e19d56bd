"""The base class of every clusterer here: checks, preparation, the spectral step, known pairs, prediction.

Convention, said once: samples are rows. X is n × d, row i of Z rebuilds sample i, X ≈ Z X. The paper's columns are our
rows, its Z is our Zᵀ.
"""

from __future__ import annotations

import time
import warnings
from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from masked_subspace._common.progress import Events, events_of_estimator
from masked_subspace._common.threads import thread_count
from masked_subspace._common.transaction import all_or_nothing
from masked_subspace.label.graph import KINDS
from masked_subspace.label.group_assignment import refuse_impossible
from masked_subspace.label.labeler import Evidence, Labeling, SpectralLabeler
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.represent.model import AdmmSettings, SolverResult
from masked_subspace.rounds.recursion import RoundsResult, round_record
from masked_subspace.rows.preparation import (
    Preparation,
    check_samples,
    is_counts,
    refuse_degenerate,
    refuse_vanished,
    warn_of_copies,
)

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.integer[Any]]

# Fitted attributes that depend on the parameters: those of an earlier fit must not outlive it.
_NOT_ALWAYS_THERE = ("noise_", "outliers_", "member_labels_")

SHARED_CONSTRAINTS: dict[str, Any] = {
    "n_clusters": [Interval(Integral, 1, None, closed="left")],
    "affinity": [StrOptions(set(KINDS))],
    "n_links": [Interval(Integral, 1, None, closed="left")],
    "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
    "center": ["boolean"],
    "normalize": ["boolean"],
    "constraints": [StrOptions({"soft", "hard"})],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}


class SelfExpressiveClusterer(ClusterMixin, BaseEstimator):
    """A clusterer that rebuilds each sample from the others and cuts the graph of who rebuilds whom.

    A subclass says how to represent: `_represent(rows, seed) -> SolverResult`. It has at least the parameters
    `n_clusters, affinity, n_links, n_components, center, normalize, constraints, random_state, n_jobs, verbose`.
    """

    _parameter_constraints: dict[str, Any] = SHARED_CONSTRAINTS

    n_clusters: int
    affinity: str
    n_links: int | str
    n_components: int | str | None
    center: bool
    normalize: bool
    constraints: str
    random_state: Any
    n_jobs: int | None
    verbose: int

    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        *,
        must_link: npt.ArrayLike | None = None,
        cannot_link: npt.ArrayLike | None = None,
        partial_labels: npt.ArrayLike | None = None,
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : ignored
        must_link, cannot_link : arrays of shape (m, 2), optional
            Pairs of sample indices that belong together, or apart.
        partial_labels : array of shape (n_samples,), optional
            Known labels from 0 to n_clusters − 1, −1 where unknown.
        """
        self._validate_params()
        counts = is_counts(X)
        X = check_samples(self, X, reset=True)
        known = KnownPairs.of(len(X), must_link, cannot_link, partial_labels)
        refuse_degenerate(X, center=self.center, counts=counts)
        if known is not None:
            refuse_impossible(known, self.n_clusters, hard=self.constraints == "hard")
        self._check_settings(X)
        warn_of_copies(X)
        for name in _NOT_ALWAYS_THERE:
            self.__dict__.pop(name, None)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        events = events_of_estimator(self.verbose)
        # Threads are ours, over blocks and members; BLAS and OpenMP threads under them would fight for the same cores.
        with threadpool_limits(1):
            cleaned = self._without_outliers(X, seed, events)
            preparation = self._choose_preparation(X, cleaned, seed, events)
            rows = preparation.apply(cleaned)
            refuse_vanished(rows)
            evidence = Evidence(rows, known, self.constraints == "hard", thread_count(self.n_jobs))
            result = self._fit_rows(rows, evidence, seed, events)
        self._preparation = preparation
        self._rows = rows
        self._set_fitted(result)
        self._warn_if_not_converged(result.solution)
        return self

    def _check_settings(self, X: FloatArray) -> None:
        """What a subclass has to say about its parameters and these samples before work starts."""

    def _without_outliers(self, X: FloatArray, seed: int, events: Events) -> FloatArray:  # noqa: ARG002
        """The samples that are clustered; v2 with `outliers="auto"` takes gross errors out first."""
        return X

    def _choose_preparation(self, X: FloatArray, cleaned: FloatArray, seed: int, events: Events) -> Preparation:  # noqa: ARG002
        """How rows are prepared, learned from the samples that are clustered; RMSC looks at several ways."""
        return Preparation.learn(cleaned, center=self.center, normalize=self.normalize)

    def _represent(self, rows: FloatArray, seed: int) -> SolverResult:
        """The representation of the prepared rows; a subclass with one round gives this."""
        raise TypeError(f"{type(self).__name__} must define _represent or _fit_rows ({rows.shape}, {seed}).")

    def _fit_rows(self, rows: FloatArray, evidence: Evidence, seed: int, events: Events) -> RoundsResult:
        """One round without a mask; the masked methods run Algorithm 2 instead."""
        events.message(f"{type(self).__name__}: {len(rows)} samples, {rows.shape[1]} features")
        started = time.perf_counter()
        solution = self._represent(rows, seed)
        labeling = self._labeler().label(solution.representation, evidence, seed)
        record = round_record(1, solution, labeling, float("nan"), time.perf_counter() - started)
        return RoundsResult(solution, labeling, None, [record], [labeling])

    def _labeler(self) -> SpectralLabeler:
        n_links = 5 if isinstance(self.n_links, str) else self.n_links
        return SpectralLabeler(self.n_clusters, affinity=self.affinity, n_links=n_links, n_components=self.n_components)

    def _set_fitted(self, result: RoundsResult) -> None:
        solution, labeling = result.solution, result.labeling
        self.labels_: IntArray = labeling.labels
        self.representation_matrix_: csr_array = solution.representation
        self.affinity_matrix_: csr_array = labeling.affinity
        self.embedding_: FloatArray = labeling.embedding
        self.certainty_: FloatArray = embedding_margin(labeling)
        self.n_iter_: int = int(solution.n_iter)
        self.n_rounds_: int = len(result.history)
        self.history_: list[dict[str, Any]] = result.history
        self.round_affinities_: list[csr_array] = [one.affinity for one in result.labelings]
        self.round_labels_: list[IntArray] = [one.labels for one in result.labelings]
        self.soft_mask_ = result.soft_mask
        if solution.noise is not None:
            self.noise_ = solution.noise
        if solution.outliers is not None:
            self.outliers_ = solution.outliers

    def _warn_if_not_converged(self, solution: SolverResult) -> None:
        if solution.converged:
            return
        warnings.warn(
            f"{type(self).__name__} stopped after {solution.n_iter} iterations with a change of "
            f"{solution.stopping_value:.2g}, above its tolerance; raise {self._remedy()}.",
            ConvergenceWarning,
            stacklevel=3,
        )

    def _remedy(self) -> str:
        growth = getattr(self, "penalty_growth", None)
        return "max_iter or tol" if growth is None else f"max_iter, tol or penalty_growth (now {growth})"

    def predict(self, X: Any) -> IntArray:
        """Labels of new samples: each is rebuilt from the training samples, and they vote with |z|.

        New samples are taken as they are: `outliers="auto"` cleans the training samples only.
        """
        check_is_fitted(self)
        X = check_samples(self, X, reset=False)
        if self._preparation.root and X.min() < 0:
            warnings.warn(
                f"X has negative entries, down to {X.min():.2g}, where fit saw none; the square root that fit chose "
                'takes them for 0. Fit with view="plain" if they mean something.',
                UserWarning,
                stacklevel=2,
            )
        with threadpool_limits(1):
            return vote(self._rows, self.labels_, self._preparation.apply(X), thread_count(self.n_jobs))


def vote(rows: FloatArray, labels: IntArray, new_rows: FloatArray, n_threads: int) -> IntArray:
    """Each new row's sparse code over the training rows votes with |z|; a row that finds no code asks its nearest."""
    from masked_subspace.represent.sparse.solve import represent_over
    from masked_subspace.represent.sparsity import mean_square

    new_rows = new_rows.astype(rows.dtype, copy=False)
    # A slow continuation from a small penalty: short codes, in which a training sample finds itself.
    scale = mean_square(rows)
    settings = AdmmSettings(1e-3 * scale, mask_weight=0.01 * scale, penalty=0.1 * scale, penalty_growth=1.5)
    n_candidates = min(64, len(rows))
    codes = represent_over(rows, new_rows, settings, n_candidates=n_candidates, n_threads=n_threads)
    n_labels = int(labels.max()) + 1
    members = csr_array(
        (np.ones(len(labels), dtype=rows.dtype), (np.arange(len(labels)), labels)), (len(rows), n_labels)
    )
    ballots = (abs(csr_array(codes)) @ members).toarray()
    winners: IntArray = ballots.argmax(axis=1).astype(labels.dtype)
    silent = np.flatnonzero(ballots.max(axis=1) <= 0)
    if len(silent):
        winners[silent] = labels[np.abs(new_rows[silent] @ rows.T).argmax(axis=1)]
    return winners


def embedding_margin(labeling: Labeling) -> FloatArray:
    """For each sample 1 − (distance to its own centre)/(distance to the next), in 0..1; 1 is certain."""
    labels, rows = labeling.labels, labeling.embedding
    n_clusters = int(labels.max()) + 1
    if n_clusters == 1:
        return np.ones(len(labels))
    sums = np.zeros((n_clusters, rows.shape[1]))
    np.add.at(sums, labels, rows)
    centres = sums / np.maximum(np.bincount(labels, minlength=n_clusters), 1)[:, None]
    squared = (rows**2).sum(axis=1)[:, None] - 2 * rows @ centres.T + (centres**2).sum(axis=1)
    distance = np.sqrt(np.maximum(squared, 0))
    own = distance[np.arange(len(labels)), labels].copy()
    distance[np.arange(len(labels)), labels] = np.inf
    other = distance.min(axis=1)
    margin: FloatArray = np.clip(1 - own / np.maximum(other, np.finfo(float).tiny), 0, 1)
    return margin
