"""What every solver takes and what every solver returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse

FloatArray = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class AdmmSettings:
    """The numbers of Algorithm 1, under our names; the paper's letter stands beside each."""

    sparsity: float  # λ, the price of one nonzero
    mask_weight: float = 1.0  # γ, the weight of ½‖Mˢ⊙C‖²; 1 is the paper
    penalty: float = 0.1  # μ₀, where the continuation starts
    penalty_growth: float = 1.1  # p
    max_iter: int = 200  # T
    tol: float = 1e-6
    noise: float | None = None  # λ₁; None: no ε
    outliers: float | None = None  # λ₂; None: no O
    affine: bool = False  # rows of Z sum to 1 (`affine.py`)

    @property
    def has_residual_model(self) -> bool:
        """Whether this is GMSC-n (`eq:gmsc-n`) and not GMSC."""
        return self.noise is not None or self.outliers is not None


@dataclass(frozen=True)
class SolverResult:
    """The end of one run of a solver.

    `objective[k]` is the value after iteration k: the data term at Z, the prices at Q; the two agree in the limit.
    """

    representation: csr_array  # Q: equal to Z at convergence, with exact zeros; row i rebuilds sample i
    n_iter: int
    converged: bool
    stopping_value: float  # max(|ΔC|∞, |ΔZ|∞, |ΔQ|∞) of the last iteration
    mask_residual: float  # ‖Z − Mʰ⊙C‖∞
    sparsity_residual: float  # ‖Q − Z‖∞
    objective: FloatArray
    seconds: float
    noise: FloatArray | None = None  # ε of `eq:gmsc-n`, n × d
    outliers: csr_array | None = None  # O of `eq:gmsc-n`, n × d
    details: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not is_finite(self.representation, self.stopping_value, self.objective):
            object.__setattr__(self, "converged", False)


def is_finite(matrix: csr_array | FloatArray, stopping_value: float, objective: FloatArray) -> bool:
    """Whether a result holds numbers only. What does not has not converged, whatever was compared with a tolerance:
    a maximum passes over NaN, and a threshold turns it into a zero."""
    entries = matrix.data if issparse(matrix) else np.asarray(matrix)
    return bool(np.isfinite(stopping_value) and np.isfinite(objective[-1:]).all() and np.isfinite(entries).all())


def squared_weights(mask_weight: float, prices: Any, dtype: npt.DTypeLike) -> FloatArray:
    """γ·(Mˢ)² in float64; what leaves the range of `dtype` is refused: infinity times a zero coefficient is NaN."""
    with np.errstate(over="ignore"):
        weights: FloatArray = mask_weight * np.square(np.asarray(prices, dtype=np.float64))
    if not np.abs(weights).max(initial=0.0) <= np.finfo(dtype).max:
        raise ValueError(
            f"mask_weight · (soft mask)² leaves the range of {np.dtype(dtype)}; give a smaller mask_strength, smaller "
            "prices, or a smaller mask_weight."
        )
    return weights
