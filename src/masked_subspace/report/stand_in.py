"""A graph and an embedding for clusterers that have none: the nearest neighbors of the samples themselves."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, issparse

from masked_subspace._common.types import Array, Matrix

N_NEIGHBORS = 10
_MOST_COLUMNS = 30


def principal_rows(X: Matrix) -> Array:
    """The samples along at most 30 leading directions; sparse rows stay sparse and are not centred."""
    from sklearn.utils.extmath import randomized_svd

    rows = X if issparse(X) else _without_gaps(np.asarray(X, dtype=np.float64))
    if not issparse(rows):
        rows = rows - rows.mean(axis=0)
        if rows.shape[1] <= _MOST_COLUMNS:
            return np.asarray(rows)
    count = min(_MOST_COLUMNS, min(rows.shape) - 1)
    left, strength, _ = randomized_svd(rows, max(1, count), random_state=0)
    return np.asarray(left * strength, dtype=np.float64)


def _without_gaps(X: Array) -> Array:
    """Unknown entries count as their column's mean: this is a picture, not a fit."""
    gaps = ~np.isfinite(X)
    if not gaps.any():
        return X
    known = np.where(gaps, 0.0, X)
    means = known.sum(axis=0) / np.maximum((~gaps).sum(axis=0), 1)
    return np.where(gaps, means, X)


def neighbor_graph(rows: Array) -> csr_array:
    """Each sample linked to its nearest ones, the nearer the stronger; symmetric, zero diagonal."""
    from sklearn.neighbors import kneighbors_graph

    n = len(rows)
    if n < 2:
        return csr_array((n, n))
    found = csr_array(kneighbors_graph(rows, min(N_NEIGHBORS, n - 1), mode="distance"))
    reach = float(np.median(found.data)) or 1.0
    found.data = np.exp(-((found.data / reach) ** 2)) + 1e-6
    return csr_array(found + found.T)
