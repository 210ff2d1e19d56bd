"""The spectral step: normalised affinity, leading eigenvectors, unit rows.

`eq:rmsc` prints F = argmin FᵀφF; what it needs is the leading eigenvectors of D^-½ W D^-½ with FᵀF = I. Disconnected
graphs and isolated samples are normal: they are what subspace clustering aims at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from masked_subspace._common.types import BoolArray, FloatArray
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


def unit_rows(vectors: FloatArray) -> FloatArray:
    """Rows scaled to unit length; zero rows stay zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    rows: FloatArray = vectors / np.where(norms > 0, norms, 1)
    return rows
