"""Soft structured sparse subspace clustering (Li, You & Vidal 2017), an instance of the bilevel frame."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions

from masked_subspace._common.progress import Events
from masked_subspace._common.threads import thread_count
from masked_subspace.baselines.base import NOT_NEGATIVE, POSITIVE, SHARE
from masked_subspace.baselines.labeler import BaselineLabeler
from masked_subspace.baselines.result import FloatArray, Progress
from masked_subspace.baselines.ssc import PreparedSsc, SscSettings
from masked_subspace.estimators.base import SHARED_CONSTRAINTS
from masked_subspace.estimators.bilevel import BilevelClustering
from masked_subspace.label.labeler import Evidence, Labeling
from masked_subspace.masks.base import SoftMask
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.masks.soft import ConstantMask, EmbeddingMask
from masked_subspace.represent.model import SolverResult
from masked_subspace.rounds.recursion import RoundsResult


class WeightedSparseRepresenter(BaseEstimator):
    """f of the bilevel frame: min Σ (1 + α_Θ Θ_ij)|c_ij| + λ_z/2‖X − CX‖², where the soft mask is Θ."""

    def __init__(
        self,
        *,
        alpha: float = 20.0,
        structure_weight: float = 0.1,
        affine: bool = False,
        solver: str = "auto",
        tol: float | None = None,
        max_iter: int = 1000,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.structure_weight = structure_weight
        self.affine = affine
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def prepare(
        self,
        X: FloatArray,
        *,
        known: KnownPairs | None = None,  # noqa: ARG002
        hard: bool = False,  # noqa: ARG002
        seed: int = 0,  # noqa: ARG002
    ) -> _PreparedWeighted:
        """λ_z and the factorisation, which every round shares. Known pairs reach the rounds through the mask."""
        settings = SscSettings(self.alpha, self.affine, None, self.solver, self.tol, self.max_iter)
        return _PreparedWeighted(PreparedSsc(X, settings, thread_count(self.n_jobs)), self.structure_weight)


@dataclass
class _PreparedWeighted:
    problem: PreparedSsc
    structure_weight: float
    last: csr_array | None = field(default=None)

    def represent(self, soft_mask: SoftMask | None, progress: Progress | None = None) -> SolverResult:
        started = time.perf_counter()

        def weights(start: int, stop: int) -> FloatArray:
            assert soft_mask is not None
            return 1 + self.structure_weight * np.asarray(soft_mask.block(start, stop))

        found = self.problem.solve(None if soft_mask is None else weights, start=self.last, progress=progress)
        # The next round starts from this one's codes: the weights move little from round to round.
        self.last = found.details["codes"]
        return found.as_solver_result(time.perf_counter() - started)


def embedding_distances(labeling: Labeling) -> EmbeddingMask:
    """ψ: Θ_ij = ½‖q_i − q_j‖² of the unit rows of the spectral embedding.

    With QᵀQ = I instead, Θ shrinks like K/n and its weight loses all effect.
    """
    return EmbeddingMask(labeling.embedding)


class SoftS3C(BilevelClustering):
    """Soft structured sparse subspace clustering.

        min ‖C‖₁ + α_Θ‖Θ⊙C‖₁ + λ_z/2 ‖X − CX‖²,   Θ_ij = ½‖q_i − q_j‖²,   q the spectral embedding of C

    Rounds of weighted SSC (warm-started) and spectral embedding, from Θ = 0, until Θ stops changing.

    Parameters
    ----------
    n_clusters : number of clusters K
    alpha : α of SSC, λ_z = α / min_i max_{j≠i} |x_iᵀx_j|
    structure_weight : α_Θ, the weight of the structured norm
    max_rounds, mask_tol : most rounds, and the largest |ΔΘ| at which they end
    affine, solver, tol, max_iter : as in `SSC`
    threshold : ρ of thr(C, ρ)
    affinity : graph of C; the published one divides each code by its maximum, "normalized"
    n_links, n_components, center, normalize, constraints, random_state, n_jobs, verbose : as in `BMSC`
    """

    _parameter_constraints = {
        **SHARED_CONSTRAINTS,
        "alpha": [POSITIVE],
        "structure_weight": [NOT_NEGATIVE],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "mask_tol": [NOT_NEGATIVE],
        "affine": ["boolean"],
        "solver": [StrOptions({"auto", "active-set", "admm"})],
        "tol": [POSITIVE, None],
        "max_iter": [POSITIVE],
        "threshold": [SHARE],
    }
    n_links: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 20.0,
        structure_weight: float = 0.1,
        max_rounds: int = 5,
        mask_tol: float = 1e-2,
        affine: bool = False,
        solver: str = "auto",
        tol: float | None = None,
        max_iter: int = 1000,
        threshold: float = 1.0,
        affinity: str = "normalized",
        n_links: int = 5,
        n_components: int | str | None = None,
        center: bool = False,
        normalize: bool = True,
        constraints: str = "soft",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_clusters=n_clusters,
            max_rounds=max_rounds,
            mask_tol=mask_tol,
            center=center,
            normalize=normalize,
            constraints=constraints,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.alpha = alpha
        self.structure_weight = structure_weight
        self.affine = affine
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold
        self.affinity = affinity
        self.n_links = n_links
        self.n_components = n_components

    def _fit_rows(self, rows: FloatArray, evidence: Evidence, seed: int, events: Events) -> RoundsResult:
        representer = WeightedSparseRepresenter(
            alpha=self.alpha,
            structure_weight=self.structure_weight,
            affine=self.affine,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            n_jobs=self.n_jobs,
        )
        labeler = BaselineLabeler(
            self.n_clusters,
            affinity=self.affinity,
            n_links=self.n_links,
            n_components=self.n_components,
            threshold=self.threshold,
        )
        # The three parts depend on the parameters, which may be set until now.
        frame = BilevelClustering(
            representer,
            labeler,
            embedding_distances,
            init=ConstantMask(len(rows), 0.0),
            max_rounds=self.max_rounds,
            mask_tol=self.mask_tol,
        )
        return frame._fit_rows(rows, evidence, seed, events)
