"""Exact steps for min ½ zHzᵀ − g zᵀ + λ‖z‖₀, one small problem for each sample (numba).

H already holds the prices on its diagonal. On a support S the best z is g_S M with M = H_SS⁻¹. With P = M H_S·, the
gradient r = g − z H_S· and the Schur diagonal D_j = H_jj − H_jS M H_Sj, one step changes the objective by

    add j:   λ − r_j² / 2D_j
    drop a:  z_a² / 2M_aa − λ
    swap:    z_a² / 2M_aa − r'_j² / 2D'_j,   r' = r + z_a P_a/M_aa,  D' = D + P_a²/M_aa

and z, M, P, r, D follow by rank-one updates. The best add or drop is taken while one lowers the objective, then the
best swap; the end is a point that none of the three improves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

# A candidate whose Schur diagonal is below this share of its own ‖x‖² is a combination of the support already.
_DEPENDENT = 1e-4
_LEAST_GAIN = 1e-9


@njit(cache=True, nogil=True, forceinline=True)
def _best_add(r: Any, D: Any, least: Any, inside: Any) -> tuple[float, int]:
    gain, best = 0.0, -1
    for j in range(r.shape[0]):
        if not inside[j] and D[j] > least[j]:
            value = r[j] * r[j] / (2 * D[j])
            if value > gain:
                gain, best = value, j
    return gain, best


@njit(cache=True, nogil=True, forceinline=True)
def _best_drop(z: Any, M: Any, size: int) -> tuple[float, int]:
    loss, best = np.inf, -1
    for a in range(size):
        value = z[a] * z[a] / (2 * M[a, a])
        if value < loss:
            loss, best = value, a
    return loss, best


@njit(cache=True, nogil=True, forceinline=True)
def _best_swap(z: Any, M: Any, P: Any, r: Any, D: Any, least: Any, inside: Any, size: int) -> tuple[float, int, int]:
    gain, leaves, enters = 0.0, -1, -1
    for a in range(size):
        loss = z[a] * z[a] / (2 * M[a, a])
        for j in range(r.shape[0]):
            if inside[j]:
                continue
            share = P[a, j] / M[a, a]
            diagonal = D[j] + P[a, j] * share
            if diagonal > least[j]:
                gradient = r[j] + z[a] * share
                value = gradient * gradient / (2 * diagonal) - loss
                if value > gain:
                    gain, leaves, enters = value, a, j
    return gain, leaves, enters


@njit(cache=True, nogil=True, forceinline=True)
def _add(H: Any, j: int, support: Any, inside: Any, z: Any, M: Any, P: Any, r: Any, D: Any, h: Any, size: int) -> int:
    v = r.shape[0]
    h[:] = H[j]
    for a in range(size):
        for k in range(v):
            h[k] -= H[support[a], j] * P[a, k]
    scale = 1 / h[j]
    amount = r[j] * scale
    for a in range(size):
        pull = P[a, j]
        z[a] -= pull * amount
        for b in range(size):
            M[a, b] += pull * scale * P[b, j]
        M[a, size] = M[size, a] = -pull * scale
    for a in range(size):
        pull = P[a, j] * scale
        for k in range(v):
            P[a, k] -= pull * h[k]
    M[size, size] = scale
    for k in range(v):
        P[size, k] = h[k] * scale
        r[k] -= amount * h[k]
        D[k] -= h[k] * h[k] * scale
    support[size], z[size], inside[j] = j, amount, True
    return size + 1


@njit(cache=True, nogil=True, forceinline=True)
def _drop(a: int, support: Any, inside: Any, z: Any, M: Any, P: Any, r: Any, D: Any, size: int) -> int:
    v, last = r.shape[0], size - 1
    scale = 1 / M[a, a]
    for k in range(v):
        share = P[a, k] * scale
        D[k] += P[a, k] * share
        r[k] += z[a] * share
    for b in range(size):
        if b == a:
            continue
        pull = M[b, a] * scale
        z[b] -= pull * z[a]
        for k in range(v):
            P[b, k] -= pull * P[a, k]
        for e in range(size):
            if e != a:
                M[b, e] -= pull * M[a, e]
    inside[support[a]] = False
    if a != last:
        support[a], z[a] = support[last], z[last]
        P[a] = P[last]
        M[a, :size] = M[last, :size]
        M[:size, a] = M[:size, last]
    return last


@njit(cache=True, nogil=True)
def stepwise_rows(
    H: Any, G: Any, energy: Any, weight: Any, allowed: Any, lam: float, max_moves: int, Q: Any, moves: Any
) -> float:
    """Solve every sample of a block from z = 0; returns the sum of the objectives. Everything runs in float64."""
    b, v = G.shape
    A, P, M = np.empty((v, v)), np.empty((v, v)), np.empty((v, v))
    r, D, h, z, least = np.empty(v), np.empty(v), np.empty(v), np.empty(v), np.empty(v)
    support, inside = np.empty(v, np.int64), np.empty(v, np.bool_)
    total = 0.0
    for s in range(b):
        for j in range(v):
            for k in range(v):
                A[j, k] = H[s, j, k]
            least[j] = _DEPENDENT * max(A[j, j], 1e-300)
            A[j, j] += weight[s, j]
            # A forbidden variable counts as taken already: no move ever considers it.
            r[j], D[j], inside[j] = G[s, j], A[j, j], not allowed[s, j]
        size, count = 0, 0
        while count < max_moves:
            gain, enters = _best_add(r, D, least, inside)
            loss, leaves = _best_drop(z, M, size)
            if lam - loss > _LEAST_GAIN and lam - loss >= gain - lam:
                size = _drop(leaves, support, inside, z, M, P, r, D, size)
            elif gain - lam > _LEAST_GAIN:
                size = _add(A, enters, support, inside, z, M, P, r, D, h, size)
            else:
                gain, leaves, enters = _best_swap(z, M, P, r, D, least, inside, size)
                if gain <= _LEAST_GAIN:
                    break
                size = _drop(leaves, support, inside, z, M, P, r, D, size)
                size = _add(A, enters, support, inside, z, M, P, r, D, h, size)
            count += 1
        moves[s] = count
        value = energy[s] / 2 + lam * size
        for a in range(size):
            Q[s, support[a]] = z[a]
            value -= z[a] * G[s, support[a]] / 2
        total += value
    return total
