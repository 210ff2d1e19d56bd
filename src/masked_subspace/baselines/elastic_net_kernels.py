"""Numba kernels of the batched elastic net: one sample's restricted problem, and the search for atoms it still lacks.

All are serial and release the GIL: `elastic_net.py` runs one block of samples in each thread.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import numpy as np
from numba import njit

_PIVOT = 1e-12  # a relative pivot below this: the active atoms are dependent, coordinate descent goes on alone
_SWEEPS_BETWEEN_STEPS = 8
_BLOCKED_STEPS = 3
_MAX_SWEEPS = 4000


@njit(cache=True, nogil=True, inline="always")
def _soft(value, threshold):
    if value > threshold:
        return value - threshold
    if value < -threshold:
        return value + threshold
    return 0.0


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _cholesky_solve(matrix, right, size):
    """Overwrite `right` by the solution of matrix · x = right; False when the matrix is not safely positive."""
    for i in range(size):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i == j:
                if total <= _PIVOT * matrix[i, i]:
                    return False
                matrix[i, i] = np.sqrt(total)
            else:
                matrix[i, j] = total / matrix[j, j]
    for i in range(size):
        total = right[i]
        for k in range(i):
            total -= matrix[i, k] * right[k]
        right[i] = total / matrix[i, i]
    for i in range(size - 1, -1, -1):
        total = right[i]
        for k in range(i + 1, size):
            total -= matrix[k, i] * right[k]
        right[i] = total / matrix[i, i]
    return True


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _sweep(gram, gradient, prices, ridge, coef):
    """One pass of coordinate descent. `gradient` is b − Gc and stays up to date; returns the largest |Δc|."""
    largest = 0.0
    size = coef.shape[0]
    for j in range(size):
        diagonal = gram[j, j]
        if diagonal + ridge <= 0.0:
            continue
        new = _soft(gradient[j] + diagonal * coef[j], prices[j]) / (diagonal + ridge)
        step = new - coef[j]
        if step != 0.0:
            coef[j] = new
            for k in range(size):
                gradient[k] -= step * gram[j, k]
            largest = max(largest, abs(step))
    return largest


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _sign_step(gram, target, prices, ridge, coef, gradient):
    """Move to the optimum for the present signs, or up to the first coefficient that reaches zero on the way.

    The objective is one quadratic for fixed signs, so the move never raises it. True when it went all the way.
    """
    size = coef.shape[0]
    active = np.nonzero(coef)[0]
    count = active.shape[0]
    if count == 0:
        return True
    matrix = np.empty((count, count))
    right = np.empty(count)
    for a in range(count):
        i = active[a]
        right[a] = target[i] - prices[i] * np.sign(coef[i])
        for b in range(a + 1):
            matrix[a, b] = gram[i, active[b]]
        matrix[a, a] += ridge
    if not _cholesky_solve(matrix, right, count):
        return False
    length, blocking = 1.0, -1
    for a in range(count):
        old = coef[active[a]]
        if right[a] * old <= 0.0:
            reach = old / (old - right[a])
            if reach < length:
                length, blocking = reach, a
    for a in range(count):
        i = active[a]
        coef[i] = 0.0 if a == blocking else coef[i] + length * (right[a] - coef[i])
    for k in range(size):
        total = target[k]
        for a in range(count):
            total -= gram[active[a], k] * coef[active[a]]
        gradient[k] = total
    return blocking < 0


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _restricted_violation(gradient, prices, ridge, coef):
    """Largest violation of the optimality conditions among the atoms of the active set."""
    worst = 0.0
    for j in range(coef.shape[0]):
        slope = gradient[j] - ridge * coef[j]
        if coef[j] != 0.0:
            worst = max(worst, abs(slope - prices[j] * np.sign(coef[j])))
        else:
            worst = max(worst, abs(slope) - prices[j])
    return worst


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def solve_restricted(gram, target, prices, ridge, coef, tol):
    """min ½cᵀGc − bᵀc + Σ p_j|c_j| + ridge/2‖c‖² over the active set, `coef` the start and the answer.

    Coordinate descent finds the signs, a Cholesky solve for those signs ends it: exact, where descent alone would
    crawl on strongly correlated atoms.
    """
    gradient = target.copy()
    for j in range(coef.shape[0]):
        if coef[j] != 0.0:
            for k in range(coef.shape[0]):
                gradient[k] -= coef[j] * gram[j, k]
    sweep = 0
    pause = _SWEEPS_BETWEEN_STEPS
    while sweep < _MAX_SWEEPS:
        for _ in range(pause):
            sweep += 1
            if _sweep(gram, gradient, prices, ridge, coef) == 0.0:
                break
        # Each blocked step takes one atom out, so a few in a row are a cheap way to the right signs.
        blocked = 0
        while blocked < _BLOCKED_STEPS and not _sign_step(gram, target, prices, ridge, coef, gradient):
            blocked += 1
        if _restricted_violation(gradient, prices, ridge, coef) <= tol:
            break
        pause = min(2 * pause, 256)
    return sweep


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def improve_block(
    rows, dictionary, targets, gram, has_gram, lasso, ridge, weights, has_weights, support, size, coef, tol
):
    """Solve the restricted problem of each sample in `rows`; afterwards its list holds only its nonzero atoms."""
    dimension = dictionary.shape[1]
    for index in range(rows.shape[0]):
        i = rows[index]
        count = size[i]
        atoms = support[i, :count]
        local = np.empty((count, count))
        target = np.empty(count)
        if has_gram:
            for a in range(count):
                for b in range(count):
                    local[a, b] = gram[atoms[a], atoms[b]]
        else:
            chosen = np.empty((count, dimension), dtype=dictionary.dtype)
            for a in range(count):
                chosen[a] = dictionary[atoms[a]]
            local[:] = np.dot(chosen, chosen.T)
        prices = np.empty(count)
        for a in range(count):
            total = 0.0
            for k in range(dimension):
                total += dictionary[atoms[a], k] * targets[i, k]
            target[a] = total
            prices[a] = lasso[i] * (weights[i, atoms[a]] if has_weights else 1.0)
        answer = coef[i, :count].copy()
        solve_restricted(local, target, prices, ridge[i], answer, tol * lasso[i])
        kept = 0
        for a in range(count):
            if answer[a] != 0.0:
                support[i, kept] = atoms[a]
                coef[i, kept] = answer[a]
                kept += 1
        size[i] = kept


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def residual_block(rows, dictionary, targets, support, size, coef, out):
    """out[index] = x_i − Σ_j c_j a_j for each sample i = rows[index]."""
    for index in range(rows.shape[0]):
        i = rows[index]
        out[index] = targets[i]
        for a in range(size[i]):
            weight = coef[i, a]
            atom = support[i, a]
            for k in range(dictionary.shape[1]):
                out[index, k] -= weight * dictionary[atom, k]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def add_violators(rows, correlations, own, lasso, weights, has_weights, support, size, coef, n_add, tol):
    """Append to each list the `n_add` atoms that break |a_jᵀr| ≤ l₁ w_j most; returns the largest excess per sample."""
    worst = np.zeros(rows.shape[0])
    best = np.empty(n_add)
    which = np.empty(n_add, dtype=np.int64)
    for index in range(rows.shape[0]):
        i = rows[index]
        listed = size[i]
        # An atom with a nonzero coefficient sits at its bound; mark it so that rounding cannot list it twice.
        for a in range(listed):
            correlations[index, support[i, a]] = 0.0
        if own[i] >= 0:
            correlations[index, own[i]] = 0.0
        found = 0
        for j in range(correlations.shape[1]):
            bound = lasso[i] * (weights[i, j] if has_weights else 1.0)
            excess = abs(correlations[index, j]) - bound
            if excess <= tol * lasso[i] or (found == n_add and excess <= best[n_add - 1]):
                continue
            place = min(found, n_add - 1)
            while place > 0 and best[place - 1] < excess:
                best[place] = best[place - 1]
                which[place] = which[place - 1]
                place -= 1
            best[place] = excess
            which[place] = j
            found = min(found + 1, n_add)
        for a in range(found):
            support[i, listed + a] = which[a]
            coef[i, listed + a] = 0.0
        size[i] = listed + found
        worst[index] = best[0] if found > 0 else 0.0
    return worst
