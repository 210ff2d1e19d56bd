"""The lower level of the bilevel frame: from a representation to a graph, an embedding and labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

from masked_subspace._common.rows import Positions, content_order, products_of, row_blocks
from masked_subspace._common.sparse.implicit import Rows, as_array
from masked_subspace._common.types import BoolArray, FloatArray, IntArray, Matrix
from masked_subspace.label.agreement import leading_rows
from masked_subspace.label.diffusion import Assign, cluster_weight, spread_labels
from masked_subspace.label.graph import (
    LINKS,
    Components,
    affinity_matrix,
    in_order,
    put_back,
    spectral_embedding,
    without_diagonal,
)
from masked_subspace.label.group_assignment import GroupAssigner
from masked_subspace.label.kmeans import cluster_rows, cluster_rows_from_anchors, named_by_anchors
from masked_subspace.label.modularity import ManyCuts, link_shares, modularity_cut
from masked_subspace.label.number_of_clusters import Number, number_of_clusters
from masked_subspace.masks.pairs import KnownPairs

# "auto" tries numbers up to this, and none with fewer samples a cluster.
_MOST_CLUSTERS, _LEAST_SAMPLES = 200, 5
NumberWanted = int | str | Sequence[int]


def bounds_of(n_clusters: NumberWanted, n_samples: int) -> tuple[int, int]:
    """The smallest and largest number that `n_clusters` permits: a number, "auto" or (low, high)."""
    if n_clusters == "auto":
        return 2, max(2, min(_MOST_CLUSTERS, n_samples // _LEAST_SAMPLES))
    if isinstance(n_clusters, (tuple, list)):
        whole = len(n_clusters) == 2 and all(
            isinstance(one, (int, np.integer)) and not isinstance(one, bool) for one in n_clusters
        )
        if not whole or not 1 <= n_clusters[0] <= n_clusters[1]:
            raise ValueError(
                f"n_clusters is {n_clusters!r}; a range is (low, high), two whole numbers with 1 ≤ low ≤ high."
            )
        return int(n_clusters[0]), int(n_clusters[1])
    return int(n_clusters), int(n_clusters)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Labeling:
    """What a labeler finds in one round."""

    labels: IntArray
    affinity: csr_array
    embedding: FloatArray
    number: Number | None = None  # how the number of clusters was chosen, if it was


@dataclass(frozen=True)
class Evidence:
    """What a labeler may use besides the representation: the rows, the known pairs and how strictly to keep them, and
    how many threads."""

    X: Rows
    known: KnownPairs | None = None
    hard: bool = False
    n_threads: int = 1

    @cached_property
    def order(self) -> Positions:
        """The order in which samples are drawn and visited: by content, so that permuted rows get the same labels."""
        return content_order(self.X)


# Above so many samples `cut="auto"` is the modularity cut (docs: accuracy: USPS 9,298 .80 → .96, COIL100 .81 → .85).
MODULARITY_FROM = 2_000
# Up to so many samples a number of clusters must also predict; above, the agreement of the looks is enough.
_PREDICTED = 5_000
# Cuts that read clusters off the graph itself: graph, number of clusters, seed → labels, −1 for isolated samples.
GRAPH_CUTS: dict[str, Callable[[csr_array, int, int], IntArray]] = {
    "modularity": modularity_cut,
}
# Every cut and what it is, for docstrings.
CUTS: dict[str, str] = {
    "auto": f"is spectral up to {MODULARITY_FROM:,} samples and modularity above",
    "spectral": "is k-means on leading eigenvectors",
    "modularity": "takes communities of the largest modularity",
}


class Labeler(Protocol):
    """Anything that turns a representation into labels."""

    def label(self, representation: Matrix, evidence: Evidence, seed: int) -> Labeling: ...


class GraphLabeler(BaseEstimator):
    """Affinity φ, then a cut of the graph: subproblems F and Q of `eq:rmsc`.

    Parameters
    ----------
    n_clusters : int, "auto" or (low, high), default=8
        Number of clusters K. If it is not one number, the first representation decides (label/number_of_clusters.py),
        and later rounds keep what it found.
    affinity : str, default="top-k"
        The graph φ(Z), one of the `KINDS` of label/graph.py.
    n_links : int, default=5
        The k of "top-k" and "code-neighbors".
    n_components : int, "auto" or None, default="auto"
        Eigenvectors of the spectral cut; None is K, "auto" weights up to 4K of them softly.
    cut : {"auto", "spectral", "modularity"}, default="spectral"
        How the graph becomes K clusters. "auto" is "modularity" above 2,000 samples.
    rank, power : of "shape-interaction"
    """

    number_: Number | None = None  # what the first representation found, where the number was left open

    def __init__(
        self,
        n_clusters: NumberWanted = 8,
        *,
        affinity: str = "top-k",
        n_links: int = LINKS,
        n_components: int | str | None = "auto",
        cut: str = "spectral",
        rank: int | None = None,
        power: float = 4.0,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_links = n_links
        self.n_components = n_components
        self.cut = cut
        self.rank = rank
        self.power = power

    def label(self, representation: Matrix, evidence: Evidence, seed: int) -> Labeling:
        """Labels of one representation; the same input and seed give the same labels."""
        W = affinity_matrix(representation, self.affinity, n_links=self.n_links, rank=self.rank, power=self.power)
        n_clusters = self._number(representation, evidence, seed)
        labeling = label_graph(W, n_clusters, self.n_components, evidence, seed, cut=self.cut)
        return replace(labeling, number=self.number_)

    def _number(self, representation: Matrix, evidence: Evidence, seed: int) -> int:
        low, high = bounds_of(self.n_clusters, representation.shape[0])
        if low == high:
            return low
        if self.number_ is None:
            links = without_diagonal(csr_array(abs(csr_array(representation))))
            samples = [leading_rows(evidence.X)] if len(evidence.X) <= _PREDICTED else []
            self.number_ = number_of_clusters(
                [[links]], low, high, seed, samples=samples, order=evidence.order, n_threads=evidence.n_threads
            )
        return self.number_.n_clusters


def cut_for(cut: str, n_samples: int) -> str:
    """What `cut="auto"` means: at scale the spectral cut splits large classes and merges small ones (docs)."""
    return cut if cut != "auto" else "modularity" if n_samples > MODULARITY_FROM else "spectral"


def label_graph(
    W: csr_array,
    n_clusters: int,
    n_components: Components,
    evidence: Evidence,
    seed: int,
    n_init: int | None = None,
    cut: str = "spectral",
) -> Labeling:
    """A cut of one graph. Known pairs do not bend the embedding: they enter the graph after it."""
    kind = cut_for(cut, W.shape[0])
    if kind in GRAPH_CUTS:
        return _label_by_links(GRAPH_CUTS[kind], W, n_clusters, evidence, seed)
    order = evidence.order
    vectors, placed = _embedded(in_order(W, order), order, n_clusters, n_components, seed, evidence.n_threads)
    if evidence.known is not None:
        W = graph_with_pairs(W, evidence.known)
    labels = label_rows(vectors, placed, W, n_clusters, evidence, seed, n_init)
    return Labeling(labels, W, vectors)


@dataclass(frozen=True)
class Cut:
    """One way to cut a member's graph: which cut, into how many times K parts. The consensus has K in any case."""

    kind: str = "spectral"
    fineness: float = 1.0

    def parts(self, n_clusters: int, n_samples: int) -> int:
        return min(n_samples, max(n_clusters, round(self.fineness * n_clusters)))


