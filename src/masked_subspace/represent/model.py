"""What every solver takes and what every solver returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

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
