"""The coarse matrix against a dense one computed plainly."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from masked_subspace.report.matrix import MAX_BINS, coarse_matrix, display_order


def symmetric(n, density, seed=0):
    W = random_array((n, n), density=density, rng=np.random.default_rng(seed)).tocsr()
    W = csr_array(W + W.T)
    W.setdiag(0)
    W.eliminate_zeros()
    return csr_array(W)


def test_order_is_by_cluster_then_by_certainty():
    labels = np.array([1, 0, 1, 0])
    order = display_order(labels, np.array([0.1, 0.9, 0.5, 0.2]))
    assert order.tolist() == [1, 3, 2, 0]


def test_small_matrix_is_exact():
    W = symmetric(50, 0.1)
    order = np.random.default_rng(1).permutation(50)
    coarse = coarse_matrix(W, order, max_links=10_000)
    dense = W.toarray()[np.ix_(order, order)]
    assert coarse.bins.shape == (50, 50)
    assert np.array_equal(coarse.bins > 0, dense > 0)
    assert coarse.n_left_out == 0
    seen = np.zeros_like(dense, dtype=bool)
    seen[coarse.links[:, 0], coarse.links[:, 1]] = True
    assert np.array_equal(seen | seen.T, dense > 0)


def test_large_matrix_becomes_means_over_bins():
    n = 3 * MAX_BINS
    W = symmetric(n, 0.02)
    coarse = coarse_matrix(W, np.arange(n), max_links=100)
    means = W.toarray().reshape(MAX_BINS, 3, MAX_BINS, 3).mean(axis=(1, 3))
    expected = np.ceil(255 * np.sqrt(np.clip(means / coarse.bin_scale, 0, 1)))
    assert np.abs(coarse.bins.astype(int) - expected).max() <= 1


def test_only_the_strongest_links_are_kept_and_sorted():
    W = symmetric(200, 0.1)
    coarse = coarse_matrix(W, np.arange(200), max_links=100)
    values = W.toarray()[coarse.links[:, 0], coarse.links[:, 1]]
    everything = np.sort(W.toarray()[np.triu_indices(200, 1)])[::-1]
    assert len(values) == 100
    assert values.min() >= everything[99] - 1e-12
    assert coarse.n_left_out == (everything > 0).sum() - 100
    keys = coarse.links[:, 0] * 200 + coarse.links[:, 1]
    assert (np.diff(keys) > 0).all()


def test_an_empty_graph_is_drawn_empty():
    coarse = coarse_matrix(csr_array((5, 5)), np.arange(5), max_links=10)
    assert coarse.bins.max() == 0
    assert len(coarse.links) == 0


def test_full_brightness_is_what_one_link_in_fifty_exceeds():
    """One giant does not darken the rest: the scale is the .98 quantile of the weights."""
    n = 40
    W = np.triu(np.arange(n * n, dtype=float).reshape(n, n) + 1, 1)
    W[0, 1] = 1e9
    W = W + W.T
    found = coarse_matrix(csr_array(W), np.arange(n), max_links=10_000)
    assert found.scale == pytest.approx(np.quantile(W[W > 0], 0.98))
    assert (found.strengths == 255).mean() > 0.01


def test_no_sample_is_linked_to_itself():
    """Affinities of other libraries have ones on their diagonal."""
    W = symmetric(50, 0.1) + csr_array(np.eye(50))
    coarse = coarse_matrix(csr_array(W), np.arange(50), max_links=10_000)
    assert (coarse.links[:, 0] < coarse.links[:, 1]).all()
    assert len(coarse.links) == (W.toarray() > 0).sum() // 2 - 25
