import warnings

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

from masked_subspace._common.rows import leading_eigenpairs
from masked_subspace.label.graph import diffusion_weights, normalized_graph, spectral_embedding
from masked_subspace.label.labeler import Evidence, label_graph
from masked_subspace.metrics import clustering_accuracy


def random_graph(n, density=0.3, seed=0):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < density), 1)
    ring = np.roll(np.eye(n), 1, axis=1) * 0.1
    W = np.maximum(W + W.T, ring + ring.T)
    return csr_array(W)


def normalised(W):
    degree = W.sum(axis=1)
    return W.toarray() / np.sqrt(np.outer(degree, degree))


@pytest.mark.parametrize("n", [40, 700])
def test_vectors_are_leading_eigenvectors_with_unit_rows(n):
    """n = 40 takes the dense solver, n = 700 the iterative one."""
    W = random_graph(n, density=0.05)
    found = spectral_embedding(W, 5, 5, seed=0)
    values, vectors = np.linalg.eigh(normalised(W))
    np.testing.assert_allclose(found.values, values[::-1][:5], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-6)
    top = vectors[:, ::-1][:, :5]
    top /= np.linalg.norm(top, axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs(found.vectors), np.abs(top), atol=1e-3)


def test_same_seed_same_embedding():
    W = random_graph(800, density=0.02)
    a, b = (spectral_embedding(W, 4, 4, seed=3).vectors for _ in range(2))
    np.testing.assert_array_equal(a, b)


def test_components_are_found_exactly_without_warnings():
    sizes = [30, 50, 20]
    W = csr_array(block_diag([random_graph(n, seed=n) for n in sizes]))
    truth = np.repeat(np.arange(3), sizes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = label_graph(W, 3, 3, Evidence(np.random.default_rng(0).normal(size=(100, 5))), seed=0)
    assert clustering_accuracy(truth, found.labels) == 1


def test_isolated_samples_join_their_nearest_neighbour():
    W = csr_array(block_diag([random_graph(40, seed=1), random_graph(40, seed=2), csr_array((2, 2))]))
    rng = np.random.default_rng(0)
    centres = np.repeat(np.eye(2), 40, axis=0)
    X = np.vstack([centres + 0.05 * rng.normal(size=(80, 2)), [[0.9, 0.1], [0.1, -0.9]]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = label_graph(W, 2, 2, Evidence(X), seed=0).labels
    assert labels[80] == labels[0]
    assert labels[81] == labels[79]
    assert labels[80] != labels[81]


def test_debris_does_not_take_the_eigenvectors_of_the_large_pieces():
    """Two joined halves and ten stray pairs: the strays must not use up the embedding."""
    halves = block_diag([random_graph(60, seed=1), random_graph(60, seed=2)]).tolil()
    halves[0, 60] = halves[60, 0] = 0.01
    pairs = [np.array([[0, 1.0], [1.0, 0]])] * 10
    W = csr_array(block_diag([halves, *pairs]))
    X = np.vstack([np.repeat(np.eye(2), 60, axis=0), np.tile([[1.0, 0.1]], (20, 1))])
    labels = label_graph(W, 2, 2, Evidence(X), seed=0).labels
    assert clustering_accuracy(np.repeat([0, 1], 60), labels[:120]) == 1


def test_an_empty_graph_falls_back_to_the_rows():
    X = np.vstack([np.zeros((10, 2)), np.ones((10, 2))]) + 0.01 * np.random.default_rng(0).normal(size=(20, 2))
    labels = label_graph(csr_array((20, 20)), 2, 2, Evidence(X), seed=0).labels
    assert clustering_accuracy(np.repeat([0, 1], 10), labels) == 1


def test_more_eigenvectors_than_clusters_are_allowed():
    W = random_graph(60)
    assert spectral_embedding(W, 3, 7, seed=0).vectors.shape == (60, 7)
    assert spectral_embedding(W, 3, 500, seed=0).vectors.shape[1] == 60


def test_soft_choice_has_the_weight_of_k_vectors_and_keeps_a_gap():
    gap = np.array([1, 0.99, 0.98, 0.1, 0.05, 0.01])
    weights = diffusion_weights(gap, 3)
    np.testing.assert_allclose(weights[:3], 1, atol=0.05)
    assert weights[3:].max() < 0.2
    slow = np.linspace(1, 0.5, 40)
    assert (diffusion_weights(slow, 10) ** 2).sum() == pytest.approx(10, rel=1e-6)
    # more pieces than clusters: nothing to cut, the longest walk keeps all of them
    np.testing.assert_allclose(diffusion_weights(np.ones(8), 4), 1)


def test_block_eigensolver_finds_every_copy_of_a_repeated_eigenvalue():
    pieces = 12
    W = csr_array(block_diag([random_graph(50, density=0.2, seed=s) for s in range(pieces)]))
    values, vectors = leading_eigenpairs(normalized_graph(W), 20, seed=0, tol=1e-7)
    expected = np.linalg.eigvalsh(normalised(W))[::-1][:20]
    np.testing.assert_allclose(values, expected, atol=1e-6)
    assert np.sum(values > 1 - 1e-6) == pieces
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(20), atol=1e-6)


def test_block_eigensolver_does_not_depend_on_the_number_of_threads():
    S = normalized_graph(random_graph(600, density=0.03))
    one, two = (leading_eigenpairs(S, 10, seed=0, n_threads=t)[1] for t in (1, 2))
    np.testing.assert_array_equal(one, two)
