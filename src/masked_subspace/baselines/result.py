"""What the pure function of each baseline returns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array, issparse

from masked_subspace._common.rows import rows_of_a_block
from masked_subspace._common.types import FloatArray, Record
from masked_subspace.represent.model import SolverResult, is_finite

Progress = Callable[[int, float], None]


@dataclass(frozen=True)
class Representation:
    """The end of one run: row i of `matrix` rebuilds sample i.

    `objective` is the trace, one value an iteration where the method has one (empty for closed forms);
    `stopping_value` is the quantity that was compared with the tolerance.
    """

    matrix: csr_array | FloatArray
    n_iter: int = 1
    converged: bool = True
    stopping_value: float = 0.0
    objective: FloatArray = field(default_factory=lambda: np.empty(0))
    noise: FloatArray | None = None  # dense E, n × d, of LRR
    outliers: csr_array | None = None  # sparse E, n × d, of the methods that model it
    details: Record = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not is_finite(self.matrix, self.stopping_value, self.objective):
            object.__setattr__(self, "converged", False)

    def as_solver_result(self, seconds: float) -> SolverResult:
        """The same in the form that the estimators' base class reads."""
        return SolverResult(
            representation=self.matrix if issparse(self.matrix) else csr_array(self.matrix),
            n_iter=self.n_iter,
            converged=self.converged,
            stopping_value=self.stopping_value,
            mask_residual=0.0,
            sparsity_residual=0.0,
            objective=self.objective,
            seconds=seconds,
            noise=self.noise,
            outliers=self.outliers,
            details=self.details,
        )


def block_length(n_columns: int) -> int:
    """How many samples fit a dense block of `n_columns` numbers each that stays near 32 MB."""
    return int(np.clip(rows_of_a_block(8 * n_columns), 32, 1024))
