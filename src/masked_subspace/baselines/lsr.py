"""Least squares regression (Lu, Min, Zhao, Zhu, Huang & Yan 2012)."""

from __future__ import annotations

from typing import Any

import numpy as np

from masked_subspace.baselines.base import POSITIVE, BaselineClusterer
from masked_subspace.baselines.result import FloatArray, Progress, Representation
from masked_subspace.estimators.base import SHARED_CONSTRAINTS
from masked_subspace.solvers.spectrum import Spectrum


def ridge_projection(spectrum: Spectrum, ridge: float) -> FloatArray:
    """G(G + λI)⁻¹ = V diag(s/(s+λ)) Vᵀ: the ridge representation of every sample, diagonal included."""
    shrunk = spectrum.vectors * (spectrum.values / (spectrum.values + spectrum.values.dtype.type(ridge)))
    return shrunk @ spectrum.vectors.T


def represent_lsr(X: FloatArray, ridge: float, *, zero_diagonal: bool = False) -> Representation:
    """min ‖X − ZX‖² + λ‖Z‖² in closed form, with diag Z = 0 if asked for."""
    Z = ridge_projection(Spectrum.of(X), ridge)
    if zero_diagonal:
        # Z = −offdiag(P)/diag(P) with P = (G + λI)⁻¹ = (I − Z₀)/λ; row i is divided by P_ii.
        kept = 1 - np.diagonal(Z)
        Z /= np.maximum(kept, np.finfo(Z.dtype).eps)[:, None]
        np.fill_diagonal(Z, 0)
    return Representation(Z)


class LSR(BaselineClusterer):
    """Least squares regression.

        min_Z ‖X − ZX‖² + λ‖Z‖²,   optionally diag Z = 0

    Closed form through one thin eigendecomposition, so the D × D problem is solved where D < n.

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
