"""Lloyd's iterations of all restarts of k-means at once, and the best of them.

The distances to the centres of all restarts are one matrix product; a restart leaves when it has converged. Each stops
where scikit-learn's `KMeans` does, and an empty cluster is filled as there, so the labels are the same; what is saved
is the work around every single restart, which is most of it on a thousand rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
import numpy.typing as npt

from masked_subspace._common.rows import block_ranges
from masked_subspace._common.types import FloatArray, IndexArray

_MOST_ITERATIONS = 300
_TOLERANCE = 1e-4  # of the mean variance of a column: centres that move by less, squared and summed, stand still
_PRODUCTS_AT_ONCE = 1 << 21
_ROUNDING = 1e-12
# Squared distances that differ by less than this share of the mean squared row are the same. Votes of members put many
# rows at the same distance from two centres; rounding, which is another on every CPU, must not choose for them.
_TIE = 1e-10


class Clusters(NamedTuple):
    """Labels of all rows, the centres, and Σ ‖row − its centre‖²."""

    labels: IndexArray
    centres: FloatArray
    inertia: float


def best_of_starts(rows: FloatArray, starts: FloatArray) -> Clusters:
    """The clusters of least inertia over the starts (restarts × K × columns); of ones as good the first."""
    best, *others = all_of_starts(rows, starts)
    for one in others:
        if one.inertia < (1 - _ROUNDING) * best.inertia:
            best = one
    return best


def all_of_starts(rows: FloatArray, starts: FloatArray) -> list[Clusters]:
    """What every start ends in."""
    tolerance = _TOLERANCE * float(rows.var(axis=0).mean())
    centres = starts.copy()
    labels = np.full((len(starts), len(rows)), -1, dtype=np.int32)
    settled = np.zeros(len(starts), dtype=bool)
    active = np.arange(len(starts))
    tie = _TIE * float(np.einsum("ij,ij->", rows, rows)) / len(rows)
    for _ in range(_MOST_ITERATIONS):
        now, sums, counts = _assigned(rows, centres[active], tie)
        moved = np.array([_means(rows, *one) for one in zip(now, sums, counts, centres[active], strict=True)])
        same = (now == labels[active]).all(axis=1)
        shift = ((moved - centres[active]) ** 2).sum(axis=(1, 2))
        labels[active], centres[active], settled[active] = now, moved, same
        active = active[~(same | (shift <= tolerance))]
        if len(active) == 0:
            break
    late = np.flatnonzero(~settled)
    if len(late):
        # Their centres have moved since: labels are those of the last centres.
        labels[late] = _assigned(rows, centres[late], tie)[0]
    inertia = [_inertia(rows, one, own) for one, own in zip(labels, centres, strict=True)]
    return [Clusters(*one) for one in zip(labels, centres, inertia, strict=True)]


def _assigned(
    rows: FloatArray, centres: FloatArray, tie: float
) -> tuple[IndexArray, FloatArray, npt.NDArray[np.int64]]:
    """For each restart the nearest centre of every row (the first that is no farther than `tie` beyond it), the sums of
    the rows of each centre, and their number."""
    restarts, n_clusters, width = centres.shape
    flat = centres.reshape(-1, width)
    squares = np.einsum("ij,ij->i", flat, flat)
    labels = np.empty((restarts, len(rows)), dtype=np.int32)
    sums = np.zeros(centres.shape)
    counts = np.zeros((restarts, n_clusters), dtype=np.int64)
    for start, stop in block_ranges(len(rows), max(1, _PRODUCTS_AT_ONCE // len(flat))):
        block = rows[start:stop]
        _take_nearest(block @ flat.T, squares, block, labels[:, start:stop], sums, counts, tie)
    return labels, sums, counts


@nb.njit(cache=True, nogil=True)
def _take_nearest(inner, squares, rows, labels, sums, counts, tie):  # type: ignore[no-untyped-def]
    """‖row − centre‖² less ‖row‖² is squares − 2 inner: its least entry names the centre, which takes the row."""
    n, width = rows.shape
    restarts, n_clusters = counts.shape
    for i in range(n):
        for restart in range(restarts):
            first = restart * n_clusters
            best, least = 0, squares[first] - 2 * inner[i, first]
            for k in range(1, n_clusters):
                distance = squares[first + k] - 2 * inner[i, first + k]
                if distance < least - tie:
                    best, least = k, distance
            labels[restart, i] = best
            counts[restart, best] += 1
            for column in range(width):
                sums[restart, best, column] += rows[i, column]


def _means(
    rows: FloatArray, labels: IndexArray, sums: FloatArray, counts: npt.NDArray[np.int64], centres: FloatArray
) -> FloatArray:
    """New centres. An empty cluster takes the row farthest from its centre; where no row is away from its own, it joins
    the largest."""
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        distance = ((rows - centres[labels]) ** 2).sum(axis=1)
        if distance.max() > 0:
            farthest = np.argsort(-distance, kind="stable")[: len(empty)]
            for k, row in zip(empty, farthest, strict=True):
                sums[labels[row]] -= rows[row]
                sums[k] = rows[row]
                counts[labels[row]] -= 1
                counts[k] = 1
    means: FloatArray = sums / np.maximum(counts, 1)[:, None]
    means[counts == 0] = means[counts.argmax()]
    return means


def _inertia(rows: FloatArray, labels: IndexArray, centres: FloatArray) -> float:
    away = rows - centres[labels]
    return float(np.einsum("ij,ij->", away, away))