def labels_of_cuts(
    W: csr_array,
    cuts: Sequence[Cut],
    n_clusters: int,
    n_components: Components,
    evidence: Evidence,
    seed: int,
    n_init: int | None = None,
) -> list[IntArray]:
    """Labels of one graph by several cuts, as `label_graph` gives them without known pairs, but that finer cuts by
    modularity have about as many parts as they should. The graph is put in order once, and these cuts share their
    communities."""
    order = evidence.order
    ordered = in_order(W, order)
    communities = ManyCuts(ordered, seed)
    found = []
    for cut in cuts:
        kind, parts = cut_for(cut.kind, W.shape[0]), cut.parts(n_clusters, W.shape[0])
        if kind == "modularity" and parts > n_clusters:
            about = communities.cut_about(parts)
            labels = _placed(put_back(about, order), int(about.max()) + 1, evidence, seed)
        elif kind in GRAPH_CUTS:
            cut_into = communities.cut(parts) if kind == "modularity" else GRAPH_CUTS[kind](ordered, parts, seed)
            labels = _placed(put_back(cut_into, order), parts, evidence, seed)
        else:
            vectors, placed = _embedded(ordered, order, parts, n_components, seed, evidence.n_threads)
            labels = label_rows(vectors, placed, W, parts, evidence, seed, n_init)
        found.append(numbered_by_appearance(labels))
    return found


