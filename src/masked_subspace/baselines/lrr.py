"""Low-rank representation (Liu, Lin, Yan, Sun, Yu & Ma 2013), by inexact ALM in reduced coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from masked_subspace._common.rows import eigenpairs
from masked_subspace._common.types import FloatArray, RandomSeed
from masked_subspace.baselines.base import POSITIVE, BaselineClusterer, Work
from masked_subspace.baselines.documentation import documented
from masked_subspace.baselines.labeler import LowRankLabeler
from masked_subspace.baselines.result import Progress, Representation
from masked_subspace.label.graph import LINKS
from masked_subspace.label.labeler import GraphLabeler
from masked_subspace.represent.dense.spectrum import Spectrum


@dataclass(frozen=True)
class LrrSettings:
    """λ and the numbers of the inexact ALM."""

    noise_weight: float | None = 0.18
    penalty: float = 1e-6
    penalty_growth: float = 1.1
    penalty_cap: float = 1e10
    tol: float = 1e-8
    max_iter: int = 1000


def shrink_singular_values(M: FloatArray, threshold: float) -> tuple[FloatArray, float]:
    """SVT: every singular value of M lowered by `threshold`, not below 0; and the nuclear norm that is left.

    Through the eigenpairs of MᵀM above threshold²: no full SVD, and none at all while ‖M‖ is below the threshold.
    """
    if np.linalg.norm(M) <= threshold:
        return np.zeros_like(M), 0.0
    gram = M.T @ M
    largest = float(np.trace(gram))
    if threshold**2 > 1e-12 * largest:
        squares, V = eigenpairs(gram)
        above = squares > threshold**2
        squares, V = squares[above], V[:, above]
        kept = np.sqrt(squares) - threshold
        return ((M @ V) * (kept / (kept + threshold))) @ V.T, float(kept.sum())
    # So late in the continuation squaring would lose the values that still matter.
    U, sigma, Vt = np.linalg.svd(M, full_matrices=False)
    kept = np.maximum(sigma - threshold, 0)
    return (U * kept) @ Vt, float(kept.sum())


def shrink_rows(M: FloatArray, threshold: float) -> FloatArray:
    """The proximal step of the ℓ₂,₁ norm: every row shortened by `threshold`, not below 0."""
    norms = np.linalg.norm(M, axis=1, keepdims=True)
    shrunk: FloatArray = M * (np.maximum(norms - threshold, 0) / np.maximum(norms, np.finfo(M.dtype).tiny))
    return shrunk


def represent_lrr(X: FloatArray, settings: LrrSettings, progress: Progress | None = None) -> Representation:
    """min ‖Z‖_* + λ‖E‖₂,₁ subject to X = ZX + E; without noise the closed form V Vᵀ.

    With X = V S Wᵀ everything in the iteration (A = XP, E, Y₁) lives in the r directions of W, where A is the diagonal
    matrix S: its products and its inverse become elementwise, and the SVT is all that costs.
    """
    spectrum = Spectrum.of(X)
    V = spectrum.vectors.astype(np.float64)
    if settings.noise_weight is None:
        return Representation((V @ V.T).astype(X.dtype))
    scale = np.sqrt(spectrum.values.astype(np.float64))
    Z, E, n_iter, change, trace = _inexact_alm(V * scale, scale, settings, progress)
    representation = (Z @ V.T).astype(X.dtype)
    noise = (E @ spectrum.right_vectors.T).astype(X.dtype)
    converged = change < settings.tol
    return Representation(representation, n_iter, converged, change, np.array(trace), noise=noise)


def _inexact_alm(
    target: FloatArray, scale: FloatArray, settings: LrrSettings, progress: Progress | None
) -> tuple[FloatArray, FloatArray, int, float, list[float]]:
    """The ALM of Liu et al. in row convention: target = Z·diag(scale) + E, Z = J."""
    assert settings.noise_weight is not None
    Z, E, Y1, Y2 = (np.zeros_like(target) for _ in range(4))
    inverse = 1 / (scale**2 + 1)
    mu, change, trace = settings.penalty, np.inf, []
    n_iter = 0
    while n_iter < settings.max_iter:
        n_iter += 1
        J, nuclear = shrink_singular_values(Z + Y2 / mu, 1 / mu)
        # Z = (AᵀA + I)⁻¹(Aᵀ(X − E) + J + (AᵀY₁ − Y₂)/μ)
        Z = ((target - E + Y1 / mu) * scale + J - Y2 / mu) * inverse
        rest = target - Z * scale
        E = shrink_rows(rest + Y1 / mu, settings.noise_weight / mu)
        gap1, gap2 = rest - E, Z - J
        trace.append(nuclear + settings.noise_weight * float(np.linalg.norm(E, axis=1).sum()))
        change = float(np.maximum(np.abs(gap1).max(), np.abs(gap2).max()))
        if progress is not None:
            progress(n_iter, change)
        if change < settings.tol:
            break
        Y1 += mu * gap1
        Y2 += mu * gap2
        mu = min(settings.penalty_growth * mu, settings.penalty_cap)
    return Z, E, n_iter, change, trace


@documented
class LRR(BaselineClusterer):
    """Low-rank representation: the codes of all samples together have the lowest rank.

        min ‖Z‖_* + λ‖E‖₂,₁   subject to   X = ZX + E                              (Liu et al. 2013)

    by the inexact ALM of the publication in the coordinates of X's own SVD.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K.
    noise_weight : float or None, default=0.18
        λ, the price of a corrupted sample (published: .18 for faces, 4 for motions); None: E = 0 and the closed form
        V Vᵀ.
    penalty : float, default=1e-06
        μ₀ of the ALM.
    penalty_growth : float, default=1.1
        Factor of μ from one iteration to the next.
    tol : float, default=1e-08
        The iteration ends when no entry of X − ZX − E and of Z − J is above it.
    max_iter : int, default=1000
        Most iterations.
    affinity_power : float, default=4.0
        Power of the "shape-interaction" graph.
    {parameters}

    Attributes
    ----------
    noise_ : ndarray of shape (n_samples, n_features)
        E, in the coordinates of the prepared samples; only with `noise_weight`.
    {attributes}

    References
    ----------
    .. [Liu2013] Liu, G., Lin, Z., Yan, S., Sun, J., Yu, Y. and Ma, Y. (2013). Robust recovery of subspace structures by
       low-rank representation. IEEE TPAMI 35(1).

    Examples
    --------
    >>> from masked_subspace.baselines import LRR
    >>> from masked_subspace.datasets import make_subspaces
    >>> data = make_subspaces(n_subspaces=3, per_subspace=20, dim=2, ambient=12, random_state=0)
    >>> model = LRR(3, random_state=0).fit(data.data)
    >>> [int((model.labels_ == k).sum()) for k in range(3)]
    [20, 20, 20]
    """

    _parameter_constraints = {
        "noise_weight": [POSITIVE, None],
        "penalty": [POSITIVE],
        "penalty_growth": [POSITIVE],
        "tol": [POSITIVE],
        "max_iter": [POSITIVE],
        "affinity_power": [POSITIVE],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        noise_weight: float | None = 0.18,
        penalty: float = 1e-6,
        penalty_growth: float = 1.1,
        tol: float = 1e-8,
        max_iter: int = 1000,
        affinity_power: float = 4.0,
        affinity: str = "shape-interaction",
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
        self.noise_weight = noise_weight
        self.penalty = penalty
        self.penalty_growth = penalty_growth
        self.tol = tol
        self.max_iter = max_iter
        self.affinity_power = affinity_power

    def _solve(self, rows: FloatArray, work: Work) -> Representation:
        settings = LrrSettings(
            self.noise_weight, self.penalty, self.penalty_growth, tol=self.tol, max_iter=self.max_iter
        )
        return represent_lrr(rows, settings, work.progress)

    def _labeler(self) -> GraphLabeler:
        return LowRankLabeler(
            self.n_clusters_,
            affinity=self.affinity,
            n_links=self.n_links,
            n_components=self.n_components,
            cut=self.cut,
            power=self.affinity_power,
        )
