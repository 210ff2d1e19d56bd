"""Recursive masked subspace clustering."""

from __future__ import annotations

from typing import Any

from masked_subspace.estimators.bilevel import LabelPsi
from masked_subspace.estimators.labeler import Evidence
from masked_subspace.estimators.masked import MaskedClusterer, constraints_for
from masked_subspace.estimators.rounds import RoundsResult, run_rounds
from masked_subspace.masks.resolve import resolve_soft_mask
from masked_subspace.masks.soft import ConstantMask, Orientation
from masked_subspace.progress import Events


class RMSC(MaskedClusterer):
    """Recursive masked subspace clustering (`eq:rmsc`): GMSC whose soft mask is learnt from its own labels.

    Rounds of GMSC → φ(Z) → spectral clustering → Mˢ = ψ(labels), until the mask stops changing. It is
    `BilevelClustering(MaskedRepresenter, SpectralLabeler, LabelPsi)`; with one round it is `GMSC`.

    Parameters
    ----------
    n_clusters : number of clusters K
    init : the first soft mask, as `soft_mask` in `GMSC`
    members : how many label-free settings vote on the mask; 1 is the paper's RMSC
    max_rounds, mask_tol : Algorithm 2 stops when the mask changes by less than `mask_tol`
    noise, outliers : None is RMSC-v1, numbers are RMSC-v2
    others : as in `GMSC`

    Attributes
    ----------
    labels_, representation_matrix_, affinity_matrix_, embedding_, certainty_, n_iter_, n_rounds_, history_, soft_mask_,
    noise_ and outliers_ (v2)
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
        max_rounds: int = 5,
        mask_tol: float = 1e-6,
        penalty: float | str = "auto",
        penalty_growth: float = 2.0,
        max_iter: int = 200,
        tol: float = 1e-6,
        noise: float | None = None,
        outliers: float | None = None,
        hard_mask: Any = None,
        affinity: str = "top-k",
        n_links: int = 5,
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

    def _fit_rows(self, rows: Any, evidence: Evidence, seed: int, events: Events) -> RoundsResult:
        mask = resolve_soft_mask(
            self.init, rows, strength=self.mask_strength, orientation=self.mask_orientation, seed=seed, name="init"
        )
        prepared = self._representer().prepare(rows, known=evidence.known, hard=evidence.hard, seed=seed)
        return run_rounds(
            prepared,
            self._labeler(),
            LabelPsi(self.mask_strength, self.mask_orientation),
            evidence,
            init=ConstantMask(len(rows)) if mask is None else mask,
            max_rounds=self.max_rounds,
            mask_tol=self.mask_tol,
            seed=seed,
            max_iter=self.max_iter,
            events=events,
        )
