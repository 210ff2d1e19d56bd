"""Coordinates of sparse samples in their own row space.

Everything that centring, unit length, candidates, codes and k-means see of samples are their inner products. So X,
n × d and sparse, may be exchanged for any n × r rows with the same inner products: with XᵀX = VSVᵀ or XXᵀ = USUᵀ,
whichever is smaller, these are XV = US^½, and r ≤ min(n, d).

A new sample x has a part outside that space. It has no product with any row of X, but it counts in the length of x:
one more coordinate, zero for the samples themselves, holds its length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.rows import eigenpairs, rows_of_a_block
from masked_subspace._common.types import DType, FloatArray

# Beyond it the eigendecomposition takes hours and the coordinates gigabytes.
MOST_DIRECTIONS = 10_000
_EPSILON = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class RowSpace:
    """The directions of sparse samples; `coordinates` of the samples themselves have their inner products."""

    samples: csr_array | None  # None where `directions` are in feature space
    directions: FloatArray  # in float64: small directions are divided by their length
    n_features: int
    dtype: DType
    rounding: float  # share of a squared length below which a part outside is rounding

    @classmethod
    def of(cls, X: csr_array) -> RowSpace:
        n_samples, n_features = X.shape
        if min(n_samples, n_features) > MOST_DIRECTIONS:
            raise ValueError(
                f"X is sparse with {n_samples} samples and {n_features} features; with more than {MOST_DIRECTIONS} of "
                "both, bring it to fewer features first, e.g. with sklearn.decomposition.TruncatedSVD. (BMSC, GMSC "
                'and RMSC take it as it is unless solver="dense".)'
            )
        by_features = n_features <= n_samples
        rows = X.astype(np.float64)
        values, vectors = eigenpairs((rows.T @ rows if by_features else rows @ rows.T).toarray())
        kept = values > len(values) * _EPSILON * max(float(values[-1]), _TINY)
        if not kept.any():
            kept[-1] = True
        values, vectors = values[kept], vectors[:, kept]
        # XV by features; by samples V = XᵀUS^-½, so that XV = XXᵀ · US^-½.
        directions = vectors if by_features else vectors / np.sqrt(np.maximum(values, _TINY))
        # Rounding of XXᵀU is divided by the root of the smallest value kept.
        grown = 1.0 if by_features else float(np.sqrt(values.max() / max(float(values.min()), _TINY)))
        return cls(None if by_features else rows, directions, n_features, X.dtype, len(vectors) * _EPSILON * grown)

    def coordinates(self, X: csr_array) -> FloatArray:
        """n × (r + 1): rows with the inner products that X has with the samples, and with its lengths."""
        out = np.empty((X.shape[0], self.directions.shape[1] + 1), dtype=self.dtype)
        step = rows_of_a_block(8 * len(self.directions))
        for start in range(0, len(out), step):
            rows = X[start : start + step].astype(np.float64)
            # Products of samples have few zeros: as arrays they are multiplied by BLAS.
            products = rows if self.samples is None else (rows @ self.samples.T).toarray()
            inside = products @ self.directions
            squared = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
            outside = squared - np.einsum("ij,ij->i", inside, inside)
            outside[outside <= self.rounding * squared] = 0
            out[start : start + step, :-1] = inside
            out[start : start + step, -1] = np.sqrt(outside)
        return out

    def coordinates_of_direction(self, direction: FloatArray) -> FloatArray:
        """r + 1 numbers: their products with the samples' coordinates are those of the direction with the samples."""
        inside = self.directions.T @ (direction if self.samples is None else self.samples @ direction)
        return np.append(inside, 0.0)

    def in_features(self, vectors: FloatArray) -> FloatArray:
        """d × k: columns of coordinates as directions of the features."""
        inside = self.directions @ vectors[:-1]
        return inside if self.samples is None else np.asarray(self.samples.T @ inside)
