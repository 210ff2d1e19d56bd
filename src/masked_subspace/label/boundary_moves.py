"""Samples of one part of a graph move between clusters whose other samples may lie elsewhere."""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from masked_subspace._common.types import FloatArray, IndexArray, IntArray

_SWEEPS = 20


def settled_labels(links: csr_array, labels: IntArray, totals: FloatArray, price: float) -> IndexArray:
    """Labels of the samples that own the rows of `links`, after moves to clusters of linked samples.

    `labels` are those of the columns: first the rows' own, then samples elsewhere, which stay as they are; −1 is no
    cluster yet. `totals` are the degrees of each cluster over the whole graph, `price` is γ/2m. A sample goes to the
    cluster of the largest gain w_ic − price·k_i·tot_c, as in `label.modularity_kernels`.
    """
    settled = labels.astype(np.int32)
    _settle(
        links.indptr.astype(np.int64, copy=False),
        links.indices.astype(np.int32, copy=False),
        links.data,
        settled,
        totals.astype(np.float64),
        float(price),
    )
    return settled[: links.shape[0]]


@njit(cache=True, nogil=True)
def _settle(indptr, indices, data, labels, totals, price):  # type: ignore[no-untyped-def]
    weight = np.zeros(len(totals))
    for _ in range(_SWEEPS):
        moved = False
        for i in range(len(indptr) - 1):
            own = labels[i]
            degree = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                degree += data[e]
                c = labels[indices[e]]
                if c >= 0 and indices[e] != i:
                    weight[c] += data[e]
            best, gain = own, -np.inf
            if own >= 0:
                totals[own] -= degree
                gain = weight[own] - price * degree * totals[own]
            least = 1e-12 * degree
            for e in range(indptr[i], indptr[i + 1]):
                c = labels[indices[e]]
                if c >= 0 and weight[c] > 0:
                    value = weight[c] - price * degree * totals[c]
                    if value > gain + least:
                        best, gain = c, value
            for e in range(indptr[i], indptr[i + 1]):
                if labels[indices[e]] >= 0:
                    weight[labels[indices[e]]] = 0
            if best >= 0:
                totals[best] += degree
            if best != own:
                labels[i] = best
                moved = True
        if not moved:
            break
