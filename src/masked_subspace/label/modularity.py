"""The modularity cut: K communities of a graph.

The number of communities grows with the resolution γ, about as a power of it, so γ is found by interpolation until K
communities are *large*: at least a tenth of the mean cluster size n/K. Where no γ gives exactly K, large communities
that lose least are merged, or the largest are split from inside. Small communities join the large one they are linked
to most.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from masked_subspace._common.types import BoolArray, IndexArray, IntArray
from masked_subspace.label.modularity_kernels import find_communities

# Resolutions between which every graph seen has from one to n communities, and steps that tell them apart to 2 %.
_LOWEST, _HIGHEST, _STEPS = 1e-3, 1e3, 16
# Steps of ln γ: the longest into the unknown, and the grid that searches for other K share as long as they can.
_LEAP, _GRID = np.log(6.0), np.log(2.0) / 8
_LARGE_SHARE = 0.1
# How far a cut into more than K parts, which only votes, may be from the number asked for.
_SLACK = 0.1
_SPLITS = 8


class ManyCuts:
    """Cuts of one graph into different numbers of clusters; communities are found once for each resolution.

    With `halvings` the range of resolutions is halved so often: searches for neighbouring numbers then visit the same
    ones, and fifty cuts cost about ten.
    """

    def __init__(self, W: csr_array, seed: int, *, halvings: int | None = None) -> None:
        self.W, self.halvings = W, halvings
        self.order = np.random.default_rng(seed).permutation(W.shape[0]).astype(np.int32)
        self._found: dict[float, IndexArray] = {}

    def communities(self, resolution: float) -> IndexArray:
        if resolution not in self._found:
            self._found[resolution] = find_communities(self.W, resolution, self.order)
        return self._found[resolution]

    def cut(self, n_clusters: int) -> IndexArray:
        """Clusters 0 … K − 1; −1 for samples without a path to any of them."""
        ones = np.ones(self.W.shape[0], dtype=np.int64)
        return _cut(self.W, ones, n_clusters, self.order, self.communities, self.halvings)[0]

    def cut_about(self, n_clusters: int) -> IndexArray:
        """Large communities, within a tenth of so many if a search finds that: enough for a vote on fewer clusters."""
        ones = np.ones(self.W.shape[0], dtype=np.int64)
        least = _least(ones, n_clusters)
        found, _ = _search(self.communities, ones, n_clusters, least, self.halvings, slack=round(_SLACK * n_clusters))
        return _attached(self.W, _large_only(found, ones, least))


def modularity_cut(W: csr_array, n_clusters: int, seed: int) -> IndexArray:
    """Clusters 0 … K − 1 by modularity; −1 for samples without a path to any of them.

    Fewer than K come out only where no community with two samples is left to split.
    """
    return cut_of_groups(W, np.ones(W.shape[0], dtype=np.int64), n_clusters, seed)[0]


def cut_of_groups(W: csr_array, sizes: IntArray, n_clusters: int, seed: int) -> tuple[IndexArray, float]:
    """The cut of a graph whose nodes are groups of so many samples each, and the resolution at which it was found.

    Loops of W are the links inside a group, counted from both ends.
    """
    order = np.random.default_rng(seed).permutation(W.shape[0]).astype(np.int32)
    return _cut(W, sizes, n_clusters, order, lambda resolution: find_communities(W, resolution, order))


def _cut(
    W: csr_array,
    sizes: IntArray,
    n_clusters: int,
    order: IntArray,
    communities: Callable[[float], IntArray],
    halvings: int | None = None,
) -> tuple[IndexArray, float]:
    if n_clusters == 1:
        return np.zeros(W.shape[0], dtype=np.int32), 1.0
    least = _least(sizes, n_clusters)
    found, resolution = _search(communities, sizes, n_clusters, least, halvings)
    labels = _large_only(found, sizes, least)
    labels = _merged(W, labels, n_clusters, resolution)
    labels = _split(W, sizes, labels, n_clusters, resolution, order)
    return _attached(W, labels), resolution


def _least(sizes: IntArray, n_clusters: int) -> float:
    """Samples that a large community has."""
    return max(1.0, _LARGE_SHARE * int(sizes.sum()) / n_clusters)


def _search(
    communities: Callable[[float], IntArray],
    sizes: IntArray,
    n_clusters: int,
    least: float,
    halvings: int | None,
    *,
    slack: int = 0,
) -> tuple[IntArray, float]:
    """The partition whose number of large communities is nearest to K, or the first within `slack` of it, and its
    resolution."""
    low, high = _LOWEST, _HIGHEST
    fewer, more = None, None  # how many communities there are at these ends, once it is known
    best, best_miss, best_resolution = None, np.inf, 1.0
    resolution = 1.0
    for step in range(halvings or _STEPS):
        found = communities(resolution)
        count = int((np.bincount(found, sizes) >= least).sum())
        if abs(count - n_clusters) < best_miss:
            best, best_miss, best_resolution = found, abs(count - n_clusters), resolution
        if abs(count - n_clusters) <= slack:
            break
        if count < n_clusters:
            low, fewer = resolution, count
        else:
            high, more = resolution, count
        halve = halvings is not None or (step % 3 == 2 and fewer is not None and more is not None)
        resolution = float(np.sqrt(low * high)) if halve else _guess(low, high, fewer, more, n_clusters)
    assert best is not None
    return best, best_resolution


def _guess(low: float, high: float, fewer: int | None, more: int | None, n_clusters: int) -> float:
    """Where K communities lie if they grow with a power of γ; with one end unknown, with γ itself."""
    start, stop, wanted = np.log(low), np.log(high), np.log(n_clusters)
    if fewer is None:
        assert more is not None
        place = stop - min(_LEAP, np.log(more) - wanted + _GRID)
    elif more is None:
        place = start + min(_LEAP, wanted - np.log(max(fewer, 1)) + _GRID)
    else:
        share = (wanted - np.log(max(fewer, 0.5))) / (np.log(more) - np.log(max(fewer, 0.5)))
        place = start + np.clip(share, 0.15, 0.85) * (stop - start)
    place = np.clip(place, start, stop)
    on_grid = round(place / _GRID) * _GRID
    return float(np.exp(on_grid if start + 0.1 * _GRID < on_grid < stop - 0.1 * _GRID else place))


def _large_only(found: IntArray, sizes: IntArray, least: float) -> IndexArray:
    """Large communities numbered from the largest; −1 for samples of small ones."""
    size = np.bincount(found, sizes)
    ranked = np.argsort(-size, kind="stable")
    large = ranked[size[ranked] >= least] if (size >= least).any() else ranked[:1]
    name = np.full(len(size), -1, dtype=np.int32)
    name[large] = np.arange(len(large), dtype=np.int32)
    return name[found]


def between(W: csr_array, labels: IntArray, n_labels: int) -> npt.NDArray[np.float64]:
    """Weight between clusters, K × K, both directions counted."""
    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    a, b = labels[rows], labels[W.indices]
    known = (a >= 0) & (b >= 0)
    keys = a[known].astype(np.int64) * n_labels + b[known]
    weight = np.bincount(keys, weights=W.data[known].astype(np.float64), minlength=n_labels**2)
    return weight.astype(np.float64).reshape(n_labels, n_labels)


def _merged(W: csr_array, labels: IndexArray, n_clusters: int, resolution: float) -> IndexArray:
    """While there are too many clusters, merge the two whose union costs modularity least."""
    count = int(labels.max()) + 1
    if count <= n_clusters:
        return labels
    weight = between(W, labels, count)
    degree = weight.sum(axis=1)
    total = max(float(degree.sum()), np.finfo(float).tiny)  # of all links: it stays while clusters merge
    name = np.arange(count)
    alive = np.ones(count, dtype=bool)
    for _ in range(count - n_clusters):
        gain = weight - resolution * np.outer(degree, degree) / total
        gain[~alive] = -np.inf
        gain[:, ~alive] = -np.inf
        np.fill_diagonal(gain, -np.inf)
        a, b = sorted(divmod(int(gain.argmax()), count))
        weight[a] += weight[b]
        weight[:, a] += weight[:, b]
        degree[a] += degree[b]
        alive[b] = False
        name[name == b] = a
    kept = np.cumsum(alive) - 1
    merged: IndexArray = np.where(labels >= 0, kept[name][labels], -1).astype(np.int32)
    return merged


def _split(
    W: csr_array, sizes: IntArray, labels: IndexArray, n_clusters: int, resolution: float, order: IntArray
) -> IndexArray:
    """While there are too few clusters, split the largest that can be split into its two largest communities."""
    labels = labels.copy()
    count = int(labels.max()) + 1
    whole: set[int] = set()
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    while count < n_clusters:
        size = np.bincount(labels[labels >= 0], sizes[labels >= 0], minlength=count)
        size[list(whole)] = 0
        target = int(size.argmax())
        if size[target] < 2:
            break
        members = np.flatnonzero(labels == target)
        visits = np.argsort(rank[members], kind="stable")
        part = _two_parts(csr_array(W[members][:, members]), sizes[members], resolution, visits)
        if part is None:
            whole.add(target)
            continue
        labels[members[part]] = count
        count += 1
    return labels


def _two_parts(W: csr_array, sizes: IntArray, resolution: float, order: IntArray) -> BoolArray | None:
    """Which samples leave: the communities of a finer partition, gathered into two halves of least cut."""
    for _ in range(_SPLITS):
        found = find_communities(W, resolution, order)
        count = int(found.max()) + 1
        if count > 1:
            halves = _merged(W, _large_only(found, sizes, 0.0), 2, resolution)
            leaving: BoolArray = halves == 1
            return leaving
        resolution *= 2
    return None


def _attached(W: csr_array, labels: IndexArray) -> IndexArray:
    """Samples of small communities follow their links, step by step; who has no path keeps −1."""
    labels = labels.copy()
    count = int(labels.max()) + 1
    while True:
        waiting = np.flatnonzero(labels < 0)
        if len(waiting) == 0:
            return labels
        placed = labels >= 0
        member = csr_array(
            (np.ones(int(placed.sum())), (np.flatnonzero(placed), labels[placed])), shape=(len(labels), count)
        )
        ballots = (W[waiting] @ member).toarray()
        voted = ballots.max(axis=1) > 0
        if not voted.any():
            return labels
        labels[waiting[voted]] = ballots[voted].argmax(axis=1).astype(np.int32)


def link_shares(W: csr_array, labels: IntArray, n_clusters: int) -> npt.NDArray[np.float64]:
    """For each sample the share of its links that go to each cluster; an isolated sample belongs to its own."""
    n = len(labels)
    member = csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, n_clusters))
    shares: npt.NDArray[np.float64] = np.asarray((W.astype(np.float64) @ member).toarray())
    total = shares.sum(axis=1)
    alone = np.flatnonzero(total <= 0)
    shares[alone, labels[alone]] = 1.0
    return shares / np.where(total > 0, total, 1)[:, None]


def modularity(W: csr_array, labels: IntArray) -> float:
    """Share of edge weight inside clusters, less what chance would put there."""
    degree = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
    total = degree.sum()
    if total <= 0:
        return 0.0
    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    inside = float(W.data[labels[rows] == labels[W.indices]].sum()) / total
    return float(inside - ((np.bincount(labels, degree) / total) ** 2).sum())
