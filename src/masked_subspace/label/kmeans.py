"""k-means on the rows of an embedding, free or from anchors: samples whose cluster is given.

Restarts start from greedy k-means++ (Arthur & Vassilvitskii 2007), all of them at once. The draws are those of
scikit-learn's `init="k-means++"`, restart after restart from one generator, so the centres are the same. What differs
is the order of the work: the k-th centre of every restart is looked for in one matrix product, where one restart at a
time reads all rows for a handful of candidates.

Lloyd's iterations of all restarts go together, too: the distances to the centres of all of them are one matrix product,
and a restart leaves when it has converged. Each stops where scikit-learn's `KMeans` does, and an empty cluster is
filled as there, so the labels are the same; what is saved is the work around every single restart, which is most of it
on a thousand rows.

Rows that are equal count as one row of that weight: samples on which all votes agree, most of them, have equal rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numba as nb
import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from masked_subspace._common.rows import block_ranges
from masked_subspace._common.types import FloatArray, IndexArray, IntArray
from masked_subspace.parallel.engine import limited_threads

# The weight of a sample whose cluster is known, in mean clusters.
ANCHOR_WEIGHT = 0.1
_SMALL = 20_000
# Above `_SMALL` rows the restarts run on a sample of so many, or of so many a cluster if that is more.
_SAMPLE, _SAMPLE_A_CLUSTER = 20_000, 500
# Restarts on all rows, and on a sample; from anchors, which leave less to chance, on few rows and on many.
RESTARTS, RESTARTS_ON_SAMPLE = 20, 10
_RESTARTS_FROM_ANCHORS, _RESTARTS_FROM_ANCHORS_OF_MANY = 10, 2
# Restarts of one of many votes, which others outvote where it misses the best; of one rank of the closed form.
RESTARTS_OF_A_VOTE, RESTARTS_OF_A_RANK = 5, 10
_MOST_ITERATIONS = 300
_TOLERANCE = 1e-4  # of the mean variance of a column: centres that move by less, squared and summed, stand still
_PRODUCTS_AT_ONCE = 1 << 21
_ROUNDING = 1e-12
# Squared distances that differ by less than this share of the mean squared row are the same. Votes of members put many
# rows at the same distance from two centres; rounding, which is another on every CPU, must not choose for them.
_TIE = 1e-10


def cluster_rows(
    rows: FloatArray, n_clusters: int, seed: int, n_init: int | None = None, n_threads: int = 1
) -> IntArray:
    """`eq:rmsc`, subproblem Q: Σ_ik Q_ik ‖F_i − m_k‖² at its best over restarts.

    On large data the restarts run on a seeded sample of the rows and all rows follow from the best centres: the same
    optimum in less time, so that more restarts are affordable (docs/findings/scaling.md).
    """
    if n_clusters == 1:
        return np.zeros(len(rows), dtype=np.int32)
    distinct, weights, place = _distinct_rows(rows)
    if len(distinct) < n_clusters:
        distinct, weights, place = _moved_apart(rows, seed), None, np.arange(len(rows))
    small = len(distinct) <= _SMALL
    # On small data OpenMP's waiting costs more than it gives, and on a busy machine very much more.
    with limited_threads(1 if small else n_threads):
        if small:
            distinct = distinct.astype(np.float64)
            return _restarted(distinct, n_clusters, n_init or RESTARTS, seed, weights).labels[place]
        from sklearn.cluster import KMeans

        centres = _best_of_sample(rows, n_clusters, seed, n_init or RESTARTS_ON_SAMPLE)
        best = KMeans(n_clusters, init=centres, n_init=1).fit(distinct, sample_weight=weights)
    labels: IntArray = best.labels_.astype(np.int32)[place]
    return labels


def _restarted(
    rows: FloatArray, n_clusters: int, n_init: int, seed: int, weights: FloatArray | None = None
) -> Clusters:
    """The best of `KMeans(n_clusters, n_init=n_init, random_state=seed)`, whose work is on centred rows."""
    mean = np.average(rows, axis=0, weights=weights)
    centred = rows - mean
    starts = spread_centres(centred, n_clusters, n_init, np.random.RandomState(seed), weights)
    best = best_of_starts(centred, centred[starts], weights)
    return best._replace(centres=best.centres + mean)


def _best_of_sample(rows: FloatArray, n_clusters: int, seed: int, n_init: int) -> FloatArray:
    wanted = min(len(rows), max(_SAMPLE, _SAMPLE_A_CLUSTER * n_clusters))
    sample = np.sort(np.random.default_rng(seed).choice(len(rows), wanted, replace=False))
    best = _restarted(rows[sample].astype(np.float64), n_clusters, n_init, seed)
    centres: FloatArray = best.centres.astype(rows.dtype)
    return centres


def _distinct_rows(rows: FloatArray) -> tuple[FloatArray, FloatArray | None, IntArray]:
    """Every row once, in the order in which they first appear, how often each stands there (None: all once), and which
    of them each row is."""
    everyone = np.arange(len(rows))
    if len(np.unique(rows[:, 0])) == len(rows):
        return rows, None, everyone
    whole = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    _, first, code, count = np.unique(whole, return_index=True, return_inverse=True, return_counts=True)
    if len(first) == len(rows):
        return rows, None, everyone
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rows[first[order]], count[order].astype(np.float64), rank[code]


def _moved_apart(rows: FloatArray, seed: int) -> FloatArray:
    """Rows of which fewer than K differ, moved apart by 1e-4 of their length, so that K clusters always exist: below
    any distance that means something, its square above `_TIE`, or copies would be equally far from two centres."""
    length = float(np.sqrt(np.mean(np.square(rows, dtype=np.float64)))) or 1.0
    noise = np.random.default_rng(seed).standard_normal(rows.shape)
    return rows + (1e-4 * length * noise).astype(rows.dtype)


def cluster_rows_from_anchors(
    rows: FloatArray, free: IntArray, n_clusters: int, anchors: IntArray, seed: int, n_init: int | None = None
) -> IntArray:
    """k-means in which the samples with `anchors` ≥ 0 stay in the cluster of that number.

    Each anchor weighs as much as a tenth of a mean cluster (docs: semi_supervised). One start is `free`, a partition
    found without anchors, its clusters named by the anchors they hold. The others put the centres of anchored clusters
    at the mean of their anchors and the rest by greedy k-means++ away from these (Basu, Banerjee & Mooney 2002). The
    smallest weighted Σ‖F_i − m_k‖² counts.
    """
    rows = np.ascontiguousarray(rows, dtype=np.float64)
    restarts = n_init or (_RESTARTS_FROM_ANCHORS if len(rows) <= _SMALL else _RESTARTS_FROM_ANCHORS_OF_MANY)
    anchored = np.unique(anchors[anchors >= 0])
    weights = np.where(anchors >= 0, max(1.0, ANCHOR_WEIGHT * len(rows) / n_clusters), 1.0)
    rng = np.random.default_rng(seed)
    named = named_by_anchors(free, anchors, n_clusters)
    named[anchors >= 0] = anchors[anchors >= 0]
    # With an anchor in every cluster nothing is left to chance.
    chances = 1 if len(anchored) == n_clusters else restarts
    starts = [cluster_means(rows, named, n_clusters, weights=weights)]
    starts += [_centres_from_anchors(rows, n_clusters, anchors, anchored, rng) for _ in range(chances)]
    best, lowest = named, np.inf
    for centres in starts:
        labels, inertia = _lloyd(rows, centres, anchors, weights)
        if inertia < lowest:
            best, lowest = labels, inertia
    return best


def cluster_means(
    rows: FloatArray,
    labels: IntArray,
    n_clusters: int,
    otherwise: FloatArray | None = None,
    weights: FloatArray | None = None,
) -> FloatArray:
    """Mean row of each cluster; an empty one keeps its row of `otherwise` (zero). A label < 0 does not count."""
    inside = np.flatnonzero(labels >= 0)
    weight = np.ones(len(inside)) if weights is None else weights[inside]
    members = csr_array((weight, (labels[inside], inside)), shape=(n_clusters, len(rows)))
    mass = np.bincount(labels[inside], weight, minlength=n_clusters)[:, None]
    empty = 0.0 if otherwise is None else otherwise
    means: FloatArray = np.where(mass > 0, (members @ rows) / np.where(mass > 0, mass, 1), empty)
    return means


def named_by_anchors(labels: IntArray, anchors: IntArray, n_clusters: int) -> IntArray:
    """The partition with its clusters renumbered so that as many anchors as possible are in the cluster they name."""
    known = np.flatnonzero(anchors >= 0)
    overlap = np.zeros((n_clusters, n_clusters))
    np.add.at(overlap, (labels[known], anchors[known]), 1)
    name = linear_sum_assignment(-overlap)[1]
    renamed: IntArray = name[labels].astype(np.int32)
    return renamed


def _centres_from_anchors(
    rows: FloatArray, n_clusters: int, anchors: IntArray, anchored: IntArray, rng: np.random.Generator
) -> FloatArray:
    centres = cluster_means(rows, anchors, n_clusters)
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
    rows: FloatArray, centres: FloatArray, anchors: IntArray, weights: FloatArray, max_iter: int = 100
) -> tuple[IntArray, float]:
    fixed = np.flatnonzero(anchors >= 0)
    labels: IntArray = np.full(len(rows), -1, dtype=np.int32)
    for _ in range(max_iter):
        distance = squared_distances(rows, centres)
        new = distance.argmin(axis=1).astype(np.int32)
        new[fixed] = anchors[fixed]
        _fill_empty(new, distance, anchors)
        if np.array_equal(new, labels):
            break
        labels = new
        centres = cluster_means(rows, labels, len(centres), centres, weights)
    return labels, float(weights @ distance[np.arange(len(rows)), labels])


def _fill_empty(labels: IntArray, distance: FloatArray, anchors: IntArray) -> None:
    """Give each empty cluster the free row that is farthest from its centre, in place; no cluster is emptied for it."""
    size = np.bincount(labels, minlength=distance.shape[1])
    if size.all():
        return
    farthest = np.argsort(-distance[np.arange(len(labels)), labels], kind="stable")
    free = iter(farthest[anchors[farthest] < 0].tolist())
    for k in np.flatnonzero(size == 0):
        row = next((row for row in free if size[labels[row]] > 1), None)
        if row is None:
            return
        size[labels[row]] -= 1
        labels[row] = k
        size[k] = 1


def squared_distances(rows: FloatArray, centres: FloatArray) -> FloatArray:
    """‖row − centre‖² for all pairs."""
    inner = rows @ centres.T
    squared = np.einsum("ij,ij->i", rows, rows)[:, None] - 2 * inner + np.einsum("ij,ij->i", centres, centres)
    distances: FloatArray = np.maximum(squared, 0)
    return distances


def spread_centres(
    rows: FloatArray,
    n_clusters: int,
    n_init: int,
    random_state: np.random.RandomState,
    weights: FloatArray | None = None,
) -> IntArray:
    """Which rows are the centres of each restart (restarts × K).

    The first of a restart is any row; each further one is the best of 2 + ln K drawn in proportion to the squared
    distance to the centres before it.
    """
    n_rows, n_trials = len(rows), 2 + int(np.log(n_clusters))
    weights = np.ones(n_rows) if weights is None else weights
    first = np.empty((n_init, 1), dtype=np.int64)
    draws = np.empty((n_init, n_clusters - 1, n_trials))
    for restart in range(n_init):
        first[restart] = random_state.choice(n_rows, p=weights / weights.sum())
        draws[restart] = random_state.uniform(size=draws.shape[1:])
    squares = np.einsum("ij,ij->i", rows, rows)
    # Squared distance to the centres so far.
    nearest = np.full((n_init, n_rows), np.finfo(rows.dtype).max, dtype=rows.dtype)
    chosen = [_best_of(first, rows, squares, nearest, weights)]
    for k in range(n_clusters - 1):
        cumulative = np.cumsum(weights * nearest, axis=1)
        tried = [np.searchsorted(line, line[-1] * places) for line, places in zip(cumulative, draws[:, k], strict=True)]
        chosen.append(_best_of(np.minimum(tried, n_rows - 1), rows, squares, nearest, weights))
    return np.stack(chosen, axis=1)


def _best_of(
    tried: IntArray, rows: FloatArray, squares: FloatArray, nearest: FloatArray, weights: FloatArray
) -> IntArray:
    """For each restart the row in its line of `tried` that brings the most; `nearest` takes it in."""
    inner = (rows[tried.ravel()] @ rows.T).reshape(*tried.shape, len(rows))
    best = np.zeros(len(tried), dtype=np.int64)
    _take_best(inner, squares, tried, nearest, best, weights)
    return np.asarray(tried[np.arange(len(tried)), best])


@nb.njit(cache=True, nogil=True, fastmath=True)
def _take_best(inner, squares, tried, nearest, best, weights):  # type: ignore[no-untyped-def]
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
                total += weights[i] * line[i]
            if trial == 0 or total < lowest:
                lowest = total
                best[restart] = trial
        line = inner[restart, best[restart]]
        for i in range(n_rows):
            own[i] = line[i]


class Clusters(NamedTuple):
    """Labels of all rows, the centres, and Σ ‖row − its centre‖²."""

    labels: IndexArray
    centres: FloatArray
    inertia: float


def best_of_starts(rows: FloatArray, starts: FloatArray, weights: FloatArray | None = None) -> Clusters:
    """The clusters of least inertia over the starts (restarts × K × columns); of ones as good the first."""
    best, *others = all_of_starts(rows, starts, weights)
    for one in others:
        if one.inertia < (1 - _ROUNDING) * best.inertia:
            best = one
    return best


def all_of_starts(rows: FloatArray, starts: FloatArray, weights: FloatArray | None = None) -> list[Clusters]:
    """What every start ends in."""
    mean = np.average(rows, axis=0, weights=weights)
    tolerance = _TOLERANCE * float(np.average((rows - mean) ** 2, axis=0, weights=weights).mean())
    weights = np.ones(len(rows)) if weights is None else weights
    centres = starts.copy()
    labels = np.full((len(starts), len(rows)), -1, dtype=np.int32)
    settled = np.zeros(len(starts), dtype=bool)
    active = np.arange(len(starts))
    tie = _TIE * float(weights @ np.einsum("ij,ij->i", rows, rows)) / float(weights.sum())
    for _ in range(_MOST_ITERATIONS):
        now, sums, mass = _assigned(rows, centres[active], tie, weights)
        moved = np.array([_means(rows, weights, *one) for one in zip(now, sums, mass, centres[active], strict=True)])
        same = (now == labels[active]).all(axis=1)
        shift = ((moved - centres[active]) ** 2).sum(axis=(1, 2))
        labels[active], centres[active], settled[active] = now, moved, same
        active = active[~(same | (shift <= tolerance))]
        if len(active) == 0:
            break
    late = np.flatnonzero(~settled)
    if len(late):
        # Their centres have moved since: labels are those of the last centres.
        labels[late] = _assigned(rows, centres[late], tie, weights)[0]
    inertia = [_inertia(rows, weights, one, own) for one, own in zip(labels, centres, strict=True)]
    return [Clusters(*one) for one in zip(labels, centres, inertia, strict=True)]


def _assigned(
    rows: FloatArray, centres: FloatArray, tie: float, weights: FloatArray
) -> tuple[IndexArray, FloatArray, FloatArray]:
    """For each restart the nearest centre of every row (the first that is no farther than `tie` beyond it), the sums of
    the rows of each centre, and their weight."""
    restarts, n_clusters, width = centres.shape
    flat = centres.reshape(-1, width)
    squares = np.einsum("ij,ij->i", flat, flat)
    labels = np.empty((restarts, len(rows)), dtype=np.int32)
    sums = np.zeros(centres.shape)
    mass = np.zeros((restarts, n_clusters))
    for start, stop in block_ranges(len(rows), max(1, _PRODUCTS_AT_ONCE // len(flat))):
        block = rows[start:stop]
        _take_nearest(block @ flat.T, squares, block, weights[start:stop], labels[:, start:stop], sums, mass, tie)
    return labels, sums, mass


@nb.njit(cache=True, nogil=True)
def _take_nearest(inner, squares, rows, weights, labels, sums, mass, tie):  # type: ignore[no-untyped-def]
    """‖row − centre‖² less ‖row‖² is squares − 2 inner: its least entry names the centre, which takes the row."""
    n, width = rows.shape
    restarts, n_clusters = mass.shape
    for i in range(n):
        for restart in range(restarts):
            first = restart * n_clusters
            best, least = 0, squares[first] - 2 * inner[i, first]
            for k in range(1, n_clusters):
                distance = squares[first + k] - 2 * inner[i, first + k]
                if distance < least - tie:
                    best, least = k, distance
            labels[restart, i] = best
            mass[restart, best] += weights[i]
            for column in range(width):
                sums[restart, best, column] += weights[i] * rows[i, column]


def _means(
    rows: FloatArray, weights: FloatArray, labels: IndexArray, sums: FloatArray, mass: FloatArray, centres: FloatArray
) -> FloatArray:
    """New centres. An empty cluster takes the row farthest from its centre; where no row is away from its own, it joins
    the largest."""
    empty = np.flatnonzero(mass == 0)
    if len(empty):
        distance = ((rows - centres[labels]) ** 2).sum(axis=1)
        if distance.max() > 0:
            farthest = np.argsort(-distance, kind="stable")[: len(empty)]
            for k, row in zip(empty, farthest, strict=True):
                sums[labels[row]] -= weights[row] * rows[row]
                sums[k] = weights[row] * rows[row]
                mass[labels[row]] -= weights[row]
                mass[k] = weights[row]
    means: FloatArray = sums / np.where(mass > 0, mass, 1)[:, None]
    means[mass <= 0] = means[mass.argmax()]
    return means


def _inertia(rows: FloatArray, weights: FloatArray, labels: IndexArray, centres: FloatArray) -> float:
    away = rows - centres[labels]
    return float(weights @ np.einsum("ij,ij->i", away, away))
