"""Algorithm 1 on small problems, one for each sample (numba, float32 and float64).

A sample sees v variables: its candidates and, when it is part of the dictionary, itself as a forbidden one. With
H = X_v X_vᵀ and g = x X_vᵀ the Z step is z (H + 2μI) = g − u₁ + μ Mʰ⊙c + u₂ + μ q. The penalty grows, so the matrix is
soon close to a multiple of I, and conjugate gradients started at the last z need few products with H.
Samples never meet: neither blocks nor threads change a result.

Kernels allocate nothing and assign no slices: each numpy function used inside a kernel is compiled with it, and those
took longer to compile than the loops. Steps with one caller are inlined before compilation (`inline="always"`): as
functions of their own they would be compiled twice.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from masked_subspace._common.types import BoolArray, FloatArray, IntArray, Number
from masked_subspace.represent.dense.kernels import larger

_ALLOW = {"reassoc", "contract", "arcp", "nsz"}


class Problems(NamedTuple):
    """b small problems with v variables each."""

    H: FloatArray  # b × v × v, products of the rows
    g: FloatArray  # b × v, products of the rows with the target
    energy: FloatArray  # b, ‖x‖² of the target
    weights: FloatArray  # b × v, γ Mˢ⊙Mˢ
    allowed: BoolArray  # b × v, where Mʰ is 1


class Factors(NamedTuple):
    """H = E diag(s) Eᵀ of each problem; without it the Z step runs conjugate gradients."""

    vectors: FloatArray  # b × v × v, row j is the j-th eigenvector
    values: FloatArray  # b × v
    ones: FloatArray  # b × v, Eᵀ1 of the variables that are samples; without rows Z is not affine


class ResidualModel(NamedTuple):
    """ε and O of `eq:gmsc-n`; without it the model is GMSC."""

    rows: FloatArray  # b × v × d
    targets: FloatArray  # b × d
    noise: FloatArray  # b × d, out
    outliers: FloatArray  # b × d, out
    prices: FloatArray  # (λ₁, λ₂), negative for an absent part
    left: FloatArray  # d, work


class Numbers(NamedTuple):
    """The numbers of `AdmmSettings`, and when a sample may stop."""

    sparsity: float
    penalty: float
    growth: float
    tol: float
    solve_tol: float  # of the Z step by conjugate gradients, relative to its right side
    first_stop: int  # the first iteration that may be the last one
    max_iter: int
    in_step: bool  # whether all samples of the block make the same number of iterations


class Workspace(NamedTuple):
    """Arrays that a run works in."""

    states: FloatArray  # b × 6 × v, zeros: Z, C, Q, U1, U2, ZH
    penalties: FloatArray  # b, μ₀
    values: FloatArray  # b, the objective of each sample
    g: FloatArray  # b × v, a copy of the problems' g
    work: FloatArray  # 5 × v


class Solutions(NamedTuple):
    """What a run leaves."""

    n_iter: IntArray  # b
    residuals: FloatArray  # b × 3: stopping value, ‖Z − Mʰ⊙C‖∞, ‖Q − Z‖∞
    objective: npt.NDArray[
        np.float64
    ]  # of the block after each iteration; samples that have stopped keep their last value


@njit(cache=True, nogil=True, fastmath=_ALLOW, forceinline=True)
def _dot(a: FloatArray, b: FloatArray) -> Number:
    total = a.dtype.type(0)
    for j in range(a.shape[0]):
        total += a[j] * b[j]
    return total


@njit(cache=True, nogil=True, fastmath=_ALLOW, inline="always")
def _apply(H: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """out = H x."""
    v = x.shape[0]
    whole = v - v % 4
    zero = x.dtype.type(0)
    for j in range(0, whole, 4):
        # Four rows at a time: x is loaded once for all of them.
        t0, t1, t2, t3 = zero, zero, zero, zero
        h0, h1, h2, h3 = H[j], H[j + 1], H[j + 2], H[j + 3]
        for k in range(v):
            t0 += h0[k] * x[k]
            t1 += h1[k] * x[k]
            t2 += h2[k] * x[k]
            t3 += h3[k] * x[k]
        out[j], out[j + 1], out[j + 2], out[j + 3] = t0, t1, t2, t3
    for j in range(whole, v):
        out[j] = _dot(H[j], x)


@njit(cache=True, nogil=True, fastmath=_ALLOW, inline="always")
def _solve_shifted(
    H: FloatArray,
    shift: Number,
    rhs: FloatArray,
    tol: Number,
    z: FloatArray,
    Hz: FloatArray,
    residual: FloatArray,
    step: FloatArray,
    image: FloatArray,
) -> None:
    """Conjugate gradients for (H + shift·I) z = rhs from the z given, until ‖residual‖ ≤ tol·‖rhs‖.

    Hz = H z is carried along, so that the next solve, with another shift, begins without a product.
    """
    v = z.shape[0]
    for j in range(v):
        residual[j] = rhs[j] - Hz[j] - shift * z[j]
        step[j] = residual[j]
    size = _dot(residual, residual)
    enough = tol * tol * _dot(rhs, rhs)
    for _ in range(4 * v):
        if size <= enough:
            return
        _apply(H, step, image)
        length = size / (_dot(step, image) + shift * _dot(step, step))
        for j in range(v):
            z[j] += length * step[j]
            Hz[j] += length * image[j]
            residual[j] -= length * (image[j] + shift * step[j])
        new_size = _dot(residual, residual)
        turn = new_size / size
        size = new_size
        for j in range(v):
            step[j] = residual[j] + turn * step[j]


@njit(cache=True, nogil=True, fastmath=_ALLOW, inline="always")
def _solve_factored(
    factors: Factors, s: int, shift: Number, rhs: FloatArray, z: FloatArray, image: FloatArray
) -> Number:
    """The same by an eigendecomposition of H; returns zHzᵀ. All sums run over the eigenvectors.

    If Z is affine, subject to z1 = 1 (Eq:affine-Z).
    """
    v = z.shape[0]
    vectors, values = factors.vectors[s], factors.values[s]
    for j in range(v):
        image[j] = _dot(vectors[j], rhs)
    if factors.ones.shape[0] > 0:
        ones = factors.ones[s]
        reached, total = z.dtype.type(0), z.dtype.type(0)
        for j in range(v):
            share = ones[j] / (values[j] + shift)
            reached += share * image[j]
            total += share * ones[j]
        nu = (1 - reached) / total if total > 0 else z.dtype.type(0)
        for j in range(v):
            image[j] += nu * ones[j]
    square = z.dtype.type(0)
    for j in range(v):
        image[j] /= values[j] + shift
        square += values[j] * image[j] * image[j]
        z[j] = 0
    for j in range(v):
        amount = image[j]
        row = vectors[j]
        for k in range(v):
            z[k] += amount * row[k]
    return square


@njit(cache=True, nogil=True, fastmath=_ALLOW, inline="always")
def _masked_step(
    state: FloatArray, z_old: FloatArray, w: FloatArray, ok: BoolArray, mu: Number, tau: Number
) -> tuple[Number, Number, Number, Number, Number]:
    """The C, Q and multiplier steps after z; returns (largest change, ‖z − c‖∞, ‖q − z‖∞, Σ w q², nonzeros of q)."""
    z, c, q, u1, u2 = state[0], state[1], state[2], state[3], state[4]
    zero, one = state.dtype.type(0), state.dtype.type(1)
    change, off_mask, off_sparse, price, count = zero, zero, zero, zero, zero
    v = np.uint64(z.shape[0])  # a signed index may count from the end, and that test stops vectorisation
    for j in range(v):
        # Eq:C (Eq:b-C where w = 0), then U1 += μ(Z − Mʰ⊙C)
        c_new = (u1[j] + mu * z[j]) / (w[j] + mu)
        c_new = c_new if ok[j] else zero
        change = larger(change, larger(abs(z[j] - z_old[j]), abs(c_new - c[j])))
        off_mask = larger(off_mask, abs(z[j] - c_new))
        u1[j] += mu * (z[j] - c_new)
        c[j] = c_new
    for j in range(v):
        # Eq:b-Q, hard thresholding at τ, then U2 += μ(Q − Z)
        t = z[j] - u2[j] / mu
        q_new = t if abs(t) > tau else zero
        change = larger(change, abs(q_new - q[j]))
        off_sparse = larger(off_sparse, abs(q_new - z[j]))
        u2[j] += mu * (q_new - z[j])
        q[j] = q_new
    for j in range(v):
        paid = q[j] if ok[j] else zero
        count += one if paid != zero else zero
        price += w[j] * paid * paid
    return change, off_mask, off_sparse, price, count


@njit(cache=True, nogil=True, fastmath=_ALLOW, inline="always")
def _residual_step(
    rows: FloatArray,
    target: FloatArray,
    z: FloatArray,
    prices: FloatArray,
    noise: FloatArray,
    outliers: FloatArray,
    left: FloatArray,
    g: FloatArray,
) -> Number:
    """The ε and O steps of `eq:gmsc-n` and the next target's products g = (x − ε − o) X_vᵀ; returns their cost."""
    v, d = rows.shape
    for k in range(d):
        left[k] = target[k]
    for j in range(v):
        if z[j] != 0:
            for k in range(d):
                left[k] -= z[j] * rows[j, k]
    cost = target.dtype.type(0)
    threshold = np.sqrt(2 * prices[1])
    for k in range(d):
        r = left[k]
        if prices[0] >= 0:
            noise[k] = (r - outliers[k]) / (1 + 2 * prices[0])
            cost += prices[0] * noise[k] * noise[k]
        if prices[1] >= 0:
            o = r - noise[k]
            outliers[k] = o if abs(o) > threshold else target.dtype.type(0)
            cost += prices[1] if outliers[k] != 0 else target.dtype.type(0)
        rest = r - noise[k] - outliers[k]
        cost += rest * rest / 2
        left[k] = target[k] - noise[k] - outliers[k]
    for j in range(v):
        g[j] = _dot(rows[j], left)
    return cost