def _embedded(
    ordered: csr_array, order: Positions, n_clusters: int, n_components: Components, seed: int, n_threads: int
) -> tuple[FloatArray, BoolArray]:
    """The spectral embedding of a graph `in_order`, as the samples stand, and which of them it places."""
    embedding = spectral_embedding(ordered, n_clusters, n_components, seed, n_threads)
    return put_back(embedding.vectors, order), put_back(embedding.placed, order)


def _label_by_links(
    cut_graph: Callable[[csr_array, int, int], IntArray], W: csr_array, n_clusters: int, evidence: Evidence, seed: int
) -> Labeling:
    """A cut of the graph itself; known pairs join the graph, name the clusters and spread as they do after k-means.

    What a cluster weighs is read off the same cut: a second one without the pairs was no better.
    The embedding of a sample is the share of its links that go to each cluster.
    """
    known = evidence.known
    if known is not None:
        W = graph_with_pairs(W, known)
    order = evidence.order
    labels = _placed(put_back(cut_graph(in_order(W, order), n_clusters, seed), order), n_clusters, evidence, seed)
    if known is None:
        labels = numbered_by_appearance(labels)
    else:
        labels = _with_known(labels, labels, W, known, n_clusters, evidence.hard)
    return Labeling(labels, W, link_shares(W, labels, n_clusters))


def _placed(labels: IntArray, n_clusters: int, evidence: Evidence, seed: int) -> IntArray:
    """K clusters that hold all samples, of communities that leave some with −1."""
    placed = labels >= 0
    if placed.sum() < max(n_clusters, 0.5 * len(placed)):
        # Most samples are isolated: the rows themselves say more than the graph does.
        order = evidence.order
        return put_back(cluster_rows(as_array(evidence.X[order]), n_clusters, seed, None, evidence.n_threads), order)
    attach_to_nearest(labels, placed, evidence.X)
    return _split_by_rows(labels, n_clusters, evidence, seed)


def _split_by_rows(labels: IntArray, n_clusters: int, evidence: Evidence, seed: int) -> IntArray:
    """K clusters where the graph held fewer: the largest is halved by 2-means of its rows until there are enough."""
    count = int(labels.max()) + 1
    while count < n_clusters:
        members = evidence.order[labels[evidence.order] == np.bincount(labels).argmax()]
        half = cluster_rows(as_array(evidence.X[members]), 2, seed)
        labels[members[half == half.max()]] = count
        count += 1
    return labels


