"""Numba kernel of the ridge projection: what BLAS leaves out of a symmetric product, and the zero diagonal."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from numba import njit

_TILE = 64  # rows and columns: two tiles of float64 stay in the first cache level


@njit(cache=True, nogil=True)
def mirror_scaled(Z, factor):
    """Complete a matrix of which only the lower triangle is set, row i times factor[i]. The diagonal is left."""
    n = Z.shape[0]
    for top in range(0, n, _TILE):
        for left in range(0, top + _TILE, _TILE):
            for j in range(left, min(left + _TILE, n)):
                for i in range(max(top, j + 1), min(top + _TILE, n)):
                    Z[j, i] = Z[i, j] * factor[j]
            for i in range(top, min(top + _TILE, n)):
                for j in range(left, min(left + _TILE, i)):
                    Z[i, j] *= factor[i]
