"""Algorithm 1 as a reader of the paper would type it: float64, explicit inverse. The benchmark's denominator."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from masked_subspace.represent.model import AdmmSettings

Array = npt.NDArray[np.float64]


def plain_iterations(X: Array, settings: AdmmSettings, prices: Array | float = 0.0) -> Iterator[tuple[Array, bool]]:
    """Yield (Q, converged) after each iteration, until it has converged or T is reached."""
    n, mu = len(X), settings.penalty
    identity = np.eye(n)
    Mh = 1.0 - identity
    weights = settings.mask_weight * np.asarray(prices) ** 2
    Z, C, Q, U1, U2 = (np.zeros((n, n)) for _ in range(5))
    noise, outliers = np.zeros_like(X), np.zeros_like(X)
    for _ in range(settings.max_iter):
        before = C, Z, Q
        right = (X - noise - outliers) @ X.T - U1 + mu * Mh * C + U2 + mu * Q
        Z = right @ np.linalg.inv(X @ X.T + 2 * mu * identity)
        C = (U1 + mu * Z) * Mh / (weights + mu)
        Q = _hard_threshold(Z - U2 / mu, 2 * settings.sparsity / mu)
        if settings.has_residual_model:
            R = X - Z @ X
            if settings.noise is not None:
                noise = (R - outliers) / (1 + 2 * settings.noise)
            if settings.outliers is not None:
                outliers = _hard_threshold(R - noise, 2 * settings.outliers)
        U1 = U1 + mu * (Z - Mh * C)
        U2 = U2 + mu * (Q - Z)
        mu *= settings.penalty_growth
        change = max(float(np.abs(new - old).max()) for new, old in zip((C, Z, Q), before, strict=True))
        yield Q, change < settings.tol
        if change < settings.tol:
            return


def _hard_threshold(values: Array, square: float) -> Array:
    return np.where(values**2 > square, values, 0.0)
