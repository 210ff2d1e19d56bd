"""Soft structured sparse subspace clustering (Li, You & Vidal 2017), an instance of the bilevel frame."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from numbers import Integral

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

from masked_subspace._common.types import FloatArray, RandomSeed
from masked_subspace._common.validation import Interval, StrOptions
from masked_subspace.baselines.base import NOT_NEGATIVE, POSITIVE, SHARE
from masked_subspace.baselines.documentation import documented
from masked_subspace.baselines.labeler import BaselineLabeler
from masked_subspace.baselines.result import Progress
from masked_subspace.baselines.ssc import PreparedSsc, SscSettings
from masked_subspace.estimators.base import Task
from masked_subspace.estimators.bilevel import BilevelClustering
from masked_subspace.label.graph import LINKS
from masked_subspace.label.labeler import Labeling
from masked_subspace.masks.base import SoftMask
from masked_subspace.masks.soft import ConstantMask, EmbeddingMask
from masked_subspace.parallel.engine import thread_count
from masked_subspace.represent.model import SolverResult
from masked_subspace.rounds.recursion import OneMember, RoundsResult, run_rounds


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

    def prepare(self, X: FloatArray, **_known: object) -> _PreparedWeighted:
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


@documented
class SoftS3C(BilevelClustering):
    """Soft structured sparse subspace clustering, an instance of the bilevel frame.

        min ‖C‖₁ + α_Θ‖Θ⊙C‖₁ + λ_z/2 ‖X − CX‖²,   Θ_ij = ½‖q_i − q_j‖²,   q the spectral embedding of C

    (Li, You & Vidal 2017). Rounds of weighted SSC (warm-started) and spectral embedding, from Θ = 0, until Θ
    stops changing.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K.
    alpha : float, default=20.0
        α of SSC, `λ_z = α / min_i max_{j≠i} |x_iᵀx_j|`.
    structure_weight : float, default=0.1
        α_Θ, the weight of the structured norm.
    max_rounds : int, default=5
        Most rounds of representing and labelling.
    mask_tol : float, default=0.01
        The rounds end when no entry of Θ moves by more than this.
    affine : bool, default=False
        Whether each code sums to 1, for affine subspaces such as motions.
    solver : {"auto", "active-set", "admm"}, default="auto"
        "active-set" solves each sample's problem exactly and keeps only nonzeros; "admm" is the published iteration, in
        blocks; "auto" takes active sets unless `affine` is True or α > 200, where codes are dense.
    tol : float or None, default=None
        Stopping value. None: 2e-4 on max|Z − C| for "admm" (published), 1e-5 of the bound for "active-set".
    max_iter : int, default=1000
        Most iterations of a round.
    threshold : float, default=1.0
        ρ of thr(C, ρ): of each code the largest entries whose sum reaches ρ‖c‖₁ are kept; 1 keeps everything.
    {parameters}

    Attributes
    ----------
    soft_mask_ : EmbeddingMask
        Θ of the last round.
    {attributes}

    Notes
    -----
    Where the graph of a round falls into more pieces than clusters, the K largest pieces have an eigenvector each and
    q is 0 in the others. Every mixture of the pieces' vectors would do for the eigenvalues; rounding chose one, and the
    rounds amplified it.

    References
    ----------
    .. [Li2017] Li, C., You, C. and Vidal, R. (2017). Structured sparse subspace clustering: a joint affinity learning
       and subspace clustering framework. IEEE TIP 26(6).

    Examples
    --------
    >>> from masked_subspace.baselines import SoftS3C
    >>> from masked_subspace.datasets import make_subspaces
    >>> data = make_subspaces(n_subspaces=3, per_subspace=20, dim=2, ambient=12, random_state=0)
    >>> model = SoftS3C(3, random_state=0).fit(data.data)
    >>> [int((model.labels_ == k).sum()) for k in range(3)]
    [20, 20, 20]
    """

    _parameter_constraints = {
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
        n_links: int = LINKS,
        n_components: int | str | None = None,
        cut: str = "spectral",
        center: bool = False,
        normalize: bool = True,
        constraints: str = "soft",
        random_state: RandomSeed = None,
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
        self.cut = cut

    def _needs_coordinates(self) -> bool:
        return True

    def _play(self, rows: FloatArray, task: Task) -> RoundsResult:
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
            self.n_clusters_,
            affinity=self.affinity,
            n_links=self.n_links,
            n_components=self.n_components,
            cut=self.cut,
            threshold=self.threshold,
        )
        prepared = representer.prepare(rows, known=task.known, hard=task.hard, seed=task.seed)
        strategy = OneMember(prepared, labeler, embedding_distances, task.evidence(rows), task.seed, self.max_iter)
        first = ConstantMask(len(rows), 0.0)
        return run_rounds(strategy, first, max_rounds=self.max_rounds, tol=self.mask_tol, events=task.events)
