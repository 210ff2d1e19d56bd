"""Numba kernels of the batched elastic net: one sample's restricted problem, and the search for atoms it still lacks.

Rows are copied entry by entry: assigning slices compiles five times as long. All are serial and release the GIL:
`elastic_net.py` runs one block of samples in each thread.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from masked_subspace._common.types import FloatArray, IntArray

_PIVOT = 1e-12  # a relative pivot below this: the active atoms are dependent, coordinate descent goes on alone
_SWEEPS_BETWEEN_STEPS = 8
_MAX_SWEEPS = 2000


class Codes(NamedTuple):
    """The atoms of each sample of a block, and their coefficients."""

    support: IntArray  # b × l
    coef: FloatArray  # b × l
    size: IntArray  # b, how many entries of a row are in use

    def to_csr(self, n_columns: int, dtype: np.dtype) -> csr_array:
        taken = np.arange(self.support.shape[1]) < self.size[:, None]
        indptr = np.concatenate([[0], np.cumsum(self.size)])
        matrix = csr_array(
            (self.coef[taken].astype(dtype), self.support[taken].astype(np.int32), indptr),
            shape=(len(self.size), n_columns),
        )
        matrix.sort_indices()
        return matrix


class Samples(NamedTuple):
    """The problems of a block of samples."""

    dictionary: FloatArray  # atoms × d
    targets: FloatArray  # b × d
    lasso: FloatArray  # b, l₁
    ridge: FloatArray  # b, l₂
    own: IntArray  # b, the atom that is the sample itself, −1 where none is
    gram: FloatArray  # A Aᵀ; without rows it is computed where it is needed
    weights: FloatArray  # b × atoms; without rows all are 1


@njit(cache=True, nogil=True, inline="always")
def _soft(value, threshold):
    if value > threshold:
        return value - threshold
    if value < -threshold:
        return value + threshold
    return 0.0


@njit(cache=True, nogil=True, forceinline=True)
def _count(values):
    count = 0
    for j in range(values.shape[0]):
        count += values[j] != 0.0
    return count


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, forceinline=True)
def _cholesky(matrix, size):
    """Factor the lower triangle in place; returns the row at which the matrix is not safely positive, or `size`."""
    for i in range(size):
        whole = matrix[i, i]
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i == j:
                if total <= _PIVOT * whole:
                    return i
                matrix[i, i] = np.sqrt(total)
            else:
                matrix[i, j] = total / matrix[j, j]
    return size


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, forceinline=True)
def _solve_lower(matrix, right, size):
    for i in range(size):
        total = right[i]
        for k in range(i):
            total -= matrix[i, k] * right[k]
        right[i] = total / matrix[i, i]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, forceinline=True)
def _solve_upper(matrix, right, size):
    """Lᵀx = right, column by column so that memory is read along rows."""
    for i in range(size - 1, -1, -1):
        right[i] /= matrix[i, i]
        for k in range(i):
            right[k] -= matrix[i, k] * right[i]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, forceinline=True)
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


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, forceinline=True)
def _towards(gram, target, prices, ridge, coef, active):
    """Where the coefficients `active` should go: the optimum for their signs, or along a dependency among the atoms.

    If atom p is a combination of those before it, moving along that dependency leaves the fit as it is and can lower
    the price; it is followed (far) until a coefficient reaches zero. Returns the direction and whether it is final.
    """
    count = active.shape[0]
    matrix = np.empty((count, count))
    step = np.empty(count)
    for a in range(count):
        i = active[a]
        step[a] = target[i] - prices[i] * np.sign(coef[i])
        for b in range(a + 1):
            matrix[a, b] = gram[i, active[b]]
        matrix[a, a] += ridge
    bad = _cholesky(matrix, count)
    if bad == count:
        _solve_lower(matrix, step, count)
        _solve_upper(matrix, step, count)
        for a in range(count):
            step[a] -= coef[active[a]]
        return step, True
    for b in range(count):
        step[b] = 0.0
    for b in range(bad):
        step[b] = -matrix[bad, b]
    _solve_upper(matrix, step, bad)
    step[bad] = 1.0
    slope = 0.0
    for a in range(bad + 1):
        slope += prices[active[a]] * np.sign(coef[active[a]]) * step[a]
    if slope > 0.0 or (slope == 0.0 and coef[active[bad]] > 0.0):
        for a in range(count):
            step[a] = -step[a]
    return step, False


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, forceinline=True)
def _sign_step(gram, target, prices, ridge, coef, gradient):
    """Move to the optimum for the present signs, or up to the first coefficient that reaches zero on the way.

    The objective is one quadratic for fixed signs, so the move never raises it. True when it went all the way.
    """
    size = coef.shape[0]
    active = np.nonzero(coef)[0]
    count = active.shape[0]
    if count == 0:
        return True
    step, final = _towards(gram, target, prices, ridge, coef, active)
    length, blocking = (1.0 if final else np.inf), -1
    for a in range(count):
        old = coef[active[a]]
        if step[a] * old < 0.0 and -old / step[a] <= length:
            length, blocking = -old / step[a], a
    if not final and blocking < 0:
        return False
    for a in range(count):
        i = active[a]
        coef[i] = 0.0 if a == blocking else coef[i] + length * step[a]
    for k in range(size):
        total = target[k]
        for a in range(count):
            total -= gram[active[a], k] * coef[active[a]]
        gradient[k] = total
    return blocking < 0


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"}, forceinline=True)
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
    crawl on strongly correlated atoms. Returns the violation that is left.
    """
    gradient = np.empty(coef.shape[0])
    for j in range(coef.shape[0]):
        gradient[j] = target[j]
    for j in range(coef.shape[0]):
        if coef[j] != 0.0:
            for k in range(coef.shape[0]):
                gradient[k] -= coef[j] * gram[j, k]
    sweep = 0
    while sweep < _MAX_SWEEPS:
        for _ in range(_SWEEPS_BETWEEN_STEPS):
            sweep += 1
            if _sweep(gram, gradient, prices, ridge, coef) == 0.0:
                break
        # Every blocked step takes one atom out, so this ends; what it took out wrongly, the next sweep puts back.
        while not _sign_step(gram, target, prices, ridge, coef, gradient):
            if _count(coef) == 0:
                break
        violation = _restricted_violation(gradient, prices, ridge, coef)
        if violation <= tol:
            break
    return violation


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def improve_block(rows: IntArray, samples: Samples, codes: Codes, tol: float) -> FloatArray:
    """Solve the restricted problem of each sample in `rows`; afterwards its list holds only its nonzero atoms.

    Returns what is left of each one's violation, as a share of its l₁.
    """
    dictionary, targets, gram, weights = samples.dictionary, samples.targets, samples.gram, samples.weights
    lasso, ridge = samples.lasso, samples.ridge
    support, coef, size = codes.support, codes.coef, codes.size
    has_gram, has_weights = gram.shape[0] > 0, weights.shape[0] > 0
    left = np.zeros(rows.shape[0])
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
                for k in range(dimension):
                    chosen[a, k] = dictionary[atoms[a], k]
            products = np.dot(chosen, chosen.T)
            for a in range(count):
                for b in range(count):
                    local[a, b] = products[a, b]
        prices = np.empty(count)
        answer = np.empty(count)
        for a in range(count):
            answer[a] = coef[i, a]
            total = 0.0
            for k in range(dimension):
                total += dictionary[atoms[a], k] * targets[i, k]
            target[a] = total
            prices[a] = lasso[i] * (weights[i, atoms[a]] if has_weights else 1.0)
        left[index] = solve_restricted(local, target, prices, ridge[i], answer, tol * lasso[i]) / lasso[i]
        kept = 0
        for a in range(count):
            if answer[a] != 0.0:
                support[i, kept] = atoms[a]
                coef[i, kept] = answer[a]
                kept += 1
        size[i] = kept
    return left


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def residual_block(rows: IntArray, dictionary: FloatArray, targets: FloatArray, codes: Codes, out: FloatArray) -> None:
    """out[index] = x_i − Σ_j c_j a_j for each sample i = rows[index]."""
    support, coef, size = codes.support, codes.coef, codes.size
    for index in range(rows.shape[0]):
        i = rows[index]
        for k in range(dictionary.shape[1]):
            out[index, k] = targets[i, k]
        for a in range(size[i]):
            weight = coef[i, a]
            atom = support[i, a]
            for k in range(dictionary.shape[1]):
                out[index, k] -= weight * dictionary[atom, k]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def add_violators(
    rows: IntArray, correlations: FloatArray, samples: Samples, codes: Codes, n_add: int, tol: float
) -> FloatArray:
    """Append to each list the `n_add` atoms that break |a_jᵀr| ≤ l₁ w_j most; returns the largest excess per sample."""
    own, lasso, weights = samples.own, samples.lasso, samples.weights
    support, coef, size = codes.support, codes.coef, codes.size
    has_weights = weights.shape[0] > 0
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
