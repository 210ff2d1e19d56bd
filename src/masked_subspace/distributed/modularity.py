"""The modularity cut in blocks: groups inside each part, a cut of the small graph between groups, moves of samples.

Every part runs Leiden on the links inside it, at a resolution that leaves groups of a few samples to some thousands:
much smaller than a cluster. Their graph fits into one task and is cut there as one process cuts a graph of samples.
Then samples move between the K clusters, part by part, with the labels of the halo as they stood before. The borders
of parts cut groups that belong together, and their samples need these moves: without them accuracy falls by up to .1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from masked_subspace._common.types import BoolArray, FloatArray, IndexArray, IntArray
from masked_subspace.distributed.graph import BlockGraph, GraphBlock, degrees, small_graph, summarized
from masked_subspace.distributed.pieces import first_numbers
from masked_subspace.distributed.spectral import cluster_blocks, count_true, spectral_cut
from masked_subspace.distributed.tasks import Result, Workers, task

# The labels of all groups, and the resolution at which they were found.
GroupCut = tuple[IndexArray, float]

# Of coarser groups some hold two clusters: 4 samples a group give the accuracy of one process, 32 lose .01 on 8,000
# samples of subspaces that meet. The second pass, whose groups are cut out of the clusters of the first, wins .003.
_SAMPLES_A_GROUP, _PASSES = 4, 2
_MOST_GROUPS, _MOST_GROUPS_A_PART = 100_000, 8_000
_SEARCHES = 12
_ROUNDS = 10
_STILL = 1e-4  # a share of the samples: fewer moves than this end the rounds


def modularity_cut_blocks(
    workers: Workers, graph: BlockGraph, rows: list[Result], n_clusters: int, n_components: int | str | None, seed: int
) -> tuple[list[Result], list[Result]]:
    """Labels of each part, and which of its samples have one (the others follow their nearest)."""
    if n_clusters == 1:
        everyone = _everyone(graph)
        return cluster_blocks(workers, rows, everyone, graph.sizes, 1, seed), everyone
    labels = [task(nobody)(size) for size in graph.sizes]
    for _ in range(_PASSES):
        labels, cut = _cut_once(workers, graph, labels, n_clusters, seed)
        labels = _settled(workers, graph, labels, cut, n_clusters)
    if _sizes(workers, labels, n_clusters).min() == 0:
        # The graph holds fewer than K communities: eigenvectors tell apart what links do not.
        return spectral_cut(workers, graph, rows, n_clusters, n_components, seed)
    placed = workers.keep([task(has_label)(one) for one in labels])
    if sum(workers.fetch([task(count_true)(flags) for flags in placed])) < 0.5 * graph.n_samples:
        # Most samples are isolated: the rows themselves say more than the graph does.
        everyone = _everyone(graph)
        return cluster_blocks(workers, rows, everyone, graph.sizes, n_clusters, seed), everyone
    return labels, placed


def _cut_once(
    workers: Workers, graph: BlockGraph, labels: list[Result], n_clusters: int, seed: int
) -> tuple[list[Result], Result]:
    """Labels by the groups of all parts, none of which holds samples of two of the clusters so far; and the cut."""
    found = workers.keep(
        [
            task(groups_of_block)(block, one, groups_for(size, len(graph.sizes)), seed)
            for block, one, size in zip(graph.blocks, labels, graph.sizes, strict=True)
        ]
    )
    sizes = [task(group_sizes)(one) for one in found]
    firsts = task(first_numbers)(sizes)
    groups = [task(numbered_groups)(one, firsts, p) for p, one in enumerate(found)]
    summaries = [
        task(summarized)(block, groups[p], graph.halo_values(groups, p)) for p, block in enumerate(graph.blocks)
    ]
    (cut,) = workers.keep([task(cut_groups)(sizes, summaries, n_clusters, seed)])
    return workers.keep([task(labels_by_group)(one, cut) for one in groups]), cut


def nobody(size: int) -> IndexArray:
    """No sample has a label."""
    return np.full(size, -1, dtype=np.int32)


def _everyone(graph: BlockGraph) -> list[Result]:
    return [task(np.ones)(size, dtype=bool) for size in graph.sizes]


def groups_for(size: int, n_parts: int) -> int:
    """How many groups a part of so many samples may have; all of them together fit into one task."""
    return max(1, min(size // _SAMPLES_A_GROUP, _MOST_GROUPS_A_PART, _MOST_GROUPS // n_parts))


def groups_of_block(block: GraphBlock, labels: IndexArray, most: int, seed: int) -> IndexArray:
    """Communities of the links inside a part, between most/2 and `most` of them where a resolution gives so many.

    −1 for samples without links inside the part, and for the smallest groups where there are too many: they follow
    their links when the others have labels.
    """
    from masked_subspace.label.modularity_kernels import find_communities

    inner = inside_clusters(csr_array(block.links[:, : block.n_own]), labels)
    order = np.random.default_rng(seed).permutation(block.n_own).astype(np.int32)
    linked = np.diff(inner.indptr) > 0
    best, best_count = None, 0
    resolution, low, high = float(most), 0.0, np.inf
    for _ in range(_SEARCHES):
        found = find_communities(inner, resolution, order)
        count = len(np.unique(found[linked]))
        # Too many are better than none, as the smallest can be left out; of the others the most.
        if best is None or (count <= most) > (best_count <= most) or (count <= most and count > best_count):
            best, best_count = found, count
        if most / 2 <= count <= most:
            break
        low, high = (resolution, high) if count < most else (low, resolution)
        resolution = resolution * 8 if high == np.inf else resolution / 8 if low == 0 else float(np.sqrt(low * high))
    assert best is not None
    return largest_groups(np.where(linked, best, -1), most)


def inside_clusters(links: csr_array, labels: IndexArray) -> csr_array:
    """The links between samples of the same label."""
    rows = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    same = labels[rows] == labels[links.indices]
    entries = (links.data[same], (rows[same].astype(np.int32), links.indices[same]))
    return csr_array(entries, shape=links.shape)


def largest_groups(found: IntArray, most: int) -> IndexArray:
    """Groups numbered from 0 in the order of their first sample; of too many the largest, −1 for the others."""
    inside = np.flatnonzero(found >= 0)
    names, codes, count = np.unique(found[inside], return_inverse=True, return_counts=True)
    chosen = np.sort(np.argsort(-count, kind="stable")[:most])
    name = np.full(len(names), -1, dtype=np.int32)
    name[chosen] = np.arange(len(chosen), dtype=np.int32)
    groups = np.full(len(found), -1, dtype=np.int32)
    groups[inside] = name[codes]
    return groups


def group_sizes(groups: IndexArray) -> IntArray:
    """Samples of each group."""
    return np.bincount(groups[groups >= 0])


def numbered_groups(groups: IndexArray, firsts: list[int], part: int) -> npt.NDArray[np.int64]:
    """Group numbers that are unique over all parts; −1 stays."""
    return np.where(groups >= 0, groups.astype(np.int64) + firsts[part], -1)


def cut_groups(
    sizes: list[IntArray], summaries: list[tuple[IntArray, IntArray, FloatArray]], n_clusters: int, seed: int
) -> GroupCut:
    """The graph between all groups, cut into K."""
    from masked_subspace.label.modularity import cut_of_groups

    size = np.concatenate(sizes)
    return cut_of_groups(small_graph(summaries, len(size)), size, n_clusters, seed)


def labels_by_group(groups: npt.NDArray[np.int64], cut: GroupCut) -> IndexArray:
    """The label of each sample's group."""
    return np.where(groups >= 0, cut[0][groups], -1).astype(np.int32)


