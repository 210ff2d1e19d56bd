"""What the clusters of one part of the samples say of the rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from masked_subspace._common.sparse.implicit import ImplicitRows, Rows
from masked_subspace._common.symmetric_eigen import eigenpairs, largest_eigenpairs, with_fixed_signs
from masked_subspace._common.types import FloatArray, IntArray

_ENERGY = 0.9
_MOST_DIRECTIONS = 9
# More features than this are first reduced to their leading principal directions: the yardstick stays, at less cost.
_MOST_FEATURES = 100


def predicted_labels(samples: FloatArray, labels: IntArray, n_clusters: int, fold: IntArray) -> IntArray:
    """The nearest cluster of each sample, clusters being affine subspaces that were fitted to the other folds."""
    distance = np.full((len(samples), n_clusters), np.inf)
    for left_out in range(int(fold.max()) + 1):
        train = fold != left_out
        for cluster in range(n_clusters):
            members = samples[train & (labels == cluster)]
            if len(members) > 1:
                distance[~train, cluster] = _squared_distance(members, samples[~train])
    nearest: IntArray = distance.argmin(axis=1)
    return nearest


def _squared_distance(members: FloatArray, others: FloatArray) -> FloatArray:
    """From each of the others to the affine subspace of the members."""
    mean = members.mean(axis=0)
    centred = members - mean
    wide = centred.shape[0] <= centred.shape[1]
    values, vectors = eigenpairs(centred @ centred.T if wide else centred.T @ centred)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    share = np.cumsum(values) / max(float(values.sum()), np.finfo(float).tiny)
    rank = min(int(np.searchsorted(share, _ENERGY)) + 1, _MOST_DIRECTIONS, len(members) - 1)
    basis = vectors[:, :rank]
    if wide:
        basis = centred.T @ basis / np.sqrt(np.maximum(values[:rank], np.finfo(members.dtype).tiny))
    shifted = others - mean
    squared: FloatArray = (shifted**2).sum(axis=1) - ((shifted @ basis) ** 2).sum(axis=1)
    return squared


def leading_rows(
    rows: Rows, width: int | None = None, turned: Callable[[FloatArray], FloatArray] = with_fixed_signs
) -> FloatArray:
    """At most 100 principal directions of the rows, with the signs that `turned` gives directions.

    `width` is that of the rows if None; of sparse samples it is that of arrays like them.
    """
    if isinstance(rows, ImplicitRows):
        return rows.principal(_MOST_FEATURES, center=True)
    width = rows.shape[1] if width is None else width
    if width <= _MOST_FEATURES:
        return rows
    centred: FloatArray = rows - rows.mean(axis=0)
    if width <= len(centred):
        return centred @ turned(largest_eigenpairs(centred.T @ centred, _MOST_FEATURES)[1])
    values, vectors = largest_eigenpairs(centred @ centred.T, _MOST_FEATURES)
    reduced: FloatArray = vectors * np.sqrt(np.maximum(values, 0))
    return reduced
