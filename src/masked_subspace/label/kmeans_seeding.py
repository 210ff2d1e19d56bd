"""Greedy k-means++ (Arthur & Vassilvitskii 2007) for all restarts of k-means at once.

The draws are those of scikit-learn's `init="k-means++"`, restart after restart from one generator, so the centres are
the same. What differs is the order of the work: the k-th centre of every restart is looked for in one matrix product,
where one restart at a time reads all rows for a handful of candidates.
"""

from __future__ import annotations

import numba as nb
import numpy as np

from masked_subspace._common.types import FloatArray, IntArray


class SpreadCentres:
    """What `KMeans(init=…)` calls once a restart. The first call seeds all `n_init` restarts."""

    def __init__(self, n_init: int) -> None:
        self.n_init = n_init
        self._waiting: list[IntArray] = []

    def __call__(self, rows: FloatArray, n_clusters: int, random_state: np.random.RandomState) -> FloatArray:
        if not self._waiting:
            self._waiting = list(spread_centres(rows, n_clusters, self.n_init, random_state))
        return rows[self._waiting.pop(0)]


def spread_centres(rows: FloatArray, n_clusters: int, n_init: int, random_state: np.random.RandomState) -> IntArray:
    """Which rows are the centres of each restart (restarts × K).

    The first of a restart is any row; each further one is the best of 2 + ln K drawn in proportion to the squared
    distance to the centres before it.
    """
    n_rows, n_trials = len(rows), 2 + int(np.log(n_clusters))
    first = np.empty((n_init, 1), dtype=np.int64)
    draws = np.empty((n_init, n_clusters - 1, n_trials))
    for restart in range(n_init):
        first[restart] = random_state.choice(n_rows, p=np.full(n_rows, 1 / n_rows))
        draws[restart] = random_state.uniform(size=draws.shape[1:])
    squares = np.einsum("ij,ij->i", rows, rows)
    # Squared distance to the centres so far.
    nearest = np.full((n_init, n_rows), np.finfo(rows.dtype).max, dtype=rows.dtype)
    chosen = [_best_of(first, rows, squares, nearest)]
    for k in range(n_clusters - 1):
        cumulative = np.cumsum(nearest, axis=1)
        tried = [np.searchsorted(line, line[-1] * places) for line, places in zip(cumulative, draws[:, k], strict=True)]
        chosen.append(_best_of(np.minimum(tried, n_rows - 1), rows, squares, nearest))
    return np.stack(chosen, axis=1)


def _best_of(tried: IntArray, rows: FloatArray, squares: FloatArray, nearest: FloatArray) -> IntArray:
    """For each restart the row in its line of `tried` that brings the most; `nearest` takes it in."""
    inner = (rows[tried.ravel()] @ rows.T).reshape(*tried.shape, len(rows))
    best = np.zeros(len(tried), dtype=np.int64)
    _take_best(inner, squares, tried, nearest, best)
    return np.asarray(tried[np.arange(len(tried)), best])


@nb.njit(cache=True, nogil=True, fastmath=True)
def _take_best(inner, squares, tried, nearest, best):  # type: ignore[no-untyped-def]
    """For each restart the trial that leaves the least Σ of squared distances; `nearest` takes it in.

    `inner` is the product of the tried rows and all rows, and is overwritten.
    """
    n_init, n_trials, n_rows = inner.shape
    for restart in range(n_init):
        own = nearest[restart]
        lowest = 0.0
        for trial in range(n_trials):
            line = inner[restart, trial]
            square = squares[tried[restart, trial]]
            total = 0.0
            for i in range(n_rows):
                distance = max(square + squares[i] - 2 * line[i], 0.0)
                line[i] = min(own[i], distance)
                total += line[i]
            if trial == 0 or total < lowest:
                lowest = total
                best[restart] = trial
        own[:] = inner[restart, best[restart]]
