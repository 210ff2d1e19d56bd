"""Label-free settings: what `"auto"` means. Each rule is explained and measured in docs/accuracy.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.floating[Any]]

PENALTY = 15.0
MASK_WEIGHT = 0.01
LINKS_A_SAMPLE = 6.0
_ROWS = 256


def mean_square(X: FloatArray) -> float:
    """Mean ‖x‖². Prices and penalties scale with it, so that rows in another unit give the same result."""
    return float(np.einsum("ij,ij->", X, X, dtype=np.float64) / len(X))


def default_penalty(X: FloatArray) -> float:
    return PENALTY * mean_square(X)


def default_mask_weight(X: FloatArray) -> float:
    return MASK_WEIGHT * mean_square(X)


def quantile_sparsity(X: FloatArray, penalty: float, seed: int, links: float = LINKS_A_SAMPLE) -> float:
    """λ that leaves about `links` entries a sample after the first step.

    The first iteration from zero has Z = G (G + 2μ₀I)⁻¹ (`Eq:b-Z`) and keeps |Z| > τ = √(2λ/μ₀) (`Eq:b-Q`); so
    λ = μ₀τ²/2 with τ the (1 − links/n) quantile of the entries off the diagonal, read off a seeded sample of rows. τ lies
    halfway between two entries, so that rounding cannot decide which of them is kept.
    """
    n = len(X)
    rows = np.sort(np.random.default_rng(seed).choice(n, min(n, _ROWS), replace=False))
    Z = np.abs(_first_step(X, rows, penalty))
    Z[np.arange(len(rows)), rows] = -1
    kept = max(1, min(round(links * len(rows)), Z.size - len(rows) - 1))
    tau = float(np.partition(Z.ravel(), [-kept - 1, -kept])[[-kept - 1, -kept]].mean())
    return max(penalty * tau**2 / 2, float(np.finfo(np.float32).tiny))


def _first_step(X: FloatArray, rows: npt.NDArray[np.intp], penalty: float) -> FloatArray:
    """Rows of G (G + 2μI)⁻¹, through the smaller of the d × d and the n × n system."""
    n, d = X.shape
    if d <= n:
        A = (X.T @ X).astype(np.float64)
        A[np.diag_indices(d)] += 2 * penalty
        coefficients = np.linalg.solve(A, X[rows].T.astype(np.float64))
        return np.asarray((X @ coefficients.astype(X.dtype)).T)
    G = (X @ X.T).astype(np.float64)
    right = G[:, rows].copy()
    G[np.diag_indices(n)] += 2 * penalty
    return np.asarray(np.linalg.solve(G, right).T)
