"""Word counts and data like them: weights that tell words apart, and the leading directions ("topics") of what is left.

    w_ij = log(1 + x_ij / u) · (log((1 + n) / (1 + n_j)) + 1)

with u the median of the entries above 0 (1 for counts) and n_j the number of samples that have feature j: the usual
logarithm of a count times the inverse document frequency (Salton & Buckley 1988). A word that stands everywhere says
little, and a word said ten times is not ten words. Entries that are not whole numbers have been weighed before, as
TF-IDF has: they keep the logarithm alone. Rows get unit length; their leading right singular directions are topics
(latent semantic analysis, Deerwester et al. 1990).

Arrays and sparse samples take the same path through the sparse form, which data with so many zeros have at less cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, issparse

from masked_subspace._common.rows import (
    eigenpairs,
    leading_eigenpairs_of_products,
    rows_of_a_block,
    to_unit_length,
    with_fixed_signs,
)
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray, MatrixLike
from masked_subspace.rows.preparation import Preparation, View

# Topics that rows keep.
_TOPICS = 100
# Up to here a product is factored as a whole.
_SMALL = 500
# Directions of more numbers than this are kept as weights of the training rows: 100 of 50,000 features are 40 MB.
_MOST_NUMBERS = 5_000_000
_SMALLEST = 1e-4  # of the first singular value; what is below is rounding


@dataclass(frozen=True, eq=False)
class Directions:
    """d × r: the vectors themselves, or `turned` (d × n, sparse) times them."""

    vectors: FloatArray
    turned: csr_array | None = None

    def of(self, rows: csr_array) -> FloatArray:
        """Where rows lie along the directions."""
        if self.turned is None:
            return np.asarray(rows @ self.vectors)
        step = rows_of_a_block(8 * self.turned.shape[1])
        blocks = [(rows[at : at + step] @ self.turned) @ self.vectors for at in range(0, rows.shape[0], step)]
        return np.concatenate(blocks)


@dataclass(frozen=True)
class Topics(Preparation):
    """Weights of the words and the directions of the topics."""

    unit: float = 1.0
    weights: FloatArray | None = None  # one a feature
    topics: Directions | None = None

    def apply(self, X: FloatArray | SparseSamples) -> FloatArray:
        assert self.weights is not None
        assert self.topics is not None
        rows: FloatArray = self.topics.of(weighted_words(_matrix(X), self.unit, self.weights)).astype(X.dtype)
        if self.normalize:
            to_unit_length(rows, 0.0)
        return rows


def learn_topics(X: FloatArray | SparseSamples, view: View, *, normalize: bool, directions: int | None) -> Topics:
    """The weights and at most 100 topics of these samples."""
    matrix = _matrix(X)
    positive = matrix.data[matrix.data > 0]
    unit = float(np.median(positive)) if len(positive) else 1.0
    counts = np.bincount(matrix.indices[matrix.data > 0], minlength=matrix.shape[1])
    are_counts = bool((positive == np.round(positive)).all())
    weights = np.log((1 + matrix.shape[0]) / (1 + counts)) + 1 if are_counts else np.ones(matrix.shape[1])
    words = weighted_words(matrix, unit, weights)
    return Topics(view, normalize, unit=unit, weights=weights, topics=leading_directions(words, directions or _TOPICS))


def weighted_words(matrix: csr_array, unit: float, weights: FloatArray) -> csr_array:
    """Unit rows of w; a sample without a word stays zero."""
    data = np.log1p(np.maximum(matrix.data, 0).astype(np.float64) / unit) * weights[matrix.indices]
    row_of = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    lengths = np.sqrt(np.bincount(row_of, weights=data**2, minlength=matrix.shape[0]))
    data /= np.where(lengths > 0, lengths, 1)[row_of]
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def leading_directions(rows: csr_array, count: int) -> Directions:
    """The right singular vectors of the largest singular values, the largest first.

    Through the smaller of the two products of the rows with themselves. What Lanczos starts from hangs on the features
    alone, so that samples in another order have the same topics.
    """
    n_samples, n_features = rows.shape
    turned, most = csr_array(rows.T), min(count, min(rows.shape) - 1)
    if min(rows.shape) <= max(_SMALL, 2 * count):
        product = (rows.T @ rows if n_features <= n_samples else rows @ rows.T).toarray()
        values, vectors = eigenpairs(product)
    elif n_features <= n_samples:
        values, vectors = leading_eigenpairs_of_products(lambda v: turned @ (rows @ v), n_features, most)
    else:
        start = rows @ np.random.default_rng(0).normal(size=n_features)
        values, vectors = leading_eigenpairs_of_products(lambda v: rows @ (turned @ v), n_samples, most, start)
    order = np.argsort(-values, kind="stable")[:count]
    kept = order[values[order] > _SMALLEST**2 * max(float(values.max()), 0.0)]
    vectors = np.ascontiguousarray(vectors[:, kept])
    if n_features <= n_samples:
        return Directions(with_fixed_signs(vectors))
    # V = rowsᵀ U S⁻¹. Where features are very many, the rows are kept in its place.
    weights = vectors / np.sqrt(values[kept])
    if n_features * len(kept) > _MOST_NUMBERS:
        return Directions(with_fixed_signs(weights), turned)
    return Directions(with_fixed_signs(turned @ weights))


def _matrix(X: MatrixLike) -> csr_array:
    if isinstance(X, SparseSamples):
        return X.matrix
    return csr_array(X if issparse(X) else np.asarray(X))
