"""How blocks of samples are run through Algorithm 1: all in lockstep, or each sample until it has converged.

The rows of Z are independent problems that share one factorisation, so a block can be any set of samples, blocks can
run in threads, and no n × n array need exist. Two kinds of block live by this protocol: `BlockedPass`, which looks at
every entry in every iteration, and `LazyPass`, which does so only when it must.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol

import numpy as np

from masked_subspace._common.types import FloatArray, IndexArray, IntArray
from masked_subspace.parallel.engine import ordered_map
from masked_subspace.represent.model import AdmmSettings, Step, continuation

Progress = Callable[[int, float], None]


@dataclass(frozen=True)
class FinishedRow:
    """What is left of one sample when its iterations are over."""

    indices: IndexArray
    values: FloatArray
    mask_residual: float
    sparsity_residual: float
    noise: FloatArray | None = None
    outliers: FloatArray | None = None
    last_step: FloatArray | None = None  # the change of `values` in the last iteration
    margin: float = 1.0  # the nearest that an entry ever came to the threshold, relative to it
    stopping_value: float = 0.0  # max(|ΔC|∞, |ΔZ|∞, |ΔQ|∞) when it stopped by itself


class Block(Protocol):
    """Some samples in the middle of Algorithm 1; local rows are numbered from 0."""

    samples: IntArray

    def step(self, step: Step) -> tuple[FloatArray, FloatArray]:
        """One iteration. For each row: its part of the objective, and a lower bound of its stopping value."""

    def exact_change(self, rows: IntArray) -> FloatArray:
        """The stopping values max(|ΔC|, |ΔZ|, |ΔQ|) of these rows after the last step."""

    def finish(self, rows: IntArray) -> list[FinishedRow]:
        """The results of these rows after the last step; their `exact_change` has been asked for."""

    def keep(self, rows: IntArray) -> None:
        """Forget all other rows; the kept ones are renumbered in this order."""


@dataclass
class Outcome:
    """The finished rows of some samples and how they came about."""

    rows: dict[int, FinishedRow] = field(default_factory=dict)
    n_iter: dict[int, int] = field(default_factory=dict)
    stopping_value: float = 0.0
    objective: list[float] = field(default_factory=list)
    converged: bool = True


MakeBlock = Callable[[int, int], Block]


def run_lockstep(
    ranges: Sequence[tuple[int, int]],
    make_block: MakeBlock,
    settings: AdmmSettings,
    n_threads: int,
    progress: Progress | None,
) -> Outcome:
    """All samples make the same iterations: Algorithm 1 to the letter, at the price of keeping every block's state."""
    outcome = Outcome(converged=False)
    with ordered_map(n_threads) as apply:
        blocks = apply(lambda limits: make_block(*limits), ranges)
        for step in continuation(settings):
            reports = apply(partial(_stepped, step), blocks)
            outcome.objective.append(float(sum(cost.sum(dtype=np.float64) for cost, _ in reports)))
            change = float(np.max([lower.max() for _, lower in reports]))
            if change < settings.tol or step.number + 1 == settings.max_iter:
                change = float(np.max(apply(lambda block: block.exact_change(_all_rows(block)).max(), blocks)))
            outcome.stopping_value = change
            if progress is not None:
                progress(step.number + 1, change)
            if change < settings.tol:
                outcome.converged = True
                break
        finished = apply(lambda block: block.finish(_all_rows(block)), blocks)
    for block, rows in zip(blocks, finished, strict=True):
        outcome.rows.update(zip(block.samples.tolist(), rows, strict=True))
    outcome.n_iter = dict.fromkeys(outcome.rows, len(outcome.objective))
    return outcome


def run_freezing(
    ranges: Sequence[tuple[int, int]],
    make_block: MakeBlock,
    settings: AdmmSettings,
    n_threads: int,
    progress: Progress | None,
) -> Outcome:
    """Each sample stops when it has converged, and each block is forgotten when its samples have."""
    with ordered_map(n_threads) as apply:
        parts = apply(lambda limits: _run_one(make_block(*limits), settings, progress), ranges)
    outcome = Outcome()
    length = max(len(part.objective) for part in parts)
    trace = np.zeros(length)
    for part in parts:
        outcome.rows.update(part.rows)
        outcome.n_iter.update(part.n_iter)
        outcome.stopping_value = float(np.maximum(outcome.stopping_value, part.stopping_value))
        outcome.converged &= part.converged
        trace += np.pad(part.objective, (0, length - len(part.objective)), mode="edge")
    outcome.objective = [float(value) for value in trace]
    return outcome


def _run_one(block: Block, settings: AdmmSettings, progress: Progress | None) -> Outcome:
    outcome = Outcome()
    samples = block.samples  # the sample behind each local row
    running = np.ones(len(samples), dtype=bool)
    frozen_cost = 0.0
    for step in continuation(settings):
        cost, lower = block.step(step)
        outcome.objective.append(frozen_cost + float(cost[running].sum(dtype=np.float64)))
        candidates = np.flatnonzero(running & (lower < settings.tol))
        if step.number + 1 == settings.max_iter:
            candidates = np.flatnonzero(running)
        if not len(candidates):
            continue
        exact = block.exact_change(candidates)
        if step.number + 1 == settings.max_iter:
            done = candidates
            outcome.converged = bool((exact < settings.tol).all())
        else:
            done, exact = candidates[exact < settings.tol], exact[exact < settings.tol]
        outcome.stopping_value = float(np.maximum(outcome.stopping_value, exact.max(initial=0.0)))
        for sample, row, value in zip(samples[done].tolist(), block.finish(done), exact.tolist(), strict=True):
            outcome.rows[sample] = replace(row, stopping_value=value)
        outcome.n_iter.update(dict.fromkeys(samples[done].tolist(), step.number + 1))
        frozen_cost += float(cost[done].sum(dtype=np.float64))
        running[done] = False
        if not running.any():
            break
        # Moving the survivors together costs one copy of the state: worth it when a tenth of the rows is idle.
        if running.mean() < 0.9:
            survivors = np.flatnonzero(running)
            block.keep(survivors)
            samples, running = samples[survivors], np.ones(len(survivors), dtype=bool)
    if progress is not None:
        progress(len(outcome.objective), outcome.stopping_value)
    return outcome


def _stepped(step: Step, block: Block) -> tuple[FloatArray, FloatArray]:
    return block.step(step)


def _all_rows(block: Block) -> IntArray:
    return np.arange(len(block.samples))