def label_rows(
    embedding: FloatArray,
    placed: BoolArray,
    W: csr_array,
    n_clusters: int,
    evidence: Evidence,
    seed: int,
    n_init: int | None = None,
) -> IntArray:
    """k-means on the placed rows of an embedding; the others follow their nearest.

    What is known anchors the clusters, and then spreads over the graph W.
    """
    if placed.sum() < max(n_clusters, 0.5 * len(placed)):
        # Most samples are isolated: the rows themselves say more than the graph does.
        embedding, placed = as_array(evidence.X), np.ones(len(placed), dtype=bool)
    drawn = evidence.order[placed[evidence.order]]
    rows = embedding[drawn]
    free: IntArray = np.zeros(len(embedding), dtype=np.int32)
    free[drawn] = cluster_rows(rows, n_clusters, seed, n_init, evidence.n_threads)
    attach_to_nearest(free, placed, evidence.X)
    known = evidence.known
    if known is None:
        return numbered_by_appearance(free)
    anchors = known.anchors(n_clusters)
    labels = free.copy()
    labels[drawn] = cluster_rows_from_anchors(rows, free[drawn], n_clusters, anchors[drawn], seed, n_init)
    attach_to_nearest(labels, placed, evidence.X)
    return _with_known(free, labels, W, known, n_clusters, evidence.hard)


def _with_known(
    free: IntArray, labels: IntArray, W: csr_array, known: KnownPairs, n_clusters: int, hard: bool
) -> IntArray:
    """`labels` after what is known has spread over W; `free` says what a cluster weighs (see `cluster_weight`)."""
    anchors = known.anchors(n_clusters)
    named = named_by_anchors(free, anchors, n_clusters)
    spread = spread_labels(
        W,
        named if labels is free else labels,
        anchors,
        n_clusters,
        assign=_assigner(known, n_clusters, anchors, hard),
        weight=cluster_weight(named, anchors),
    )
    return numbered_by_appearance(spread) if known.partial_labels is None else spread


def _assigner(known: KnownPairs, n_clusters: int, anchors: IntArray, hard: bool) -> Assign | None:
    """How the known pairs overrule labels: all of them, known labels only, or not at all."""
    if hard:
        return GroupAssigner(known, n_clusters, anchors).assign
    if known.partial_labels is None:
        return None
    return lambda labels, _cost: np.where(anchors >= 0, anchors, labels).astype(labels.dtype)


def numbered_by_appearance(labels: IntArray) -> IntArray:
    """Cluster 0 is the first sample's, 1 the next new one's: the same partition always bears the same numbers."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=labels.dtype)
    rank[np.argsort(first)] = np.arange(len(first), dtype=labels.dtype)
    return rank[codes]


def attach_to_nearest(labels: IntArray, placed: BoolArray, X: Rows) -> None:
    """Give each sample that the graph left alone the label of its nearest placed sample by |cosine|, in place."""
    alone = np.flatnonzero(~placed)
    home = np.flatnonzero(placed)
    if len(alone) == 0:
        return
    theirs = X[home]
    for start, stop in row_blocks(len(alone), len(home)):
        labels[alone[start:stop]] = labels[home[np.abs(products_of(X[alone[start:stop]], theirs)).argmax(axis=1)]]


def graph_with_pairs(W: csr_array, known: KnownPairs, links_a_sample: int = 10) -> csr_array:
    """The graph without cannot-link edges and with must-link ones, as strong as the strongest edge."""
    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    keep = ~known.apart(rows, W.indices)
    strongest = float(W.data.max(initial=0.0)) or 1.0
    source, target = known.must_link_edges(links_a_sample)
    data = np.concatenate([W.data[keep], np.full(2 * len(source), strongest, dtype=W.dtype)])
    row = np.concatenate([rows[keep], source, target])
    col = np.concatenate([W.indices[keep], target, source])
    # Parallel edges are not summed: the strongest counts.
    order = np.lexsort((-data, col, row))
    row, col, data = row[order], col[order], data[order]
    first = np.ones(len(row), dtype=bool)
    first[1:] = (row[1:] != row[:-1]) | (col[1:] != col[:-1])
    return csr_array((data[first], (row[first], col[first])), shape=W.shape)
