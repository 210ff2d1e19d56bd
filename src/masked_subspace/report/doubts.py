"""What the graph says against a clustering: clusters linked to each other, and clusters that are two blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from masked_subspace._common.types import Array

_SMALLEST_PART = 0.15  # of a cluster, for a part of it to count as a block
_FEWEST_SAMPLES = 12  # below that a cluster is not looked into
_NEVER_TWO = 0.1  # a split that cuts more than this parts no blocks
_RIVAL = 0.25  # a cluster that sends this share of its links to one other is hard to tell from it
_ALWAYS_TWO = 0.01  # a split that cuts less of the links than this parts two blocks, whatever lies outside


@dataclass(frozen=True)
class ClusterFacts:
    """One cluster seen from the graph. Shares are of the link weight of the cluster's samples, 0 … 1."""

    size: int
    certainty: float  # mean over its samples
    outside: float  # share of its link weight that leaves it
    rival: int  # the cluster that gets most of that, −1 if nobody does
    to_rival: float
    smaller_part: int  # samples in the smaller of its two blocks; 0 if it is one
    between_parts: float  # share of the smaller block's links that reach the other


def examine(affinity: csr_array, codes: Array, certainty: Array) -> list[ClusterFacts]:
    """Look at every cluster; `codes` number them from 0."""
    n_clusters = int(codes.max()) + 1
    weights = block_weights(affinity, codes)
    volumes = np.maximum(weights.sum(axis=1), 1e-30)
    sizes = np.bincount(codes, minlength=n_clusters)
    sure = np.bincount(codes, certainty, n_clusters) / np.maximum(sizes, 1)
    graph = csr_array(abs(affinity))
    facts = []
    for k in range(n_clusters):
        away = weights[k] / volumes[k]
        outside = 1.0 - away[k] if weights[k].any() else 0.0
        away[k] = 0.0
        rival = int(away.argmax()) if away.any() else -1
        members = np.flatnonzero(codes == k)
        part, between = best_split(csr_array(graph[members][:, members]))
        if between >= min(_NEVER_TWO, max(_ALWAYS_TWO, outside)):
            part = 0  # parting it would cut more than parts it from its neighbours: one block
        facts.append(
            ClusterFacts(int(sizes[k]), float(sure[k]), float(outside), rival, float(away.max()), part, between)
        )
    return facts


def rivals(facts: Mapping[str, ClusterFacts], names: Sequence[str]) -> list[tuple[str, str, float]]:
    """Pairs of clusters of which one sends a quarter of its links or more to the other, the closest first."""
    found: dict[frozenset[str], tuple[str, str, float]] = {}
    for name, fact in sorted(facts.items(), key=lambda item: -item[1].to_rival):
        if fact.rival >= 0 and fact.to_rival >= _RIVAL and names[fact.rival] in facts:
            found.setdefault(frozenset((name, names[fact.rival])), (name, names[fact.rival], fact.to_rival))
    return list(found.values())


def in_two_blocks(facts: Mapping[str, ClusterFacts]) -> list[str]:
    """Clusters that look like two."""
    return [name for name, fact in facts.items() if fact.smaller_part]


def very_small(facts: Mapping[str, ClusterFacts]) -> list[str]:
    """Clusters of a tenth of the mean size, or of two samples."""
    mean = float(np.mean([fact.size for fact in facts.values()]))
    return [name for name, fact in facts.items() if fact.size < max(3, 0.1 * mean)]


def block_weights(affinity: csr_array, codes: Array) -> Array:
    """Link weight between every two clusters, K × K."""
    n_clusters = int(codes.max()) + 1
    entries = coo_array(affinity)
    place = codes[entries.row] * n_clusters + codes[entries.col]
    sums = np.bincount(place, np.abs(entries.data), n_clusters * n_clusters)
    return np.asarray(sums.reshape(n_clusters, n_clusters))


def best_split(graph: csr_array) -> tuple[int, float]:
    """The split of a graph in two parts that cuts least: size of the smaller part, share of its links that are cut.

    Parts smaller than 15 % do not count. (0, 1.0) if there is nothing to split. The second eigenvector of the
    normalised graph orders the samples, and every place along it is tried.
    """
    n = graph.shape[0]
    if n < _FEWEST_SAMPLES or graph.nnz == 0:
        return 0, 1.0
    least = max(2, int(np.ceil(_SMALLEST_PART * n)))
    _, component = connected_components(graph, directed=False)
    sizes = np.bincount(component)
    if len(sizes) > 1 and (large := np.flatnonzero(sizes >= least)).size > 1:
        return int(sizes[large].min()), 0.0
    members = np.flatnonzero(component == sizes.argmax())
    if len(members) < 2 * least:
        return 0, 1.0
    return _sweep(csr_array(graph[members][:, members]), least)


def _sweep(graph: csr_array, least: int) -> tuple[int, float]:
    """Try all places along the second eigenvector of a connected graph."""
    n = graph.shape[0]
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    order = np.argsort(_second_eigenvector(graph, degrees), kind="stable")
    position = np.empty(n, dtype=np.int64)
    position[order] = np.arange(n)
    entries = coo_array(graph)
    low = np.minimum(position[entries.row], position[entries.col])
    high = np.maximum(position[entries.row], position[entries.col])
    # A link is cut by every place between its ends; each link is there twice.
    change = np.bincount(low, entries.data, n) - np.bincount(high, entries.data, n)
    cut = np.cumsum(change)[:-1] / 2
    volume = np.cumsum(degrees[order])[:-1]
    share = cut / np.maximum(np.minimum(volume, degrees.sum() - volume), 1e-30)
    share[: least - 1] = np.inf
    share[n - least :] = np.inf
    best = int(share.argmin())
    return min(best + 1, n - best - 1), float(share[best])


def _second_eigenvector(graph: csr_array, degrees: Array, steps: int = 150) -> Array:
    """Of D^-½ W D^-½, scaled back by D^-½: power iteration beside the first, which is known. Rough is good enough."""
    root = np.sqrt(np.maximum(degrees, 1e-30))
    first = root / np.linalg.norm(root)
    scaled = csr_array(graph / root[:, None] / root[None, :])
    vector = np.random.default_rng(0).standard_normal(len(root))
    for _ in range(steps):
        vector = vector - first * (first @ vector)
        vector = 0.5 * (vector + scaled @ vector)  # eigenvalues from −1 … 1 to 0 … 1
        vector /= max(float(np.linalg.norm(vector)), 1e-30)
    return np.asarray(vector / root)
