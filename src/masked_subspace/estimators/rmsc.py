"""Recursive masked subspace clustering."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

from masked_subspace._common.progress import Events
from masked_subspace._common.threads import thread_count
from masked_subspace.estimators.bilevel import LabelPsi
from masked_subspace.estimators.masked import MaskedClusterer, constraints_for
from masked_subspace.label.labeler import Evidence
from masked_subspace.masks.resolve import resolve_soft_mask
from masked_subspace.masks.soft import ConstantMask, Orientation
from masked_subspace.rounds.ensemble import EnsembleResult, run_ensemble
from masked_subspace.rounds.recursion import RoundsResult, run_rounds
from masked_subspace.rows.preparation import Preparation
from masked_subspace.rows.views import rank_views

MEMBERS = 9
LINKS_OF_MEMBERS = 4
CONSENSUS_STRENGTH = 3.0
_OF_ONE_MEMBER = ("sparsity", "penalty", "penalty_growth", "mask_weight", "mask_tol")
_OF_LABEL_MASKS = ("mask_strength", "mask_orientation")


class RMSC(MaskedClusterer):
    """Recursive masked subspace clustering (`eq:rmsc`): GMSC whose soft mask is learnt from labels.

    Rounds of GMSC → φ(Z) → spectral clustering → Mˢ = ψ(labels), until the mask stops changing.

    With `members=1` this is the paper's RMSC: `BilevelClustering(MaskedRepresenter, SpectralLabeler, LabelPsi)`, and
    with one round `GMSC`. With several members (the default), every round represents and labels the data under several
    settings drawn from a fixed prior, and both the mask and the labels come from their agreement.

    Parameters
    ----------
    n_clusters : number of clusters K
    members : how many label-free settings vote; "auto" is 1 if `sparsity` is a number, else 9
    init : the first soft mask, as `soft_mask` in `GMSC`
    max_rounds, mask_tol : Algorithm 2 stops when the mask changes by less than `mask_tol`; with several members, when
        their consensus repeats itself. "auto": at most 5 rounds of one member, 2 of several
    view : how rows are prepared after centring: "plain", "root" (square root, for nonnegative data), a whitening power
        between 0 and 1, or "auto", which with several members picks the view whose clusters stand apart best
    noise, outliers : None is RMSC-v1, numbers are RMSC-v2; outliers="auto" is v2 with cleaned samples, see `GMSC`
    n_links : the k of "top-k"; several members use k − 1, k and k + 1 in turn. "auto": 5 for one member, 4 for several
    sparsity, penalty, penalty_growth, mask_weight : of one member; several draw theirs from the prior, and stop after
        at most 60 iterations or at a `tol` of 1e-5
    mask_strength, mask_orientation : of one member, and of a mask made from `init`; a consensus mask has strength 3
    others : as in `GMSC`

    Attributes
    ----------
    labels_, representation_matrix_, affinity_matrix_, embedding_, certainty_, n_iter_, n_rounds_, history_, soft_mask_,
    noise_ and outliers_ (v2). With several members: `member_labels_`, `view_`, `view_scores_`; `affinity_matrix_` is
    the mean of their graphs, `representation_matrix_` that of the member nearest to the consensus, and `certainty_`
    says how far they agree on each sample.
    """

    _parameter_constraints = constraints_for("soft_mask")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Any = None,
        members: int | str = "auto",
        sparsity: float | str = "auto",
        mask_weight: float | str = "auto",
        mask_strength: float = 1.1,
        mask_orientation: Orientation = "corrected",
        max_rounds: int | str = "auto",
        mask_tol: float = 1e-6,
        view: float | str = "auto",
        penalty: float | str = "auto",
        penalty_growth: float = 2.0,
        max_iter: int = 200,
        tol: float = 1e-6,
        noise: float | None = None,
        outliers: float | str | None = None,
        hard_mask: Any = None,
        affinity: str = "top-k",
        n_links: int | str = "auto",
        n_components: int | str | None = "auto",
        center: bool = True,
        normalize: bool = True,
        solver: str = "auto",
        n_candidates: int = 64,
        constraints: str = "soft",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.members = members
        self.sparsity = sparsity
        self.mask_weight = mask_weight
        self.mask_strength = mask_strength
        self.mask_orientation: Orientation = mask_orientation
        self.max_rounds = max_rounds
        self.mask_tol = mask_tol
        self.view = view
        self.penalty = penalty
        self.penalty_growth = penalty_growth
        self.max_iter = max_iter
        self.tol = tol
        self.noise = noise
        self.outliers = outliers
        self.hard_mask = hard_mask
        self.affinity = affinity
        self.n_links = n_links
        self.n_components = n_components
        self.center = center
        self.normalize = normalize
        self.solver = solver
        self.n_candidates = n_candidates
        self.constraints = constraints
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _n_members(self) -> int:
        if not isinstance(self.members, str):
            return int(self.members)
        return MEMBERS if isinstance(self.sparsity, str) else 1

    def _check_settings(self, X: Any) -> None:
        if self.view == "root" and X.min() < 0:
            raise ValueError('view is "root" but X has negative entries; choose "plain", "auto" or a whitening power.')
        if self._n_members() == 1:
            return
        usual = inspect.signature(type(self)).parameters
        unheard = [
            f"{name}={getattr(self, name)!r}"
            for name in _OF_ONE_MEMBER + (_OF_LABEL_MASKS if self.init is None else ())
            if getattr(self, name) != usual[name].default
        ]
        if unheard:
            warnings.warn(
                f"{', '.join(unheard)} has no effect with {self._n_members()} members, which draw their settings from "
                "a prior; set members=1 to use it.",
                UserWarning,
                stacklevel=3,
            )

    def _remedy(self) -> str:
        return super()._remedy() if self._n_members() == 1 else f"tol (now {max(1e-5, self.tol)})"

    def _choose_preparation(self, X: Any, cleaned: Any, seed: int, events: Events) -> Preparation:
        """The view of this data, by name or by score.

        Views are scored on the samples as given: cleaning draws neighbours together and flatters every view.
        """
        self.view_scores_: dict[str, float] = {}
        root, whitening = self.view == "root", 0.0
        if not isinstance(self.view, str):
            whitening = float(self.view)
        elif self.view == "auto" and self._n_members() > 1 and self.normalize:
            ranked = rank_views(X, self.n_clusters, center=self.center, seed=seed, n_threads=thread_count(self.n_jobs))
            self.view_scores_ = {view.name: view.score for view in ranked}
            root, whitening = ranked[0].root, ranked[0].whitening
            events.message(f"view: {ranked[0].name} (modularity {ranked[0].score:.3f})")
        self.view_: float | str = "root" if root else whitening or "plain"
        return Preparation.learn(cleaned, center=self.center, normalize=self.normalize, root=root, whitening=whitening)

    def _fit_rows(self, rows: Any, evidence: Evidence, seed: int, events: Events) -> RoundsResult:
        mask = resolve_soft_mask(
            self.init, rows, strength=self.mask_strength, orientation=self.mask_orientation, seed=seed, name="init"
        )
        several = self._n_members() > 1
        representer = self._representer()
        if several and self.solver == "auto":
            # Members share candidates and their products, which makes each of them cheap (docs/accuracy.md).
            representer.set_params(solver="sparse")
        usual = 2 if several else 5
        rounds = usual if isinstance(self.max_rounds, str) else self.max_rounds
        known = evidence.known if evidence.hard or not several else None
        # Members share the products inside a round. Kept for the next one they would save little time for their memory
        # (docs/scaling.md).
        kept = 1 if several else rounds
        prepared = representer.prepare(rows, known=known, hard=evidence.hard, seed=seed, rounds=kept)
        if not several:
            return run_rounds(
                prepared,
                self._labeler(),
                LabelPsi(self.mask_strength, self.mask_orientation),
                evidence,
                init=ConstantMask(len(rows)) if mask is None else mask,
                max_rounds=rounds,
                mask_tol=self.mask_tol,
                seed=seed,
                max_iter=self.max_iter,
                events=events,
            )
        return run_ensemble(
            prepared,
            self.n_clusters,
            self._n_members(),
            evidence,
            init=mask,
            strength=CONSENSUS_STRENGTH,
            max_rounds=rounds,
            agreement_tol=1e-3,
            seed=seed,
            n_components=self.n_components,
            affinity=self.affinity,
            n_links=LINKS_OF_MEMBERS if isinstance(self.n_links, str) else self.n_links,
            events=events,
        )

    def _set_fitted(self, result: RoundsResult) -> None:
        super()._set_fitted(result)
        if isinstance(result, EnsembleResult):
            self.member_labels_ = result.member_labels
            if result.certainty is not None:
                self.certainty_ = result.certainty
        for record in self.history_:
            record["view"] = self.view_
            record["view_scores"] = self.view_scores_
