import warnings
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.metrics import (
    binary_clustering_accuracy,
    clustering_accuracy,
    connectivity,
    match_labels,
    normalized_mutual_info,
    sparsity,
    subspace_preserving_error,
)


def brute_accuracy(true, pred):
    k = max(true.max(), pred.max()) + 1
    return max(np.mean(np.array(p)[pred] == true) for p in permutations(range(k)))


def brute_bca(true, pred):
    return np.mean([(true[i] == true[j]) == (pred[i] == pred[j]) for i, j in combinations(range(len(true)), 2)])


@pytest.mark.parametrize("seed", range(5))
def test_accuracy_and_bca_against_brute_force(seed):
    rng = np.random.default_rng(seed)
    true, pred = rng.integers(0, 4, 30), rng.integers(0, rng.integers(2, 6), 30)
    assert clustering_accuracy(true, pred) == pytest.approx(brute_accuracy(true, pred))
    assert binary_clustering_accuracy(true, pred) == pytest.approx(brute_bca(true, pred))
    assert np.mean(match_labels(true, pred) == true) == pytest.approx(clustering_accuracy(true, pred))


def test_names_do_not_matter_and_perfect_is_one():
    true = np.array(["cat", "dog", "cat", "eel"])
    pred = np.array([7, 1, 7, 3])
    assert clustering_accuracy(true, pred) == 1
    assert binary_clustering_accuracy(true, pred) == 1
    assert normalized_mutual_info(true, pred) == pytest.approx(1)
    assert match_labels(true, pred).tolist() == true.tolist()


def test_unequal_numbers_of_labels():
    assert clustering_accuracy([0, 0, 1, 1], [0, 1, 2, 3]) == 0.5
    assert clustering_accuracy([0, 1, 2, 3], [0, 0, 0, 0]) == 0.25


def test_clusters_without_a_partner_get_negative_names_one_each():
    matched = match_labels([5, 5, 5, 5, 9, 9], [0, 0, 0, 1, 2, 3])
    assert matched.tolist()[:3] == [5, 5, 5]
    assert sorted(matched[4:] == 9) == [False, True]
    alone = [matched[3], matched[4:][matched[4:] != 9][0]]
    assert max(alone) < 0
    assert alone[0] != alone[1]


def test_high_bca_with_low_accuracy_as_in_the_papers_first_figure():
    """Ten classes, half of each spread over the others: about half right by class, far more by pair."""
    true = np.repeat(np.arange(10), 100)
    pred = true.copy()
    rng = np.random.default_rng(0)
    spread = rng.uniform(size=1000) > 0.49
    pred[spread] = rng.integers(0, 10, spread.sum())
    assert clustering_accuracy(true, pred) < 0.6
    assert binary_clustering_accuracy(true, pred) > 0.83


def test_bca_of_many_samples_needs_no_n_by_n():
    labels = np.arange(2_000_000) % 7
    assert binary_clustering_accuracy(labels, labels) == 1


def test_bad_vectors_are_refused():
    with pytest.raises(ValueError, match="labels_true has shape"):
        clustering_accuracy([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match="labels_true has shape"):
        binary_clustering_accuracy([], [])


def test_subspace_preserving_error_by_hand():
    Z = csr_array(np.array([[0, 3.0, -1.0], [0, 0, 0], [2.0, 2.0, 0]]))
    assert subspace_preserving_error(Z, [0, 0, 1]) == pytest.approx((0.25 + 0 + 1) / 3)
    assert subspace_preserving_error(Z.toarray(), [5, 5, 5]) == 0


def test_connectivity_is_the_second_laplacian_eigenvalue_of_the_worst_class():
    path = np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1)
    degree = path.sum(axis=0)
    laplacian = np.eye(5) - path / np.sqrt(np.outer(degree, degree))
    expected = np.sort(np.linalg.eigvalsh(laplacian))[1]
    assert connectivity(path, np.zeros(5)) == pytest.approx(expected)
    torn = path.copy()
    torn[1, 2] = torn[2, 1] = 0
    assert connectivity(torn, np.zeros(5)) == 0


def test_connectivity_of_a_large_class_agrees_with_the_dense_solver():
    rng = np.random.default_rng(0)
    W = np.triu(rng.uniform(size=(450, 450)) * (rng.uniform(size=(450, 450)) < 0.1), 1)
    W = W + W.T
    degree = W.sum(axis=0)
    expected = np.sort(np.linalg.eigvalsh(np.eye(450) - W / np.sqrt(np.outer(degree, degree))))[1]
    assert connectivity(csr_array(W), np.zeros(450)) == pytest.approx(expected, abs=1e-6)


def test_sparsity_counts_nonzeros_a_sample():
    assert sparsity(np.array([[0, 1.0], [0, 0]])) == 0.5


def test_zeros_that_are_stored_are_no_nonzeros():
    stored = csr_array((np.array([1.0, 0.0, 0.0]), (np.array([0, 0, 1]), np.array([1, 2, 0]))), shape=(3, 3))
    assert stored.nnz == 3
    assert sparsity(stored) == pytest.approx(1 / 3)


@pytest.mark.parametrize("n", [6, 450])
def test_a_class_in_two_pieces_or_with_a_sample_of_no_links_is_not_connected(n):
    ring = np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1)
    assert connectivity(csr_array(ring), np.zeros(n)) > 0
    ring[0], ring[:, 0] = 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert connectivity(csr_array(ring), np.zeros(n)) == 0
        alone = np.repeat([0, 1], [1, n - 1])  # a class of one sample is as connected as can be
        assert connectivity(csr_array(ring), alone) == connectivity(csr_array(ring[1:, 1:]), np.zeros(n - 1)) < 1
