import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

from masked_subspace.label.diffusion import CLUSTER_WEIGHT, cluster_weight, spread_labels, visit_densities
from masked_subspace.label.graph import normalized_graph


def random_graph(n, seed=0, density=0.2):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < density), 1)
    return W + W.T


@pytest.mark.parametrize("alpha", [0.5, 0.95, 0.99])
def test_densities_solve_the_linear_system(alpha):
    S = normalized_graph(csr_array(random_graph(60)))
    sources = np.abs(np.random.default_rng(1).normal(size=(60, 4)))
    exact = np.linalg.solve(np.eye(60) - alpha * S.toarray(), sources)
    found = visit_densities(S, sources, alpha=alpha, tol=1e-10)
    np.testing.assert_allclose(found, exact, rtol=1e-6)
    again = visit_densities(S, sources, start=exact, alpha=alpha, tol=1e-6, max_iter=1)
    np.testing.assert_allclose(again, exact, rtol=1e-6)


def two_camps(bridge=0.05):
    """Two dense camps of 20, joined by one weak edge."""
    W = block_diag([np.ones((20, 20)) - np.eye(20)] * 2).toarray()
    W[19, 20] = W[20, 19] = bridge
    return csr_array(W)


def test_two_anchors_correct_a_wrong_start():
    anchors = np.full(40, -1)
    anchors[[0, 39]] = [0, 1]
    start = np.random.default_rng(0).integers(0, 2, 40)
    labels = spread_labels(two_camps(), start, anchors, 2, weight=3.0)
    np.testing.assert_array_equal(labels, np.repeat([0, 1], 20))


def test_a_cluster_without_anchors_survives():
    anchors = np.full(40, -1)
    anchors[0] = 0
    start = np.repeat([0, 1], 20)
    start[15:20] = 1
    labels = spread_labels(two_camps(), start, anchors, 2)
    np.testing.assert_array_equal(labels, np.repeat([0, 1], 20))


def test_a_dense_cluster_does_not_swallow_a_star_beside_it():
    """Walks in a dense camp visit all they reach more often; scaled to equal mass, every sample of a star tied to it
    stays with the star, and those that began on the wrong side come back."""
    W = np.zeros((40, 40))
    W[:20, :20] = 1 - np.eye(20)
    W[20, 21:] = W[21:, 20] = 1
    W[np.arange(19), np.arange(21, 40)] = W[np.arange(21, 40), np.arange(19)] = 1
    anchors = np.full(40, -1)
    anchors[[0, 39]] = [0, 1]
    start = np.repeat([0, 1], 20)
    start[21:27] = 0
    labels = spread_labels(csr_array(W), start, anchors, 2, weight=10.0)
    np.testing.assert_array_equal(labels, np.repeat([0, 1], 20))


def test_a_cluster_without_a_source_has_no_density():
    """Also when the iteration starts from the densities it had before it was emptied."""
    S = normalized_graph(csr_array(random_graph(60)))
    sources = np.abs(np.random.default_rng(1).normal(size=(60, 3)))
    before = visit_densities(S, sources)
    sources[:, 1] = 0
    assert not visit_densities(S, sources, start=before)[:, 1].any()


def test_an_isolated_sample_keeps_its_label():
    W = csr_array(block_diag([two_camps().toarray(), np.zeros((1, 1))]))
    anchors = np.full(41, -1)
    anchors[[0, 39]] = [0, 1]
    start = np.append(np.repeat([0, 1], 20), 1)
    assert spread_labels(W, start, anchors, 2)[40] == 1


def test_settle_has_the_last_word():
    anchors = np.full(40, -1)
    anchors[[0, 39]] = [0, 1]

    def settle(labels, cost):
        assert cost.shape == (40, 2)
        overruled = labels.copy()
        overruled[5] = 1
        return overruled

    labels = spread_labels(two_camps(), np.repeat([0, 1], 20), anchors, 2, assign=settle)
    assert labels[5] == 1
    assert (np.delete(labels[:20], 5) == 0).all()


def test_a_cluster_is_worth_the_odds_that_the_anchors_give_it():
    free = np.repeat([0, 1], 10)
    nobody, right, half = (np.full(20, -1) for _ in range(3))
    right[[0, 1, 10, 11]] = [0, 0, 1, 1]
    half[[0, 1, 10, 11]] = [0, 1, 1, 0]
    assert cluster_weight(free, nobody) == CLUSTER_WEIGHT
    assert cluster_weight(free, right) == 14.0
    assert cluster_weight(free, half) == pytest.approx(4.0)
