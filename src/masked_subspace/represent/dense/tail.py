"""Where a sample that stopped early would have ended in lockstep.

Algorithm 1 iterates all samples until the last has converged. A sample that stops at its own convergence misses the
iterations up to that point, and in those it still moves: once its support is settled, an iteration changes it by 1/p of
what the one before did, because the penalty is p times as large. The sum of these steps is known from the last one
made. It is about 10·tol for p = 1.1, and would otherwise be the largest difference to the algorithm in lockstep.
Only the lazy pass knows its last steps; the blocked pass leaves samples where they stopped.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from masked_subspace.represent.dense.running import Outcome


def carry_on(outcome: Outcome, growth: float) -> None:
    """Add to each sample's values the steps it did not make; `growth` is p."""
    if growth <= 1:
        return
    last = max(outcome.n_iter.values())
    for place, row in outcome.rows.items():
        if row.last_step is not None:
            missed = last - outcome.n_iter[place]
            share = (1 - growth**-missed) / (growth - 1)  # 1/p + 1/p² + … , `missed` terms
            # An entry that has just appeared has made no step of the series yet.
            step = np.where(row.last_step == row.values, 0, row.last_step).astype(row.values.dtype)
            outcome.rows[place] = replace(row, values=row.values + row.values.dtype.type(share) * step)
