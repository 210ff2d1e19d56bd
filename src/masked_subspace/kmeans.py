"""k-means on the rows of an embedding, free or under known pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import KMeans

from masked_subspace.masks.pairs import KnownPairs

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.integer[Any]]


def restarts_for(n_samples: int) -> int:
    """Restarts pay on small data; on large data one run is already stable and costs more."""
    return 20 if n_samples <= 20_000 else 5 if n_samples <= 200_000 else 2


def cluster_rows(rows: FloatArray, n_clusters: int, seed: int, n_init: int | None = None) -> IntArray:
    """`eq:rmsc`, subproblem Q: Σ_ik Q_ik ‖F_i − m_k‖² at its best over restarts."""
    if n_clusters == 1:
        return np.zeros(len(rows), dtype=np.int32)
    model = KMeans(n_clusters, n_init=n_init or restarts_for(len(rows)), random_state=seed)
    labels: IntArray = model.fit(_distinct_enough(rows, n_clusters, seed)).labels_.astype(np.int32)
    return labels


def _distinct_enough(rows: FloatArray, n_clusters: int, seed: int) -> FloatArray:
    """Rows jittered below any meaningful distance if fewer than K differ, so that K clusters always exist."""
    head = rows[: 50 * n_clusters]
    if len(np.unique(head, axis=0)) >= n_clusters or len(np.unique(rows, axis=0)) >= n_clusters:
        return rows
    noise = np.random.default_rng(seed).standard_normal(rows.shape)
    return rows + (1e-6 * noise).astype(rows.dtype)


def cluster_rows_with_pairs(
    rows: FloatArray, n_clusters: int, known: KnownPairs, start: IntArray, max_iter: int = 100
) -> IntArray:
    """k-means in which every group of must-linked samples moves as one and conflicting groups never meet.

    Starts from a free partition, then alternates centres and the cheapest permitted assignment. A set of groups that
    all exclude each other (as partial labels give) is assigned exactly by the Hungarian method, any other set one group
    at a time, the most constrained first.
    """
    free = known.group < 0
    size = np.bincount(known.group[~free], minlength=known.n_groups)
    group_rows = np.zeros((known.n_groups, rows.shape[1]))
    np.add.at(group_rows, known.group[~free], rows[~free])
    families = _conflict_families(known)
    labels = start.astype(np.int32).copy()
    for _ in range(max_iter):
        centres = _centres(rows, labels, n_clusters)
        distance = ((rows[free] ** 2).sum(axis=1)[:, None] - 2 * rows[free] @ centres.T) + (centres**2).sum(axis=1)
        # Σ over the group's samples of ‖x − c‖², without the part that does not depend on c
        cost = size[:, None] * (centres**2).sum(axis=1)[None, :] - 2 * group_rows @ centres.T
        group_label = _assign_groups(cost, families, known, n_clusters)
        new = labels.copy()
        new[free] = distance.argmin(axis=1)
        new[~free] = group_label[known.group[~free]]
        if np.array_equal(new, labels):
            break
        labels = new
    return labels


def _centres(rows: FloatArray, labels: IntArray, n_clusters: int) -> FloatArray:
    sums = np.zeros((n_clusters, rows.shape[1]))
    np.add.at(sums, labels, rows)
    count = np.bincount(labels, minlength=n_clusters)
    centres: FloatArray = sums / np.maximum(count, 1)[:, None]
    for empty in np.flatnonzero(count == 0):
        nearest = ((rows[:, None, :] - centres[None, count > 0, :]) ** 2).sum(axis=2).min(axis=1)
        centres[empty] = rows[int(nearest.argmax())]
        count[empty] = 1
    return centres


def _conflict_families(known: KnownPairs) -> list[npt.NDArray[np.intp]]:
    """Groups that are tied to each other by conflicts."""
    pairs = known.conflict_pairs()
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(known.n_groups, known.n_groups))
    n_families, family = connected_components(graph, directed=False)
    order = np.argsort(family, kind="stable")
    return np.split(order, np.cumsum(np.bincount(family, minlength=n_families))[:-1])


def _assign_groups(
    cost: FloatArray, families: list[npt.NDArray[np.intp]], known: KnownPairs, n_clusters: int
) -> IntArray:
    result = np.empty(len(cost), dtype=np.int32)
    for family in families:
        if len(family) == 1:
            result[family] = cost[family].argmin(axis=1)
            continue
        inside = known.conflicts[np.isin(known.conflicts // known.n_groups, family)]
        is_clique = len(inside) == len(family) * (len(family) - 1)
        if is_clique and len(family) <= n_clusters:
            result[family] = linear_sum_assignment(cost[family])[1]
        else:
            result[family] = _colour(cost[family], _local_conflicts(family, inside, known.n_groups), n_clusters)
    return result


def _local_conflicts(
    family: npt.NDArray[np.intp], keys: npt.NDArray[np.int64], n_groups: int
) -> list[npt.NDArray[np.intp]]:
    """For each group of the family, the positions of the groups it must avoid."""
    a = np.searchsorted(family, keys // n_groups)
    b = np.searchsorted(family, keys % n_groups)
    return [b[a == position] for position in range(len(family))]


def _colour(cost: FloatArray, avoid: list[npt.NDArray[np.intp]], n_clusters: int, budget: int = 20_000) -> IntArray:
    """Cheapest-first assignment with bounded backtracking; groups with the most conflicts are placed first."""
    order = sorted(range(len(avoid)), key=lambda g: (-len(avoid[g]), g))
    preference = np.argsort(cost, axis=1, kind="stable")
    colour = np.full(len(avoid), -1, dtype=np.int32)
    tried = np.zeros(len(avoid), dtype=np.int64)
    depth = 0
    while 0 <= depth < len(order):
        budget -= 1
        if budget < 0:
            break
        group = order[depth]
        taken = set(colour[avoid[group]].tolist())
        while tried[depth] < n_clusters and int(preference[group, tried[depth]]) in taken:
            tried[depth] += 1
        if tried[depth] < n_clusters:
            colour[group] = preference[group, tried[depth]]
            tried[depth] += 1
            depth += 1
            if depth < len(order):
                tried[depth] = 0
        else:
            depth -= 1
            if depth >= 0:
                colour[order[depth]] = -1
    if depth < len(order):
        raise ValueError(
            f"cannot_link cannot be kept with n_clusters={n_clusters}: no assignment of the {len(order)} tied groups "
            "was found in which no two conflicting ones share a cluster; raise n_clusters, remove pairs, or use "
            'constraints="soft".'
        )
    return colour
