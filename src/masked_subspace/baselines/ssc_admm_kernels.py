"""Numba kernels of SSC's ADMM: the two elementwise passes around the product. Serial; one block of samples a thread."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def prepare_product(rows, T, own, weights, has_weights, threshold, out):
    """out = e_i − (C − Λ/ρ) = e_i − 2C + T, row by row."""
    for index in range(rows.shape[0]):
        i = rows[index]
        for j in range(T.shape[1]):
            bound = threshold * (weights[i, j] if has_weights else 1.0)
            value = T[index, j]
            code = max(value - bound, 0.0) + min(value + bound, 0.0)
            out[index, j] = value - 2 * code
        out[index, own[i]] = 1.0 + T[index, own[i]]


@njit(cache=True, nogil=True)
def update_state(rows, T, own, weights, has_weights, threshold, entry, product, affine, shift, ones_left):
    """T ← Z + Λ/ρ with Z = (C − Λ/ρ) + product (− δ/ρ · ones_left); returns max(|Z − C|, |ΔC|) and Σz of each row."""
    change = np.zeros(rows.shape[0])
    sums = np.zeros(rows.shape[0])
    for index in range(rows.shape[0]):
        i = rows[index]
        for j in range(T.shape[1]):
            bound = threshold * (weights[i, j] if has_weights else 1.0)
            old = T[index, j]
            before = max(old - bound, 0.0) + min(old + bound, 0.0)
            z = product[index, j] - entry[index, j]
            if j == own[i]:
                before = 0.0
                z += 1.0
            if affine:
                z -= shift[i] * ones_left[j]
            new = z + old - before
            after = max(new - bound, 0.0) + min(new + bound, 0.0)
            if j == own[i]:
                after = 0.0
            T[index, j] = new
            sums[index] += z
            change[index] = max(change[index], abs(z - after), abs(after - before))
    return change, sums
