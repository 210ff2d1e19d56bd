"""Low-rank completion of a table with unknown entries: the start of rows/missing.py.

SoftImpute (Mazumder, Hastie & Tibshirani 2010) repeats

    L ← S_λ(P_Ω(X) + P_Ω⊥(L)),   S_λ: every singular value s becomes max(s − λ, 0),

which lowers ½‖P_Ω(X − L)‖² + λ‖L‖_*. λ falls from the largest singular value, where L = 0 and unknown entries have the
mean of their feature, and every λ starts from the L before it. Where to stop is asked of entries that were hidden. The
singular vectors come from one step of subspace iteration, which is enough because the next step starts from them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from masked_subspace._common.rows import eigenpairs
from masked_subspace._common.types import BoolArray, FloatArray

# Most directions; λ falls by this factor, at most so often; repetitions for one λ, and the change that ends them.
MOST_DIRECTIONS = 100
_FALL, _MOST_PRICES, _REPEATS, _SETTLED = 0.7, 22, 6, 1e-3
# Prices tried after the best one before the search ends.
_PATIENCE = 2
_FIRST_STEPS = 5


@dataclass(frozen=True)
class Completed:
    """A table without unknown entries, orthonormal directions (d × r) that hold most of it, and how often λ fell."""

    table: FloatArray
    directions: FloatArray
    n_prices: int


def completed_by_rank(
    values: FloatArray,
    observed: BoolArray,
    *,
    seed: int,
    n_prices: int = 0,
    error: Callable[[FloatArray], float] | None = None,
) -> Completed:
    """The table after the number of prices with the smallest `error`; without one, after `n_prices`."""
    path = _path(values, observed, seed)
    if error is None:
        return next(one for one in path if one.n_prices == n_prices)
    best = next(path)
    lowest, waited = error(best.table), 0
    for one in path:
        found = error(one.table)
        waited += 1
        if found < lowest:
            best, lowest, waited = one, found, 0
        if waited == _PATIENCE:
            break
    return best


def _path(values: FloatArray, observed: BoolArray, seed: int) -> Iterator[Completed]:
    n, d = values.shape
    table = values.copy()
    start = np.random.default_rng(seed).standard_normal((d, min(n, d, MOST_DIRECTIONS))).astype(values.dtype)
    directions = np.linalg.qr(start)[0]
    for _ in range(_FIRST_STEPS):
        directions, singular = leading_directions(table, directions)
    yield Completed(table, directions, 0)
    price = float(singular[0])
    for number in range(1, _MOST_PRICES + 1):
        price *= _FALL
        for _ in range(_REPEATS):
            directions, singular = leading_directions(table, directions)
            shrunk = np.maximum(singular - price, 0) / np.maximum(singular, np.finfo(values.dtype).tiny)
            low_rank = (table @ (directions * shrunk.astype(values.dtype))) @ directions.T
            change = np.where(observed, 0, low_rank - table)
            table = table + change
            if np.linalg.norm(change) <= _SETTLED * np.linalg.norm(table):
                break
        yield Completed(table, directions, number)


def leading_directions(table: FloatArray, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """One step of subspace iteration: better right singular vectors of the table, and its singular values in them."""
    better = np.linalg.qr(table.T @ (table @ directions))[0]
    scores = table @ better
    squared, rotation = eigenpairs((scores.T @ scores).astype(np.float64))
    singular = np.sqrt(np.maximum(squared[::-1], 0))
    return better @ rotation[:, ::-1].astype(table.dtype), singular
