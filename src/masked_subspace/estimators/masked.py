"""What BMSC, GMSC and RMSC share: rows in a view, Algorithm 1 as representer, how real the clusters are."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from masked_subspace._common.rows import content_order, drawn_by_content
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray, MaskLike, MatrixLike
from masked_subspace._common.validation import check_n_features
from masked_subspace.estimators.base import Fit, SelfExpressiveClusterer, Task
from masked_subspace.estimators.calibration import Remembered, Sharpening
from masked_subspace.estimators.parameters import PRECOMPUTED
from masked_subspace.label.agreement import (
    DOUBT_OF_ONE_VIEW,
    adjusted_rand_index,
    agreement,
    doubted,
    shares_beside_others,
    shares_of_votes,
    told_nothing,
    with_own_first,
)
from masked_subspace.label.graph import in_order, put_back
from masked_subspace.label.labeler import Cut, cut_for
from masked_subspace.label.modularity import link_shares, modularity_cut
from masked_subspace.label.separation import rows_of_one_scale, separation
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.parallel.engine import limited_threads, thread_count
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.rounds.defaults import DOUBTFUL_STRUCTURE
from masked_subspace.rounds.flats import FLATS, FlatsOfFit, beyond_clouds
from masked_subspace.rounds.graphs import check_graph, evidence_of, number_of_graph, outcome_of_cuts
from masked_subspace.rounds.judge import OF_CLOUDS, RIDGE, gaps_of, strength_of, yardsticks
from masked_subspace.rounds.low_rank import own_strength
from masked_subspace.rounds.mixtures import FEATURES_OF_A_TABLE, MIXTURES
from masked_subspace.rounds.recursion import RoundsResult, round_record
from masked_subspace.rows.checks import refuse_entrywise, refuse_vanished
from masked_subspace.rows.cleaning import clean_samples
from masked_subspace.rows.missing import Completion, refuse_unknown_rows, warn_of_unknown_features
from masked_subspace.rows.preparation import VIEWS, Preparation, View, view_of, without_direction

if TYPE_CHECKING:
    from sklearn.utils import Tags

# Samples on which the strength of the final clusters is measured.
_MEASURED = 5_000


def _fitted_on_arrays(model: MaskedClusterer) -> bool:
    """scikit-learn's checks take every estimator with sparse input and `predict_proba` for a classifier, and ask it for
    as many columns as y has classes: `_check_estimator_sparse_container`, 1.6 to 1.9."""
    if isinstance(getattr(model, "_samples", None), SparseSamples):
        raise AttributeError("predict_proba is left out after a fit of sparse samples; memberships(X) is the same.")
    return True


def _way_taken(fit: Fit) -> str | None:
    """Of several ways the one that was taken."""
    return next((record["way"] for record in fit.choices or [] if record["taken"]), None)


class MaskedClusterer(SelfExpressiveClusterer):
    """A clusterer whose representation comes from Algorithm 1."""

    sparsity: float | str
    penalty: float | str
    penalty_growth: float
    max_iter: int
    tol: float
    hard_mask: MaskLike
    view: float | str
    affine: bool
    solver: str
    n_candidates: int
    min_certainty: float | None
    missing: str
    n_missing_: int
    # What only some of the three have as parameters; these values leave the part out.
    mask_weight: float | str = 0.0
    noise: float | None = None
    outliers: float | str | None = None

    def _fit_graph(self, X: MatrixLike, known_of: Callable[[int], KnownPairs | None]) -> Self | None:
        if self.affinity != PRECOMPUTED:
            return None
        graph = check_graph(X, self.n_clusters, "X")
        check_n_features(self, graph, reset=True)
        known = known_of(graph.shape[0])
        with limited_threads(1):
            self._set_fitted(self._cut(graph, known))
        return self

    def _cut(self, graph: csr_array, known: KnownPairs | None) -> Fit:
        """The clusters of a graph that was given; nothing is represented."""
        hard = self.constraints == "hard"
        self._set_bounds(graph.shape[0], known, hard=hard)
        self._forget_some_fits()
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        evidence = evidence_of(graph, known, hard=hard, n_threads=thread_count(self.n_jobs))
        number = number_of_graph(graph, self._bounds, seed, evidence.n_threads)
        self.n_clusters_ = self.n_clusters_ if number is None else number.n_clusters
        cuts = self._cuts_of_graph(graph.shape[0])
        outcome = outcome_of_cuts(graph, self.n_clusters_, cuts, self.n_components, evidence, seed)
        rounds = RoundsResult(outcome, None, [round_record(1, outcome, 0.0)], [outcome.labeling])
        return Fit(None, Preparation(View(PRECOMPUTED), normalize=False), evidence.X, rounds, number=number)

    def _cuts_of_graph(self, n_samples: int) -> list[Cut]:
        """How a given graph is cut: in one way; RMSC asks several and takes their consensus."""
        return [Cut(cut_for(self.cut, n_samples))]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == PRECOMPUTED
        tags.input_tags.allow_nan = self.missing == "ignore" and self.affinity != PRECOMPUTED
        return tags

    def _refuse_sparse(self) -> None:
        for name in ("noise", "outliers"):
            if getattr(self, name) is not None:
                refuse_entrywise(f"{name}={getattr(self, name)!r}", "changes single entries")

    def _needs_coordinates(self) -> bool:
        return self.solver == "dense"

    def _gives_zeros_a_direction(self) -> bool:
        if self.view == "auto":
            return self.center
        view = view_of(self.view, center=self.center)
        return view.center or view.lift

    def _completed(self, X: FloatArray, seed: int) -> FloatArray:
        for name in ("completed_", "missing_error_"):
            self.__dict__.pop(name, None)
        self.n_missing_ = 0
        self._completion: Completion | int = seed
        # Sparse samples with NaN were refused by the checks.
        if isinstance(X, SparseSamples) or self.missing == "error" or not np.isnan(X).any():
            return X
        refuse_unknown_rows(X)
        warn_of_unknown_features(X)
        with limited_threads(1):
            self._completion = Completion.learn(X, seed=seed, n_threads=thread_count(self.n_jobs))
            self.completed_: FloatArray = self._completion.apply(X)
        self.n_missing_ = self._completion.n_missing
        self.missing_error_: float = self._completion.plan.error
        return self.completed_

    def _completed_new(self, X: FloatArray) -> FloatArray:
        if isinstance(X, SparseSamples) or self.missing == "error" or not np.isnan(X).any():
            return X
        refuse_unknown_rows(X)
        if not isinstance(self._completion, Completion):
            # `fit` saw no unknown entry and had nothing to learn about them.
            self._completion = Completion.learn(
                np.asarray(self._samples), seed=self._completion, n_threads=thread_count(self.n_jobs)
            )
        with limited_threads(1):
            return self._completion.apply(X.astype(self._rows.dtype, copy=False))

    def _check_settings(self, X: FloatArray) -> None:
        if isinstance(self.view, str) and self.view in VIEWS and not VIEWS[self.view].suits(nonnegative=X.min() >= 0):
            raise ValueError(
                f'view is "{self.view}" but X has negative entries; choose "plain", "auto" or a whitening power.'
            )

    def _cluster(self, task: Task) -> Fit:
        view = view_of("plain" if self.view == "auto" else self.view, center=self.center)
        cleaned, outliers = self._without_outliers(task)
        preparation = Preparation.learn(cleaned, view, normalize=self.normalize)
        rows = preparation.apply(cleaned)
        refuse_vanished(rows)
        return Fit(task.X, preparation, rows, self._play(rows, task), outliers=outliers)

    def _without_outliers(self, task: Task) -> tuple[FloatArray, csr_array | None]:
        """The samples that are clustered, and the gross errors; v2 with `outliers="auto"` takes these out first."""
        if self.outliers != "auto":
            return task.X, None
        cleaned = clean_samples(task.X, center=self.center, seed=task.seed, n_jobs=self.n_jobs)
        share = cleaned.outliers.nnz / task.X.size
        task.events.message(f"outliers: {100 * share:.2g} % of the entries, price {cleaned.price:.3g}")
        return cleaned.samples, cleaned.outliers

    def _representer(self) -> MaskedRepresenter:
        return MaskedRepresenter(
            sparsity=self.sparsity,
            mask_weight=self.mask_weight,
            penalty=self.penalty,
            penalty_growth=self.penalty_growth,
            max_iter=self.max_iter,
            tol=self.tol,
            noise=self.noise,
            outliers=None if isinstance(self.outliers, str) else self.outliers,
            hard_mask=self.hard_mask,
            affine=self.affine,
            solver=self.solver,
            n_candidates=self.n_candidates,
            n_jobs=self.n_jobs,
        )

    def _remedy(self) -> str:
        return f"max_iter, tol or penalty_growth (now {self.penalty_growth})"

    def _set_fitted(self, fit: Fit) -> None:
        super()._set_fitted(fit)
        last = fit.rounds.last
        labels = self._labels_of_all = self.labels_
        way = _way_taken(fit)
        self._flats = FlatsOfFit(np.asarray(fit.X), labels, way) if fit.X is not None and way in FLATS else None
        if last.votes:
            shares = shares_of_votes(labels, last.votes, self.n_clusters_)
        else:
            shares = link_shares(self.affinity_matrix_, labels, self.n_clusters_)
        memberships = trusted = with_own_first(shares, labels)
        # Ranks of the closed form are worse than the one that labels: they err by themselves.
        if last.votes and _way_taken(fit) != "low-rank":
            agree_easily = _way_taken(fit) in OF_CLOUDS
            trusted = doubted(trusted, labels, DOUBT_OF_ONE_VIEW) if agree_easily else doubted(trusted, labels)
            memberships = doubted(memberships, labels)
        self._own_share = float(trusted[np.arange(len(labels)), labels].mean())
        if last.votes and fit.other_votes:
            shares = shares_beside_others(labels, last.votes, fit.other_votes, self.n_clusters_)
            memberships = with_own_first(shares, labels)
        self.memberships_: FloatArray = told_nothing(memberships, labels, fit.without_direction)
        self._calibration = Remembered()
        self.structure_: float = self._how_real(fit)
        if self.min_certainty is not None:
            self.labels_ = np.where(self.certainty_ >= self.min_certainty, labels, -1)

    def _how_real(self, fit: Fit) -> float:
        """Agreement × prediction strength of the final labels, × separation in few features; below the limit the fit
        warns.

        One member has nobody to agree with: its graph is cut by modularity too. Of a graph that was given no samples
        are known, and agreement alone counts.
        """
        last, labels = fit.rounds.last, self._labels_of_all
        if self.n_clusters_ == 1:
            return 0.0
        order = content_order(fit.rows)
        others = last.votes or [
            put_back(modularity_cut(in_order(self.affinity_matrix_, order), self.n_clusters_, 0), order)
        ]
        agreed = float(np.mean([adjusted_rand_index(labels, np.maximum(one, 0)) for one in others]))
        way = _way_taken(fit)
        if fit.X is not None and way in FLATS:
            agreed = beyond_clouds(agreement(others), fit.X, self.n_clusters_, way, 0)
        strength = 1.0 if fit.strength is None else fit.strength
        if fit.X is not None and fit.strength is None:
            chosen = drawn_by_content(fit.X, _MEASURED, np.random.default_rng(0))
            some, gaps = fit.X[chosen], None
            if fit.views_chosen:
                gaps = gaps_of(some)
            strength = strength_of(yardsticks(some), labels[chosen], self.n_clusters_, gaps=gaps)
            if way == "low-rank":
                strength = max(strength, own_strength(fit.rows, labels, self.n_clusters_))
        structure = float(np.clip(agreed, 0, 1)) * strength * self._apart(fit)
        if structure < DOUBTFUL_STRUCTURE:
            warnings.warn(
                f"The clusters may not be real: structure_ is {structure:.2f} (1 is certain, below "
                f"{DOUBTFUL_STRUCTURE} is like noise). Try another n_clusters (now {self.n_clusters_}), another "
                "view, or features that tell the groups apart.",
                UserWarning,
                stacklevel=5,
            )
        return structure

    def _apart(self, fit: Fit) -> float:
        """How far clusters that were found as clouds in few features stand apart; 1 for other data.

        Subspaces meet at the origin, so that nearness says nothing of them. In fewer features than K independent planes
        have directions, codes and the closed form find clouds; subspaces that cross there are found as a whole.
        """
        X, way = fit.X, _way_taken(fit)
        if X is None or isinstance(X, SparseSamples) or X.shape[1] > FEATURES_OF_A_TABLE:
            return 1.0
        if way not in ("near", "standardized", *MIXTURES) and not (
            way in ("low-rank", "plain", RIDGE) and X.shape[1] < 2 * self.n_clusters_
        ):
            return 1.0
        rows, chosen = rows_of_one_scale(X)
        return separation(rows, self._labels_of_all[chosen])

    @available_if(_fitted_on_arrays)
    def predict_proba(self, X: MatrixLike) -> FloatArray:
        """How far samples belong to each cluster: `memberships(X)` under scikit-learn's name.

        Not there after a fit of sparse samples, of which scikit-learn (1.9) expects that the columns are the classes
        of a y; `memberships(X)` is.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            Samples as rows, with the features of those of `fit`.

        Returns
        -------
        memberships : ndarray of shape (n_new, n_clusters)
            Rows sum to 1, and the largest entry is the label of `predict`.

        Raises
        ------
        AttributeError
            If the fit was of a graph (`affinity="precomputed"`): it has no place for new samples.

        Examples
        --------
        >>> from masked_subspace import BMSC
        >>> from masked_subspace.datasets import make_subspaces
        >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
        >>> model = BMSC(3, random_state=0).fit(X)
        >>> bool((model.predict_proba(X).argmax(axis=1) == model.labels_).all())
        True
        """
        self._refuse_graph("predict_proba")
        return self.memberships(X)

    def memberships(self, X: MatrixLike) -> FloatArray:
        """How far samples belong to each cluster.

        Parameters
        ----------
        X : array-like or sparse array of shape (n_new, n_features)
            Samples as rows, with the features of those of `fit`.

        Returns
        -------
        memberships : ndarray of shape (n_new, n_clusters)
            Rows sum to 1, and the largest entry is the label of `predict`. The shares of the votes of the training
            samples that rebuild each row, raised to the power under which they are as sure of training samples as they
            are right about them. A sample of `fit` has its row of `memberships_`.

        Raises
        ------
        AttributeError
            If the fit was of a graph (`affinity="precomputed"`): it has no place for new samples.

        Examples
        --------
        >>> from masked_subspace import BMSC
        >>> from masked_subspace.datasets import make_subspaces
        >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
        >>> model = BMSC(3, random_state=0).fit(X)
        >>> model.memberships(X[:5]).shape
        (5, 3)
        """
        self._refuse_graph("memberships")
        X = self._checked_new(X)
        ballots = np.eye(self.n_clusters_, dtype=self._rows.dtype)[self._labels_of_all]
        known = self._seen.find(X)
        memberships: FloatArray = self.memberships_[np.maximum(known, 0)].astype(self._rows.dtype)
        new = np.flatnonzero(known < 0)
        if len(new):
            shares = self._shares(X[new], ballots)
            sharp = shares if self._flats is not None else self._sharpening().apply(shares)
            unseen = without_direction(X[new], [self._preparation.view])
            memberships[new] = told_nothing(sharp, shares.argmax(axis=1), unseen)
        return memberships

    def _sharpening(self) -> Sharpening:
        found = self._calibration.sharpening
        if found is None:
            found = Sharpening.learn(self._rows, self._labels_of_all, self.n_clusters_, self._own_share, self._votes_of)
            self._calibration.sharpening = found
        return found

    def _play(self, rows: FloatArray, task: Task) -> RoundsResult:
        raise TypeError(f"{type(self).__name__} must define _play ({rows.shape}, {task.seed}).")
