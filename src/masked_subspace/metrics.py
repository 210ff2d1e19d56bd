"""How good a partition is (against known classes) and how good a representation is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from masked_subspace._common.rows import eigenpairs
from masked_subspace._common.types import Array, MatrixLike
from masked_subspace.label.agreement import adjusted_rand_index

__all__ = [
    "adjusted_rand_index",
    "binary_clustering_accuracy",
    "clustering_accuracy",
    "connectivity",
    "match_labels",
    "normalized_mutual_info",
    "sparsity",
    "subspace_preserving_error",
]


def _table(labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike) -> npt.NDArray[np.int64]:
    true, pred = np.asarray(labels_true), np.asarray(labels_pred)
    if true.ndim != 1 or true.shape != pred.shape or len(true) == 0:
        raise ValueError(
            f"labels_true has shape {true.shape} and labels_pred {pred.shape}; give two 1-D vectors of one length > 0."
        )
    table: npt.NDArray[np.int64] = contingency_matrix(true, pred).astype(np.int64)
    return table


def match_labels(labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike) -> Array:
    """Rename clusters after the classes they match best, one to one.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Known classes, numbers or texts.
    labels_pred : array-like of shape (n_samples,)
        Clusters.

    Returns
    -------
    matched : ndarray of shape (n_samples,)
        `labels_pred` under the names of `labels_true`; a cluster without a partner gets a negative number.

    Raises
    ------
    ValueError
        If the two are not vectors of one length above 0.

    Examples
    --------
    >>> from masked_subspace.metrics import match_labels
    >>> match_labels([0, 0, 1, 1], [1, 1, 0, 0]).tolist()
    [0, 0, 1, 1]
    """
    true_names = np.unique(np.asarray(labels_true))
    pred_names, codes = np.unique(np.asarray(labels_pred), return_inverse=True)
    rows, cols = linear_sum_assignment(_table(labels_true, labels_pred), maximize=True)
    names = -1 - np.arange(len(pred_names))
    names[cols] = np.arange(len(true_names))[rows]
    matched = names[codes]
    result = np.where(matched >= 0, true_names[np.maximum(matched, 0)], matched)
    return np.asarray(result)


def clustering_accuracy(labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike) -> float:
    """Share of samples that the best one-to-one matching of clusters to classes gets right (CA).

        CA = 1/n max_π Σ_i [y_i = π(ŷ_i)],   π over the one-to-one maps from clusters to classes

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Known classes y.
    labels_pred : array-like of shape (n_samples,)
        Clusters ŷ.

    Returns
    -------
    accuracy : float
        Between 0 and 1; 1 for the same partition under any names.

    Raises
    ------
    ValueError
        If the two are not vectors of one length above 0.

    References
    ----------
    .. [Kuhn1955] Kuhn, H. W. (1955). The Hungarian method for the assignment problem. Naval Research Logistics
       Quarterly 2.

    Examples
    --------
    >>> from masked_subspace.metrics import clustering_accuracy
    >>> clustering_accuracy([0, 0, 1, 1], [1, 1, 0, 1])
    0.75
    """
    table = _table(labels_true, labels_pred)
    rows, cols = linear_sum_assignment(table, maximize=True)
    return float(table[rows, cols].sum() / table.sum())


def binary_clustering_accuracy(labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike) -> float:
    """Share of the pairs of samples on which "same cluster or not" is right (BCA).

        BCA = 2/(n(n−1)) Σ_{i<j} [(y_i = y_j) = (ŷ_i = ŷ_j)]

    counted from the contingency table, in O(n). It is the Rand index (Rand 1971); the paper calls it BCA.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Known classes y.
    labels_pred : array-like of shape (n_samples,)
        Clusters ŷ.

    Returns
    -------
    accuracy : float
        Between 0 and 1. With many clusters most pairs are apart in any partition, so it is high by itself.

    Raises
    ------
    ValueError
        If the two are not vectors of one length above 0.

    References
    ----------
    .. [Rand1971] Rand, W. M. (1971). Objective criteria for the evaluation of clustering methods. JASA 66.

    Examples
    --------
    >>> from masked_subspace.metrics import binary_clustering_accuracy
    >>> binary_clustering_accuracy([0, 0, 1, 1], [1, 1, 0, 1])
    0.5
    """
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
    """Mutual information of two partitions as a share of the arithmetic mean of their entropies (NMI).

        NMI = 2 I(y; ŷ) / (H(y) + H(ŷ))

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Known classes y.
    labels_pred : array-like of shape (n_samples,)
        Clusters ŷ.

    Returns
    -------
    information : float
        Between 0 and 1; 1 for the same partition under any names.

    Raises
    ------
    ValueError
        If the two are not vectors of one length above 0.

    References
    ----------
    .. [Strehl2002] Strehl, A. and Ghosh, J. (2002). Cluster ensembles: a knowledge reuse framework for combining
       multiple partitions. JMLR 3.

    Examples
    --------
    >>> from masked_subspace.metrics import normalized_mutual_info
    >>> round(normalized_mutual_info([0, 0, 1, 1], [1, 1, 0, 1]), 3)
    0.344
    """
    _table(labels_true, labels_pred)
    return float(normalized_mutual_info_score(labels_true, labels_pred))


def subspace_preserving_error(representation: MatrixLike, labels_true: npt.ArrayLike) -> float:
    """Mean share of each code that lies on samples of other classes; 0 is ideal.

        SPE = 1/n Σ_i (Σ_{j: y_j ≠ y_i} abs(z_ij)) / ‖z_i‖₁,   a row of zeros counts as 0

    Parameters
    ----------
    representation : array or sparse array of shape (n_samples, n_samples)
        Z; row i rebuilds sample i, such as `representation_matrix_`.
    labels_true : array-like of shape (n_samples,)
        Known classes y.

    Returns
    -------
    error : float
        Between 0 and 1.

    References
    ----------
    .. [You2016a] You, C., Robinson, D. and Vidal, R. (2016). Scalable sparse subspace clustering by orthogonal matching
       pursuit. CVPR ("subspace-preserving representation error").

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.metrics import subspace_preserving_error
    >>> Z = np.array([[0, 1, 0], [0.75, 0, 0.25], [0, 0, 0]])
    >>> round(subspace_preserving_error(Z, [0, 0, 1]), 4)
    0.0833
    """
    Z = _as_csr(representation)
    labels = np.asarray(labels_true)
    rows = np.repeat(np.arange(Z.shape[0]), np.diff(Z.indptr))
    size = np.abs(Z.data).astype(np.float64)
    total = np.bincount(rows, size, minlength=Z.shape[0])
    wrong = np.bincount(rows, size * (labels[rows] != labels[Z.indices]), minlength=Z.shape[0])
    return float(np.mean(wrong / np.where(total > 0, total, 1)))


def connectivity(affinity: MatrixLike, labels_true: npt.ArrayLike) -> float:
    """Smallest second eigenvalue of the Laplacian of a class's own graph, over the classes.

        min_k λ₂(I − D_k^-½ W_k D_k^-½),   W_k the part of the graph between samples of class k

    Parameters
    ----------
    affinity : array or sparse array of shape (n_samples, n_samples)
        W, symmetric and nonnegative, such as `affinity_matrix_`.
    labels_true : array-like of shape (n_samples,)
        Known classes.

    Returns
    -------
    connectivity : float
        0 where the graph of some class is disconnected: a cut cannot find that class as one cluster.

    References
    ----------
    .. [You2016a] You, C., Robinson, D. and Vidal, R. (2016). Scalable sparse subspace clustering by orthogonal matching
       pursuit. CVPR ("connectivity").

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.metrics import connectivity
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> round(connectivity(np.kron(np.eye(2), triangle), [0, 0, 0, 1, 1, 1]), 6)
    1.5
    >>> connectivity(np.kron(np.eye(2), triangle), [0, 0, 1, 1, 1, 1])
    0.0
    """
    W = _as_csr(affinity)
    labels = np.asarray(labels_true)
    return min(_second_eigenvalue(csr_array(W[members][:, members])) for members in _members(labels))


def sparsity(representation: MatrixLike) -> float:
    """Mean number of nonzeros a sample.

    Parameters
    ----------
    representation : array or sparse array of shape (n_samples, n_samples)
        Z; row i rebuilds sample i.

    Returns
    -------
    nonzeros : float
        How many others rebuild a sample, on average.

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.metrics import sparsity
    >>> sparsity(np.array([[0, 1, 0], [2, 0, 3], [0, 0, 0]]))
    1.0
    """
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


def _as_csr(matrix: MatrixLike) -> csr_array:
    return csr_array(matrix) if issparse(matrix) else csr_array(np.asarray(matrix))
