"""Efficient dense subspace clustering (Ji, Salzmann & Li 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.types import FloatArray, RandomSeed
from masked_subspace._common.validation import Interval
from masked_subspace.baselines.base import POSITIVE, SHARE, BaselineClusterer, Work
from masked_subspace.baselines.documentation import documented
from masked_subspace.baselines.lsr import ridge_projection
from masked_subspace.baselines.result import Progress, Representation
from masked_subspace.label.graph import LINKS
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.rows.checks import refuse_entrywise


@dataclass(frozen=True)
class EdscSettings:
    """λ, the price of outliers, and the numbers of the ALM that separates them."""

    data_weight: float = 1.0
    outliers: float | None = None
    penalty: float = 1e-2
    penalty_growth: float = 1.1
    tol: float = 1e-6
    max_iter: int = 500


def represent_edsc(X: FloatArray, settings: EdscSettings, progress: Progress | None = None) -> Representation:
    """min ½‖C‖² + λ/2‖X − CX‖² in closed form; with outliers on the clean part D of X = D + E."""
    if settings.outliers is None:
        # C = (I + λG)⁻¹λG: the ridge representation with 1/λ, through the smaller of XXᵀ and XᵀX
        return Representation(ridge_projection(X, 1 / settings.data_weight))
    return _clean_and_represent(X, settings, progress)


def _clean_and_represent(X: FloatArray, settings: EdscSettings, progress: Progress | None) -> Representation:
    """min ½‖C‖² + λ/2‖D − CD‖² + γ‖E‖₁ subject to X = D + E, by an ALM over C, D and E."""
    lam, price = settings.data_weight, settings.outliers
    assert price is not None
    D, E, Y = X.copy(), np.zeros_like(X), np.zeros_like(X)
    mu, trace, change, n_iter = settings.penalty, [], np.inf, 0
    while n_iter < settings.max_iter:
        n_iter += 1
        spectrum = Spectrum.of(D)
        V, s = spectrum.vectors, spectrum.values
        left = 1 / (1 + lam * s)  # eigenvalues of I − C on V; off V they are 1
        # D = (μI + λ(I−C)²)⁻¹ μ(X − E + Y/μ)
        target = X - E + Y / mu
        outside = mu / (mu + lam)
        inside = mu / (mu + lam * left**2)
        D = outside * target + (V * (inside - outside)) @ (V.T @ target)
        rest = X - D + Y / mu
        E = np.sign(rest) * np.maximum(np.abs(rest) - price / mu, 0)
        gap = X - D - E
        fit = float((s * left**2).sum())
        size = float(((1 - left) ** 2).sum())
        trace.append(0.5 * size + 0.5 * lam * fit + price * float(np.abs(E).sum()))
        change = float(np.abs(gap).max())
        if progress is not None:
            progress(n_iter, change)
        if change < settings.tol:
            break
        Y += mu * gap
        mu *= settings.penalty_growth
    C = ridge_projection(D, 1 / lam)
    return Representation(
        C, n_iter, change < settings.tol, change, np.array(trace), outliers=csr_array(E), details={"clean": D}
    )


@documented
class EDSC(BaselineClusterer):
    """Efficient dense subspace clustering.

        min ½‖C‖² + λ/2 ‖D − CD‖² + γ‖E‖₁   subject to   X = D + E                 (Ji, Salzmann & Li 2014)

    Without outliers E = 0 and C = (I + λG)⁻¹λG, G = XXᵀ.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters K.
    data_weight : float, default=1.0
        λ, the weight of the residual.
    outliers : float or None, default=None
        γ, the price of corrupted entries; None: there are none.
    penalty : float, default=0.01
        μ₀ of the ALM; with `outliers` only, as the next three.
    penalty_growth : float, default=1.1
        Factor of μ from one iteration to the next.
    tol : float, default=1e-06
        The ALM ends when no entry of X − D − E is above it.
    max_iter : int, default=500
        Most iterations of the ALM.
    subspace_dim : int, default=4
        d, the dimension of a subspace: "shape-interaction" keeps dK + 1 directions.
    affinity_power : float, default=4.0
        Power of the "shape-interaction" graph.
    threshold : float, default=1.0
        ρ of thr(C, ρ): of each code the largest entries whose sum reaches ρ‖c‖₁ are kept; 1 keeps everything.
    {parameters}

    Attributes
    ----------
    outliers_ : csr_array of shape (n_samples, n_features)
        E; only with `outliers`.
    {attributes}

    References
    ----------
    .. [Ji2014] Ji, P., Salzmann, M. and Li, H. (2014). Efficient dense subspace clustering. WACV.

    Examples
    --------
    >>> from masked_subspace.baselines import EDSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> data = make_subspaces(n_subspaces=3, per_subspace=20, dim=2, ambient=12, random_state=0)
    >>> model = EDSC(3, random_state=0).fit(data.data)
    >>> [int((model.labels_ == k).sum()) for k in range(3)]
    [20, 20, 20]
    """

    _parameter_constraints = {
        "data_weight": [POSITIVE],
        "outliers": [POSITIVE, None],
        "penalty": [POSITIVE],
        "penalty_growth": [POSITIVE],
        "tol": [POSITIVE],
        "max_iter": [POSITIVE],
        "subspace_dim": [Interval(Integral, 1, None, closed="left")],
        "affinity_power": [POSITIVE],
        "threshold": [SHARE],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        data_weight: float = 1.0,
        outliers: float | None = None,
        penalty: float = 1e-2,
        penalty_growth: float = 1.1,
        tol: float = 1e-6,
        max_iter: int = 500,
        subspace_dim: int = 4,
        affinity_power: float = 4.0,
        threshold: float = 1.0,
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
        self.data_weight = data_weight
        self.outliers = outliers
        self.penalty = penalty
        self.penalty_growth = penalty_growth
        self.tol = tol
        self.max_iter = max_iter
        self.subspace_dim = subspace_dim
        self.affinity_power = affinity_power
        self.threshold = threshold

    def _edsc_settings(self) -> EdscSettings:
        return EdscSettings(self.data_weight, self.outliers, self.penalty, self.penalty_growth, self.tol, self.max_iter)

    def _refuse_sparse(self) -> None:
        if self.outliers is not None:
            refuse_entrywise("outliers", "prices single entries")

    def _solve(self, rows: FloatArray, work: Work) -> Representation:
        return represent_edsc(rows, self._edsc_settings(), work.progress)

    def _affinity_rank(self) -> int | None:
        return self.subspace_dim * self.n_clusters_ + 1
