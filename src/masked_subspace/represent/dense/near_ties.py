"""Samples that float32 cannot decide are solved once more in float64.

A hard threshold turns a difference in the last digit into a link more or less, and the rest of the sample's iterations
follow from it. Each sample therefore records how near to τ any of its entries ever came. Those that came nearer than
the rounding of float32 are few, and solving them again makes the supports those of float64.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from masked_subspace._common.types import DType
from masked_subspace.represent.dense.lazy import LazyPass, LazyProblem
from masked_subspace.represent.dense.running import FinishedRow, Outcome, run_freezing

# Measured on MNIST with μ₀ = .1 and p = 1.1: samples whose support differed from float64's had come within 6.4e-7 of τ
# (docs/findings/performance.md). Elsewhere it is a guess: what is missed is a link or two, as in plain float32.
NEAR = 1.5e-6
_BLOCK = 256


def undecided(outcome: Outcome) -> list[int]:
    """The samples of which an entry came too near to the threshold."""
    return sorted(place for place, row in outcome.rows.items() if row.margin < NEAR)


def decide_again(outcome: Outcome, places: list[int], problem: LazyProblem, n_threads: int) -> None:
    """Replace the rows of these samples by those of `problem`, which is the same in float64."""
    samples = np.array(places)
    n_blocks = max(n_threads, -(-len(samples) // _BLOCK))
    edges = np.linspace(0, len(samples), n_blocks + 1).astype(int).tolist()
    ranges = [(a, b) for a, b in pairwise(edges) if a < b]
    again = run_freezing(
        ranges, lambda a, b: LazyPass(problem, samples[a:b]), problem.settings, n_threads, progress=None
    )
    for place, row in again.rows.items():
        outcome.rows[place] = _like(row, outcome.rows[place].values.dtype)
    outcome.n_iter.update(again.n_iter)
    outcome.stopping_value = float(np.max([row.stopping_value for row in outcome.rows.values()]))
    outcome.converged = outcome.stopping_value < problem.settings.tol
    # The objective stays that of float32, continued to the end.
    missing = max(outcome.n_iter.values()) - len(outcome.objective)
    outcome.objective += outcome.objective[-1:] * missing


def _like(row: FinishedRow, dtype: DType) -> FinishedRow:
    step = None if row.last_step is None else row.last_step.astype(dtype)
    return replace(row, values=row.values.astype(dtype), last_step=step)
