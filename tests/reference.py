"""Algorithm 1 written out plainly: explicit inverse, float64, one line a formula. The solvers' yardstick."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masked_subspace.represent.model import AdmmSettings

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PlainResult:
    Z: Array
    C: Array
    Q: Array
    noise: Array
    outliers: Array
    n_iter: int
    converged: bool
    stopping_value: float


def hard_threshold(values: Array, tau: float) -> Array:
    """H_τ: entries of magnitude above τ stay, the others become zero."""
    return np.where(np.abs(values) > tau, values, 0.0)


def plain_admm(
    X: Array,
    settings: AdmmSettings,
    *,
    prices: Array | float = 0.0,
    allowed: npt.NDArray[np.bool_] | None = None,
) -> PlainResult:
    """BMSC (prices 0), GMSC and, when `settings` has noise or outliers, GMSC-n, with the hard mask `allowed`.

    An affine Z step is solved here as one bordered system (z, ν), not by the formula of the solvers.
    """
    n = len(X)
    I = np.eye(n)  # noqa: E741
    Mh = (1.0 - I) if allowed is None else np.where(np.eye(n, dtype=bool), 0.0, allowed.astype(float))
    weights = settings.mask_weight * np.broadcast_to(np.asarray(prices, dtype=float), (n, n)) ** 2
    lam, mu, p = settings.sparsity, settings.penalty, settings.penalty_growth
    Z, C, Q, U1, U2 = (np.zeros((n, n)) for _ in range(5))
    noise, outliers = np.zeros_like(X), np.zeros_like(X)
    change, k = np.inf, 0
    while k < settings.max_iter and not change < settings.tol:
        target = X - noise - outliers
        right = target @ X.T - U1 + mu * Mh * C + U2 + mu * Q
        if settings.affine:
            Z_new = _affine_rows(right, X @ X.T + 2 * mu * I)
        else:
            Z_new = right @ np.linalg.inv(X @ X.T + 2 * mu * I)  # Eq:b-Z
        C_new = (U1 + mu * Z_new) * Mh / (weights + mu)  # Eq:C
        Q_new = hard_threshold(Z_new - U2 / mu, np.sqrt(2 * lam / mu))  # Eq:b-Q
        R = X - Z_new @ X
        if settings.noise is not None:
            noise = (R - outliers) / (1 + 2 * settings.noise)
        if settings.outliers is not None:
            outliers = hard_threshold(R - noise, np.sqrt(2 * settings.outliers))
        U1 = U1 + mu * (Z_new - Mh * C_new)
        U2 = U2 + mu * (Q_new - Z_new)
        change = max(np.abs(C_new - C).max(), np.abs(Z_new - Z).max(), np.abs(Q_new - Q).max())
        Z, C, Q, mu, k = Z_new, C_new, Q_new, mu * p, k + 1
    return PlainResult(Z, C, Q, noise, outliers, k, bool(change < settings.tol), float(change))


def _affine_rows(right: Array, A: Array) -> Array:
    """Rows z with zA = right + ν1ᵀ and z1 = 1, from the bordered system of both."""
    n = len(A)
    ones = np.ones((n, 1))
    bordered = np.block([[A, -ones], [ones.T, np.zeros((1, 1))]])
    return np.linalg.solve(bordered, np.vstack([right.T, np.ones((1, len(right)))]))[:n].T
