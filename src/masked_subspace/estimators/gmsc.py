"""General masked subspace clustering."""

from __future__ import annotations

from typing import Any

from masked_subspace._common.progress import Events
from masked_subspace.estimators.bilevel import LabelPsi
from masked_subspace.estimators.masked import MaskedClusterer, constraints_for
from masked_subspace.label.labeler import Evidence
from masked_subspace.masks.resolve import resolve_soft_mask
from masked_subspace.masks.soft import ConstantMask, Orientation
from masked_subspace.rounds.recursion import RoundsResult, run_rounds


class GMSC(MaskedClusterer):
    """General masked subspace clustering (`eq:gmsc`, and `eq:gmsc-n` if `noise` or `outliers` is a number).

        min ½‖X − ZX − ε − O‖² + λ‖Z‖₀ + γ/2 ‖Mˢ⊙C‖² + λ₁‖ε‖² + λ₂‖O‖₀   subject to   Z = Mʰ⊙C

    Parameters
    ----------
    n_clusters : number of clusters K
    soft_mask : Mˢ, a price for each pair: a mask, labels, an n × n array, a clusterer (its labels), or a list of
        clusterers and labels (their consensus). None: every pair costs the same; zeros: BMSC.
    sparsity, mask_weight : λ and γ, or "auto"
    mask_strength, mask_orientation : β of ψ, and whether links inside a cluster are cheap ("corrected") or dear
        ("paper", as printed)
    noise, outliers : λ₁ and λ₂; None leaves ε or O out; outliers="auto" finds λ₂ from the residuals and takes O out of
        the samples themselves, so that no corrupted entry rebuilds anything (docs/corruption.md)
    penalty, penalty_growth, max_iter, tol, hard_mask, affinity, n_links, n_components, center, normalize, solver, \
n_candidates, constraints, random_state, n_jobs, verbose : as in `BMSC`

    Attributes
    ----------
    labels_, representation_matrix_, affinity_matrix_, embedding_, certainty_, n_iter_, n_rounds_, history_, soft_mask_,
    noise_ and outliers_ (if asked for)
    """

    _parameter_constraints = constraints_for("init", "max_rounds", "mask_tol", "members", "view")

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        soft_mask: Any = None,
        sparsity: float | str = "auto",
        mask_weight: float | str = "auto",
        mask_strength: float = 1.1,
        mask_orientation: Orientation = "corrected",
        penalty: float | str = "auto",
        penalty_growth: float = 2.0,
        max_iter: int = 200,
        tol: float = 1e-6,
        noise: float | None = None,
        outliers: float | str | None = None,
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
        self.soft_mask = soft_mask
        self.sparsity = sparsity
        self.mask_weight = mask_weight
        self.mask_strength = mask_strength
        self.mask_orientation: Orientation = mask_orientation
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
            self.soft_mask, rows, strength=self.mask_strength, orientation=self.mask_orientation, seed=seed
        )
        prepared = self._representer().prepare(rows, known=evidence.known, hard=evidence.hard, seed=seed)
        return run_rounds(
            prepared,
            self._labeler(),
            LabelPsi(self.mask_strength, self.mask_orientation),
            evidence,
            init=ConstantMask(len(rows)) if mask is None else mask,
            max_rounds=1,
            mask_tol=0.0,
            seed=seed,
            max_iter=self.max_iter,
            events=events,
        )
