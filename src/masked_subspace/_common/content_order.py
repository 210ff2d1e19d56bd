"""An order of samples that depends on what they are and not on where they stand.

Whoever draws samples (seeds of k-means, a subsample, the halves of a split) draws from this order: with the rows
permuted, the same samples are drawn. The order is that of the rows' places along one fixed random direction. A hash
would do for rows that are the same to the last bit; prepared rows are not, because the mean of permuted rows rounds
differently, and along a direction rounding can do no more than exchange two neighbours. Rows that are equal keep their
order: it does not matter which of them is drawn.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masked_subspace._common.sparse.implicit import ImplicitRows
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray

# What can be put in order: samples or prepared rows, sparse or not.
Content = FloatArray | ImplicitRows | SparseSamples
Positions = npt.NDArray[np.intp]

_DIRECTION_SEED = 0


def content_direction(n_features: int) -> npt.NDArray[np.float64]:
    """The direction of rows with so many features; one feature more adds an entry and changes none."""
    return np.random.default_rng(_DIRECTION_SEED).standard_normal(n_features)


def content_keys(rows: Content) -> npt.NDArray[np.float64]:
    """Where each row lies along the direction."""
    direction = content_direction(rows.shape[1])
    if isinstance(rows, (ImplicitRows, SparseSamples)):
        return rows.times(direction).astype(np.float64)
    # A matrix product would round a row differently in another place.
    keys: npt.NDArray[np.float64] = np.einsum("ij,j->i", rows, direction, dtype=np.float64)
    return keys


def content_order(rows: Content) -> Positions:
    """Positions of the rows, sorted by content."""
    order: Positions = np.argsort(content_keys(rows), kind="stable")
    return order


def drawn_by_content(
    rows: FloatArray | ImplicitRows | SparseSamples, count: int, rng: np.random.Generator
) -> Positions:
    """Ascending positions of `count` different rows (all, if there are no more), drawn whatever their order."""
    if count >= len(rows):
        return np.arange(len(rows))
    return np.sort(content_order(rows)[rng.choice(len(rows), count, replace=False)])
