"""From a representation to a graph, and from the graph to an embedding.

φ makes of Z a symmetric, nonnegative graph with a zero diagonal, as CSR. `"symmetric"` is the paper's φ(Z) = (|Z| +
|Z|ᵀ)/2. The others change |Z| first; that moves accuracy more than any mask (docs/findings/accuracy.md).

The spectral step: normalised affinity, leading eigenvectors, unit rows. `eq:rmsc` prints F = argmin FᵀφF; what it needs
is the leading eigenvectors of D^-½ W D^-½ with FᵀF = I. Disconnected graphs and isolated samples are normal: they are
what subspace clustering aims at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csr_array, issparse, vstack
from scipy.sparse.csgraph import connected_components

from masked_subspace._common.matrices import as_dense
from masked_subspace._common.rows import Positions, eigenpairs, leading_eigenpairs, row_blocks, unit_rows
from masked_subspace._common.types import Array, BoolArray, FloatArray, IntArray, Matrix

# Links a sample keeps in the graph of one representation (docs/findings/accuracy.md, "top-k"); how many the members of
# an ensemble keep stands in rounds/defaults.py.
LINKS = 5
# Every kind and what it makes of Z, or of C, the absolute values of Z, for docstrings. A new one is an entry here and a
# branch of `affinity_matrix`.
KINDS: dict[str, str] = {
    "top-k": "divides each row of C by its largest entry and keeps the `n_links` largest of them",
    "symmetric": "is (C + Cᵀ)/2, as the paper has it",
    "normalized": "divides each row of C by its largest entry",
    "unit-length": "divides each row of C by its Euclidean length",
    "code-neighbors": "links each sample to the `n_links` samples whose rows of Z have the largest cosine with its own",
    "shape-interaction": "is (M Mᵀ)^4 elementwise, M = UΣ^½ with unit rows from the skinny SVD of Z",
}


_PRODUCT_WIDTH = 16_000  # a block of products of codes is taken to have so many entries a row
Components = int | str | None
_LONGEST_DIFFUSION = 512.0
# ‖Sv − λv‖ at which a vector is good enough. On large graphs the spectrum is dense and vectors converge slowly.
_TOLERANCE, _TOLERANCE_LARGE, _LARGE = 1e-4, 1e-3, 20_000


def affinity_matrix(
    Z: Matrix,
    kind: str = "top-k",
    *,
    n_links: int = LINKS,
    rank: int | None = None,
    power: float = 4.0,
) -> csr_array:
    """The graph of a representation (CSR or dense; row i rebuilds sample i).

    `n_links` is the k of `"top-k"` and of `"code-neighbors"`. `rank` and `power` belong to `"shape-interaction"`:
    `rank=None` keeps the singular values above 1e-4 of the largest.
    """
    if kind not in KINDS:
        raise ValueError(f"affinity is {kind!r}; choose one of {', '.join(map(repr, KINDS))}.")
    if kind == "shape-interaction":
        return _shape_interaction(Z, rank, power)
    links = csr_array(Z) if issparse(Z) else csr_array(np.asarray(Z))
    if kind == "code-neighbors":
        return symmetrize(code_neighbors(links, n_links))
    links = csr_array(abs(links))
    links.sum_duplicates()
    links = without_diagonal(links)
    if kind in ("top-k", "normalized"):
        links = rows_by_maximum(links)
    if kind == "unit-length":
        links = rows_of_unit_length(links)
    if kind == "top-k":
        links = keep_largest(links, n_links)
    return symmetrize(links)


def symmetrize(links: csr_array) -> csr_array:
    """φ(Z) = (|Z| + |Z|ᵀ)/2 for a Z that is nonnegative already."""
    W = csr_array((links + links.T) * links.dtype.type(0.5))
    W.sort_indices()
    return W


def rows_by_maximum(links: csr_array) -> csr_array:
    """Each row divided by its largest entry; empty rows stay empty."""
    return _rows_divided(links, links.max(axis=1).toarray().ravel())


def rows_of_unit_length(links: csr_array) -> csr_array:
    """Each row divided by its Euclidean length; empty rows stay empty."""
    return _rows_divided(links, np.sqrt((links * links).sum(axis=1)))


def _rows_divided(links: csr_array, sizes: FloatArray) -> csr_array:
    scale = 1 / np.where(sizes > 0, sizes, 1).astype(links.dtype)
    return csr_array((links.data * np.repeat(scale, np.diff(links.indptr)), links.indices, links.indptr), links.shape)


def code_neighbors(codes: csr_array, k: int) -> csr_array:
    """A link of weight 1 from each sample to the k others whose unit-length codes are nearest to its own.

    Samples that are rebuilt from the same others are neighbours, whether they rebuild each other or not. Codes that
    share no atom are never neighbours.
    """
    unit = rows_of_unit_length(codes)
    other_way = csr_array(unit.T)
    kept = []
    for start, stop in row_blocks(unit.shape[0], _PRODUCT_WIDTH):
        cosines = csr_array(unit[start:stop] @ other_way)
        rows = np.repeat(np.arange(start, stop), np.diff(cosines.indptr))
        cosines.data[(rows == cosines.indices) | (cosines.data < 0)] = 0
        cosines.eliminate_zeros()
        kept.append(keep_largest(cosines, k))
    links = csr_array(vstack(kept, format="csr"))
    links.data[:] = 1
    return links


def keep_largest(links: csr_array, k: int) -> csr_array:
    """The k largest entries of each row; of equal ones the first."""
    if k < 1:
        raise ValueError(f"n_links is {k!r}; it must be ≥ 1.")
    keep = np.zeros(links.nnz, dtype=np.bool_)
    _largest_of_rows(links.data.astype(np.float64, copy=False), links.indptr.astype(np.int64, copy=False), k, keep)
    indptr = np.concatenate([[0], np.cumsum(keep)])[links.indptr]
    return csr_array((links.data[keep], links.indices[keep], indptr), shape=links.shape)


@njit(cache=True)
def _largest_of_rows(data, indptr, k, keep):  # type: ignore[no-untyped-def]
    largest = np.empty(k, np.int64)  # where they stand, the largest first
    for i in range(len(indptr) - 1):
        count = 0
        for position in range(indptr[i], indptr[i + 1]):
            value = data[position]
            if count == k and not value > data[largest[k - 1]]:
                continue
            count = min(count + 1, k)
            at = count - 1
            while at > 0 and value > data[largest[at - 1]]:
                largest[at] = largest[at - 1]
                at -= 1
            largest[at] = position
        for t in range(count):
            keep[largest[t]] = True


def _shape_interaction(Z: Matrix, rank: int | None, power: float) -> csr_array:
    """W = |M Mᵀ|^power elementwise, M = U Σ^½ with unit rows, from the skinny SVD of the symmetric part of Z."""
    dense: FloatArray = as_dense(Z)
    values, U = eigenpairs((dense + dense.T) / 2)
    order = np.argsort(-np.abs(values))
    values, U = np.abs(values[order]), U[:, order]
    kept = int((values > 1e-4 * values[0]).sum()) if rank is None else min(rank, len(values))
    M = U[:, :kept] * np.sqrt(values[:kept])
    return power_graph(M, power, negative=0.0)


def power_graph(M: FloatArray, power: float, *, negative: float) -> csr_array:
    """W = (M Mᵀ)^power elementwise for M with its rows brought to unit length; `negative` times what is below 0."""
    M = unit_rows(M)
    inner = M @ M.T
    W = np.where(inner > 0, inner, negative * inner) ** power
    np.fill_diagonal(W, 0)
    largest = W.max()
    if largest > 0:
        W /= largest
    # The power makes most entries vanish; what is below 1e-8 of the largest cannot move an eigenvector visibly.
    W[W < 1e-8] = 0
    return csr_array((W + W.T) / 2)


def in_order(W: csr_array, order: Positions) -> csr_array:
    """The graph with its samples in another order, columns ascending."""
    rank = np.empty(len(order), dtype=W.indices.dtype)
    rank[order] = np.arange(len(order), dtype=rank.dtype)
    rows = W[order]
    moved = csr_array((rows.data, rank[rows.indices], rows.indptr), shape=W.shape)
    moved.sort_indices()
    return moved


def put_back(values: Array, order: Positions) -> Array:
    """What was computed sample by sample `in_order`, as the samples stand."""
    standing = np.empty_like(values)
    standing[order] = values
    return standing


def without_diagonal(graph: csr_array) -> csr_array:
    """A copy without diagonal and stored zeros. `setdiag(0)` inserts what is missing, in scipy 1.12 with a warning."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    keep = (graph.indices != rows) & (graph.data != 0)
    indptr = np.concatenate([[0], np.cumsum(keep)])[graph.indptr].astype(graph.indptr.dtype)
    return csr_array((graph.data[keep], graph.indices[keep], indptr), shape=graph.shape)


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
    auto = n_components == "auto"
    wanted = vectors_to_weigh(n_clusters) if auto else int(n_components or n_clusters)
    placed = large_pieces(W, n_clusters, most=max(wanted, n_clusters))
    graph = W if placed.all() else csr_array(W[placed][:, placed])
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


def large_pieces(W: csr_array, n_clusters: int, most: int) -> BoolArray:
    """Which samples lie in pieces large enough to matter; with no more pieces than clusters, all do."""
    n_pieces, piece = connected_components(W, directed=False)
    if n_pieces <= n_clusters:
        return np.ones(W.shape[0], dtype=bool)
    large: BoolArray = large_enough(np.bincount(piece, minlength=n_pieces), n_clusters, most)[piece]
    return large


def large_enough(size: IntArray, n_clusters: int, most: int) -> BoolArray:
    """Which of more pieces than clusters carry an eigenvector, by how many samples they have.

    Pieces below a tenth of the mean cluster size would each claim one (value 1) and leave none for the structure of
    the large ones. Where more than `most` are left, `most` of their vectors could be any mixture of all, and rounding
    would choose it: the largest are taken, of equal ones the first.
    """
    large: BoolArray = size >= min(0.1 * size.sum() / n_clusters, size.max())
    large[np.argsort(-size, kind="stable")[most:]] = False
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