def has_label(labels: IndexArray) -> BoolArray:
    """Which samples have a label."""
    flags: BoolArray = labels >= 0
    return flags


def _settled(workers: Workers, graph: BlockGraph, labels: list[Result], cut: Result, n_clusters: int) -> list[Result]:
    """Labels after rounds of moves; a round that leaves less than half of a cluster is not taken."""
    first = _sizes(workers, labels, n_clusters)
    for _ in range(_ROUNDS):
        totals = task(summed)(
            [task(cluster_degrees)(*one, n_clusters) for one in zip(graph.blocks, labels, strict=True)]
        )
        moved = workers.keep(
            [
                task(moved_labels)(block, labels[p], graph.halo_values(labels, p), totals, cut)
                for p, block in enumerate(graph.blocks)
            ]
        )
        if (_sizes(workers, moved, n_clusters) < first / 2).any():
            break
        changed = sum(workers.fetch([task(count_changed)(*one) for one in zip(labels, moved, strict=True)]))
        labels = moved
        if changed <= _STILL * graph.n_samples:
            break
    return labels


def _sizes(workers: Workers, labels: list[Result], n_clusters: int) -> IntArray:
    sizes: IntArray = np.sum(workers.fetch([task(cluster_sizes)(one, n_clusters) for one in labels]), axis=0)
    return sizes


def cluster_sizes(labels: IndexArray, n_clusters: int) -> IntArray:
    """Samples of each cluster."""
    return np.bincount(labels[labels >= 0], minlength=n_clusters)


def cluster_degrees(block: GraphBlock, labels: IndexArray, n_clusters: int) -> npt.NDArray[np.float64]:
    """Σ of the degrees of each cluster's samples in a part; behind them that of samples without a label."""
    clusters = np.where(labels >= 0, labels, n_clusters)
    return np.bincount(clusters, degrees(block), minlength=n_clusters + 1).astype(np.float64)


def summed(values: list[FloatArray]) -> FloatArray:
    """The sum over all parts."""
    total: FloatArray = np.sum(values, axis=0)
    return total


def moved_labels(
    block: GraphBlock, labels: IndexArray, halo: list[IndexArray], totals: FloatArray, cut: GroupCut
) -> IndexArray:
    """The labels of a part after its samples have moved between clusters, with those of the halo held."""
    from masked_subspace.label.boundary_moves import settled_labels

    price = cut[1] / max(float(totals.sum()), np.finfo(float).tiny)
    return settled_labels(block.links, np.concatenate([labels, *halo]), totals[:-1], price)


def count_changed(old: IndexArray, new: IndexArray) -> int:
    """How many labels differ."""
    return int((old != new).sum())
