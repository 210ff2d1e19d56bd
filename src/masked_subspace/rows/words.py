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

from masked_subspace._common.eigen import eigenpairs, leading_eigenpairs_of_products, with_fixed_signs
from masked_subspace._common.rows import to_unit_length
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray, MatrixLike
from masked_subspace.rows.preparation import Preparation, View

# Topics that rows keep.
_TOPICS = 100
# Up to here a product of the features is factored as a whole.
_SMALL = 500
_SMALLEST = 1e-4  # of the first singular value; what is below is rounding


@dataclass(frozen=True)
class Topics(Preparation):
    """Weights of the words and the directions of the topics."""

    unit: float = 1.0
    weights: FloatArray | None = None  # one a feature
    directions: FloatArray | None = None  # d × r

    def apply(self, X: FloatArray | SparseSamples) -> FloatArray:
        assert self.weights is not None
        assert self.directions is not None
        rows: FloatArray = np.asarray(weighted_words(_matrix(X), self.unit, self.weights) @ self.directions)
        rows = rows.astype(X.dtype)
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
    return Topics(
        view, normalize, unit=unit, weights=weights, directions=leading_directions(words, directions or _TOPICS)
    )


def weighted_words(matrix: csr_array, unit: float, weights: FloatArray) -> csr_array:
    """Unit rows of w; a sample without a word stays zero."""
    data = np.log1p(np.maximum(matrix.data, 0).astype(np.float64) / unit) * weights[matrix.indices]
    row_of = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    lengths = np.sqrt(np.bincount(row_of, weights=data**2, minlength=matrix.shape[0]))
    data /= np.where(lengths > 0, lengths, 1)[row_of]
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def leading_directions(rows: csr_array, count: int) -> FloatArray:
    """d × r: the right singular vectors of the largest singular values, the largest first.

    Through the product of the features, whatever their number: what Lanczos starts from then hangs on no order of the
    samples.
    """
    n_features = rows.shape[1]
    if n_features <= max(_SMALL, 2 * count):
        values, vectors = eigenpairs((rows.T @ rows).toarray())
    else:
        turned = csr_array(rows.T)
        values, vectors = leading_eigenpairs_of_products(
            lambda v: turned @ (rows @ v), n_features, min(count, min(rows.shape) - 1)
        )
    order = np.argsort(-values, kind="stable")[:count]
    kept = order[values[order] > _SMALLEST**2 * max(float(values.max()), 0.0)]
    return with_fixed_signs(np.ascontiguousarray(vectors[:, kept]))


def _matrix(X: MatrixLike) -> csr_array:
    if isinstance(X, SparseSamples):
        return X.matrix
    return csr_array(X if issparse(X) else np.asarray(X))
