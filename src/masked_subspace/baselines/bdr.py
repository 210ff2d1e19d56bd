"""Block diagonal representation (Lu, Feng, Lin, Mei & Yan 2019)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse.linalg import LinearOperator, lobpcg

from masked_subspace._common.rows import smallest_eigenpairs
from masked_subspace._common.types import FloatArray, RandomSeed
from masked_subspace._common.validation import StrOptions
from masked_subspace.baselines.base import POSITIVE, SHARE, BaselineClusterer, Work
from masked_subspace.baselines.documentation import documented
from masked_subspace.baselines.result import Progress, Representation
from masked_subspace.label.graph import LINKS
from masked_subspace.represent.dense.spectrum import Spectrum

_DENSE_SIZE = 300  # below it, or with many eigenvectors for its size, a direct solver is faster


_TILE = 64  # both a tile and its mirror image stay in the cache


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def update_blocks(  # type: ignore[no-untyped-def]
    Z, old_Z, W, ratio, old_B, B
):
    """B = max(0, (A + Aᵀ)/2) with zero diagonal, A = Z − ratio·(diag(W)1ᵀ − W).

    Returns the largest change of an entry of Z or B (NaN if Z holds one, which `max` would pass over), ‖Z − B‖², and
    ⟨I − Z, Z − old_B⟩.
    """
    n = Z.shape[0]
    change, apart, fit = 0.0, 0.0, 0.0
    for top in range(0, n, _TILE):
        for left in range(0, top + 1, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(left, min(left + _TILE, i)):
                    price = 0.5 * (W[i, i] + W[j, j]) - W[i, j]
                    value = max(0.5 * (Z[i, j] + Z[j, i]) - ratio * price, 0.0)
                    change = max(change, abs(value - old_B[i, j]))
                    change = max(change, abs(Z[i, j] - old_Z[i, j]), abs(Z[j, i] - old_Z[j, i]))
                    apart += (Z[i, j] - value) ** 2 + (Z[j, i] - value) ** 2
                    fit -= Z[i, j] * (Z[i, j] - old_B[i, j]) + Z[j, i] * (Z[j, i] - old_B[j, i])
                    B[i, j] = value
                    B[j, i] = value
    for i in range(n):
        B[i, i] = 0.0
        change = max(change, abs(Z[i, i] - old_Z[i, i]))
        apart += Z[i, i] ** 2
        fit += (1.0 - Z[i, i]) * Z[i, i]
    return (change if np.isfinite(apart) else np.nan), apart, fit


@dataclass(frozen=True)
class BdrSettings:
    """λ, γ, K and the stop of BDR."""

    n_blocks: int
    coupling: float = 50.0
    block_weight: float = 1.0
    tol: float = 1e-3
    max_iter: int = 1000


def laplacian_product(B: FloatArray, degree: FloatArray, vectors: FloatArray) -> FloatArray:
    """(Diag(B1) − B) · vectors."""
    product: FloatArray = degree[:, None] * vectors - B @ vectors
    return product


def smallest_eigenvectors(B: FloatArray, count: int, start: FloatArray | None) -> FloatArray:
    """Orthonormal eigenvectors of the `count` smallest eigenvalues of Diag(B1) − B.

    From the ones of the last iteration a few preconditioned steps are enough, and they never end higher than they
    start, so the objective still descends. What is not accurate to 1e-3 of the largest degree goes to the direct
    solver.
    """
    n = len(B)
    degree = B.sum(axis=1)
    if start is not None and n > _DENSE_SIZE and 8 * count <= n and degree.max() > 0:
        floor = 1e-3 * max(float(degree.mean()), float(np.finfo(B.dtype).tiny))
        inverse = (1 / np.maximum(degree, floor))[:, None]
        with warnings.catch_warnings():
            # It warns when `tol` is missed; the residual is looked at below.
            warnings.simplefilter("ignore", UserWarning)
            values, vectors = lobpcg(
                _as_operator(lambda v: laplacian_product(B, degree, v), B),
                start,
                M=_as_operator(lambda v: inverse * v, B),
                largest=False,
                tol=3e-4 * float(degree.max()),
                maxiter=10,
            )
        residual = np.linalg.norm(laplacian_product(B, degree, vectors) - vectors * values, axis=0)
        if residual.max() <= 1e-3 * degree.max():
            return np.linalg.qr(vectors)[0]
    return smallest_eigenpairs(np.diag(degree) - B, count)[1]


def _as_operator(product: Callable[[FloatArray], FloatArray], B: FloatArray) -> LinearOperator:
    return LinearOperator(B.shape, matvec=lambda v: product(v.reshape(-1, 1)), matmat=product, dtype=B.dtype)


def represent_bdr(X: FloatArray, settings: BdrSettings, progress: Progress | None = None) -> Representation:
    """min ½‖X − ZX‖² + λ/2‖Z − B‖² + γ⟨Diag(B1) − B, W⟩ by exact alternation; `matrix` is B, `details["Z"]` is Z.

    B ≥ 0, symmetric, zero diagonal; 0 ⪯ W ⪯ I, tr W = K.
    """
    spectrum = Spectrum.of(X)
    V = spectrum.vectors
    shrunk = V * (spectrum.values / (spectrum.values + X.dtype.type(settings.coupling)))
    projection = shrunk @ V.T  # (G + λI)⁻¹G
    thin = 2 * V.shape[1] < len(X)
    n_blocks = min(settings.n_blocks, len(X))
    B, old_B, Z, old_Z, W = (np.zeros_like(projection) for _ in range(5))
    vectors: FloatArray | None = None
    trace: list[float] = []
    change = np.inf
    n_iter = 0
    while n_iter < settings.max_iter and change >= settings.tol:
        n_iter += 1
        old_B, B, old_Z = B, old_B, Z
        # Z = (G + λI)⁻¹(G + λB) = B + (G + λI)⁻¹G (I − B)
        Z = old_B + projection
        Z -= shrunk @ (V.T @ old_B) if thin else projection @ old_B
        change, apart, fit = update_blocks(Z, old_Z, W, settings.block_weight / settings.coupling, old_B, B)
        # W = VVᵀ for the K smallest eigenvalues of Diag(B1) − B
        vectors = smallest_eigenvectors(B, n_blocks, vectors)
        W = vectors @ vectors.T
        blocks = float(np.vdot(vectors, laplacian_product(B, B.sum(axis=1), vectors)))
        # G(I − Z) = λ(Z − B) for the B that Z came from, so ‖X − ZX‖² = λ⟨I − Z, Z − B⟩
        trace.append(0.5 * settings.coupling * (fit + apart) + settings.block_weight * blocks)
        if progress is not None:
            progress(n_iter, change)
    # The published Z has samples as columns: row i of ours is its column i.
    return Representation(B, n_iter, change < settings.tol, change, np.array(trace), details={"Z": Z.T})


@documented
class BDR(BaselineClusterer):
    """Block diagonal representation: the graph itself is asked to have K components.

        min ½‖X − ZX‖² + λ/2 ‖Z − B‖² + γ‖B‖_[K]   subject to   B ≥ 0, B = Bᵀ, diag B = 0

    (Lu et al. 2019). ‖B‖_[K] is the sum of the K smallest eigenvalues of the Laplacian Diag(B1) − B: 0 exactly
    for K blocks. Solved by exact alternation.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K.
    output : {"B", "Z"}, default="B"
        Which of the two matrices is cut (BDR-B and BDR-Z of the publication).
    coupling : float, default=50.0
        λ, how closely Z and B agree (published: 50 for faces, .07 for motions).
    block_weight : float, default=1.0
        γ, the weight of ‖B‖_[K] (published: 1 for faces, .007 for motions).
    tol : float, default=0.001
        The iteration ends when neither matrix moves by more than this in an entry.
    max_iter : int, default=1000
        Most iterations.
    threshold : float, default=1.0
        ρ of thr(C, ρ): of each row the largest entries whose sum reaches ρ‖c‖₁ are kept (published: .7 for motions, .4
        for faces). 1 keeps everything.
    {parameters}

    Attributes
    ----------
    block_matrix_ : ndarray of shape (n_samples, n_samples)
        B, whichever was cut.
    coefficient_matrix_ : ndarray of shape (n_samples, n_samples)
        Z, whichever was cut; row i rebuilds sample i.
    {attributes}

    References
    ----------
    .. [Lu2019] Lu, C., Feng, J., Lin, Z., Mei, T. and Yan, S. (2019). Subspace clustering by block diagonal
       representation. IEEE TPAMI 41(2).

    Examples
    --------
    >>> from masked_subspace.baselines import BDR
    >>> from masked_subspace.datasets import make_subspaces
    >>> data = make_subspaces(n_subspaces=3, per_subspace=20, dim=2, ambient=12, random_state=0)
    >>> model = BDR(3, random_state=0).fit(data.data)
    >>> [int((model.labels_ == k).sum()) for k in range(3)]
    [20, 20, 20]
    """

    _parameter_constraints = {
        "output": [StrOptions({"B", "Z"})],
        "coupling": [POSITIVE],
        "block_weight": [POSITIVE],
        "tol": [POSITIVE],
        "max_iter": [POSITIVE],
        "threshold": [SHARE],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        output: str = "B",
        coupling: float = 50.0,
        block_weight: float = 1.0,
        tol: float = 1e-3,
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
        self.output = output
        self.coupling = coupling
        self.block_weight = block_weight
        self.tol = tol
        self.max_iter = max_iter
        self.threshold = threshold

    def _solve(self, rows: FloatArray, work: Work) -> Representation:
        settings = BdrSettings(self.n_clusters_, self.coupling, self.block_weight, self.tol, self.max_iter)
        found = represent_bdr(rows, settings, work.progress)
        self.block_matrix_, self.coefficient_matrix_ = found.matrix, found.details["Z"]
        matrix = self.block_matrix_ if self.output == "B" else self.coefficient_matrix_
        return Representation(matrix, found.n_iter, found.converged, found.stopping_value, found.objective)
