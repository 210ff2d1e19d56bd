"""Cutting the agreement of several labelings, without ever writing it down.

With H the n × Σ K_m one-hot matrix of M labelings, the share of them that puts i and j together is P = HHᵀ/M. Its
normalised eigenvectors are left singular vectors of D^-½H/√M, so they come from a Σ K_m × Σ K_m matrix: linear in n.
Where Σ K_m is larger than n they come from the n × n one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array, hstack

from masked_subspace._common.rows import unit_rows
from masked_subspace._common.symmetric_eigen import eigenpairs
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.label.embedding import vectors_to_weigh, weighted

# By how much a sample's own cluster leads where another has the same share.
_LEAD = 1e-9


def membership(labelings: Sequence[IntArray]) -> csr_array:
    """H: one column for each cluster of each labeling."""
    n = len(labelings[0])
    parts = [
        csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, int(labels.max()) + 1)) for labels in labelings
    ]
    return csr_array(hstack(parts, format="csr"))


def consensus_embedding(labelings: Sequence[IntArray], n_clusters: int) -> FloatArray:
    """Unit rows whose distances say how often two samples were put together."""
    H = membership(labelings)
    scale = 1 / np.sqrt(len(labelings))
    degree = H @ np.asarray(H.sum(axis=0)).ravel() * scale**2
    A = csr_array(H.multiply((scale / np.sqrt(degree))[:, None]))
    # The smaller of the two products: many votes with many clusters have more columns than there are samples.
    few_samples = A.shape[0] < A.shape[1]
    values, found = eigenpairs((A @ A.T if few_samples else A.T @ A).toarray())
    wanted = min(vectors_to_weigh(n_clusters), len(values))
    values, found = values[::-1][:wanted], found[:, ::-1][:, :wanted]
    kept = values > 1e-10
    values, found = values[kept], found[:, kept]
    vectors = found if few_samples else (A @ found) / np.sqrt(values)
    return unit_rows(weighted(vectors, values, n_clusters))


def _mean_agreement(labels: IntArray, labelings: Sequence[IntArray], n_clusters: int) -> FloatArray:
    """n × K: mean P of each sample with the samples of each cluster."""
    H = membership(labelings)
    own = csr_array((np.ones(len(labels)), labels, np.arange(len(labels) + 1)), shape=(len(labels), n_clusters))
    size = np.maximum(np.bincount(labels, minlength=n_clusters), 1)
    shares: FloatArray = np.asarray((H @ (H.T @ own)).toarray()) / (len(labelings) * size)
    return shares


def shares_of_votes(labels: IntArray, labelings: Sequence[IntArray], n_clusters: int) -> FloatArray:
    """Memberships: how far the labelings put each sample with each cluster, rows summing to 1."""
    shares = _mean_agreement(labels, labelings, n_clusters)
    total = shares.sum(axis=1, keepdims=True)
    return shares / np.where(total > 0, total, 1)


def agreement_with(labels: IntArray, labelings: Sequence[IntArray]) -> FloatArray:
    """For each sample, how far the labelings agree on its cluster: mean P over its own cluster, less the next best.

    1 means that every labeling puts it with its cluster's samples and with nobody else.
    """
    n_clusters = int(labels.max()) + 1
    shares = _mean_agreement(labels, labelings, n_clusters)
    rows = np.arange(len(labels))
    mine = shares[rows, labels].copy()
    shares[rows, labels] = -1
    rest = np.maximum(shares.max(axis=1), 0) if n_clusters > 1 else np.zeros(len(labels))
    certainty: FloatArray = np.clip(mine - rest, 0, 1)
    return certainty


def with_own_first(shares: FloatArray, labels: IntArray) -> FloatArray:
    """Shares whose largest entry is the sample's own cluster: where another is larger, the two change places."""
    shares = shares.copy()
    rows = np.arange(len(labels))
    first = shares.argmax(axis=1)
    own, largest = shares[rows, labels].copy(), shares[rows, first].copy()
    shares[rows, first] = own
    shares[rows, labels] = largest + _LEAD
    ordered: FloatArray = shares / shares.sum(axis=1, keepdims=True)
    return ordered


def modularity(W: csr_array, labels: IntArray) -> float:
    """Share of edge weight inside clusters, less what chance would put there."""
    degree = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
    total = degree.sum()
    if total <= 0:
        return 0.0
    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    inside = float(W.data[labels[rows] == labels[W.indices]].sum()) / total
    return float(inside - ((np.bincount(labels, degree) / total) ** 2).sum())
