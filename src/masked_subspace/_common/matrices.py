"""Matrices that are dense or sparse."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, issparse

from masked_subspace._common.types import Array, MatrixLike


def as_dense(matrix: MatrixLike) -> Array:
    """The matrix as a numpy array."""
    return csr_array(matrix).toarray() if issparse(matrix) else np.asarray(matrix)
