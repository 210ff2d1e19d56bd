"""How good a partition is (against known classes) and how good a representation is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from masked_subspace._common.symmetric_eigen import eigenpairs
from masked_subspace._common.types import Array, IntArray


def _table(labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike) -> npt.NDArray[np.int64]:
    true, pred = np.asarray(labels_true), np.asarray(labels_pred)
    if true.ndim != 1 or true.shape != pred.shape or len(true) == 0:
        raise ValueError(
            f"labels_true has shape {true.shape} and labels_pred {pred.shape}; give two 1-D vectors of one length > 0."
        )
    table: npt.NDArray[np.int64] = contingency_matrix(true, pred).astype(np.int64)
    return table


def match_labels(labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike) -> Array:
    """`labels_pred` renamed by the best one-to-one matching; a cluster without a partner gets a name < 0."""
    true_names = np.unique(np.asarray(labels_true))
    pred_names, codes = np.unique(np.asarray(labels_pred), return_inverse=True)
    rows, cols = linear_sum_assignment(_table(labels_true, labels_pred), maximize=True)
    names = -1 - np.arange(len(pred_names))
    names[cols] = np.arange(len(true_names))[rows]
    matched = names[codes]
    result = np.where(matched >= 0, true_names[np.maximum(matched, 0)], matched)
    return np.asarray(result)


def clustering_accuracy(labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike) -> float:
    """Share of samples that the best one-to-one matching of clusters to classes gets right (CA)."""
    table = _table(labels_true, labels_pred)
    rows, cols = linear_sum_assignment(table, maximize=True)
    return float(table[rows, cols].sum() / table.sum())


def binary_clustering_accuracy(labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike) -> float:
    """Share of the n(n−1)/2 pairs on which "same cluster or not" is right (BCA), from the contingency table."""
    table = _table(labels_true, labels_pred)
    n = int(table.sum())
    if n == 1:
        return 1.0
    ordered = n * (n - 1)

    def same(counts: npt.NDArray[np.int64]) -> int:
        return int((counts * (counts - 1)).sum())

    both = same(table)
    disagree = same(table.sum(axis=0)) + same(table.sum(axis=1)) - 2 * both
    return float(1 - disagree / ordered)


def normalized_mutual_info(labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike) -> float:
    """NMI with the arithmetic mean of the two entropies."""
    _table(labels_true, labels_pred)
    return float(normalized_mutual_info_score(labels_true, labels_pred))


def adjusted_rand_index(labels_a: IntArray, labels_b: IntArray) -> float:
    """The adjusted Rand index of two labelings 0 … K − 1: 1 for the same partition, 0 on average for unrelated ones.

    scikit-learn's takes a millisecond, most of it checks; a judge compares thousands of labelings.
    """
    n, columns = len(labels_a), int(labels_b.max()) + 1
    keys = labels_a.astype(np.int64) * columns + labels_b
    table = np.bincount(keys, minlength=(int(labels_a.max()) + 1) * columns).astype(np.float64).reshape(-1, columns)
    together = ((table**2).sum() - n) / 2
    in_a, in_b = (((table.sum(axis=axis) ** 2).sum() - n) / 2 for axis in (1, 0))
    expected = in_a * in_b / max(n * (n - 1) / 2, 1)
    most = (in_a + in_b) / 2
    return 1.0 if most == expected else float((together - expected) / (most - expected))


def subspace_preserving_error(representation: Any, labels_true: npt.ArrayLike) -> float:
    """Mean over samples of the share of ‖z_i‖₁ that lies on samples of other classes; 0 is ideal.

    Samples with an empty row count as 0.
    """
    Z = _as_csr(representation)
    labels = np.asarray(labels_true)
    rows = np.repeat(np.arange(Z.shape[0]), np.diff(Z.indptr))
    size = np.abs(Z.data).astype(np.float64)
    total = np.bincount(rows, size, minlength=Z.shape[0])
    wrong = np.bincount(rows, size * (labels[rows] != labels[Z.indices]), minlength=Z.shape[0])
    return float(np.mean(wrong / np.where(total > 0, total, 1)))


def connectivity(affinity: Any, labels_true: npt.ArrayLike) -> float:
    """Smallest λ₂ of the normalised Laplacian of a class's own graph, over classes; 0: some class falls apart."""
    W = _as_csr(affinity)
    labels = np.asarray(labels_true)
    return min(_second_eigenvalue(csr_array(W[members][:, members])) for members in _members(labels))


def sparsity(representation: Any) -> float:
    """Mean number of nonzeros a sample."""
    Z = _as_csr(representation)
    return float(np.count_nonzero(Z.data) / Z.shape[0])


def _members(labels: Array) -> list[npt.NDArray[np.intp]]:
    return [np.flatnonzero(labels == name) for name in np.unique(labels)]


def _second_eigenvalue(W: csr_array) -> float:
    n = W.shape[0]
    if n == 1:
        return 1.0
    if connected_components(W, directed=False)[0] > 1:
        return 0.0
    scale = 1 / np.sqrt(np.asarray(W.sum(axis=1)).ravel())
    S = csr_array(W.multiply(scale[:, None]).multiply(scale[None, :]))
    if n <= 400:
        return float(1 - eigenpairs(S.toarray())[0][-2])
    # Not the constant vector: on a regular graph it is an eigenvector, and the iteration would end with it at once.
    start = np.random.default_rng(0).uniform(0.5, 1, n)
    return float(1 - eigsh(S, 2, which="LA", v0=start, return_eigenvectors=False).min())


def _as_csr(matrix: Any) -> csr_array:
    return csr_array(matrix) if issparse(matrix) else csr_array(np.asarray(matrix))
