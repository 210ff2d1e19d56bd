"""Basic masked subspace clustering."""

from __future__ import annotations

from typing import Any

from masked_subspace._common.progress import Events
from masked_subspace.estimators.masked import MaskedClusterer, constraints_for
from masked_subspace.label.labeler import Evidence, Labeling
from masked_subspace.rounds.recursion import RoundsResult, run_rounds


def no_mask(labeling: Labeling) -> None:
    """ψ of BMSC: labels give no price."""


class BMSC(MaskedClusterer):
    """Basic masked subspace clustering (`eq:bmsc`).

        min_Z ½‖X − ZX‖² + λ‖Z‖₀   subject to   Z = Mʰ⊙C

    Each sample is rebuilt from as few others as pays at the price λ; the hard mask Mʰ says which others it may use (all
    but itself, unless `hard_mask` forbids more). Solved by Algorithm 1, then spectral clustering.

    Parameters
    ----------
    n_clusters : number of clusters K
    sparsity : λ, or "auto" (about six links a sample after the first step)
    penalty, penalty_growth : μ₀ and p of the continuation; "auto" is 15 times the mean squared row norm
    max_iter, tol : T and the stopping value of Algorithm 1
    hard_mask : None, an n × n 0/1 pattern (dense or sparse), or a `NeighborMask`
    affinity, n_links : the graph φ(Z) and the k of "top-k"
    n_components : eigenvectors in the embedding (None: K); "auto" weights 4K of them softly
    center, normalize : subtract the mean row, scale rows to unit length
    solver, n_candidates : "dense" is exact, "sparse" lets a sample see its m nearest, "auto" decides by size
    constraints : known pairs given to `fit` are "soft" (they shape the graph) or "hard" (never violated)
    random_state, n_jobs, verbose : as in scikit-learn; n_jobs=None uses all cores

    Attributes
    ----------
    labels_, representation_matrix_, affinity_matrix_, embedding_, certainty_, n_iter_, n_rounds_, history_
    """

    _parameter_constraints = constraints_for(
        "mask_weight", "noise", "outliers", "mask_strength", "mask_orientation", "soft_mask", "init", "max_rounds",
        "mask_tol", "members", "view",
    )  # fmt: skip

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        sparsity: float | str = "auto",
        penalty: float | str = "auto",
        penalty_growth: float = 2.0,
        max_iter: int = 200,
        tol: float = 1e-6,
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
        self.sparsity = sparsity
        self.penalty = penalty
        self.penalty_growth = penalty_growth
        self.max_iter = max_iter
        self.tol = tol
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
        prepared = self._representer().prepare(rows, known=evidence.known, hard=evidence.hard, seed=seed)
        return run_rounds(
            prepared,
            self._labeler(),
            no_mask,
            evidence,
            init=None,
            max_rounds=1,
            mask_tol=0.0,
            seed=seed,
            max_iter=self.max_iter,
            events=events,
        )
