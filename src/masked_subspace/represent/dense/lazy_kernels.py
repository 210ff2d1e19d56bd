"""Kernels of the lazy pass. One file, because numba's cache does not see changes elsewhere; see `lazy.py` for the idea.

Directions are counted in unsigned integers: a signed index may count from the end, and that test stops vectorisation.

Names: a row has coefficient vectors for each *set* of columns that share a weight (one set in BMSC; inside and outside
the sample's cluster under a label mask) and a short list of *entries* (columns that are treated one by one, the
sample's own first).
"""

from __future__ import annotations

import numba as nb
import numpy as np

from masked_subspace.represent.dense.kernels import larger

# Kinds of coefficient vectors: Z = Vα + ζ, T = Vg + …, C = Vκ + χ; the last two kinds exist only with weights.
ALPHA, G, G_REFERENCE, ALPHA_CHANGE, KAPPA, KAPPA_CHANGE = range(6)
# Numbers kept for an entry e: ζ, η/μ (the entry's part of U2), Q, V_e·α, V_e·β/μ, χ, V_e·κ, the last change of Q.
ZETA, ETA, Q, V_ALPHA, V_BETA, CHI, V_KAPPA, Q_CHANGE = range(8)
N_FIELDS = 8
# Scalars of one iteration.
TAU, RATIO_LAST, RATIO_NEXT, HALF, SLACK = range(5)
TILE = 128  # directions treated together: the listed rows of V then stay in the first-level cache


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _right_side(own, g, weight, scalars, begin, end, out):  # type: ignore[no-untyped-def]
    """One set's coefficients of the right side of Eq:b-Z over 2μ, without G: ½((1 − w/μ)κ + β/μ), β/μ = −ratio·g."""
    half = scalars[HALF]
    share, lag = half * (half + half - weight), half * scalars[RATIO_LAST]
    for t in range(begin, end):
        out[t] = share * own[t] - lag * g[t]


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def set_difference(coefficients, weights, scalars, out):  # type: ignore[no-untyped-def]
    """Right side's coefficients inside the cluster minus those outside it: what must go through V_cᵀV_c."""
    rank = out.shape[1]
    own = KAPPA if coefficients.shape[1] > KAPPA else ALPHA
    outside = np.empty(rank, out.dtype)
    for a in range(len(out)):
        _right_side(
            coefficients[a, own, 0], coefficients[a, G, 0], weights[0], scalars, np.uint64(0), np.uint64(rank), out[a]
        )
        _right_side(
            coefficients[a, own, 1], coefficients[a, G, 1], weights[1], scalars, np.uint64(0), np.uint64(rank), outside
        )
        for t in range(rank):
            out[a, t] -= outside[t]


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _add_entries(V, columns, rho, n, begin, end, h):  # type: ignore[no-untyped-def]
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
def _dot(V, column, x, begin, end):  # type: ignore[no-untyped-def]
    total = x.dtype.type(0)
    for t in range(begin, end):
        total += V[column, t] * x[t]
    return total


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _advance_set(right, h, filters, ratio, begin, end, alpha, g, moved):  # type: ignore[no-untyped-def]
    """One set's α and g after Eq:b-Z, for the directions begin..end. `right` becomes the new α."""
    for t in range(begin, end):
        right[t] -= filters[t] * h[t]
    for t in range(begin, end):
        moved[t] = right[t] - alpha[t]
        alpha[t] = right[t]
        g[t] = right[t] + ratio * g[t]


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _advance_kappa(alpha, weight, begin, end, kappa, moved):  # type: ignore[no-untyped-def]
    """One set's κ after Eq:C."""
    one = alpha.dtype.type(1)
    inverse = one / (one + weight)
    for t in range(begin, end):
        new = (weight * kappa[t] + alpha[t]) * inverse
        moved[t] = new - kappa[t]
        kappa[t] = new


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _bound(g, reference, largest, group_ends, group_norms):  # type: ignore[no-untyped-def]
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
def _update_entries(sets, n, entries, rho, dots, multiplier, weights, prices, scalars):  # type: ignore[no-untyped-def]
    """Z, C, Q and both multipliers of one row's listed columns, where `dots` is V_e·α.

    Returns the largest change, Σ w·Q², the number of entries of Q, U1/μ of the diagonal, and how near to τ any came.
    """
    tau, ratio, half = scalars[TAU], scalars[RATIO_NEXT], scalars[HALF]
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
def _advance_directions(  # type: ignore[no-untyped-def]
    V, filters, data_weights, coefficients, base, columns, sets, n, rho, weights, scalars, dots, h, right
):  # fmt: skip
    """Eq:b-Z for one row, some directions at a time, so that a row of V is fetched once for h and for V_e·α.

    Returns the data term; `dots` becomes V_e·α of the entries.
    """
    rank, n_sets = V.shape[1], coefficients.shape[1]
    weighted = coefficients.shape[0] > KAPPA
    own = KAPPA if weighted else ALPHA
    data = V.dtype.type(0)
    for e in range(n):
        dots[e] = 0
    for start in range(0, rank, TILE):
        begin, end = np.uint64(start), np.uint64(min(rank, start + TILE))
        last = n_sets - 1
        _right_side(coefficients[own, last], coefficients[G, last], weights[last], scalars, begin, end, h)
        if n_sets == 2:
            for t in range(begin, end):
                h[t] += base[t]
        _add_entries(V, columns, rho, n, begin, end, h)
        for t in range(begin, end):
            data += data_weights[t] * h[t] * h[t]
        for k in range(n_sets):
            alpha, g = coefficients[ALPHA, k], coefficients[G, k]
            _right_side(coefficients[own, k], g, weights[k], scalars, begin, end, right)
            _advance_set(right, h, filters, scalars[RATIO_LAST], begin, end, alpha, g, coefficients[ALPHA_CHANGE, k])
            if weighted:
                _advance_kappa(alpha, weights[k], begin, end, coefficients[KAPPA, k], coefficients[KAPPA_CHANGE, k])
        for e in range(n):
            dots[e] += _dot(V, columns[e], coefficients[ALPHA, sets[e]], begin, end)
    return data


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def advance(  # type: ignore[no-untyped-def]
    V, filters, data_weights, coefficients, base, columns, sets, n_entries, entries, multipliers, weights, prices,
    scalars, group_ends, group_norms, norm_rows, reference_max, unsafe, change, data, paid, count, margin,
):  # fmt: skip
    """One iteration of every row, and in which sets of columns a row may have a new one above τ.

    `weights` is w/μ of each set, `prices` is w. `base` (with two sets) is `set_difference` through V_cᵀV_c.
    """
    half = scalars[HALF]
    one = half + half
    rho, dots = np.empty(columns.shape[1], V.dtype), np.empty(columns.shape[1], V.dtype)
    h, right = np.empty(V.shape[1], V.dtype), np.empty(V.shape[1], V.dtype)
    for a in range(len(n_entries)):
        n, own = n_entries[a], entries[a]
        for e in range(n):
            rho[e] = half * ((one - weights[sets[a, e]]) * own[CHI, e] + own[ETA, e] + own[Q, e])
        rho[0] -= half * multipliers[a] + one
        data[a] = _advance_directions(
            V, filters, data_weights, coefficients[a], base[a], columns[a], sets[a], n, rho, weights, scalars, dots,
            h, right,
        )  # fmt: skip
        for k in range(coefficients.shape[2]):
            bound = _bound(
                coefficients[a, G, k],
                coefficients[a, G_REFERENCE, k],
                reference_max[a, k],
                group_ends,
                group_norms[norm_rows[a, k]],
            )
            unsafe[a, k] = not bound * scalars[SLACK] < scalars[TAU]
        change[a], paid[a], count[a], multipliers[a], nearest = _update_entries(
            sets[a], n, own, rho, dots, multipliers[a], weights, prices, scalars
        )
        margin[a] = min(margin[a], nearest)


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def scan(product, first, k, rows, columns, n_entries, others, tau, largest, n_new):  # type: ignore[no-untyped-def]
    """For each checked row: how many unlisted columns of set k exceed τ; `largest[a, k]` becomes the rest's largest.

    `product` holds the columns from `first` on. Listed ones, and those of the range `others[a]`, which belong to the
    other set, are zeroed in it.
    """
    zero = tau - tau
    for m in range(len(rows)):
        a = rows[m]
        line = product[m]
        for e in range(n_entries[a]):
            j = columns[a, e] - first
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
        largest[a, k] = top


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy", forceinline=True)
def _largest(line):  # type: ignore[no-untyped-def]
    top = line.dtype.type(0)
    for j in range(len(line)):
        top = larger(top, abs(line[j]))
    return top


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def insert(  # type: ignore[no-untyped-def]
    product, first, k, rows, n_new, V, coefficients, columns, sets, n_entries, entries, prices, scalars,
    change, paid, count, margin,
):  # fmt: skip
    """Put columns above τ, all of set k, on their rows' lists, which must have room. There T = V_j·g and ζ = η = 0."""
    tau, ratio, half = scalars[TAU], scalars[RATIO_NEXT], scalars[HALF]
    one, zero = half + half, half - half
    weighted = coefficients.shape[1] > KAPPA
    for m in range(len(rows)):
        a = rows[m]
        if n_new[m] == 0:
            continue
        for place in range(product.shape[1]):
            x = product[m, place]
            if not abs(x) > tau:
                continue
            j, e = first + place, n_entries[a]
            columns[a, e], sets[a, e] = j, k
            own = entries[a]
            own[ZETA, e], own[CHI, e] = zero, zero
            own[Q, e], own[ETA, e], own[V_BETA, e] = x, ratio * x, -ratio * x
            own[Q_CHANGE, e] = x
            own[V_ALPHA, e] = _dot(V, j, coefficients[a, ALPHA, k], np.uint64(0), np.uint64(V.shape[1]))
            own[V_KAPPA, e] = own[V_ALPHA, e]
            if weighted:
                own[V_KAPPA, e] = _dot(V, j, coefficients[a, KAPPA, k], np.uint64(0), np.uint64(V.shape[1]))
            n_entries[a] = e + 1
            if tau > zero:
                margin[a] = min(margin[a], abs(x) / tau - one)
            change[a] = max(change[a], abs(x))
            paid[a] += prices[k] * x * x
            count[a] += one


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def prune(V, coefficients, columns, sets, n_entries, entries, reference_max, negligible):  # type: ignore[no-untyped-def]
    """Take entries off the lists whose own parts have died away; the bound must cover their columns again."""
    for a in range(len(n_entries)):
        own, n = entries[a], 1
        for e in range(1, n_entries[a]):
            size = max(abs(own[ZETA, e]), max(abs(own[ETA, e]), abs(own[CHI, e])))
            if own[Q, e] == 0 and size < negligible:
                k = sets[a, e]
                reference = abs(
                    _dot(V, columns[a, e], coefficients[a, G_REFERENCE, k], np.uint64(0), np.uint64(V.shape[1]))
                )
                reference_max[a, k] = max(reference_max[a, k], reference)
                continue
            if n != e:
                columns[a, n], sets[a, n] = columns[a, e], sets[a, e]
                for field in range(own.shape[0]):
                    own[field, n] = own[field, e]
            n += 1
        n_entries[a] = n
