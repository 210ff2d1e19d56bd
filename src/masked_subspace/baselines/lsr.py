"""Least squares regression (Lu, Min, Zhao, Zhu, Huang & Yan 2012)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.linalg import cho_solve, cholesky
from scipy.linalg.blas import dsyrk, dtrmm, get_blas_funcs
from scipy.linalg.lapack import dpotrf, dtrtri

from masked_subspace._common.types import FloatArray, RandomSeed
from masked_subspace.baselines.base import POSITIVE, BaselineClusterer, Work
from masked_subspace.baselines.documentation import documented
from masked_subspace.baselines.result import Representation
from masked_subspace.label.graph import LINKS

_TILE = 64  # rows and columns: two tiles of float64 stay in the first cache level


@njit(cache=True, nogil=True)
def mirror_scaled(  # type: ignore[no-untyped-def]
    Z, factor
):
    """Complete a matrix of which only the lower triangle is set, row i times factor[i]. The diagonal is left."""
    n = Z.shape[0]
    for top in range(0, n, _TILE):
        for left in range(0, top + _TILE, _TILE):
            for j in range(left, min(left + _TILE, n)):
                for i in range(max(top, j + 1), min(top + _TILE, n)):
                    Z[j, i] = Z[i, j] * factor[j]
            for i in range(top, min(top + _TILE, n)):
                for j in range(left, min(left + _TILE, i)):
                    Z[i, j] *= factor[i]


def ridge_projection(X: FloatArray, ridge: float, *, zero_diagonal: bool = False) -> FloatArray:
    """G(G + λI)⁻¹ = X(XᵀX + λI)⁻¹Xᵀ: the ridge representation of every sample, diagonal included or forbidden.

    By one Cholesky factor of the smaller form. It is always in float64, since its condition is s₁/λ.
    """
    columns = np.flatnonzero(X.any(axis=0))  # border pixels are often zero everywhere
    rows: FloatArray = np.ascontiguousarray(X.take(columns, axis=1), dtype=np.float64)
    Z = _half_by_features(rows, ridge, X.dtype) if len(columns) < len(X) else _by_samples(rows, ridge).astype(X.dtype)
    diagonal = np.diagonal(Z).copy()
    if zero_diagonal:
        # Z = −offdiag(P)/diag(P) with P = (G + λI)⁻¹ = (I − Z₀)/λ; row i is divided by P_ii.
        mirror_scaled(Z, 1 / np.maximum(1 - diagonal, np.finfo(Z.dtype).eps))
        np.fill_diagonal(Z, 0)
    else:
        mirror_scaled(Z, np.ones_like(diagonal))
    return Z


def _half_by_features(rows: FloatArray, ridge: float, dtype: npt.DTypeLike) -> FloatArray:
    """The lower triangle of YYᵀ with Y = XL⁻ᵀ and LLᵀ = XᵀX + λI.

    L⁻¹ and a triangular product are faster than solving for n right-hand sides; BLAS reads `rows` as Xᵀ and writes
    Yᵀ in its place.
    """
    gram = dsyrk(1.0, rows.T, lower=1)
    np.fill_diagonal(gram, np.diagonal(gram) + ridge)
    factor, failed = dpotrf(gram, lower=1, clean=0, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError("XᵀX + λI is not positive definite: are there infinite or missing values in X?")
    inverse = dtrtri(factor, lower=1, overwrite_c=1)[0]
    Yt = dtrmm(1.0, inverse, rows.T, lower=1, overwrite_b=1).astype(dtype, copy=False)
    (syrk,) = get_blas_funcs(("syrk",), (Yt,))
    half: FloatArray = syrk(1.0, Yt, trans=1).T
    return half


def _by_samples(rows: FloatArray, ridge: float) -> FloatArray:
    G = rows @ rows.T
    factor = cholesky(G + ridge * np.eye(len(G)), lower=True, overwrite_a=True, check_finite=False)
    solved: FloatArray = cho_solve((factor, True), G, overwrite_b=True, check_finite=False)
    return (solved + solved.T) / 2


def represent_lsr(X: FloatArray, ridge: float, *, zero_diagonal: bool = False) -> Representation:
    """min ‖X − ZX‖² + λ‖Z‖² in closed form, with diag Z = 0 if asked for."""
    return Representation(ridge_projection(X, ridge, zero_diagonal=zero_diagonal))


@documented
class LSR(BaselineClusterer):
    """Least squares regression: every sample rebuilt from all others by ridge regression.

        min_Z ‖X − ZX‖² + λ‖Z‖²,   optionally diag Z = 0                        (Lu et al. 2012)

    In closed form through one Cholesky factor, of the D × D problem where D < n.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K.
    ridge : float, default=0.1
        λ, the weight of ‖Z‖² on the scale of the samples' squared length (1 with `normalize=True`).
    zero_diagonal : bool, default=True
        Whether a sample is kept from rebuilding itself (LSR1 of the publication; False is LSR2).
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    .. [Lu2012] Lu, C., Min, H., Zhao, Z., Zhu, L., Huang, D. and Yan, S. (2012). Robust and efficient subspace
       segmentation via least squares regression. ECCV.

    Examples
    --------
    >>> from masked_subspace.baselines import LSR
    >>> from masked_subspace.datasets import make_subspaces
    >>> data = make_subspaces(n_subspaces=3, per_subspace=20, dim=2, ambient=12, random_state=0)
    >>> model = LSR(3, random_state=0).fit(data.data)
    >>> [int((model.labels_ == k).sum()) for k in range(3)]
    [20, 20, 20]
    """

    _parameter_constraints = {"ridge": [POSITIVE], "zero_diagonal": ["boolean"]}

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        ridge: float = 0.1,
        zero_diagonal: bool = True,
        affinity: str = "symmetric",
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
        self.ridge = ridge
        self.zero_diagonal = zero_diagonal

    def _solve(self, rows: FloatArray, _work: Work) -> Representation:
        return represent_lsr(rows, self.ridge, zero_diagonal=self.zero_diagonal)
