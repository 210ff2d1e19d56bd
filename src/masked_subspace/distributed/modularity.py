"""The modularity cut in blocks: local moves inside blocks, the small graph between communities, moves across blocks.

Each block is cut into many small communities by its inner links (Leiden: local moves and aggregation). The weights
between all communities make a small graph, which one task cuts into K clusters. At last every sample may move once
more, as a local move with all blocks at the same time: to the cluster c that maximises
w(i, c) − d_i D_c / 2m, with w its links into c, d_i its degree and D_c the degree of the cluster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from masked_subspace.distributed.graph import BlockGraph, GraphBlock, degrees, small_graph, summarized
from masked_subspace.distributed.pieces import first_numbers, numbered
from masked_subspace.distributed.spectral import count_true
from masked_subspace.distributed.tasks import Result, Workers, task

IntArray = npt.NDArray[np.integer[Any]]
FloatArray = npt.NDArray[np.floating[Any]]

# Communities inside a block must be finer than the clusters they will make up.
_INNER_RESOLUTION = 8.0
_SWEEPS = 3
_MOST_DOUBLINGS = 12
_ROWS_AT_ONCE = 1 << 16


def modularity_cut(
    workers: Workers, graph: BlockGraph, n_clusters: int, seed: int
) -> tuple[list[Result], list[Result]]:
    """Labels of each part, and which of its samples have a link at all (the others follow their nearest)."""
    own = workers.keep([task(degrees)(block) for block in graph.blocks])
    linked = workers.keep([task(has_links)(degree) for degree in own])
    if sum(workers.fetch([task(count_true)(flags) for flags in linked])) < n_clusters:
        raise ValueError(
            f'cut is "modularity" but fewer than n_clusters={n_clusters} samples have links; use cut="spectral" or '
            "raise n_candidates."
        )
    inner = workers.keep([task(inner_communities)(block, seed) for block in graph.blocks])
    sizes = [task(np.bincount)(one) for one in inner]
    firsts = task(first_numbers)(sizes)
    groups = [task(numbered)(one, firsts, p) for p, one in enumerate(inner)]
    summaries = [
        task(summarized)(block, groups[p], graph.halo_values(groups, p)) for p, block in enumerate(graph.blocks)
    ]
    cluster_of = task(cut_small_graph)(summaries, firsts, n_clusters, seed)
    labels = [task(take_labels)(one, cluster_of) for one in groups]
    for _ in range(_SWEEPS):
        masses = [task(cluster_masses)(one, degree, n_clusters) for one, degree in zip(labels, own, strict=True)]
        total = task(sum_of)(masses)
        labels = [
            task(best_move)(block, labels[p], graph.halo_values(labels, p), own[p], total)
            for p, block in enumerate(graph.blocks)
        ]
    return workers.keep(labels), linked


def inner_communities(block: GraphBlock, seed: int) -> npt.NDArray[np.int64]:
    """Communities by the links inside a block, numbered from 0; a sample without such links is its own."""
    from masked_subspace.label.communities import find_communities

    inner = csr_array(block.links[:, : block.n_own])
    return find_communities(inner, _INNER_RESOLUTION, _visits(block.n_own, seed)).astype(np.int64)


def cut_small_graph(summaries: list[Any], firsts: list[int], n_clusters: int, seed: int) -> npt.NDArray[np.int32]:
    """The cluster of each community: Leiden at a resolution that gives at least K, then the best merges down to K."""
    from masked_subspace.label.communities import find_communities

    A = small_graph(summaries, firsts[-1])
    resolution, order = 1.0, _visits(firsts[-1], seed)
    for _ in range(_MOST_DOUBLINGS):
        found = find_communities(A, resolution, order)
        if found.max() + 1 >= n_clusters:
            break
        resolution *= 2
    return merged(A, found, n_clusters).astype(np.int32)


def _visits(n: int, seed: int) -> npt.NDArray[np.int32]:
    return np.random.default_rng(seed).permutation(n).astype(np.int32)


def merged(A: csr_array, labels: IntArray, n_clusters: int) -> IntArray:
    """The pair of clusters whose union gains most modularity becomes one, until K are left."""
    members = csr_array((np.ones(len(labels)), labels, np.arange(len(labels) + 1)))
    between = np.asarray((members.T @ A @ members).toarray())
    name = np.arange(len(between))
    total = max(between.sum(), np.finfo(float).tiny)
    while len(between) > n_clusters:
        degree = between.sum(axis=1)
        # Per unit of the smaller degree: communities of a few samples are taken in before large clusters are joined.
        gain = (between - np.outer(degree, degree) / total) / np.maximum(np.minimum.outer(degree, degree), 1e-300)
        np.fill_diagonal(gain, -np.inf)
        a, b = sorted(int(one) for one in np.unravel_index(int(gain.argmax()), gain.shape))
        between[a] += between[b]
        between[:, a] += between[:, b]
        between = np.delete(np.delete(between, b, axis=0), b, axis=1)
        name = np.where(name == b, a, name - (name > b))
    merged_labels: IntArray = name[labels]
    return merged_labels


def take_labels(groups: IntArray, cluster_of: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """The cluster of each sample's community."""
    labels: npt.NDArray[np.int32] = cluster_of[groups]
    return labels


def cluster_masses(labels: IntArray, degree: FloatArray, n_clusters: int) -> FloatArray:
    """Degree of each cluster inside a block."""
    masses: FloatArray = np.bincount(labels, degree, minlength=n_clusters).astype(np.float64)
    return masses


def sum_of(values: list[FloatArray]) -> FloatArray:
    """Their sum."""
    total: FloatArray = np.sum(values, axis=0)
    return total


def best_move(
    block: GraphBlock, labels: IntArray, halo: list[IntArray], degree: FloatArray, masses: FloatArray
) -> npt.NDArray[np.int32]:
    """Where each sample gains most modularity; where it is, if nothing is better."""
    everyone = np.concatenate([labels, *halo])
    members = csr_array(
        (np.ones(len(everyone)), everyone, np.arange(len(everyone) + 1)), shape=(len(everyone), len(masses))
    )
    total = max(float(masses.sum()), np.finfo(float).tiny)
    new = np.empty(len(labels), dtype=np.int32)
    for start in range(0, len(labels), _ROWS_AT_ONCE):
        some = slice(start, start + _ROWS_AT_ONCE)
        gain = np.asarray((block.links[some] @ members).toarray()) - degree[some, None] * masses / total
        rows = np.arange(len(gain))
        # Its own degree is no reason to leave.
        gain[rows, labels[some]] += degree[some] ** 2 / total + 1e-9
        new[some] = gain.argmax(axis=1)
    return new


def has_links(degree: FloatArray) -> npt.NDArray[np.bool_]:
    """Which samples have a link."""
    return degree > 0
