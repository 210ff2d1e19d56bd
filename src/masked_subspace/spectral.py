"""The spectral step: normalised affinity, leading eigenvectors, unit rows, k-means.

`eq:rmsc` prints F = argmin FᵀφF; what it needs is the leading eigenvectors of D^-½ W D^-½ with FᵀF = I. A graph that
falls into pieces is the ideal case of subspace clustering, so components are handled one by one and exactly: an
iterative eigensolver never sees a repeated eigenvalue 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.integer[Any]]

# Below this size a dense solver is faster than ARPACK and needs no tolerance.
_DENSE_SIZE = 600


@dataclass(frozen=True)
class Embedding:
    """Unit rows; `placed` is False for the debris: samples in pieces too small to carry an eigenvector."""

    vectors: FloatArray
    values: FloatArray
    placed: npt.NDArray[np.bool_]


def spectral_embedding(W: csr_array, n_clusters: int, n_components: int, seed: int) -> Embedding:
    """Leading eigenvectors of D^-½ W D^-½, rows scaled to unit length."""
    n = W.shape[0]
    n_pieces, piece = connected_components(W, directed=False)
    size = np.bincount(piece, minlength=n_pieces)
    order = np.argsort(-size, kind="stable")
    if n_pieces > n_clusters:
        # More pieces than clusters: the ones far below a cluster's size would each claim an eigenvector (value 1) and
        # leave none for the structure of the large ones.
        order = order[size[order] >= min(0.1 * n / n_clusters, size[order[0]])]
    n_components = min(n_components, n)
    members = [np.flatnonzero(piece == one) for one in order]
    placed = np.zeros(n, dtype=bool)
    for one in members:
        placed[one] = True
    vectors = np.zeros((n, n_components), dtype=W.dtype)
    pairs = _leading_pairs(W, members, n_components, seed)
    values = np.array([value for value, _, _ in pairs])
    for column, (_, one, vector) in enumerate(pairs):
        vectors[one, column] = vector
    vectors = vectors[:, : len(pairs)]
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    placed &= norms[:, 0] > 0
    return Embedding(vectors / np.where(norms > 0, norms, 1), values, placed)


def _leading_pairs(
    W: csr_array, members: list[npt.NDArray[np.intp]], n_components: int, seed: int
) -> list[tuple[float, npt.NDArray[np.intp], FloatArray]]:
    """The `n_components` largest eigenpairs over all pieces as (value, members, vector on them), largest first."""
    pairs: list[tuple[float, npt.NDArray[np.intp], FloatArray]] = []
    spare = max(0, n_components - len(members))
    for one in members[:n_components]:
        part = W if len(one) == W.shape[0] else csr_array(W[one][:, one])
        values, vectors = _top_eigenpairs(part, min(1 + spare, len(one)), seed)
        pairs += [(float(values[k]), one, vectors[:, k]) for k in range(len(values))]
    # Every piece's first value is 1 up to rounding: ranked above the rest, larger pieces first.
    pairs.sort(key=lambda pair: (-min(round(pair[0], 9), 1.0), -len(pair[1])))
    return pairs[:n_components]


def _top_eigenpairs(W: csr_array, k: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """The k largest eigenpairs of the normalised affinity of one connected piece, largest first, signs fixed."""
    n = W.shape[0]
    degree = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
    if k == 1 or n == 1:
        first = np.sqrt(np.maximum(degree, np.finfo(float).tiny))
        return np.ones(1), (first / np.linalg.norm(first))[:, None].astype(W.dtype)
    scale = (1 / np.sqrt(degree)).astype(W.dtype)
    rows = np.repeat(np.arange(n), np.diff(W.indptr))
    S = csr_array((W.data * scale[rows] * scale[W.indices], W.indices, W.indptr), shape=W.shape)
    if n <= _DENSE_SIZE or k >= n - 1 or S.nnz > 0.2 * n * n:
        values, vectors = eigh(S.toarray(), subset_by_index=(n - k, n - 1))
    else:
        start = np.random.default_rng(seed).standard_normal(n).astype(S.dtype)
        tolerance = 1e-5 if n <= 100_000 else 1e-4
        values, vectors = eigsh(S, k, which="LA", v0=start, tol=tolerance, ncv=min(n - 1, max(2 * k + 20, 40)))
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(k)])
    return values, vectors * np.where(signs == 0, 1, signs)
