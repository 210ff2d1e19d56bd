"""Sparse subspace clustering (Elhamifar & Vidal 2013)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.types import FloatArray, RandomSeed
from masked_subspace._common.validation import StrOptions
from masked_subspace.baselines.base import POSITIVE, SHARE, BaselineClusterer, Work
from masked_subspace.baselines.documentation import documented
from masked_subspace.baselines.elastic_net import ElasticNetProblem, solve_elastic_net
from masked_subspace.baselines.ensc import largest_correlations
from masked_subspace.baselines.result import Progress, Representation
from masked_subspace.baselines.ssc_admm import AdmmProblem, SharedFactor, solve_ssc_admm
from masked_subspace.label.graph import LINKS
from masked_subspace.rows.checks import refuse_entrywise

WeightBlock = Callable[[int, int], FloatArray]


# Above this α codes hold hundreds of atoms (measured on MNIST), and active sets lose to the iteration.
_DENSE_CODES = 200.0


@dataclass(frozen=True)
class SscSettings:
    """α, the options and the solver of SSC."""

    alpha: float = 20.0
    affine: bool = False
    outliers: float | None = None
    solver: str = "auto"
    tol: float | None = None
    max_iter: int = 1000

    def __post_init__(self) -> None:
        if self.affine and self.solver == "active-set":
            raise ValueError(
                'solver is "active-set" but affine is True; the constraint Σc = 1 needs solver="admm" (or "auto").'
            )

    @property
    def uses_admm(self) -> bool:
        return self.solver == "admm" or self.affine or (self.solver == "auto" and self.alpha > _DENSE_CODES)


class PreparedSsc:
    """SSC on given rows: dictionary, λ_z and (for ADMM) the factorisation are made once and serve every weighting."""

    def __init__(self, X: FloatArray, settings: SscSettings, n_threads: int = 1) -> None:
        self.settings = settings
        self.n_samples, self.n_features = X.shape
        self.n_threads = n_threads
        self.dictionary, self.outlier_weight = outlier_dictionary(X, settings.outliers)
        correlation = largest_correlations(self.dictionary, self.n_samples)
        # λ_z = α / min_i max_{j≠i} |x_iᵀa_j|; a sample that nothing resembles has no say in it.
        useful = correlation[correlation > 0]
        self.data_weight = settings.alpha / float(useful.min()) if len(useful) else settings.alpha
        self._factor: SharedFactor | None = None

    def solve(
        self,
        weights: WeightBlock | None = None,
        start: csr_array | None = None,
        progress: Progress | None = None,
    ) -> Representation:
        """min Σ w_ij|c_ij| + λ_z/2‖X − CA‖² over the dictionary A; `start` warms the active sets."""
        found = self._by_admm(weights, progress) if self.settings.uses_admm else self._by_active_sets(weights, start)
        codes = csr_array(found.matrix)
        details = {"data_weight": self.data_weight, "codes": codes}
        outliers = None
        if self.outlier_weight is not None:
            outliers = csr_array(codes[:, self.n_samples :] / self.outlier_weight)
            codes = csr_array(codes[:, : self.n_samples])
        return Representation(
            codes, found.n_iter, found.converged, found.stopping_value, outliers=outliers, details=details
        )

    def _by_admm(self, weights: WeightBlock | None, progress: Progress | None) -> Representation:
        penalty = self.settings.alpha  # ρ = α, as published
        if self._factor is None:
            self._factor = SharedFactor.of(self.dictionary, self.data_weight, penalty, self.settings.affine)
        tol = 2e-4 if self.settings.tol is None else self.settings.tol
        problem = AdmmProblem(self._factor, len(self.dictionary), penalty, tol, self.settings.max_iter, weights)
        return solve_ssc_admm(problem, self.n_samples, self.n_threads, progress)

    def _by_active_sets(self, weights: WeightBlock | None, start: csr_array | None) -> Representation:
        n = self.n_samples
        price = np.full(n, 1 / self.data_weight)
        problem = ElasticNetProblem(self.dictionary, self.dictionary[:n], price, np.zeros(n), np.arange(n), weights)
        tol = 1e-5 if self.settings.tol is None else self.settings.tol
        found = solve_elastic_net(
            problem, start=start, tol=tol, max_rounds=self.settings.max_iter, n_threads=self.n_threads
        )
        return Representation(found.coefficients, found.n_rounds, found.converged, found.violation)


def outlier_dictionary(X: FloatArray, outliers: float | None) -> tuple[FloatArray, float | None]:
    """The atoms: the samples, and with outliers the unit vectors over λ_e = outliers / min_i max_{j≠i} ‖x_j‖₁."""
    if outliers is None:
        return X, None
    sizes = np.sort(np.abs(X).sum(axis=1))
    # The minimum over i of the maximum over the others is the second largest.
    weight = outliers / float(sizes[-2])
    return np.vstack([X, np.eye(X.shape[1], dtype=X.dtype) / X.dtype.type(weight)]), weight


def represent_ssc(X: FloatArray, settings: SscSettings, *, n_threads: int = 1) -> Representation:
    """The sparse code of each sample over the others. `outliers` is E where it was asked for."""
    return PreparedSsc(X, settings, n_threads).solve()


@documented
class SSC(BaselineClusterer):
    """Sparse subspace clustering: every sample rebuilt from few others.

        min ‖C‖₁ + λ_e‖E‖₁ + λ_z/2 ‖X − CX − E‖²   subject to   diag C = 0   and, if `affine`, C1 = 1

    with `λ_z = α / min_i max_{j≠i} |x_iᵀx_j|` (Elhamifar & Vidal 2013).

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K.
    alpha : float, default=20.0
        α, how many times the smallest useful λ_z is taken (published: 20 for faces, 800 for motions); also the penalty
        ρ of the ADMM.
    affine : bool, default=False
        Whether each code sums to 1, for affine subspaces such as motions.
    outliers : float or None, default=None
        α_e with λ_e = α_e / min_i max_{j≠i} ‖x_j‖₁, the price of a corrupted entry; None: E = 0.
    solver : {"auto", "active-set", "admm"}, default="auto"
        "active-set" solves each sample's problem exactly and keeps only nonzeros; "admm" is the published iteration, in
        blocks; "auto" takes active sets unless `affine` is True or α > 200, where codes are dense.
    tol : float or None, default=None
        Stopping value. None: 2e-4 on max|Z − C| for "admm" (published), 1e-5 of the bound for "active-set".
    max_iter : int, default=1000
        Most iterations.
    threshold : float, default=1.0
        ρ of thr(C, ρ): of each code the largest entries whose sum reaches ρ‖c‖₁ are kept (published: .7 for motions, 1
        for faces). 1 keeps everything.
    {parameters}

    Attributes
    ----------
    outliers_ : csr_array of shape (n_samples, n_features)
        E; only with `outliers`.
    {attributes}

    References
    ----------
    .. [Elhamifar2013] Elhamifar, E. and Vidal, R. (2013). Sparse subspace clustering: algorithm, theory, and
       applications. IEEE TPAMI 35(11).

    Examples
    --------
    >>> from masked_subspace.baselines import SSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> data = make_subspaces(n_subspaces=3, per_subspace=20, dim=2, ambient=12, random_state=0)
    >>> model = SSC(3, random_state=0).fit(data.data)
    >>> [int((model.labels_ == k).sum()) for k in range(3)]
    [20, 20, 20]
    """

    _parameter_constraints = {
        "alpha": [POSITIVE],
        "affine": ["boolean"],
        "outliers": [POSITIVE, None],
        "solver": [StrOptions({"auto", "active-set", "admm"})],
        "tol": [POSITIVE, None],
        "max_iter": [POSITIVE],
        "threshold": [SHARE],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        alpha: float = 20.0,
        affine: bool = False,
        outliers: float | None = None,
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
            n_clusters,
            affinity,
            n_links,
            n_components,
            cut,
            center,
            normalize,
            constraints,
            random_state,
            n_jobs,
            verbose,
        )
        self.alpha = alpha
        self.affine = affine
        self.outliers = outliers
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold

    def _refuse_sparse(self) -> None:
        if self.outliers is not None:
            refuse_entrywise("outliers", "prices single entries")

    def _solve(self, rows: FloatArray, work: Work) -> Representation:
        settings = SscSettings(self.alpha, self.affine, self.outliers, self.solver, self.tol, self.max_iter)
        return PreparedSsc(rows, settings, work.n_threads).solve(progress=work.progress)
