"""Algorithm 1 on small problems, one for each sample (numba, float32 and float64).

A sample sees v variables: its candidates and, when it is part of the dictionary, itself as a forbidden one. With
H = X_v X_vᵀ and g = x X_vᵀ the row form of the Z step is z (H + 2μI) = g − u₁ + μ Mʰ⊙c + u₂ + μ q. The penalty grows, so
the matrix is soon close to a multiple of I, and conjugate gradients started at the last z need few products with H.
Samples never meet: neither blocks nor threads change a result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

_ALLOW = {"reassoc", "contract", "arcp", "nsz"}


@njit(cache=True, nogil=True, fastmath=_ALLOW)
def _dot(a: Any, b: Any) -> Any:
    total = a.dtype.type(0)
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@njit(cache=True, nogil=True, fastmath=_ALLOW)
def _apply(H: Any, shift: Any, x: Any, out: Any) -> None:
    """out = (H + shift·I) x."""
    v = x.shape[0]
    for j in range(v):
        total = shift * x[j]
        row = H[j]
        for k in range(v):
            total += row[k] * x[k]
        out[j] = total


@njit(cache=True, nogil=True, fastmath=_ALLOW)
def _solve_shifted(H: Any, shift: Any, rhs: Any, tol: Any, z: Any, residual: Any, step: Any, image: Any) -> None:
    """Conjugate gradients for (H + shift·I) z = rhs from the z given, until ‖residual‖ ≤ tol·‖rhs‖."""
    v = z.shape[0]
    _apply(H, shift, z, image)
    for j in range(v):
        residual[j] = rhs[j] - image[j]
        step[j] = residual[j]
    size = _dot(residual, residual)
    enough = tol * tol * _dot(rhs, rhs)
    for _ in range(4 * v):
        if size <= enough:
            return
        _apply(H, shift, step, image)
        length = size / _dot(step, image)
        for j in range(v):
            z[j] += length * step[j]
            residual[j] -= length * image[j]
        new_size = _dot(residual, residual)
        turn = new_size / size
        size = new_size
        for j in range(v):
            step[j] = residual[j] + turn * step[j]


@njit(cache=True, nogil=True, fastmath=_ALLOW)
def _solve_factored(vectors: Any, values: Any, shift: Any, rhs: Any, z: Any, image: Any) -> None:
    """The same by an eigendecomposition H = E diag(s) Eᵀ; row j of `vectors` is the j-th eigenvector."""
    v = z.shape[0]
    for j in range(v):
        image[j] = _dot(vectors[j], rhs) / (values[j] + shift)
        z[j] = 0
    for j in range(v):
        amount = image[j]
        row = vectors[j]
        for k in range(v):
            z[k] += amount * row[k]


@njit(cache=True, nogil=True, fastmath=_ALLOW)
def admm_rows(
    H: Any,
    g: Any,
    energy: Any,
    weight: Any,
    allowed: Any,
    vectors: Any,
    values: Any,
    numbers: Any,
    limits: Any,
    Q: Any,
    n_iter: Any,
    residuals: Any,
    objective: Any,
) -> None:
    """Run Algorithm 1 for each sample of a block.

    `numbers` = (λ, μ₀, p, tol, tolerance of the Z step); `limits` = (first iteration that may stop, T). `vectors` with no
    rows means conjugate gradients. Out: Q, the iterations of each sample, for each sample (stopping value, ‖Z − Mʰ⊙C‖∞,
    ‖Q − Z‖∞), and the block's objective after each iteration (samples that have stopped keep their last value).
    """
    scalar = H.dtype.type
    lam, growth, tol, solve_tol = scalar(numbers[0]), scalar(numbers[2]), scalar(numbers[3]), scalar(numbers[4])
    b, v = g.shape
    factored = vectors.shape[0] > 0
    z, c, u1, u2 = np.empty(v, H.dtype), np.empty(v, H.dtype), np.empty(v, H.dtype), np.empty(v, H.dtype)
    z_old, rhs = np.empty(v, H.dtype), np.empty(v, H.dtype)
    r1, r2, r3 = np.empty(v, H.dtype), np.empty(v, H.dtype), np.empty(v, H.dtype)
    for s in range(b):
        q, w, gs, ok = Q[s], weight[s], g[s], allowed[s]
        for j in range(v):
            z[j] = c[j] = u1[j] = u2[j] = q[j] = 0
        mu = scalar(numbers[1])
        change, off_mask, off_sparse, value = scalar(0), scalar(0), scalar(0), 0.0
        k = 0
        while k < limits[1]:
            # Eq:b-Z (c is zero wherever Mʰ is)
            for j in range(v):
                z_old[j] = z[j]
                rhs[j] = gs[j] - u1[j] + u2[j] + mu * (c[j] + q[j])
            if factored:
                _solve_factored(vectors[s], values[s], 2 * mu, rhs, z, r1)
            else:
                _solve_shifted(H[s], 2 * mu, rhs, solve_tol, z, r1, r2, r3)
            tau = np.sqrt(2 * lam / mu)
            change, off_mask, off_sparse = scalar(0), scalar(0), scalar(0)
            fit, price, count = scalar(0), scalar(0), 0
            for j in range(v):
                zj = z[j]
                fit += zj * (rhs[j] - 2 * mu * zj - 2 * gs[j])
                # Eq:C
                c_new = (u1[j] + mu * zj) / (w[j] + mu) if ok[j] else scalar(0)
                # Eq:b-Q, hard thresholding at τ
                t = zj - u2[j] / mu
                q_new = t if abs(t) > tau else scalar(0)
                change = max(change, max(abs(zj - z_old[j]), max(abs(c_new - c[j]), abs(q_new - q[j]))))
                off_mask = max(off_mask, abs(zj - c_new))
                off_sparse = max(off_sparse, abs(q_new - zj))
                u1[j] += mu * (zj - c_new)
                u2[j] += mu * (q_new - zj)
                c[j], q[j] = c_new, q_new
                if q_new != 0 and ok[j]:
                    count += 1
                    price += w[j] * q_new * q_new
            value = 0.5 * (energy[s] + fit + price) + lam * count
            objective[k] += value
            mu *= growth
            k += 1
            if change < tol and k >= limits[0]:
                break
        n_iter[s] = k
        residuals[s, 0], residuals[s, 1], residuals[s, 2] = change, off_mask, off_sparse
        for later in range(k, limits[1]):
            objective[later] += value


@njit(cache=True, nogil=True)
def gather_rows(X: Any, indices: Any, out: Any) -> None:
    """out[s, t] = X[indices[s, t]]; a negative index gives a row of zeros."""
    d = X.shape[1]
    for s in range(indices.shape[0]):
        for t in range(indices.shape[1]):
            i = indices[s, t]
            if i < 0:
                for k in range(d):
                    out[s, t, k] = 0
            else:
                for k in range(d):
                    out[s, t, k] = X[i, k]


@njit(cache=True, nogil=True)
def compress_rows(Q: Any, columns: Any, allowed: Any, counts: Any, indices: Any, data: Any) -> int:
    """The permitted nonzeros of Q as CSR, columns ascending inside each row; returns how many there are."""
    total = 0
    for s in range(Q.shape[0]):
        first = total
        for j in range(columns.shape[1]):
            if Q[s, j] == 0 or not allowed[s, j]:
                continue
            at = total
            column = columns[s, j]
            while at > first and indices[at - 1] > column:
                indices[at] = indices[at - 1]
                data[at] = data[at - 1]
                at -= 1
            indices[at] = column
            data[at] = Q[s, j]
            total += 1
        counts[s] = total - first
    return total
