"""Products of sparse rows with implicit centring (numba, float32 and float64).

Sums run in float64: what centring subtracts may be much larger than what it leaves.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from masked_subspace._common.types import Array, FloatArray, IndexArray, IntArray, Number


class Factors(NamedTuple):
    """Row i is s_i·(x_i − m, c): the products of rows are s_i s_j (x_i·x_j − p_i − p_j + q)."""

    indptr: IntArray  # x, CSR
    indices: IntArray
    data: FloatArray
    scale: FloatArray  # s
    along: FloatArray  # p = Xm
    offset: float  # q = ‖m‖² + c²


@njit(cache=True, nogil=True)
def _scatter(rows: Factors, i: int, work: FloatArray) -> None:
    for t in range(rows.indptr[i], rows.indptr[i + 1]):
        work[rows.indices[t]] = rows.data[t]


@njit(cache=True, nogil=True)
def _clear(rows: Factors, i: int, work: FloatArray) -> None:
    for t in range(rows.indptr[i], rows.indptr[i + 1]):
        work[rows.indices[t]] = 0


@njit(cache=True, nogil=True)
def _product(rows: Factors, j: int, work: FloatArray, along: float, scale: float) -> Number:
    """The product of row j with the row whose entries stand in `work`."""
    total = 0.0
    for t in range(rows.indptr[j], rows.indptr[j + 1]):
        total += rows.data[t] * work[rows.indices[t]]
    product: Number = scale * rows.scale[j] * (total - along - rows.along[j] + rows.offset)
    return product


@njit(cache=True, nogil=True)
def products_among(rows: Factors, columns: IndexArray, work: FloatArray, H: FloatArray) -> None:
    """H[s] = products of the rows columns[s] with each other; 0 where a place holds no row (−1).

    `work` has one place for each feature, all zero.
    """
    for s in range(columns.shape[0]):
        for j in range(columns.shape[1]):
            a = columns[s, j]
            if a < 0:
                for k in range(columns.shape[1]):
                    H[s, j, k] = 0
                    H[s, k, j] = 0
                continue
            _scatter(rows, a, work)
            for k in range(j + 1):
                b = columns[s, k]
                if b >= 0:
                    H[s, j, k] = _product(rows, b, work, rows.along[a], rows.scale[a])
                    H[s, k, j] = H[s, j, k]
            _clear(rows, a, work)


@njit(cache=True, nogil=True)
def products_with(
    rows: Factors, columns: IndexArray, targets: Factors, first: int, work: FloatArray, g: FloatArray
) -> None:
    """g[s] = products of the rows columns[s] with target first + s."""
    for s in range(columns.shape[0]):
        i = first + s
        _scatter(targets, i, work)
        for j in range(columns.shape[1]):
            a = columns[s, j]
            g[s, j] = 0 if a < 0 else _product(rows, a, work, targets.along[i], targets.scale[i])
        _clear(targets, i, work)


@njit(cache=True, nogil=True)
def product_tile(
    left: Factors,
    start: int,
    right: Factors,
    by_feature: tuple[Array, Array, Array],
    work: FloatArray,
    tile: FloatArray,
) -> None:
    """tile[a, b] = product of row start + a of `left` with row b of `right`, whose entries stand in `by_feature`
    (indptr, indices, data of CSC). `work` has one place for each row of `right`."""
    indptr, indices, data = by_feature
    for a in range(tile.shape[0]):
        i = start + a
        work[:] = 0
        for t in range(left.indptr[i], left.indptr[i + 1]):
            feature, value = left.indices[t], np.float64(left.data[t])
            for u in range(indptr[feature], indptr[feature + 1]):
                work[indices[u]] += value * data[u]
        shift, scale = right.offset - left.along[i], left.scale[i]
        for b in range(tile.shape[1]):
            tile[a, b] = scale * right.scale[b] * (work[b] + shift - right.along[b])
