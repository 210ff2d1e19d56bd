"""Numba kernels of SSC's ADMM: the one elementwise pass, and the product of a sparse step. Serial; a block a thread."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit

_VALUES_ARE_FINITE = {"nnan", "ninf", "nsz", "reassoc", "contract"}  # lets the maxima be vectorised


@njit(cache=True, nogil=True, fastmath=_VALUES_ARE_FINITE, forceinline=True)
def _advance_piece(T, step, moved, tilt, ones_left, prices, threshold, start, stop):
    """The columns start..stop of one row; `prices` is one number where no weights were given."""
    change, total = 0.0, 0.0
    for j in range(start, stop):
        bound = threshold * (prices[j] if prices.shape[0] > 1 else prices[0])
        old = T[j]
        new = old + (step[j] + moved[j]) - tilt * (ones_left[j] if ones_left.shape[0] > 1 else 0.0)
        before = max(old - bound, 0.0) + min(old + bound, 0.0)
        after = max(new - bound, 0.0) + min(new + bound, 0.0)
        z = new - (old - before)
        T[j] = new
        step[j] = after - before
        total += z
        change = max(change, abs(z - after), abs(after - before))
    return change, total


@njit(cache=True, nogil=True, fastmath=_VALUES_ARE_FINITE)
def advance(T, step, moved, own, tilt, ones_left, weights, threshold):
    """T ← T + ΔC + Δa Vᵀ − Δδ/ρ · 1(I − K), then ΔC of the new T.

    Returns max(|Z − C|, |ΔC|) and Σz of each row. A sample's own code is 0 at any T.
    """
    change, sums = np.zeros(T.shape[0]), np.zeros(T.shape[0])
    for i in range(T.shape[0]):
        prices = weights[i] if weights.shape[0] > 1 else weights[0]
        left, sum_left = _advance_piece(T[i], step[i], moved[i], tilt[i], ones_left, prices, threshold, 0, own[i])
        right, sum_right = _advance_piece(
            T[i], step[i], moved[i], tilt[i], ones_left, prices, threshold, own[i] + 1, T.shape[1]
        )
        j = own[i]
        z = moved[i, j] - tilt[i] * (ones_left[j] if ones_left.shape[0] > 1 else 0.0)
        T[i, j] += z
        change[i] = max(left, right, abs(z))
        sums[i] = sum_left + sum_right + z
    return change, sums


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def sparse_product(step, vectors, out):
    """out = step · V for a step that is mostly zeros; four entries at a time, so that `out` is read less often."""
    chosen = np.empty(step.shape[1] + 3, dtype=np.int64)
    for i in range(step.shape[0]):
        count = 0
        for j in range(step.shape[1]):
            chosen[count] = j
            count += step[i, j] != 0.0
        row = out[i]
        row[:] = 0.0
        for start in range(0, count - 3, 4):
            a, b, c, d = chosen[start], chosen[start + 1], chosen[start + 2], chosen[start + 3]
            for k in range(row.shape[0]):
                row[k] += (
                    step[i, a] * vectors[a, k]
                    + step[i, b] * vectors[b, k]
                    + step[i, c] * vectors[c, k]
                    + step[i, d] * vectors[d, k]
                )
        for index in range(count - count % 4, count):
            j = chosen[index]
            for k in range(row.shape[0]):
                row[k] += step[i, j] * vectors[j, k]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def turn(product, shrink, tilt, ones_inside, last, move):
    """Δa ← (ΔC₋V − 2ΔC V + Δa − Δδ/ρ · 1(I − K)V) S, where `last` is ΔC₋V and becomes `product` = ΔC V."""
    for i in range(product.shape[0]):
        for k in range(product.shape[1]):
            outside = tilt[i] * ones_inside[k] if ones_inside.shape[0] > 1 else 0.0
            move[i, k] = (last[i, k] - 2 * product[i, k] + move[i, k] - outside) * shrink[k]
            last[i, k] = product[i, k]
