"""Clusters for groups of must-linked samples, so that groups in conflict never meet."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from masked_subspace._common.types import BoolArray, FloatArray, IntArray
from masked_subspace.masks.pairs import KnownPairs


class GroupAssigner:
    """The cheapest permitted clusters of the groups of `known`.

    Groups that all exclude each other (as partial labels give) are assigned exactly by the Hungarian method, any other
    tied set one group at a time with backtracking: anchored groups first, then the most constrained.
    """

    def __init__(self, known: KnownPairs, n_clusters: int, anchors: IntArray) -> None:
        self.known = known
        self.n_clusters = n_clusters
        self._families = _conflict_families(known)
        inside = np.flatnonzero(known.group >= 0)
        ones = np.ones(len(inside))
        self._members = csr_array((ones, (known.group[inside], inside)), shape=(known.n_groups, len(known.group)))
        # The cluster that a group is anchored to, −1 if it may go anywhere.
        self._anchor = np.full(known.n_groups, -1, dtype=np.int64)
        self._anchor[known.group[anchors >= 0]] = anchors[anchors >= 0]

    def assign(self, labels: IntArray, cost: FloatArray) -> IntArray:
        """`labels` with every known group moved as one to its cheapest permitted cluster; `cost` is n × K."""
        group_cost = self._members @ cost
        held = np.flatnonzero(self._anchor >= 0)
        group_cost[held, self._anchor[held]] = group_cost.min() - 1 - np.abs(group_cost).sum()
        cluster = self._assign(group_cost)
        settled = labels.copy()
        inside = self.known.group >= 0
        settled[inside] = cluster[self.known.group[inside]]
        return settled

    def _assign(self, cost: FloatArray) -> IntArray:
        result = np.empty(len(cost), dtype=np.int32)
        for family in self._families:
            if len(family) == 1:
                result[family] = cost[family].argmin(axis=1)
                continue
            keys = self.known.conflicts
            inside = keys[np.isin(keys // self.known.n_groups, family)]
            is_clique = len(inside) == len(family) * (len(family) - 1)
            if is_clique and len(family) <= self.n_clusters:
                result[family] = linear_sum_assignment(cost[family])[1]
            else:
                avoid = _local_conflicts(family, inside, self.known.n_groups)
                result[family] = _colour(cost[family], avoid, self._anchor[family] >= 0, self.n_clusters)
        return result


def refuse_impossible(known: KnownPairs, n_clusters: int, *, hard: bool) -> None:
    """An error if K clusters cannot hold what is known: too many labels, or hard pairs that exclude each other."""
    anchors = known.anchors(n_clusters)
    if hard:
        nowhere = np.zeros(len(anchors), dtype=np.int32)
        GroupAssigner(known, n_clusters, anchors).assign(nowhere, np.zeros((len(anchors), n_clusters)))


def _conflict_families(known: KnownPairs) -> list[npt.NDArray[np.intp]]:
    """Groups that are tied to each other by conflicts."""
    pairs = known.conflict_pairs()
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(known.n_groups, known.n_groups))
    n_families, family = connected_components(graph, directed=False)
    order = np.argsort(family, kind="stable")
    return np.split(order, np.cumsum(np.bincount(family, minlength=n_families))[:-1])


def _local_conflicts(
    family: npt.NDArray[np.intp], keys: npt.NDArray[np.int64], n_groups: int
) -> list[npt.NDArray[np.intp]]:
    """For each group of the family, the positions of the groups it must avoid."""
    a = np.searchsorted(family, keys // n_groups)
    b = np.searchsorted(family, keys % n_groups)
    return [b[a == position] for position in range(len(family))]


def _colour(
    cost: FloatArray,
    avoid: list[npt.NDArray[np.intp]],
    is_anchored: BoolArray,
    n_clusters: int,
    budget: int = 20_000,
) -> IntArray:
    """Cheapest-first assignment with bounded backtracking.

    Anchored groups come first, then always the group with the fewest clusters left to it; with two clusters that never
    has to go back.
    """
    degree = np.array([len(others) for others in avoid])
    preference = np.argsort(cost, axis=1, kind="stable")
    colour = np.full(len(avoid), -1, dtype=np.int32)
    blocked = np.zeros((len(avoid), n_clusters), dtype=np.int64)  # neighbours that hold a cluster
    path: list[tuple[int, Iterator[int]]] = []
    while len(path) < len(avoid) and budget > 0:
        open_groups = np.flatnonzero(colour < 0)
        left = (blocked[open_groups] == 0).sum(axis=1)
        order = np.lexsort((open_groups, -degree[open_groups], left, ~is_anchored[open_groups]))
        group = int(open_groups[order[0]])
        path.append((group, iter([int(k) for k in preference[group] if blocked[group, k] == 0])))
        while path:
            budget -= 1
            group, options = path[-1]
            if colour[group] >= 0:
                blocked[avoid[group], colour[group]] -= 1
                colour[group] = -1
            choice = next(options, None)
            if choice is not None:
                colour[group] = choice
                blocked[avoid[group], choice] += 1
                break
            path.pop()
        if not path:
            break
    if (colour < 0).any():
        raise ValueError(
            f"cannot_link cannot be kept with n_clusters={n_clusters}: no assignment of the {len(avoid)} tied groups "
            "was found in which no two conflicting ones share a cluster; raise n_clusters, remove pairs, or use "
            'constraints="soft".'
        )
    return colour
