"""Algorithm 1, exact: which of the two passes runs it, and how its parts become one result.

In the row convention, with G = XXᵀ, w_ij = γ·(Mˢ_ij)² and τ = √(2λ/μ):

    Z  = (G − U1 + μ Mʰ⊙C + U2 + μ Q)(G + 2μI)⁻¹            Eq:b-Z
    C  = (U1 + μZ)⊙Mʰ / (w + μ)                             Eq:C (Eq:b-C with w = 0)
    Q  = H_τ(Z − U2/μ)                                      Eq:b-Q
    U1 += μ(Z − Mʰ⊙C);   U2 += μ(Q − Z);   μ *= p
    stop when max(|ΔC|∞, |ΔZ|∞, |ΔQ|∞) < tol or after T iterations
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, Literal

import numpy as np
from scipy.sparse import csr_array

from masked_subspace.masks.base import HardMask, SoftMask
from masked_subspace.masks.soft import ConstantMask, LabelMask
from masked_subspace.solvers.blocked import ARRAYS_PER_BLOCK, BlockedPass
from masked_subspace.solvers.blocks import Block, IntArray, Outcome, Progress, run_freezing, run_lockstep
from masked_subspace.solvers.lazy import LazyPass, LazyProblem
from masked_subspace.solvers.memory import require_memory
from masked_subspace.solvers.result import AdmmSettings, FloatArray, SolverResult
from masked_subspace.solvers.spectrum import Spectrum

_DEFAULT_BLOCK = 512


def solve_dense(
    X: FloatArray,
    settings: AdmmSettings,
    *,
    spectrum: Spectrum | None = None,
    hard_mask: HardMask | None = None,
    soft_mask: SoftMask | None = None,
    n_threads: int = 1,
    block_size: int | None = None,
    progress: Progress | None = None,
    path: Literal["auto", "lazy", "blocked"] = "auto",
) -> SolverResult:
    """Solve `eq:bmsc`, `eq:gmsc` (with a soft mask) or `eq:gmsc-n` (with noise or outliers in the settings).

    float64 rows are solved in lockstep, which is Algorithm 1 to the letter; in float32 each sample stops when it has
    converged, and memory stays at one block a thread. `spectrum` saves the factorisation when X was factored before.
    """
    begin = perf_counter()
    X = np.asarray(X)
    n_samples = len(X)
    lockstep = X.dtype != np.float32
    block_size = _block_size(block_size, n_samples, n_threads)
    rows_in_memory = n_samples if lockstep else min(n_samples, n_threads * block_size)
    require_memory(ARRAYS_PER_BLOCK * rows_in_memory * n_samples * (8 if lockstep else 4), n_samples)
    if spectrum is None:
        spectrum = Spectrum.of(X, n_threads=n_threads)
    factored = perf_counter()

    lazy = _lazy_problem(settings, spectrum, hard_mask, soft_mask) if path != "blocked" else None
    if lazy is not None:
        lazy.prepare()

    def make_block(start: int, stop: int) -> Block:
        if lazy is not None:
            return LazyPass(lazy, start, stop)
        return BlockedPass(X, settings, spectrum, hard_mask, soft_mask, start, stop)

    ranges = [(start, min(n_samples, start + block_size)) for start in range(0, n_samples, block_size)]
    run = run_lockstep if lockstep else run_freezing
    outcome = run(ranges, make_block, settings, n_threads, progress)
    end = perf_counter()
    details: dict[str, Any] = {
        "path": "blocked" if lazy is None else "lazy",
        "seconds_factorisation": factored - begin,
        "block_size": block_size,
    }
    order = np.arange(n_samples) if lazy is None else lazy.order
    return _assemble(outcome, order, settings, end - begin, details)


def _lazy_problem(
    settings: AdmmSettings, spectrum: Spectrum, hard_mask: HardMask | None, soft_mask: SoftMask | None
) -> LazyProblem | None:
    """The problem for the lazy pass, or None when the masks or the model need every entry looked at."""
    if settings.has_residual_model or not (hard_mask is None or hard_mask.diagonal_only):
        return None
    if soft_mask is None:
        return LazyProblem.of(settings, spectrum, (0.0,), None)
    if isinstance(soft_mask, ConstantMask):
        return LazyProblem.of(settings, spectrum, (soft_mask.price,), None)
    if isinstance(soft_mask, LabelMask):
        return LazyProblem.of(settings, spectrum, (soft_mask.inside, soft_mask.outside), soft_mask.labels)
    return None


def _block_size(given: int | None, n_samples: int, n_threads: int) -> int:
    if given is not None:
        if given < 1:
            raise ValueError(f"block_size is {given!r}; it must be a whole number ≥ 1.")
        return min(given, n_samples)
    return max(1, min(_DEFAULT_BLOCK, -(-n_samples // n_threads)))


def _assemble(
    outcome: Outcome, order: IntArray, settings: AdmmSettings, seconds: float, details: dict[str, Any]
) -> SolverResult:
    """One CSR matrix, and one ε and O, from the finished rows."""
    n_samples = len(order)
    position = np.argsort(order).tolist()  # where each sample stands in the order the solver used
    rows = [outcome.rows[place] for place in position]
    pointers = np.zeros(n_samples + 1, dtype=np.int64)
    np.cumsum([len(row.indices) for row in rows], out=pointers[1:])
    representation = csr_array(
        (np.concatenate([row.values for row in rows]), np.concatenate([row.indices for row in rows]), pointers),
        shape=(n_samples, n_samples),
    )
    representation.sort_indices()
    details["n_iter_per_sample"] = np.array([outcome.n_iter[place] for place in position])
    return SolverResult(
        representation=representation,
        n_iter=len(outcome.objective),
        converged=outcome.converged,
        stopping_value=outcome.stopping_value,
        mask_residual=max(row.mask_residual for row in rows),
        sparsity_residual=max(row.sparsity_residual for row in rows),
        objective=np.array(outcome.objective),
        seconds=seconds,
        noise=None if settings.noise is None else _stacked([row.noise for row in rows]),
        outliers=None if settings.outliers is None else csr_array(_stacked([row.outliers for row in rows])),
        details=details,
    )


def _stacked(rows: list[FloatArray | None]) -> FloatArray:
    return np.stack([row for row in rows if row is not None])
