"""Known pairs: must-link and cannot-link, closed transitively."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from masked_subspace._common.types import BoolArray, IntArray

Constraints = Literal["soft", "hard"]
_PairInput = npt.ArrayLike | None


def check_pairs(pairs: _PairInput, n_samples: int, name: str) -> IntArray:
    """An m × 2 array of sample indices."""
    if pairs is None:
        return np.empty((0, 2), dtype=np.int64)
    array = np.asarray(pairs)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"{name} has shape {array.shape}; give m × 2 sample indices, one pair a row.")
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} has dtype {array.dtype}; give whole numbers, the indices of the samples.")
    outside = (array < 0) | (array >= n_samples)
    if outside.any():
        row = int(np.argwhere(outside)[0][0])
        raise ValueError(
            f"{name}[{row}] is {array[row].tolist()} but X has {n_samples} samples; "
            f"indices go from 0 to {n_samples - 1}."
        )
    return array.astype(np.int64)


def check_partial_labels(labels: npt.ArrayLike, n_samples: int) -> npt.NDArray[np.int64]:
    """Labels with −1 for unknown."""
    array = np.asarray(labels)
    if array.ndim != 1 or len(array) != n_samples:
        raise ValueError(
            f"partial_labels has shape {array.shape}; give one label a sample ({n_samples}), −1 = unknown."
        )
    if array.dtype.kind not in "iu":
        raise ValueError(f"partial_labels has dtype {array.dtype}; give whole numbers, −1 = unknown.")
    if array.min(initial=0) < -1:
        raise ValueError(f"partial_labels holds {array.min()}; labels are 0 … n_clusters − 1, and −1 = unknown.")
    return array.astype(np.int64)


@dataclass(frozen=True)
class KnownPairs:
    """What is known of pairs, closed transitively, in O(n + conflicts) memory.

    Made by `KnownPairs.of`: i with j and j with k gives i with k; i with j and j apart from k gives i apart from k.

    Parameters
    ----------
    group : ndarray of int of shape (n_samples,)
        Two samples of one group must be together; −1 for a sample of which nothing is known.
    n_groups : int
        G, the number of groups.
    conflicts : ndarray of int64
        Sorted keys a·G + b of the groups a and b that must stay apart, both ways round.
    partial_labels : ndarray of int of shape (n_samples,) or None, default=None
        Known labels, −1 where unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.masks import KnownPairs
    >>> known = KnownPairs.of(5, must_link=[[0, 1], [1, 2]], cannot_link=[[2, 3]])
    >>> bool(known.together(np.array(0), np.array(2))), bool(known.apart(np.array(0), np.array(3)))
    (True, True)
    """

    group: IntArray
    n_groups: int
    conflicts: npt.NDArray[np.int64]
    partial_labels: IntArray | None = None

    @classmethod
    def of(
        cls,
        n_samples: int,
        must_link: _PairInput = None,
        cannot_link: _PairInput = None,
        partial_labels: npt.ArrayLike | None = None,
    ) -> KnownPairs | None:
        """Close the pairs transitively.

        Parameters
        ----------
        n_samples : int
            How many samples there are.
        must_link : array-like of int of shape (n_pairs, 2) or None, default=None
            Pairs of sample indices that belong together.
        cannot_link : array-like of int of shape (n_pairs, 2) or None, default=None
            Pairs of sample indices that belong apart.
        partial_labels : array-like of int of shape (n_samples,) or None, default=None
            Known labels, −1 where unknown: samples of one label belong together, samples of two apart.

        Returns
        -------
        known : KnownPairs or None
            None if nothing is known.

        Raises
        ------
        ValueError
            If a pair names a sample that does not exist, or pairs and labels contradict each other; the text names
            the pairs.
        """
        must = check_pairs(must_link, n_samples, "must_link")
        cannot = check_pairs(cannot_link, n_samples, "cannot_link")
        labels = None
        if partial_labels is not None:
            labels = check_partial_labels(partial_labels, n_samples)
            must = np.concatenate([must, _chains_of_labels(labels)])
        has_labels = labels is not None and bool((labels >= 0).any())
        if len(must) == 0 and len(cannot) == 0 and not has_labels:
            return None
        linked = coo_array((np.ones(len(must)), (must[:, 0], must[:, 1])), shape=(n_samples, n_samples))
        component = connected_components(linked, directed=False)[1]
        _refuse_contradictions(component, must, cannot, labels)
        known = np.zeros(n_samples, dtype=bool)
        known[must.ravel()] = True
        known[cannot.ravel()] = True
        if labels is not None:
            known |= labels >= 0
        names, group_of_known = np.unique(component[known], return_inverse=True)
        group = np.full(n_samples, -1, dtype=np.int64)
        group[known] = group_of_known
        apart = group[cannot]
        if has_labels and labels is not None:
            apart = np.concatenate([apart, _conflicts_of_labels(group, labels)])
        both_ways = np.concatenate([apart, apart[:, ::-1]])
        keys = np.unique(both_ways[:, 0] * len(names) + both_ways[:, 1])
        return cls(group, len(names), keys, labels if has_labels else None)

    def together(self, rows: IntArray, cols: IntArray) -> BoolArray:
        """Whether pairs are known to belong together.

        Parameters
        ----------
        rows : ndarray of int
            Indices of the first samples.
        cols : ndarray of int
            Indices of the second samples, of a shape that fits `rows` by broadcasting.

        Returns
        -------
        together : ndarray of bool
            False also where nothing is known.
        """
        a, b = self.group[rows], self.group[cols]
        same: BoolArray = (a == b) & (a >= 0)
        return same

    def apart(self, rows: IntArray, cols: IntArray) -> BoolArray:
        """Whether pairs are known to belong apart.

        Parameters
        ----------
        rows : ndarray of int
            Indices of the first samples.
        cols : ndarray of int
            Indices of the second samples, of a shape that fits `rows` by broadcasting.

        Returns
        -------
        apart : ndarray of bool
            False also where nothing is known.
        """
        a, b = np.broadcast_arrays(self.group[rows], self.group[cols])
        if len(self.conflicts) == 0:
            return np.zeros(a.shape, dtype=bool)
        key = a * self.n_groups + b
        place = np.minimum(np.searchsorted(self.conflicts, key), len(self.conflicts) - 1)
        found: BoolArray = (self.conflicts[place] == key) & (a >= 0) & (b >= 0)
        return found

    def conflict_pairs(self) -> npt.NDArray[np.int64]:
        """Pairs of groups that must stay apart.

        Returns
        -------
        pairs : ndarray of int64 of shape (n_conflicts, 2)
            Each pair both ways round.
        """
        return np.stack([self.conflicts // self.n_groups, self.conflicts % self.n_groups], axis=1)

    def anchors(self, n_clusters: int) -> npt.NDArray[np.int64]:
        """For each sample the cluster it is tied to.

        Known labels are the numbers of their clusters. Pairs alone name none, but groups that all exclude each other
        may be numbered freely: the largest such groups are, found greedily.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.

        Returns
        -------
        anchors : ndarray of int64 of shape (n_samples,)
            Clusters from 0, −1 where that is open.

        Raises
        ------
        ValueError
            If known labels are not numbers from 0 to n_clusters − 1.
        """
        anchors = np.full(len(self.group), -1, dtype=np.int64)
        if self.partial_labels is not None:
            known = self.partial_labels >= 0
            names = np.unique(self.partial_labels[known])
            if len(names) > n_clusters:
                raise ValueError(
                    f"partial_labels has {len(names)} different labels but n_clusters={n_clusters}; raise n_clusters."
                )
            if names[-1] >= n_clusters:
                raise ValueError(
                    f"partial_labels holds {names[-1]}, but with n_clusters={n_clusters} labels go from 0 to "
                    f"{n_clusters - 1}, and −1 = unknown; renumber them, for instance with np.unique(…, "
                    "return_inverse=True)."
                )
            by_group = np.full(self.n_groups, -1, dtype=np.int64)
            by_group[self.group[known]] = self.partial_labels[known]
            anchors[self.group >= 0] = by_group[self.group[self.group >= 0]]
            return anchors
        size = np.bincount(self.group[self.group >= 0], minlength=self.n_groups)
        for number, group in enumerate(self._largest_clique(size, n_clusters)):
            anchors[self.group == group] = number
        return anchors

    def _largest_clique(self, size: IntArray, most: int) -> list[int]:
        """Groups in conflict with each other, taken greedily by size; ties go to the one with more conflicts."""
        pairs = self.conflict_pairs()
        degree = np.bincount(pairs[:, 0], minlength=self.n_groups)
        chosen: list[int] = []
        fits = np.ones(self.n_groups, dtype=bool)
        for group in np.lexsort((-degree, -size)).tolist():
            if len(chosen) < most and fits[group]:
                chosen.append(group)
                neighbours = pairs[pairs[:, 0] == group, 1]
                fits &= np.isin(np.arange(self.n_groups), neighbours)
        return chosen

    def must_link_edges(self, links_a_sample: int) -> tuple[IntArray, IntArray]:
        """Edges that tie every group together with a few links a sample: a ring with chords of doubling length.

        All g(g−1)/2 pairs of a group of g samples would be too many.

        Parameters
        ----------
        links_a_sample : int
            How many edges a sample may have.

        Returns
        -------
        sources : ndarray of int
            The first sample of each edge.
        targets : ndarray of int
            The second.
        """
        order = np.argsort(self.group, kind="stable")
        order = order[self.group[order] >= 0]
        group = self.group[order]
        start = np.searchsorted(group, group, side="left")
        size = np.bincount(group, minlength=self.n_groups)[group]
        place = np.arange(len(order)) - start
        sources, targets = [], []
        for hop in (1 << np.arange(max(1, links_a_sample // 2))).tolist():
            active = size > hop
            sources.append(order[active])
            targets.append(order[(start + (place + hop) % np.maximum(size, 1))[active]])
        return np.concatenate(sources), np.concatenate(targets)

    def violations(self, labels: IntArray) -> int:
        """How many known pairs a clustering breaks.

        Parameters
        ----------
        labels : ndarray of int of shape (n_samples,)
            Clusters.

        Returns
        -------
        broken : int
            Samples away from their group, and pairs of groups that should be apart and share a cluster.
        """
        anchor = np.full(self.n_groups, -1, dtype=np.int64)
        known = np.flatnonzero(self.group >= 0)
        anchor[self.group[known]] = np.asarray(labels)[known]
        torn = int((np.asarray(labels)[known] != anchor[self.group[known]]).sum())
        pairs = self.conflict_pairs()
        return torn + int((anchor[pairs[:, 0]] == anchor[pairs[:, 1]]).sum()) // 2


def _chains_of_labels(labels: npt.NDArray[np.int64]) -> IntArray:
    """Must-link pairs that tie all samples of one label together, n − 1 a label."""
    order = np.argsort(labels, kind="stable")
    order = order[labels[order] >= 0]
    same = labels[order[:-1]] == labels[order[1:]]
    return np.stack([order[:-1][same], order[1:][same]], axis=1)


def _conflicts_of_labels(group: IntArray, labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Group pairs that bear different labels."""
    _, first = np.unique(labels[labels >= 0], return_index=True)
    groups = group[np.flatnonzero(labels >= 0)[first]]
    a, b = np.triu_indices(len(groups), 1)
    return np.stack([groups[a], groups[b]], axis=1)


def _refuse_contradictions(
    component: IntArray, must: IntArray, cannot: IntArray, labels: npt.NDArray[np.int64] | None
) -> None:
    bad = component[cannot[:, 0]] == component[cannot[:, 1]]
    if bad.any():
        i, j = cannot[np.flatnonzero(bad)[0]].tolist()
        if i == j:
            raise ValueError(f"cannot_link pairs sample {i} with itself; remove that pair.")
        chain = [pair for pair in must.tolist() if component[pair[0]] == component[i]][:6]
        raise ValueError(
            f"must_link and cannot_link contradict each other: cannot_link has ({i}, {j}), but must_link ties them "
            f"together through {', '.join(str(tuple(pair)) for pair in chain)}; remove one of these pairs."
        )
    if labels is None or not (labels >= 0).any():
        return
    known = np.flatnonzero(labels >= 0)
    first = np.full(int(component.max()) + 1, -1, dtype=np.int64)
    for index in known:
        other = first[component[index]]
        if other >= 0 and labels[other] != labels[index]:
            raise ValueError(
                f"partial_labels and must_link contradict each other: samples {other} and {index} are tied together "
                f"but bear the labels {labels[other]} and {labels[index]}; remove the pair or one label."
            )
        first[component[index]] = index
