"""k-means on the rows of an embedding, free or from anchors: samples whose cluster is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_limits

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.integer[Any]]


def restarts_for(n_samples: int) -> int:
    """Restarts pay on small data; on large data one run is already stable and costs more."""
    return 20 if n_samples <= 20_000 else 5 if n_samples <= 200_000 else 2


def cluster_rows(
    rows: FloatArray, n_clusters: int, seed: int, n_init: int | None = None, n_threads: int = 1
) -> IntArray:
    """`eq:rmsc`, subproblem Q: Σ_ik Q_ik ‖F_i − m_k‖² at its best over restarts."""
    if n_clusters == 1:
        return np.zeros(len(rows), dtype=np.int32)
    model = KMeans(n_clusters, n_init=n_init or restarts_for(len(rows)), random_state=seed)
    # On small data OpenMP's waiting costs more than it gives, and on a busy machine very much more.
    with threadpool_limits(n_threads if len(rows) > 20_000 else 1):
        labels: IntArray = model.fit(_distinct_enough(rows, n_clusters, seed)).labels_.astype(np.int32)
    return labels


def _distinct_enough(rows: FloatArray, n_clusters: int, seed: int) -> FloatArray:
    """Rows jittered below any meaningful distance if fewer than K differ, so that K clusters always exist."""
    head = rows[: 50 * n_clusters]
    if len(np.unique(head, axis=0)) >= n_clusters or len(np.unique(rows, axis=0)) >= n_clusters:
        return rows
    noise = np.random.default_rng(seed).standard_normal(rows.shape)
    return rows + (1e-6 * noise).astype(rows.dtype)


def cluster_rows_from_anchors(
    rows: FloatArray, n_clusters: int, anchors: IntArray, seed: int, n_init: int | None = None
) -> IntArray:
    """k-means in which the samples with `anchors` ≥ 0 stay in the cluster of that number.

    The centres of anchored clusters start at the mean of their anchors, the others by greedy k-means++ away from these;
    of several starts the one with the smallest Σ‖F_i − m_k‖² counts (Basu, Banerjee & Mooney 2002).
    """
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    anchored = np.unique(anchors[anchors >= 0])
    fixed = np.flatnonzero(anchors >= 0)
    rng = np.random.default_rng(seed)
    # With an anchor in every cluster nothing is left to chance.
    starts = 1 if len(anchored) == n_clusters else n_init or max(2, restarts_for(len(rows)) // 2)
    best: IntArray = np.zeros(len(rows), dtype=np.int32)
    lowest = np.inf
    for _ in range(starts):
        centres = _starting_centres(rows, n_clusters, anchors, anchored, rng)
        labels, inertia = _lloyd(rows, centres, anchors, fixed)
        if inertia < lowest:
            best, lowest = labels, inertia
    return best


def cluster_means(rows: FloatArray, labels: IntArray, n_clusters: int, otherwise: FloatArray) -> FloatArray:
    """Mean row of each cluster; an empty one keeps its row of `otherwise`. Samples with a label < 0 do not count."""
    inside = np.flatnonzero(labels >= 0)
    ones = np.ones(len(inside))
    members = csr_array((ones, (labels[inside], inside)), shape=(n_clusters, len(rows)))
    count = np.bincount(labels[inside], minlength=n_clusters)[:, None]
    means: FloatArray = np.where(count > 0, (members @ rows) / np.maximum(count, 1), otherwise)
    return means


def _starting_centres(
    rows: FloatArray, n_clusters: int, anchors: IntArray, anchored: IntArray, rng: np.random.Generator
) -> FloatArray:
    centres = cluster_means(rows, anchors, n_clusters, np.zeros((n_clusters, rows.shape[1])))
    nearest = squared_distances(rows, centres[anchored]).min(axis=1, initial=np.inf)
    trials = 2 + int(np.log(n_clusters))
    for k in np.setdiff1d(np.arange(n_clusters), anchored):
        total = nearest.sum()
        weights = nearest / total if 0 < total < np.inf else None
        tried = rng.choice(len(rows), trials, p=weights)
        after = np.minimum(nearest[:, None], squared_distances(rows, rows[tried]))
        winner = int(after.sum(axis=0).argmin())
        centres[k], nearest = rows[tried[winner]], after[:, winner]
    return centres


def _lloyd(
    rows: FloatArray, centres: FloatArray, anchors: IntArray, fixed: npt.NDArray[np.intp], max_iter: int = 100
) -> tuple[IntArray, float]:
    labels: IntArray = np.full(len(rows), -1, dtype=np.int32)
    for _ in range(max_iter):
        distance = squared_distances(rows, centres)
        new = distance.argmin(axis=1).astype(np.int32)
        new[fixed] = anchors[fixed]
        if np.array_equal(new, labels):
            break
        labels = new
        centres = cluster_means(rows, labels, len(centres), centres)
    return labels, float(distance[np.arange(len(rows)), labels].sum())


def squared_distances(rows: FloatArray, centres: FloatArray) -> FloatArray:
    """‖row − centre‖² for all pairs."""
    inner = rows @ centres.T
    squared = np.einsum("ij,ij->i", rows, rows)[:, None] - 2 * inner + np.einsum("ij,ij->i", centres, centres)
    distances: FloatArray = np.maximum(squared, 0)
    return distances
