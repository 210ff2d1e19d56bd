"""SSC by ADMM (Elhamifar & Vidal 2013), in blocks of samples that share one factorisation.

The published iteration keeps Z, C and the multiplier Λ. With T = Z + Λ/ρ the other two follow from it, C = soft(T) and
Λ/ρ = T − C. From one iteration to the next

    T ← T + ΔC + Δa Vᵀ,   Δa ← (ΔC₋V − 2ΔC V + Δa) S

where K = G′(G′ + ρI)⁻¹ = VSVᵀ and ΔC₋ is the step before: C is sparse and V thin, so that one thin product is all that
an iteration costs. Steps are small beside T; rounding them to float32 moves the result by about 1e-6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_array, vstack

from masked_subspace._common.rows import block_ranges
from masked_subspace._common.types import FloatArray
from masked_subspace.baselines.result import Progress, Representation, block_length
from masked_subspace.parallel.engine import local_engine
from masked_subspace.represent.dense.spectrum import Spectrum

_ROUGH_TOL = 1e-5  # steps are rounded to float32 where no finer tolerance is asked for
_SPARSE_SHARE = 1 / 16  # below it a loop over the nonzeros beats a dense product
_VALUES_ARE_FINITE = {"nnan", "ninf", "nsz", "reassoc", "contract"}  # lets the maxima be vectorised


class _Row(NamedTuple):
    T: FloatArray
    step: FloatArray
    moved: FloatArray
    tilt: float
    prices: FloatArray  # one number where no weights were given


@njit(cache=True, nogil=True, fastmath=_VALUES_ARE_FINITE, forceinline=True)
def _advance_piece(  # type: ignore[no-untyped-def]
    row, ones_left, threshold, start, stop
):
    """The columns start..stop of one row."""
    T, step, moved, tilt, prices = row.T, row.step, row.moved, row.tilt, row.prices
    change, total = 0.0, 0.0
    for j in range(start, stop):
        bound = threshold * (prices[j] if prices.shape[0] > 1 else prices[0])
        old = T[j]
        new = old + (step[j] + moved[j]) - tilt * (ones_left[j] if ones_left.shape[0] > 1 else 0.0)
        before = max(old - bound, 0.0) + min(old + bound, 0.0)
        after = max(new - bound, 0.0) + min(new + bound, 0.0)
        z = new - (old - before)
        T[j] = new
        step[j] = after - before
        total += z
        change = max(change, abs(z - after), abs(after - before))
    return change, total


@njit(cache=True, nogil=True, fastmath=_VALUES_ARE_FINITE)
def advance(  # type: ignore[no-untyped-def]
    T, step, moved, own, tilt, ones_left, weights, threshold
):
    """T ← T + ΔC + Δa Vᵀ − Δδ/ρ · 1(I − K), then ΔC of the new T.

    Returns max(|Z − C|, |ΔC|) and Σz of each row. A sample's own code is 0 at any T.
    """
    change, sums = np.zeros(T.shape[0]), np.zeros(T.shape[0])
    for i in range(T.shape[0]):
        prices = weights[i] if weights.shape[0] > 1 else weights[0]
        row = _Row(T[i], step[i], moved[i], tilt[i], prices)
        left, sum_left = _advance_piece(row, ones_left, threshold, 0, own[i])
        right, sum_right = _advance_piece(row, ones_left, threshold, own[i] + 1, T.shape[1])
        j = own[i]
        z = moved[i, j] - tilt[i] * (ones_left[j] if ones_left.shape[0] > 1 else 0.0)
        T[i, j] += z
        change[i] = max(left, right, abs(z))
        sums[i] = sum_left + sum_right + z
    return change, sums


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def sparse_product(  # type: ignore[no-untyped-def]
    step, vectors, out
):
    """out = step · V for a step that is mostly zeros; four entries at a time, so that `out` is read less often."""
    chosen = np.empty(step.shape[1] + 3, dtype=np.int64)
    for i in range(step.shape[0]):
        count = 0
        for j in range(step.shape[1]):
            chosen[count] = j
            count += step[i, j] != 0.0
        row = out[i]
        row[:] = 0.0
        for start in range(0, count - 3, 4):
            a, b, c, d = chosen[start], chosen[start + 1], chosen[start + 2], chosen[start + 3]
            for k in range(row.shape[0]):
                row[k] += (
                    step[i, a] * vectors[a, k]
                    + step[i, b] * vectors[b, k]
                    + step[i, c] * vectors[c, k]
                    + step[i, d] * vectors[d, k]
                )
        for index in range(count - count % 4, count):
            j = chosen[index]
            for k in range(row.shape[0]):
                row[k] += step[i, j] * vectors[j, k]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def turn(  # type: ignore[no-untyped-def]
    product, shrink, tilt, ones_inside, last, move
):
    """Δa ← (ΔC₋V − 2ΔC V + Δa − Δδ/ρ · 1(I − K)V) S, where `last` is ΔC₋V and becomes `product` = ΔC V."""
    for i in range(product.shape[0]):
        for k in range(product.shape[1]):
            outside = tilt[i] * ones_inside[k] if ones_inside.shape[0] > 1 else 0.0
            move[i, k] = (last[i, k] - 2 * product[i, k] + move[i, k] - outside) * shrink[k]
            last[i, k] = product[i, k]


@dataclass(frozen=True)
class SharedFactor:
    """K = G′(G′ + ρI)⁻¹ = V diag(shrink) Vᵀ with G′ = λ A Aᵀ (+ ρ 11ᵀ if affine)."""

    vectors: FloatArray
    shrink: FloatArray
    ones_left: FloatArray | None  # 1(I − K): what the multiplier of 1ᵀc = 1 adds

    @classmethod
    def of(cls, dictionary: FloatArray, data_weight: float, penalty: float, affine: bool) -> SharedFactor:
        dtype = dictionary.dtype
        scaled = dictionary * dtype.type(np.sqrt(data_weight))
        if affine:
            scaled = np.hstack([scaled, np.full((len(scaled), 1), np.sqrt(penalty), dtype=dtype)])
        spectrum = Spectrum.of(scaled)
        V, shrink = spectrum.vectors, spectrum.values / (spectrum.values + dtype.type(penalty))
        ones_left = 1 - (V * shrink) @ V.sum(axis=0) if affine else None
        return cls(V, shrink, ones_left)


@dataclass(frozen=True)
class AdmmProblem:
    """Everything the blocks share. `weights(start, stop)` gives the ℓ₁ factors of those samples."""

    factor: SharedFactor
    n_atoms: int
    penalty: float
    tol: float
    max_iter: int
    weights: Callable[[int, int], FloatArray] | None = None


def solve_ssc_admm(
    problem: AdmmProblem, n_samples: int, n_threads: int = 1, progress: Progress | None = None
) -> Representation:
    """The codes of the first `n_samples` atoms over all atoms, each sample stopping when it has converged."""
    blocks = list(block_ranges(n_samples, block_length(problem.n_atoms)))
    codes, n_iter, worst = [], 0, 0.0
    for number, part in enumerate(local_engine(n_threads).run(_solve_block, problem, blocks)):
        codes.append(part[0])
        n_iter, worst = max(n_iter, part[1]), float(np.maximum(worst, part[2]))
        if progress is not None:
            progress((number + 1) * problem.max_iter // len(blocks), worst)
    return Representation(csr_array(vstack(codes, format="csr")), n_iter, worst < problem.tol, worst)


class _Block:
    """The state of the samples of one block. Those still at work come first: converged ones change place with them."""

    def __init__(self, problem: AdmmProblem, start: int, stop: int) -> None:
        factor, dtype = problem.factor, problem.factor.vectors.dtype
        self.step_dtype = np.dtype(np.float32) if problem.tol >= _ROUGH_TOL else dtype
        self.vectors = factor.vectors.astype(self.step_dtype, copy=False)
        self.shrink = factor.shrink.astype(self.step_dtype, copy=False)
        self.own = np.arange(start, stop)
        self.weights = np.ones((1, 1)) if problem.weights is None else np.array(problem.weights(start, stop))
        count = stop - start
        self.order = np.arange(count)
        self.n_active = count
        self.T = np.zeros((count, problem.n_atoms), dtype=dtype)
        self.step = np.zeros((count, problem.n_atoms), dtype=self.step_dtype)  # ΔC
        self.move = self.vectors[start:stop] * self.shrink  # Δa; the first is e_i V S
        self.last = np.zeros_like(self.move)  # ΔC₋V
        self.product = np.empty_like(self.move)
        self.moved = np.empty_like(self.step)  # Δa Vᵀ
        self.tilt = np.zeros(count)  # Δδ/ρ
        self.last_tilt = np.zeros(count)
        self.change = np.full(count, np.inf)

    def advance(self, problem: AdmmProblem) -> None:
        active, ones_left = slice(self.n_active), problem.factor.ones_left
        np.matmul(self.move[active], self.vectors.T, out=self.moved[active])
        self.change[active], sums = advance(
            self.T[active],
            self.step[active],
            self.moved[active],
            self.own[active],
            self.tilt[active],
            np.zeros(1, dtype=self.T.dtype) if ones_left is None else ones_left,
            self.weights if len(self.weights) == 1 else self.weights[active],
            1 / problem.penalty,
        )
        if ones_left is not None:
            self.last_tilt[active], self.tilt[active] = self.tilt[active], sums - 1
            self.change[active] = np.maximum(self.change[active], np.abs(sums - 1))

    def retire(self, tol: float) -> None:
        """Take the samples that have converged out of the work."""
        done = self.change[: self.n_active] < tol
        self.n_active -= int(done.sum())
        freed = np.flatnonzero(done[: self.n_active])
        moving = self.n_active + np.flatnonzero(~done[self.n_active :])
        per_sample = (self.T, self.step, self.move, self.last, self.own, self.order, self.change, self.tilt)
        for values in (*per_sample, self.last_tilt, *([self.weights] if len(self.weights) > 1 else [])):
            values[freed], values[moving] = values[moving], values[freed]

    def turn(self, ones_inside: FloatArray) -> None:
        """Δa of the next iteration; `ones_inside` is 1(I − K)V of the affine constraint."""
        active = slice(self.n_active)
        step, product = self.step[active], self.product[active]
        if np.count_nonzero(step) < _SPARSE_SHARE * step.size:
            sparse_product(step, self.vectors, product)
        else:
            np.matmul(step, self.vectors, out=product)
        turn(product, self.shrink, self.last_tilt[active], ones_inside, self.last[active], self.move[active])

    def codes(self, threshold: float) -> csr_array:
        """soft(T), samples in their first order."""
        codes = np.sign(self.T) * np.maximum(np.abs(self.T) - threshold * self.weights, 0)
        codes[np.arange(len(codes)), self.own] = 0
        return csr_array(codes.astype(self.T.dtype, copy=False))[np.argsort(self.order)]


def _solve_block(problem: AdmmProblem, block: tuple[int, int]) -> tuple[csr_array, int, float]:
    factor, state, n_iter = problem.factor, _Block(problem, *block), 0
    # 1(I − K)V = (1 − shrink)(1V), the part of the constraint inside the thin coordinates
    inside = np.zeros(1) if factor.ones_left is None else (1 - factor.shrink) * factor.vectors.sum(axis=0)
    while state.n_active and n_iter < problem.max_iter:
        if n_iter:
            state.turn(inside)
        n_iter += 1
        state.advance(problem)
        state.retire(problem.tol)
    return state.codes(1 / problem.penalty), n_iter, float(state.change.max(initial=0.0))
