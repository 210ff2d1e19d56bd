"""Numba kernels of batched orthogonal matching pursuit. Serial; a block of samples runs in each thread."""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def grow_codes(rows, step, correlations, banned, dictionary, targets, support, size, factor, projection, coef):
    """Add to each running code the atom most correlated with its residual, and refit it.

    `factor[i]` is the Cholesky factor of the Gram matrix of the chosen atoms, `projection[i]` solves it forward; a new
    atom adds one row to each. `banned[i]` lists atoms that sample i may not use (−1 fills up). A code that has nothing
    left to gain stops (its size stays below `step + 1`).
    """
    dimension = dictionary.shape[1]
    for index in range(rows.shape[0]):
        i = rows[index]
        for a in range(step):
            correlations[index, support[i, a]] = 0.0
        for a in range(banned.shape[1]):
            if banned[i, a] >= 0:
                correlations[index, banned[i, a]] = 0.0
        best, atom = 0.0, -1
        for j in range(correlations.shape[1]):
            value = abs(correlations[index, j])
            if value > best:
                best, atom = value, j
        if atom < 0:
            continue
        # New row of the factor: L w = (a_jᵀa_new) over the chosen atoms, pivot √(‖a_new‖² − ‖w‖²).
        square, target = 0.0, 0.0
        for k in range(dimension):
            square += dictionary[atom, k] * dictionary[atom, k]
            target += dictionary[atom, k] * targets[i, k]
        pivot = square
        for a in range(step):
            inner = 0.0
            other = support[i, a]
            for k in range(dimension):
                inner += dictionary[atom, k] * dictionary[other, k]
            for b in range(a):
                inner -= factor[i, a, b] * factor[i, step, b]
            inner /= factor[i, a, a]
            factor[i, step, a] = inner
            pivot -= inner * inner
            target -= inner * projection[i, a]
        if pivot <= 1e-10 * square:
            continue
        factor[i, step, step] = np.sqrt(pivot)
        projection[i, step] = target / factor[i, step, step]
        support[i, step] = atom
        size[i] = step + 1
        for a in range(step, -1, -1):
            total = projection[i, a]
            for b in range(a + 1, step + 1):
                total -= factor[i, b, a] * coef[i, b]
            coef[i, a] = total / factor[i, a, a]
