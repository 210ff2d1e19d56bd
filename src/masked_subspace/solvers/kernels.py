"""Fused elementwise kernels of the blocked pass. One file, because numba's cache does not see changes elsewhere.

All kernels are serial and release the interpreter lock: threads work on different blocks of samples. Scalars come in
arrays of the data's dtype, since a float64 literal would turn every float32 operation into float64.
"""

from __future__ import annotations

import numba as nb

# Where the scalars of one iteration stand in the `scalars` argument of `masked_step`.
INVERSE_MU, INVERSE_MU_NEXT, TAU, TAU_LAST, RATIO_LAST, RATIO_NEXT, HALF = range(7)


@nb.njit(cache=True, nogil=True, fastmath=True)
def masked_step(product, Z_last, R, A, T, W, scalars, change, mask_residual, sparsity_residual, n_nonzero, price):  # type: ignore[no-untyped-def]
    """C, Q, both multipliers and the next right-hand side from one look at every entry.

    State: A holds C where the pair is permitted (there U1 = w·C) and U1/μ where it is forbidden (W < 0; there C = 0).
    T = Z − U2/μ holds Q and U2 at once: Q = T, U2 = 0 where |T| > τ, else Q = 0, U2 = −μT. R is the part of the right
    side of Eq:b-Z without G, over 2μ. `product` comes in as coefficients · Vᵀ and leaves as Z.
    """
    inverse_mu, inverse_mu_next = scalars[INVERSE_MU], scalars[INVERSE_MU_NEXT]
    tau, tau_last = scalars[TAU], scalars[TAU_LAST]
    ratio_last, ratio_next, half = scalars[RATIO_LAST], scalars[RATIO_NEXT], scalars[HALF]
    zero, one = half - half, half + half
    for i in range(R.shape[0]):
        largest, gap_mask, gap_sparsity, paid = zero, zero, zero, zero
        count = 0
        for j in range(R.shape[1]):
            # Eq:b-Z, the inverse applied through the spectrum
            z = R[i, j] - product[i, j]
            w, a, t_last = W[i, j], A[i, j], T[i, j]
            # Eq:C, then U1 += μ(Z − Mʰ⊙C)
            permitted = w >= zero
            weight = w * inverse_mu if permitted else zero
            c = (weight * a + z) / (weight + one) if permitted else zero
            u = (a + z) * ratio_next
            c_last = a if permitted else zero
            # Eq:b-Q, then U2 += μ(Q − Z)
            kept_last = abs(t_last) > tau_last
            t = z if kept_last else z + ratio_last * t_last
            kept = abs(t) > tau
            q = t if kept else zero
            q_last = t_last if kept_last else zero
            A[i, j] = c if permitted else u
            T[i, j] = t
            R[i, j] = half * (((one - w * inverse_mu_next) * c if permitted else -u) + (t if kept else -ratio_next * t))
            product[i, j] = z
            largest = max(largest, max(abs(z - Z_last[i, j]), max(abs(c - c_last), abs(q - q_last))))
            gap_mask = max(gap_mask, abs(z - c))
            gap_sparsity = max(gap_sparsity, abs(z - q))
            count += 1 if kept else 0
            paid += w * q * q if permitted else zero
        change[i] = largest
        mask_residual[i] = gap_mask
        sparsity_residual[i] = gap_sparsity
        n_nonzero[i] = count
        price[i] = paid


@nb.njit(cache=True, nogil=True, fastmath=True)
def residual_step(R, noise, outliers, limits, left, noise_square, n_outliers):  # type: ignore[no-untyped-def]
    """ε and O of `eq:gmsc-n` from R = X − ZX: ε = (R − O)·shrink, then O = H_threshold(R − ε).

    `limits` is (shrink, threshold): 1/(1 + 2λ₁), or 0 without ε, and √(2λ₂), or infinity without O.
    """
    shrink, threshold = limits[0], limits[1]
    zero = shrink - shrink
    for i in range(R.shape[0]):
        rest_square, square = zero, zero
        count = 0
        for j in range(R.shape[1]):
            e = (R[i, j] - outliers[i, j]) * shrink
            rest = R[i, j] - e
            kept = abs(rest) > threshold
            o = rest if kept else zero
            noise[i, j] = e
            outliers[i, j] = o
            rest_square += (rest - o) * (rest - o)
            square += e * e
            count += 1 if kept else 0
        left[i] = rest_square
        noise_square[i] = square
        n_outliers[i] = count
