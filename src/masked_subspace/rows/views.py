"""Label-free choice of how the rows are prepared.

Faces want their principal directions evened out, digits do not, and pixel values are often better on a square-root
scale. Each view is scored by how well the clusters of its own neighbour graph stand apart (modularity); no label is
looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from masked_subspace.label.consensus import modularity
from masked_subspace.label.embedding import spectral_embedding
from masked_subspace.label.graph import symmetrize
from masked_subspace.label.labeler import Evidence, label_rows
from masked_subspace.represent.neighbors.search import find_candidates
from masked_subspace.rows.preparation import Preparation

FloatArray = npt.NDArray[np.floating[Any]]

WHITENINGS = (0.0, 0.5)
# By how much a view must stand apart better than the plain one to be taken.
MARGIN = 0.005
_NEIGHBOURS = 5
_PROBE_SIZE = 2_000
# One labeling may stop short of the clusters that its graph has, and the view would pay for it.
_LABELINGS = 2


@dataclass(frozen=True)
class View:
    """A preparation by name and numbers, with the score it got."""

    name: str
    root: bool
    whitening: float
    score: float = float("nan")


def candidate_views(X: FloatArray) -> list[View]:
    """The views worth a look: plain, half whitened, and the square root where nothing is negative."""
    views = [View("plain" if power == 0 else f"whitened {power:g}", False, power) for power in WHITENINGS]
    if X.min() >= 0:
        views.append(View("root", True, 0.0))
    return views


def rank_views(X: FloatArray, n_clusters: int, *, center: bool, seed: int, n_threads: int) -> list[View]:
    """All candidate views with their scores, the one to take first: the best, or plain if none is clearly better.

    Large data are judged by a seeded sample, with enough of each cluster to see its shape.
    """
    candidates = candidate_views(X)
    keep = max(_PROBE_SIZE, 60 * n_clusters)
    if len(X) > keep:
        X = X[np.sort(np.random.default_rng(seed).choice(len(X), keep, replace=False))]
    scored = []
    for view in candidates:
        preparation = Preparation.learn(X, center=center, normalize=True, root=view.root, whitening=view.whitening)
        score = _own_modularity(preparation.apply(X), n_clusters, seed, n_threads)
        scored.append(View(view.name, view.root, view.whitening, score))
    return sorted(scored, key=lambda view: -(view.score + MARGIN * (view.name == "plain")))


def neighbour_graph(rows: FloatArray, n_neighbours: int, n_threads: int) -> csr_array:
    """The plain k-nearest-neighbour graph by |cosine|."""
    n = len(rows)
    found = find_candidates(rows, min(n_neighbours, n - 1), search="exact", n_threads=n_threads)
    source = np.repeat(np.arange(n), found.shape[1])
    weight = np.maximum(np.abs(np.einsum("ij,ij->i", rows[source], rows[found.ravel()])), 1e-3)
    return symmetrize(csr_array((weight, (source, found.ravel())), shape=(n, n)))


def _own_modularity(rows: FloatArray, n_clusters: int, seed: int, n_threads: int) -> float:
    """How well the clusters of the neighbour graph stand apart in it: the better of a few labelings."""
    graph = neighbour_graph(rows, _NEIGHBOURS, n_threads)
    evidence = Evidence(rows)
    embedding = spectral_embedding(graph, n_clusters, "auto", seed)
    return max(
        modularity(graph, label_rows(embedding.vectors, embedding.placed, graph, n_clusters, evidence, seed + 1000 * i))
        for i in range(_LABELINGS)
    )
