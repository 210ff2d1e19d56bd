"""The elementwise step of BDR in one pass over the matrices."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit

_TILE = 64  # both a tile and its mirror image stay in the cache


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def update_blocks(Z, old_Z, W, ratio, old_B, B):
    """B = max(0, (A + Aᵀ)/2) with zero diagonal, A = Z − ratio·(diag(W)1ᵀ − W).

    Returns the largest change of an entry of Z or B (NaN if Z holds one, which `max` would pass over), ‖Z − B‖², and
    ⟨I − Z, Z − old_B⟩.
    """
    n = Z.shape[0]
    change, apart, fit = 0.0, 0.0, 0.0
    for top in range(0, n, _TILE):
        for left in range(0, top + 1, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(left, min(left + _TILE, i)):
                    price = 0.5 * (W[i, i] + W[j, j]) - W[i, j]
                    value = max(0.5 * (Z[i, j] + Z[j, i]) - ratio * price, 0.0)
                    change = max(change, abs(value - old_B[i, j]))
                    change = max(change, abs(Z[i, j] - old_Z[i, j]), abs(Z[j, i] - old_Z[j, i]))
                    apart += (Z[i, j] - value) ** 2 + (Z[j, i] - value) ** 2
                    fit -= Z[i, j] * (Z[i, j] - old_B[i, j]) + Z[j, i] * (Z[j, i] - old_B[j, i])
                    B[i, j] = value
                    B[j, i] = value
    for i in range(n):
        B[i, i] = 0.0
        change = max(change, abs(Z[i, i] - old_Z[i, i]))
        apart += Z[i, i] ** 2
        fit += (1.0 - Z[i, i]) * Z[i, i]
    return (change if np.isfinite(apart) else np.nan), apart, fit
