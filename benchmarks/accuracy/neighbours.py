"""The plain k-nearest-neighbour graph by |cosine|: the control of every claim about a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from masked_subspace.label.graph import symmetrize
from masked_subspace.represent.neighbors.search import find_candidates


def neighbour_graph(rows: Any, n_neighbours: int, n_threads: int) -> csr_array:
    n = len(rows)
    found = find_candidates(rows, min(n_neighbours, n - 1), search="exact", n_threads=n_threads)
    source = np.repeat(np.arange(n), found.shape[1])
    weight = np.maximum(np.abs(np.einsum("ij,ij->i", rows[source], rows[found.ravel()])), 1e-3)
    return symmetrize(csr_array((weight, (source, found.ravel())), shape=(n, n)))
