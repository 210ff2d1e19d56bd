"""What the clusters of one part of the samples say of the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from masked_subspace._common.sparse.implicit import ImplicitRows, Rows
from masked_subspace._common.symmetric_eigen import eigenpairs, largest_eigenpairs, with_fixed_signs
from masked_subspace._common.types import FloatArray, IntArray

# The mean and, as columns, orthonormal directions.
AffineSubspace: TypeAlias = tuple[FloatArray, FloatArray]

_ENERGY = 0.9
_MOST_DIRECTIONS = 9
# More features than this are first reduced to their leading principal directions: the yardstick stays, at less cost.
_MOST_FEATURES = 100


def predicted_labels(samples: FloatArray, labels: IntArray, n_clusters: int, fold: IntArray) -> IntArray:
    """The nearest cluster of each sample, clusters being affine subspaces that were fitted to the other folds."""
    distance = np.full((len(samples), n_clusters), np.inf)
    for left_out in range(int(fold.max()) + 1):
        train = fold != left_out
        members = [samples[train & (labels == cluster)] for cluster in range(n_clusters)]
        fitted = [cluster for cluster in range(n_clusters) if len(members[cluster]) > 1]
        if fitted:
            others = np.flatnonzero(~train)
            subspaces = _affine_subspaces([members[cluster] for cluster in fitted])
            distance[others[:, None], np.array(fitted)] = squared_distances(samples[others], subspaces)
    nearest: IntArray = distance.argmin(axis=1)
    return nearest


def _affine_subspaces(clusters: list[FloatArray]) -> list[AffineSubspace]:
    """Of each cluster the mean of its rows and, as columns, the directions that hold nine tenths of their energy, nine
    at most. Clusters of one size are computed together: there are many small ones."""
    by_size: dict[int, list[int]] = {}
    for place, rows in enumerate(clusters):
        by_size.setdefault(len(rows), []).append(place)
    found: dict[int, AffineSubspace] = {}
    for places in by_size.values():
        found.update(zip(places, _of_one_size(np.stack([clusters[place] for place in places])), strict=True))
    return [found[place] for place in range(len(clusters))]


def _of_one_size(clusters: FloatArray) -> list[AffineSubspace]:
    """The affine subspaces of a stack of clusters."""
    _, size, width = clusters.shape
    means = clusters.mean(axis=1, keepdims=True)
    centred = clusters - means
    across = centred.transpose(0, 2, 1)
    wide = size <= width
    values, vectors = eigenpairs(centred @ across if wide else across @ centred)
    values, vectors = np.maximum(values[:, ::-1], 0), vectors[:, :, ::-1]
    share = np.cumsum(values, axis=1) / np.maximum(values.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    # In few features nothing would be left outside a subspace that holds the energy: half of them are its own at most.
    most = min(_MOST_DIRECTIONS, size - 1, width // 2)
    ranks = np.minimum((share < _ENERGY).sum(axis=1) + 1, most)
    bases = vectors[:, :, :most]
    if wide:
        bases = across @ bases / np.sqrt(np.maximum(values[:, None, :most], np.finfo(clusters.dtype).tiny))
    return [(mean[0], basis[:, :rank]) for mean, basis, rank in zip(means, bases, ranks, strict=True)]


def squared_distances(rows: FloatArray, subspaces: list[AffineSubspace]) -> FloatArray:
    """‖x − m‖² − ‖Bᵀ(x − m)‖² from each row to each affine subspace (m, B), by two products for all of them."""
    means, bases = np.array([mean for mean, _ in subspaces]), np.hstack([basis for _, basis in subspaces])
    middle = means.mean(axis=0)
    rows, means = rows - middle, means - middle
    along = rows @ bases - np.concatenate([mean @ basis for mean, (_, basis) in zip(means, subspaces, strict=True)])
    starts = np.cumsum([0, *(basis.shape[1] for _, basis in subspaces[:-1])])
    inside = np.add.reduceat(along**2, starts, axis=1) if bases.shape[1] else 0.0
    squared: FloatArray = (rows**2).sum(axis=1)[:, None] - 2 * rows @ means.T + (means**2).sum(axis=1) - inside
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
        return centred @ turned(_principal_directions(centred))
    values, vectors = largest_eigenpairs(centred @ centred.T, _MOST_FEATURES)
    reduced: FloatArray = vectors * np.sqrt(np.maximum(values, 0))
    return reduced


def _principal_directions(centred: FloatArray) -> FloatArray:
    """At most 100, as columns; a column of zeros, such as the border of images, has no part in any."""
    used = np.flatnonzero(centred.any(axis=0))
    some = centred if len(used) == centred.shape[1] else centred[:, used]
    found = largest_eigenpairs(some.T @ some, _MOST_FEATURES)[1]
    directions = np.zeros((centred.shape[1], found.shape[1]), dtype=found.dtype)
    directions[used] = found
    return directions
