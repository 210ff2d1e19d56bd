"""Matrices that are dense or sparse, and their pictures."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, issparse

from masked_subspace._common.types import Array, FloatArray, IntArray, MatrixLike


def as_dense(matrix: MatrixLike) -> Array:
    """The matrix as a numpy array."""
    return csr_array(matrix).toarray() if issparse(matrix) else np.asarray(matrix)


def mean_cells(rows: IntArray, columns: IntArray, values: FloatArray, n: int, most: int) -> FloatArray:
    """An n × n matrix, given by its entries, as the means of at most `most` × `most` cells."""
    cells = min(n, most)
    place = (rows * cells // n) * cells + columns * cells // n
    sums = np.bincount(place, weights=values, minlength=cells * cells).reshape(cells, cells)
    heights = np.bincount(np.arange(n) * cells // n, minlength=cells)
    means: FloatArray = sums / np.outer(heights, heights)
    return means
