"""The spectral step: normalised affinity, leading eigenvectors, unit rows.

`eq:rmsc` prints F = argmin FᵀφF; what it needs is the leading eigenvectors of D^-½ W D^-½ with FᵀF = I. Disconnected
graphs and isolated samples are normal: they are what subspace clustering aims at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from masked_subspace._common.rows import unit_rows
from masked_subspace._common.types import BoolArray, FloatArray, IntArray
from masked_subspace.label.eigen import leading_eigenpairs

Components = int | str | None

_LONGEST_DIFFUSION = 512.0
# ‖Sv − λv‖ at which a vector is good enough. On large graphs the spectrum is dense and vectors converge slowly.
_TOLERANCE, _TOLERANCE_LARGE, _LARGE = 1e-4, 1e-3, 20_000


@dataclass(frozen=True)
class Embedding:
    """Unit rows; `placed` is False for isolated samples: those in components too small to carry an eigenvector."""

    vectors: FloatArray
    values: FloatArray
    placed: BoolArray


def spectral_embedding(
    W: csr_array, n_clusters: int, n_components: Components, seed: int, n_threads: int = 1
) -> Embedding:
    """Leading eigenvectors of D^-½ W D^-½, rows scaled to unit length.

    `n_components` is their number (None: K). `"auto"` weights up to 4K of them by λ^t, see `diffusion_weights`.
    """
    placed = large_pieces(W, n_clusters)
    graph = W if placed.all() else csr_array(W[placed][:, placed])
    auto = n_components == "auto"
    wanted = vectors_to_weigh(n_clusters) if auto else int(n_components or n_clusters)
    values, vectors = leading_eigenpairs(
        normalized_graph(graph),
        min(wanted, graph.shape[0]),
        seed=seed,
        tol=_TOLERANCE if graph.shape[0] <= _LARGE else _TOLERANCE_LARGE,
        n_threads=n_threads,
        weights=(lambda values: diffusion_weights(values, n_clusters)) if auto else None,
    )
    if auto:
        vectors = weighted(vectors, values, n_clusters)
    rows = np.zeros((len(placed), vectors.shape[1]), dtype=vectors.dtype)
    rows[placed] = unit_rows(vectors)
    return Embedding(rows, values, placed & (np.abs(rows).max(axis=1) > 0))


def large_pieces(W: csr_array, n_clusters: int) -> BoolArray:
    """Which samples lie in pieces large enough to matter.

    With no more pieces than clusters, all do. Otherwise pieces below a tenth of the mean cluster size would each claim
    an eigenvector (value 1) and leave none for the structure of the large ones.
    """
    n_pieces, piece = connected_components(W, directed=False)
    if n_pieces <= n_clusters:
        return np.ones(W.shape[0], dtype=bool)
    size = np.bincount(piece, minlength=n_pieces)
    large: BoolArray = (size >= min(0.1 * W.shape[0] / n_clusters, size.max()))[piece]
    return large


def normalized_graph(W: csr_array) -> csr_array:
    """D^-½ W D^-½; an isolated sample keeps an empty row."""
    degree = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
    scale = (1 / np.sqrt(np.where(degree > 0, degree, 1))).astype(W.dtype)
    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    return csr_array((W.data * scale[rows] * scale[W.indices], W.indices, W.indptr), shape=W.shape)


def vectors_to_weigh(n_clusters: int) -> int:
    """How many eigenvectors the soft choice looks at: 4K, fewer for many clusters, whose weights fall off sooner."""
    return min(4 * n_clusters, n_clusters + 150)


def weighted(vectors: FloatArray, values: FloatArray, n_clusters: int) -> FloatArray:
    """Eigenvectors times their diffusion weights, without those that carry less than a ten-thousandth of a square."""
    weights = diffusion_weights(values, n_clusters)
    counted = weights > 0.01
    return vectors[:, counted] * weights[counted].astype(vectors.dtype)


def diffusion_weights(values: FloatArray, n_clusters: int) -> FloatArray:
    """λ^t with the t for which Σ λ^2t = K: as much weight in all as K whole eigenvectors have.

    A random walk of t steps forgets what is below the clusters' scale. Where the spectrum has a gap after K values this
    is the usual choice of K vectors; where it has none, it does not have to cut anywhere.
    """
    clipped = np.clip(np.asarray(values, dtype=np.float64), 1e-12, 1)
    low, high = 0.0, _LONGEST_DIFFUSION
    for _ in range(60):
        middle = (low + high) / 2
        if (clipped ** (2 * middle)).sum() > n_clusters:
            low = middle
        else:
            high = middle
    weights: FloatArray = clipped**high
    return weights


@dataclass(frozen=True)
class NearestCentres:
    """How far each sample is from its own cluster's centre and from the nearest other one, `following`."""

    own: FloatArray
    other: FloatArray  # infinite where there is one cluster only
    following: IntArray
    centres: FloatArray


def nearest_centres(embedding: FloatArray, codes: IntArray) -> NearestCentres:
    """Distances to the centres of clusters numbered from 0."""
    n_clusters = int(codes.max()) + 1
    sums = np.zeros((n_clusters, embedding.shape[1]))
    np.add.at(sums, codes, embedding)
    centres = sums / np.maximum(np.bincount(codes, minlength=n_clusters), 1)[:, None]
    to_centres = distances(embedding, centres)
    rows = np.arange(len(codes))
    own = to_centres[rows, codes]
    to_centres[rows, codes] = np.inf
    following = to_centres.argmin(axis=1)
    return NearestCentres(own, to_centres[rows, following], following, centres)


def embedding_margin(embedding: FloatArray, labels: IntArray) -> FloatArray:
    """For each sample 1 − (distance to its own centre)/(distance to the next), in 0..1; 1 is certain."""
    nearest = nearest_centres(embedding, labels)
    margin: FloatArray = np.clip(1 - nearest.own / np.maximum(nearest.other, np.finfo(float).tiny), 0, 1)
    return margin


def distances(first: FloatArray, second: FloatArray) -> FloatArray:
    """Euclidean distances of all pairs of rows."""
    squared = (first**2).sum(axis=1)[:, None] - 2 * first @ second.T + (second**2).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))
