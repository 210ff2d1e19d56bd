"""Fused elementwise kernels of the blocked pass. One file, because numba's cache does not see changes elsewhere.

All kernels are serial and release the interpreter lock: threads work on different blocks of samples. Numbers come in
the data's dtype, since a float64 literal would turn every float32 operation into float64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba as nb
from llvmlite import ir  # type: ignore[import-untyped]
from numba.extending import intrinsic

from masked_subspace._common.types import FloatArray, IntArray, Number


class Iteration(NamedTuple):
    """The numbers of one iteration."""

    inverse_mu: Number
    inverse_mu_next: Number
    tau: Number  # the hard threshold √(2λ/μ)
    tau_last: Number
    ratio_last: Number  # μ of the last iteration over μ
    ratio_next: Number  # μ over that of the next iteration
    half: Number  # ½


class State(NamedTuple):
    """b × n arrays of a block of samples.

    A holds C where the pair is permitted (there U1 = w·C) and U1/μ where it is forbidden (there C = 0). T = Z − U2/μ
    holds Q and U2 at once: Q = T, U2 = 0 where |T| > τ, else Q = 0, U2 = −μT. R is the part of the right side of Eq:b-Z
    without G, over 2μ.
    """

    Z: FloatArray
    Z_last: FloatArray
    R: FloatArray
    A: FloatArray
    T: FloatArray
    weights: FloatArray  # γ Mˢ⊙Mˢ, negative where the pair is forbidden


class RowReport(NamedTuple):
    """What an iteration says of b samples."""

    change: FloatArray  # max(|ΔC|, |ΔZ|, |ΔQ|)
    mask_residual: FloatArray  # ‖Z − Mʰ⊙C‖∞
    sparsity_residual: FloatArray  # ‖Q − Z‖∞
    price: FloatArray  # Σ w·Q²
    n_nonzero: IntArray  # entries of Q


class Residuals(NamedTuple):
    """ε and O of b samples, and what they cost."""

    noise: FloatArray  # b × d
    outliers: FloatArray  # b × d
    left: FloatArray  # b, ‖R − ε − O‖²
    noise_square: FloatArray  # b, ‖ε‖²
    n_outliers: IntArray  # b, nonzeros of O


def _maximum(_context: Any, a: Any, b: Any) -> Any:
    def emit(_compiler: Any, builder: Any, _signature: Any, values: Any) -> Any:
        kind = values[0].type
        maximum = builder.module.declare_intrinsic("llvm.maxnum", [kind], ir.FunctionType(kind, [kind, kind]))
        return builder.call(maximum, values, fastmath=("fast",))

    return a(a, b), emit


# The larger of two floats of one type, neither NaN. A loop that reduces with Python's `max` is never vectorised; with
# this it is, which makes the whole pass three times faster.
larger: Any = intrinsic(_maximum)


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def masked_step(step: Iteration, state: State, report: RowReport) -> None:
    """C, Q, both multipliers and the next right-hand side from one look at every entry.

    `state.Z` comes in as coefficients · Vᵀ and leaves as Z.
    """
    product, Z_last, R, A, T, W = state.Z, state.Z_last, state.R, state.A, state.T, state.weights
    inverse_mu, inverse_mu_next, tau, tau_last = step.inverse_mu, step.inverse_mu_next, step.tau, step.tau_last
    ratio_last, ratio_next, half = step.ratio_last, step.ratio_next, step.half
    zero, one = half - half, half + half
    for i in range(R.shape[0]):
        largest, gap_mask, gap_sparsity, paid, count = zero, zero, zero, zero, zero
        # Three short loops over one row, which stays in the cache: with more arrays in a loop LLVM cannot rule out that
        # they overlap and gives up on vector instructions.
        for j in range(R.shape[1]):
            # Eq:b-Z, the inverse applied through the spectrum
            z = R[i, j] - product[i, j]
            largest = larger(largest, abs(z - Z_last[i, j]))
            product[i, j] = z
        for j in range(R.shape[1]):
            # Eq:C, then U1 += μ(Z − Mʰ⊙C)
            z, w, a = product[i, j], W[i, j], A[i, j]
            permitted = w >= zero
            weight = larger(w, zero) * inverse_mu
            c = (weight * a + z) / (weight + one)
            c = c if permitted else zero
            u = (a + z) * ratio_next
            largest = larger(largest, abs(c - a) if permitted else zero)
            gap_mask = larger(gap_mask, abs(z - c))
            A[i, j] = c if permitted else u
            R[i, j] = half * (c - w * inverse_mu_next * c) if permitted else -half * u
        for j in range(R.shape[1]):
            # Eq:b-Q, then U2 += μ(Q − Z)
            z, w, t_last = product[i, j], W[i, j], T[i, j]
            kept_last = abs(t_last) > tau_last
            t = z if kept_last else z + ratio_last * t_last
            kept = abs(t) > tau
            q = t if kept else zero
            largest = larger(largest, abs(q - (t_last if kept_last else zero)))
            gap_sparsity = larger(gap_sparsity, abs(z - q))
            count += one if kept else zero
            paid += larger(w, zero) * q * q
            T[i, j] = t
            R[i, j] += half * t if kept else -half * ratio_next * t
        report.change[i] = largest
        report.mask_residual[i] = gap_mask
        report.sparsity_residual[i] = gap_sparsity
        report.n_nonzero[i] = count
        report.price[i] = paid


@nb.njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def residual_step(R: FloatArray, parts: Residuals, shrink: Number, threshold: Number) -> None:
    """ε and O of `eq:gmsc-n` from R = X − ZX: ε = (R − O)·shrink, then O = H_threshold(R − ε).

    `shrink` is 1/(1 + 2λ₁), or 0 without ε; `threshold` is √(2λ₂), or infinity without O.
    """
    noise, outliers = parts.noise, parts.outliers
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
        parts.left[i] = rest_square
        parts.noise_square[i] = square
        parts.n_outliers[i] = count
