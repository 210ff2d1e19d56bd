"""One block of samples: gather the candidates, form the small Gram matrices once, solve every setting on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masked_subspace.masks.base import HardMask, SoftMask
from masked_subspace.solvers.result import AdmmSettings
from masked_subspace.solvers.sparse_kernels import admm_rows, compress_rows, gather_rows

FloatArray = npt.NDArray[np.floating[Any]]
IndexArray = npt.NDArray[np.int32]

# Accuracy of the Z step relative to its right side: a few rounding errors.
_SOLVE_TOL = {np.dtype(np.float32): 5e-7, np.dtype(np.float64): 1e-15}


@dataclass(frozen=True)
class SparseProblem:
    """What all blocks read. `targets` is None when the samples rebuild each other."""

    dictionary: FloatArray
    candidates: IndexArray
    settings: tuple[AdmmSettings, ...]
    soft_masks: tuple[SoftMask | None, ...]
    hard_mask: HardMask | None
    first_stops: tuple[int, ...]  # for each setting, the first iteration that may be the last one
    targets: FloatArray | None = None


@dataclass(frozen=True)
class BlockSolution:
    """Rows of Q as the three arrays of CSR, and what the stopping rule and the history need."""

    counts: npt.NDArray[np.int64]
    indices: IndexArray
    data: FloatArray
    objective: npt.NDArray[np.float64]
    residuals: npt.NDArray[np.float64]  # (stopping value, ‖Z − Mʰ⊙C‖∞, ‖Q − Z‖∞), the largest of the block
    least_iter: int
    most_iter: int


@dataclass(frozen=True)
class _SmallProblems:
    columns: IndexArray  # b × v
    H: FloatArray  # b × v × v
    g: FloatArray  # b × v
    energy: FloatArray  # ‖x‖² of each target
    allowed: npt.NDArray[np.bool_]  # b × v


def solve_block(problem: SparseProblem, block: tuple[int, int]) -> list[BlockSolution]:
    """Solutions of all settings for the samples start..stop."""
    start, stop = block
    small = _small_problems(problem, start, stop)
    prices: dict[int, FloatArray] = {}
    return [
        _solve_setting(small, setting, _squared_prices(problem, mask, start, small, prices), first_stop)
        for setting, mask, first_stop in zip(problem.settings, problem.soft_masks, problem.first_stops, strict=True)
    ]


def _small_problems(problem: SparseProblem, start: int, stop: int) -> _SmallProblems:
    candidates = problem.candidates[start:stop]
    rows = np.arange(start, stop, dtype=np.int32)
    own = problem.targets is None
    # Algorithm 1 keeps the forbidden diagonal as a variable of Z, so the sample itself is the last one.
    columns = np.concatenate([candidates, rows[:, None]], axis=1) if own else np.ascontiguousarray(candidates)
    gathered = np.empty((*columns.shape, problem.dictionary.shape[1]), dtype=problem.dictionary.dtype)
    gather_rows(problem.dictionary, columns, gathered)
    H = np.matmul(gathered, gathered.transpose(0, 2, 1))
    allowed = columns >= 0
    if own:
        g, energy = H[:, -1, :].copy(), H[:, -1, -1].copy()
        allowed[:, -1] = False
        if problem.hard_mask is not None and not problem.hard_mask.diagonal_only:
            allowed[:, :-1] &= problem.hard_mask.allowed(rows[:, None], candidates)
    else:
        assert problem.targets is not None
        targets = np.ascontiguousarray(problem.targets[start:stop])
        g = np.matmul(gathered, targets[:, :, None])[:, :, 0]
        energy = np.einsum("ij,ij->i", targets, targets)
    return _SmallProblems(columns, H, g, energy, allowed)


def _squared_prices(
    problem: SparseProblem, mask: SoftMask | None, start: int, small: _SmallProblems, known: dict[int, FloatArray]
) -> FloatArray | None:
    """Mˢ⊙Mˢ on the block's pairs; settings that share a mask share the array."""
    if mask is None:
        return None
    if id(mask) not in known:
        rows = np.arange(start, start + len(small.columns))[:, None]
        price = np.asarray(mask.at(rows, small.columns), dtype=small.H.dtype)
        known[id(mask)] = price * price
    return known[id(mask)]


def _solve_setting(
    small: _SmallProblems, settings: AdmmSettings, prices: FloatArray | None, first_stop: int
) -> BlockSolution:
    dtype = small.H.dtype
    weight = np.zeros_like(small.g) if prices is None else dtype.type(settings.mask_weight) * prices
    Q = np.empty_like(small.g)
    n_iter = np.zeros(len(Q), dtype=np.int64)
    residuals, objective = np.zeros((len(Q), 3)), np.zeros(settings.max_iter)
    numbers = np.array(
        [settings.sparsity, settings.penalty, settings.penalty_growth, settings.tol, _SOLVE_TOL[dtype]]
    )
    limits = np.array([first_stop, settings.max_iter])
    vectors, values = np.empty((0, 0, 0), dtype=dtype), np.empty((0, 0), dtype=dtype)
    admm_rows(
        small.H, small.g, small.energy, weight, small.allowed, vectors, values, numbers, limits,
        Q, n_iter, residuals, objective,
    )  # fmt: skip
    counts = np.zeros(len(Q), dtype=np.int64)
    indices, data = np.empty(Q.size, dtype=np.int32), np.empty(Q.size, dtype=dtype)
    total = compress_rows(Q, small.columns, small.allowed, counts, indices, data)
    return BlockSolution(
        counts,
        indices[:total].copy(),
        data[:total].copy(),
        objective,
        residuals.max(axis=0, initial=0.0),
        int(n_iter.min(initial=settings.max_iter)),
        int(n_iter.max(initial=0)),
    )
