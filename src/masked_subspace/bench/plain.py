"""Algorithm 1 as a reader of the paper would type it: float64, explicit inverse, one line a formula.

The benchmark's denominator, and what every solver is compared with (tests/reference.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from masked_subspace.represent.model import AdmmSettings

Array = npt.NDArray[np.float64]


class Iterate(NamedTuple):
    """Where one iteration has led."""

    Z: Array
    C: Array
    Q: Array
    noise: Array
    outliers: Array
    change: float  # max(|ΔC|∞, |ΔZ|∞, |ΔQ|∞)


def plain_iterations(
    X: Array, settings: AdmmSettings, prices: Array | float = 0.0, allowed: npt.NDArray[np.bool_] | None = None
) -> Iterator[Iterate]:
    """BMSC (prices 0), GMSC and GMSC-n under the hard mask `allowed`, until they have converged or T is reached."""
    n, mu = len(X), settings.penalty
    identity = np.eye(n)
    Mh = (1.0 - identity) * (1.0 if allowed is None else allowed)
    weights = settings.mask_weight * np.asarray(prices) ** 2
    Z, C, Q, U1, U2 = (np.zeros((n, n)) for _ in range(5))
    noise, outliers = np.zeros_like(X), np.zeros_like(X)
    for _ in range(settings.max_iter):
        before = C, Z, Q
        right = (X - noise - outliers) @ X.T - U1 + mu * Mh * C + U2 + mu * Q
        A = X @ X.T + 2 * mu * identity
        Z = _affine_rows(right, A) if settings.affine else right @ np.linalg.inv(A)  # Eq:b-Z
        C = (U1 + mu * Z) * Mh / (weights + mu)  # Eq:C
        Q = hard_threshold(Z - U2 / mu, 2 * settings.sparsity / mu)  # Eq:b-Q
        if settings.has_residual_model:
            R = X - Z @ X
            if settings.noise is not None:
                noise = (R - outliers) / (1 + 2 * settings.noise)
            if settings.outliers is not None:
                outliers = hard_threshold(R - noise, 2 * settings.outliers)
        U1 = U1 + mu * (Z - Mh * C)
        U2 = U2 + mu * (Q - Z)
        mu *= settings.penalty_growth
        change = max(float(np.abs(new - old).max()) for new, old in zip((C, Z, Q), before, strict=True))
        yield Iterate(Z, C, Q, noise, outliers, change)
        if change < settings.tol:
            return


def hard_threshold(values: Array, square: float) -> Array:
    """H_τ: entries whose square is above τ² stay, the others become zero."""
    return np.where(values**2 > square, values, 0.0)


def _affine_rows(right: Array, A: Array) -> Array:
    """Rows z with zA = right + ν1ᵀ and z1 = 1, as one bordered system (z, ν) and not by the formula of the solvers."""
    n = len(A)
    ones = np.ones((n, 1))
    bordered = np.block([[A, -ones], [ones.T, np.zeros((1, 1))]])
    rows: Array = np.linalg.solve(bordered, np.vstack([right.T, np.ones((1, len(right)))]))[:n].T
    return rows