@njit(cache=True, nogil=True, fastmath=_ALLOW)
def admm_rows(
    problems: Problems,
    factors: Factors | None,
    model: ResidualModel | None,
    numbers: Numbers,
    space: Workspace,
    out: Solutions,
) -> None:
    """Run Algorithm 1 for each sample of a block: `Problems`, `Factors`, `ResidualModel`, `Numbers` → `Solutions`.

    What is asked of None is not compiled: a default fit needs neither factors nor a residual model.
    """
    dtype = problems.H.dtype
    scalar = dtype.type
    lam, growth = scalar(numbers.sparsity), scalar(numbers.growth)
    tol, solve_tol = scalar(numbers.tol), scalar(numbers.solve_tol)
    b, v = problems.g.shape
    work, rhs, values = space.work, space.work[4], space.values
    first_stop = numbers.first_stop
    while True:
        least, most = numbers.max_iter, 0
        for s in range(b):
            state, g, mu, k = space.states[s], space.g[s], space.penalties[s], out.n_iter[s]
            z, c, q, u1, u2 = state[0], state[1], state[2], state[3], state[4]
            while k < numbers.max_iter and (k < first_stop or out.residuals[s, 0] >= tol):
                # Eq:b-Z (c is zero wherever Mʰ is)
                square = scalar(0)
                for j in range(v):
                    work[3, j] = z[j]
                    rhs[j] = g[j] - u1[j] + u2[j] + mu * (c[j] + q[j])
                if factors is None:
                    _solve_shifted(problems.H[s], 2 * mu, rhs, solve_tol, z, state[5], work[0], work[1], work[2])
                else:
                    square = _solve_factored(factors, s, 2 * mu, rhs, z, work[0])
                if model is not None:
                    fit = _residual_step(
                        model.rows[s],
                        model.targets[s],
                        z,
                        model.prices,
                        model.noise[s],
                        model.outliers[s],
                        model.left,
                        g,
                    )
                elif factors is not None:
                    fit = (problems.energy[s] + square) / 2 - _dot(z, g)
                else:
                    # ½‖x − z X_v‖² with H z = rhs − 2μ z
                    fit = problems.energy[s] / 2
                    for j in range(v):
                        fit += z[j] * (rhs[j] / 2 - mu * z[j] - g[j])
                change, off_mask, off_sparse, price, count = _masked_step(
                    state, work[3], problems.weights[s], problems.allowed[s], mu, np.sqrt(2 * lam / mu)
                )
                out.residuals[s, 0], out.residuals[s, 1], out.residuals[s, 2] = change, off_mask, off_sparse
                values[s] = fit + price / 2 + lam * count
                out.objective[k] += values[s]
                mu *= growth
                k += 1
            space.penalties[s], out.n_iter[s] = mu, k
            least, most = min(least, k), max(most, k)
        # In step, samples that stopped early go on from where they are until all have made as many iterations.
        if not numbers.in_step or least >= most:
            break
        first_stop = most
    for s in range(b):
        for later in range(out.n_iter[s], numbers.max_iter):
            out.objective[later] += values[s]


@njit(cache=True, nogil=True)
def gather_rows(X: FloatArray, indices: IntArray, out: FloatArray) -> None:
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
def compress_rows(
    Q: FloatArray, columns: IntArray, allowed: BoolArray, counts: IntArray, indices: IntArray, data: FloatArray
) -> int:
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
