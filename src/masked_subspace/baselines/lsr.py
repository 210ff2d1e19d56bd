"""Least squares regression (Lu, Min, Zhao, Zhu, Huang & Yan 2012)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.linalg.lapack import dtrtri

from masked_subspace.baselines.base import POSITIVE, BaselineClusterer
from masked_subspace.baselines.result import FloatArray, Progress, Representation
from masked_subspace.estimators.base import SHARED_CONSTRAINTS


def ridge_projection(X: FloatArray, ridge: float) -> FloatArray:
    """G(G + λI)⁻¹ = X(XᵀX + λI)⁻¹Xᵀ: the ridge representation of every sample, diagonal included.

    By one Cholesky factor LLᵀ of the smaller form: with Y = XL⁻ᵀ the D × D one gives YYᵀ, a symmetric product. The
    factor is always in float64, since its condition is s₁/λ.
    """
    used: FloatArray = np.ascontiguousarray(X[:, X.any(axis=0)], dtype=np.float64)  # border pixels are often all zero
    n, d = used.shape
    if d < n:
        factor = cholesky(used.T @ used + ridge * np.eye(d), lower=True, overwrite_a=True, check_finite=False)
        inverse = dtrtri(factor, lower=1)[0]  # and a product: faster than solving for n right-hand sides
        Y = (used @ inverse.T).astype(X.dtype, copy=False)
        projection: FloatArray = Y @ Y.T
        return projection
    G = used @ used.T
    factor = cholesky(G + ridge * np.eye(n), lower=True, overwrite_a=True, check_finite=False)
    solved: FloatArray = cho_solve((factor, True), G, overwrite_b=True, check_finite=False)
    return ((solved + solved.T) / 2).astype(X.dtype)


def represent_lsr(X: FloatArray, ridge: float, *, zero_diagonal: bool = False) -> Representation:
    """min ‖X − ZX‖² + λ‖Z‖² in closed form, with diag Z = 0 if asked for."""
    Z = ridge_projection(X, ridge)
    if zero_diagonal:
        # Z = −offdiag(P)/diag(P) with P = (G + λI)⁻¹ = (I − Z₀)/λ; row i is divided by P_ii.
        kept = 1 - np.diagonal(Z)
        Z /= np.maximum(kept, np.finfo(Z.dtype).eps)[:, None]
        np.fill_diagonal(Z, 0)
    return Representation(Z)


class LSR(BaselineClusterer):
    """Least squares regression.

        min_Z ‖X − ZX‖² + λ‖Z‖²,   optionally diag Z = 0

    Closed form through one Cholesky factor, of the D × D problem where D < n.

    Parameters
    ----------
    n_clusters : number of clusters K
    ridge : λ
    zero_diagonal : whether a sample is kept from rebuilding itself (LSR1 of the paper; False is LSR2)
    affinity : graph of Z; the published one is the plain "symmetric"
    n_links, n_components, center, normalize, constraints, random_state, n_jobs, verbose : as in `BMSC`
    """

    _parameter_constraints = {**SHARED_CONSTRAINTS, "ridge": [POSITIVE], "zero_diagonal": ["boolean"]}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        ridge: float = 0.1,
        zero_diagonal: bool = True,
        affinity: str = "symmetric",
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
            n_clusters, affinity, n_links, n_components, center, normalize, constraints, random_state, n_jobs, verbose
        )
        self.ridge = ridge
        self.zero_diagonal = zero_diagonal

    def _solve(self, rows: FloatArray, seed: int, n_threads: int, progress: Progress) -> Representation:  # noqa: ARG002
        return represent_lsr(rows, self.ridge, zero_diagonal=self.zero_diagonal)
