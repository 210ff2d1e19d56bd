"""Kernels of the lazy pass. One file, because numba's cache does not see changes elsewhere; see `lazy.py` for the idea.

Directions are counted in unsigned integers: a signed index may count from the end, and that test stops vectorisation.

Names: a row has coefficient vectors for each *set* of columns that share a weight (one set in BMSC; inside and outside
the sample's cluster under a label mask) and a short list of *entries* (columns that are treated one by one, the
sample's own first). Numbers are of the data's dtype: a float64 literal would turn float32 operations into float64.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np

from masked_subspace._common.types import BoolArray, FloatArray, IntArray, Number
from masked_subspace.represent.dense.kernels import larger

# Kinds of coefficient vectors: Z = Vα + ζ, T = Vg + …, C = Vκ + χ; the last two kinds exist only with weights.
ALPHA, G, G_REFERENCE, ALPHA_CHANGE, KAPPA, KAPPA_CHANGE = range(6)
# Numbers kept for an entry e: ζ, η/μ (the entry's part of U2), Q, V_e·α, V_e·β/μ, χ, V_e·κ, the last change of Q.
ZETA, ETA, Q, V_ALPHA, V_BETA, CHI, V_KAPPA, Q_CHANGE = range(8)
N_FIELDS = 8
Place = np.uint64  # of a direction
TILE = 128  # directions treated together: the listed rows of V then stay in the first-level cache


class Iteration(NamedTuple):
    """What all rows share in one iteration."""

    V: FloatArray  # n × r, the eigenvectors
    filters: FloatArray  # r, s/(s + 2μ)
    data_weights: FloatArray  # r, what h² of a direction adds to the data term
    weights: FloatArray  # w/μ of each set
    prices: FloatArray  # w of each set
    group_ends: IntArray  # groups of directions, for the bound
    group_norms: FloatArray  # clusters and all samples × groups, the largest norm of a row of V
    tau: Number  # the hard threshold √(2λ/μ)
    ratio_last: Number  # μ of the last iteration over μ
    ratio_next: Number  # μ over that of the next iteration
    half: Number  # ½
    slack: Number  # a little more than 1: what rounding may take from the bound


class Lists(NamedTuple):
    """The entries of b rows, each list as long as the longest."""

    columns: IntArray  # b × l
    sets: IntArray  # b × l
    values: FloatArray  # b × N_FIELDS × l
    lengths: IntArray  # b


class RowState(NamedTuple):
    """What b rows carry from one iteration to the next, beside their lists."""

    coefficients: FloatArray  # b × kinds × sets × r
    multipliers: FloatArray  # b, U1/μ on the diagonal
    reference_max: FloatArray  # b × sets, the largest |V_j·g₀| off the list
    margin: FloatArray  # b, the nearest that any entry has come to τ, relative to it
    labels: IntArray  # b, the cluster of each sample


class RowReport(NamedTuple):
    """What an iteration says of b rows."""

    unsafe: BoolArray  # b × sets, whether the set may hold a new column above τ
    change: FloatArray  # b, the largest change that is known
    data: FloatArray  # b, the data term
    paid: FloatArray  # b, Σ w·Q²
    n_nonzero: FloatArray  # b, the entries of Q


class Products(NamedTuple):
    """V_j·x of some rows, each with its vector x of set k, for the columns j from `first` on."""

    values: FloatArray
    first: int
    k: int
    rows: IntArray


class _Work(NamedTuple):
    rho: FloatArray  # the right side of each entry
    dots: FloatArray  # V_e·α of each entry
    h: FloatArray  # Vᵀ(right side)
    right: FloatArray  # one set's coefficients of the right side


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _right_side(
    step: Iteration, own: FloatArray, g: FloatArray, weight: Number, begin: Place, end: Place, out: FloatArray
) -> None:
    """One set's coefficients of the right side of Eq:b-Z over 2μ, without G: ½((1 − w/μ)κ + β/μ), β/μ = −ratio·g."""
    half = step.half
    share, lag = half * (half + half - weight), half * step.ratio_last
    for t in range(begin, end):
        out[t] = share * own[t] - lag * g[t]


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def set_difference(step: Iteration, coefficients: FloatArray, out: FloatArray) -> None:
    """Right side's coefficients inside the cluster minus those outside it: what must go through V_cᵀV_c."""
    rank, begin, end = out.shape[1], np.uint64(0), np.uint64(out.shape[1])
    own = KAPPA if coefficients.shape[1] > KAPPA else ALPHA
    outside = np.empty(rank, out.dtype)
    for a in range(len(out)):
        _right_side(step, coefficients[a, own, 0], coefficients[a, G, 0], step.weights[0], begin, end, out[a])
        _right_side(step, coefficients[a, own, 1], coefficients[a, G, 1], step.weights[1], begin, end, outside)
        for t in range(rank):
            out[a, t] -= outside[t]


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _add_entries(
    V: FloatArray, columns: IntArray, rho: FloatArray, n: int, begin: Place, end: Place, h: FloatArray
) -> None:
    """h += Σ ρ_e V_e, four entries at a time so that h is read and written once for four rows of V."""
    e = 0
    while e + 4 <= n:
        c0, c1, c2, c3 = columns[e], columns[e + 1], columns[e + 2], columns[e + 3]
        r0, r1, r2, r3 = rho[e], rho[e + 1], rho[e + 2], rho[e + 3]
        for t in range(begin, end):
            h[t] += r0 * V[c0, t] + r1 * V[c1, t] + r2 * V[c2, t] + r3 * V[c3, t]
        e += 4
    while e < n:
        c0, r0 = columns[e], rho[e]
        for t in range(begin, end):
            h[t] += r0 * V[c0, t]
        e += 1


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _dot(V: FloatArray, column: int, x: FloatArray, begin: Place, end: Place) -> Number:
    total = x.dtype.type(0)
    for t in range(begin, end):
        total += V[column, t] * x[t]
    return total


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _advance_set(
    step: Iteration, work: _Work, begin: Place, end: Place, alpha: FloatArray, g: FloatArray, moved: FloatArray
) -> None:
    """One set's α and g after Eq:b-Z, for the directions begin..end. `work.right` becomes the new α."""
    right, h, filters, ratio = work.right, work.h, step.filters, step.ratio_last
    for t in range(begin, end):
        right[t] -= filters[t] * h[t]
    for t in range(begin, end):
        moved[t] = right[t] - alpha[t]
        alpha[t] = right[t]
        g[t] = right[t] + ratio * g[t]


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _advance_kappa(
    alpha: FloatArray, weight: Number, begin: Place, end: Place, kappa: FloatArray, moved: FloatArray
) -> None:
    """One set's κ after Eq:C."""
    one = alpha.dtype.type(1)
    inverse = one / (one + weight)
    for t in range(begin, end):
        new = (weight * kappa[t] + alpha[t]) * inverse
        moved[t] = new - kappa[t]
        kappa[t] = new


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _bound(
    g: FloatArray, reference: FloatArray, largest: Number, group_ends: IntArray, group_norms: FloatArray
) -> Number:
    """An upper bound of |V_j·g| over all columns j off the list.

    With g = c·g₀ + rest: |c|·max|V_j·g₀| + Σ over groups of directions of max‖V_j‖·‖rest‖ (Cauchy–Schwarz in each).
    """
    zero = largest - largest
    cross, square = zero, zero
    begin = np.uint64(0)
    for group in range(len(group_ends)):
        part, own = zero, zero
        end = np.uint64(group_ends[group])
        for t in range(begin, end):
            part += g[t] * reference[t]
            own += reference[t] * reference[t]
        norm = group_norms[group] * group_norms[group]
        cross += norm * part
        square += norm * own
        begin = end
    c = cross / square if square > zero else zero
    bound = abs(c) * largest
    begin = np.uint64(0)
    for group in range(len(group_ends)):
        rest = zero
        end = np.uint64(group_ends[group])
        for t in range(begin, end):
            difference = g[t] - c * reference[t]
            rest += difference * difference
        bound += group_norms[group] * np.sqrt(rest)
        begin = end
    return bound


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _update_entries(
    step: Iteration, sets: IntArray, n: int, entries: FloatArray, work: _Work, multiplier: Number
) -> tuple[Number, Number, Number, Number, Number]:
    """Z, C, Q and both multipliers of one row's listed columns, from `work.rho` and `work.dots`.

    Returns the largest change, Σ w·Q², the number of entries of Q, U1/μ of the diagonal, and how near to τ any came.
    """
    tau, ratio, half = step.tau, step.ratio_next, step.half
    rho, dots, weights, prices = work.rho, work.dots, step.weights, step.prices
    one, zero = half + half, half - half
    change, paid, count, nearest = zero, zero, zero, tau
    for e in range(n):
        k = sets[e]
        weight = weights[k]
        zeta = rho[e] + one if e == 0 else rho[e]  # Eq:b-Z on the list
        v_alpha = dots[e]
        change = max(change, abs(v_alpha - entries[V_ALPHA, e] + zeta - entries[ZETA, e]))
        v_kappa = (weight * entries[V_KAPPA, e] + v_alpha) / (weight + one)  # Eq:C on the list
        chi = (weight * entries[CHI, e] + zeta) / (weight + one)
        if e == 0:  # the diagonal is forbidden: C = 0, and U1 collects μZ
            chi = -v_kappa
            multiplier = (multiplier + v_alpha + zeta) * ratio
        change = max(change, abs(v_kappa + chi - entries[V_KAPPA, e] - entries[CHI, e]))
        x = v_alpha - entries[V_BETA, e]
        t = x + zeta - entries[ETA, e]  # Eq:b-Q on the list
        nearest = min(nearest, abs(abs(t) - tau))
        if abs(t) > tau:
            q, eta = t, x
            paid += zero if e == 0 else prices[k] * q * q
            count += one
        else:
            q, eta = zero, entries[ETA, e] - zeta
        entries[Q_CHANGE, e] = q - entries[Q, e]
        change = max(change, abs(entries[Q_CHANGE, e]))
        entries[ZETA, e], entries[ETA, e], entries[Q, e] = zeta, eta * ratio, q
        entries[V_ALPHA, e], entries[V_BETA, e] = v_alpha, -x * ratio
        entries[CHI, e], entries[V_KAPPA, e] = chi, v_kappa
    return change, paid, count, multiplier, nearest / tau if tau > zero else one


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _advance_directions(
    step: Iteration, coefficients: FloatArray, base: FloatArray, columns: IntArray, sets: IntArray, n: int, work: _Work
) -> Number:
    """Eq:b-Z for one row, some directions at a time, so that a row of V is fetched once for h and for V_e·α.

    Returns the data term; `work.dots` becomes V_e·α of the entries.
    """
    V, weights, data_weights = step.V, step.weights, step.data_weights
    h, dots = work.h, work.dots
    rank, n_sets = V.shape[1], coefficients.shape[1]
    weighted = coefficients.shape[0] > KAPPA
    own = KAPPA if weighted else ALPHA
    data = V.dtype.type(0)
    for e in range(n):
        dots[e] = 0
    for start in range(0, rank, TILE):
        begin, end = np.uint64(start), np.uint64(min(rank, start + TILE))
        last = n_sets - 1
        _right_side(step, coefficients[own, last], coefficients[G, last], weights[last], begin, end, h)
        if n_sets == 2:
            for t in range(begin, end):
                h[t] += base[t]
        _add_entries(V, columns, work.rho, n, begin, end, h)
        for t in range(begin, end):
            data += data_weights[t] * h[t] * h[t]
        for k in range(n_sets):
            alpha, g = coefficients[ALPHA, k], coefficients[G, k]
            _right_side(step, coefficients[own, k], g, weights[k], begin, end, work.right)
            _advance_set(step, work, begin, end, alpha, g, coefficients[ALPHA_CHANGE, k])
            if weighted:
                _advance_kappa(alpha, weights[k], begin, end, coefficients[KAPPA, k], coefficients[KAPPA_CHANGE, k])
        for e in range(n):
            dots[e] += _dot(V, columns[e], coefficients[ALPHA, sets[e]], begin, end)
    return data


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def advance(
    step: Iteration, state: RowState, lists: Lists, base: FloatArray, norm_rows: IntArray, report: RowReport
) -> None:
    """One iteration of every row, and in which sets of columns a row may have a new one above τ.

    `base` (with two sets) is `set_difference` through V_cᵀV_c; `norm_rows` (b × sets) tells whose norms bound a set.
    """
    half, one, weights, dtype = step.half, step.half + step.half, step.weights, step.V.dtype
    longest, rank = lists.columns.shape[1], step.V.shape[1]
    rho, dots = np.empty(longest, dtype), np.empty(longest, dtype)
    work = _Work(rho, dots, np.empty(rank, dtype), np.empty(rank, dtype))
    for a in range(len(lists.lengths)):
        n, own, coefficients = lists.lengths[a], lists.values[a], state.coefficients[a]
        columns, sets = lists.columns[a], lists.sets[a]
        for e in range(n):
            rho[e] = half * ((one - weights[sets[e]]) * own[CHI, e] + own[ETA, e] + own[Q, e])
        rho[0] -= half * state.multipliers[a] + one
        report.data[a] = _advance_directions(step, coefficients, base[a], columns, sets, n, work)
        for k in range(coefficients.shape[1]):
            norms = step.group_norms[norm_rows[a, k]]
            g, reference = coefficients[G, k], coefficients[G_REFERENCE, k]
            bound = _bound(g, reference, state.reference_max[a, k], step.group_ends, norms)
            report.unsafe[a, k] = not bound * step.slack < step.tau
        change, paid, count, multiplier, nearest = _update_entries(step, sets, n, own, work, state.multipliers[a])
        report.change[a], report.paid[a], report.n_nonzero[a], state.multipliers[a] = change, paid, count, multiplier
        state.margin[a] = min(state.margin[a], nearest)


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def scan(found: Products, lists: Lists, others: IntArray, tau: Number, largest: FloatArray, n_new: IntArray) -> None:
    """For each checked row: how many unlisted columns of set k exceed τ; `largest[a, k]` becomes the rest's largest.

    Listed columns, and those of the range `others[a]`, which belong to the other set, are zeroed in the products.
    """
    zero, first = tau - tau, found.first
    for m in range(len(found.rows)):
        a = found.rows[m]
        line = found.values[m]
        for e in range(lists.lengths[a]):
            j = lists.columns[a, e] - first
            if 0 <= j < len(line):
                line[j] = zero
        for j in range(others[a, 0], others[a, 1]):
            line[j - first] = zero
        top = _largest(line)
        n_new[m] = 0
        if top > tau:
            top = zero
            for j in range(len(line)):
                x = abs(line[j])
                if x > tau:
                    n_new[m] += 1
                else:
                    top = max(top, x)
        largest[a, found.k] = top


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _largest(line: FloatArray) -> Number:
    top = line.dtype.type(0)
    for j in range(len(line)):
        top = larger(top, abs(line[j]))
    return top


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def insert(found: Products, n_new: IntArray, step: Iteration, state: RowState, lists: Lists, report: RowReport) -> None:
    """Put columns above τ, all of set k, on their rows' lists, which must have room. There T = V_j·g and ζ = η = 0."""
    tau, ratio, half, V, coefficients = step.tau, step.ratio_next, step.half, step.V, state.coefficients
    one, zero = half + half, half - half
    weighted = coefficients.shape[1] > KAPPA
    begin, end = np.uint64(0), np.uint64(V.shape[1])
    for m in range(len(found.rows)):
        a = found.rows[m]
        if n_new[m] == 0:
            continue
        for place in range(found.values.shape[1]):
            x = found.values[m, place]
            if not abs(x) > tau:
                continue
            j, e = found.first + place, lists.lengths[a]
            lists.columns[a, e], lists.sets[a, e] = j, found.k
            own = lists.values[a]
            own[ZETA, e], own[CHI, e] = zero, zero
            own[Q, e], own[Q_CHANGE, e], own[ETA, e], own[V_BETA, e] = x, x, ratio * x, -ratio * x
            own[V_ALPHA, e] = _dot(V, j, coefficients[a, ALPHA, found.k], begin, end)
            own[V_KAPPA, e] = own[V_ALPHA, e]
            if weighted:
                own[V_KAPPA, e] = _dot(V, j, coefficients[a, KAPPA, found.k], begin, end)
            lists.lengths[a] = e + 1
            if tau > zero:
                state.margin[a] = min(state.margin[a], abs(x) / tau - one)
            report.change[a] = max(report.change[a], abs(x))
            report.paid[a] += step.prices[found.k] * x * x
            report.n_nonzero[a] += one


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def prune(V: FloatArray, state: RowState, lists: Lists, negligible: Number) -> None:
    """Take entries off the lists whose own parts have died away; the bound must cover their columns again."""
    coefficients, reference_max, columns, sets = state.coefficients, state.reference_max, lists.columns, lists.sets
    begin, end = np.uint64(0), np.uint64(V.shape[1])
    for a in range(len(lists.lengths)):
        own, n = lists.values[a], 1
        for e in range(1, lists.lengths[a]):
            size = max(abs(own[ZETA, e]), max(abs(own[ETA, e]), abs(own[CHI, e])))
            if own[Q, e] == 0 and size < negligible:
                k = sets[a, e]
                reference = abs(_dot(V, columns[a, e], coefficients[a, G_REFERENCE, k], begin, end))
                reference_max[a, k] = max(reference_max[a, k], reference)
                continue
            if n != e:
                columns[a, n], sets[a, n] = columns[a, e], sets[a, e]
                for field in range(own.shape[0]):
                    own[field, n] = own[field, e]
            n += 1
        lists.lengths[a] = n
