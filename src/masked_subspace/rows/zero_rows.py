"""Rows that hold nothing but zeros: apart from the checks, whose imports would fill the memory of a client of Dask."""

from __future__ import annotations

import numpy as np

from masked_subspace._common.rows import row_blocks
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray, IntArray


def zero_rows_of(X: FloatArray | SparseSamples) -> IntArray:
    """Numbers of the rows that hold nothing but zeros."""
    if isinstance(X, SparseSamples):
        return np.flatnonzero(np.diff(X.matrix.indptr) == 0)
    blocks = row_blocks(len(X), X.shape[1])
    return np.flatnonzero(np.concatenate([~X[start:stop].any(axis=1) for start, stop in blocks]))
