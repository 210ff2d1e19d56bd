"""SSC by ADMM (Elhamifar & Vidal 2013), in blocks of samples that share one factorisation.

The published iteration keeps Z, C and the multiplier Λ. With T = Z + Λ/ρ the other two follow from it, C = soft(T) and
Λ/ρ = T − C, so one array a block is the whole state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from masked_subspace.baselines.result import FloatArray, Progress, Representation, block_length
from masked_subspace.baselines.ssc_admm_kernels import prepare_product, update_state
from masked_subspace.parallel.blocks import block_ranges
from masked_subspace.parallel.engine import local_engine
from masked_subspace.solvers.spectrum import Spectrum


@dataclass(frozen=True)
class SharedFactor:
    """K = G′(G′ + ρI)⁻¹ with G′ = λ A Aᵀ (+ ρ 11ᵀ if affine), thin where that is the cheaper product."""

    vectors: FloatArray
    shrink: FloatArray
    dense: FloatArray | None
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
        dense = (V * shrink) @ V.T if 2 * V.shape[1] >= V.shape[0] else None
        return cls(V, shrink, dense, ones_left)

    def project(self, block: FloatArray) -> FloatArray:
        """block · K."""
        if self.dense is not None:
            return block @ self.dense
        return ((block @ self.vectors) * self.shrink) @ self.vectors.T


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
        n_iter, worst = max(n_iter, part[1]), max(worst, part[2])
        if progress is not None:
            progress((number + 1) * problem.max_iter // len(blocks), worst)
    return Representation(csr_array(vstack(codes, format="csr")), n_iter, worst < problem.tol, worst)


def _solve_block(problem: AdmmProblem, block: tuple[int, int]) -> tuple[csr_array, int, float]:
    factor, dtype = problem.factor, problem.factor.vectors.dtype
    start, stop = block
    count, n_atoms = stop - start, problem.n_atoms
    own = np.arange(start, stop)
    has_weights = problem.weights is not None
    weights = problem.weights(start, stop) if problem.weights is not None else np.ones((1, 1), dtype=dtype)
    affine = factor.ones_left is not None
    ones_left = factor.ones_left if factor.ones_left is not None else np.zeros(1, dtype=dtype)
    threshold = 1 / problem.penalty
    shift = np.zeros(count)  # δ/ρ
    rows = np.arange(count)
    T = np.zeros((count, n_atoms), dtype=dtype)
    finished: dict[int, FloatArray] = {}
    change = np.full(count, np.inf)
    n_iter = 0
    while len(rows) and n_iter < problem.max_iter:
        n_iter += 1
        entry = np.empty_like(T)
        prepare_product(rows, T, own, weights, has_weights, threshold, entry)
        product = factor.project(entry)
        change[rows], sums = update_state(
            rows, T, own, weights, has_weights, threshold, entry, product, affine, shift, ones_left
        )
        if affine:
            shift[rows] += sums - 1
            change[rows] = np.maximum(change[rows], np.abs(sums - 1))
        done = change[rows] < problem.tol
        # Taking converged samples out costs a copy of the rest: worth it when a tenth is idle.
        if done.mean() > 0.1 or done.all():
            finished.update(zip(rows[done].tolist(), T[done], strict=True))
            rows, T = rows[~done], T[~done]
    finished.update(zip(rows.tolist(), T, strict=True))
    state = np.stack([finished[i] for i in range(count)])
    bound = threshold * weights if has_weights else threshold
    codes = np.sign(state) * np.maximum(np.abs(state) - bound, 0)
    codes[np.arange(count), own] = 0
    return csr_array(codes.astype(dtype)), n_iter, float(change.max(initial=0.0))
