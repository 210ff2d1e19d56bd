"""Moves of the samples of one part between clusters that reach into other parts."""

import numpy as np
from scipy.sparse import csr_array

from masked_subspace.label.boundary_moves import settled_labels


def test_samples_follow_their_links_and_others_stay():
    # Samples 0 … 2 are ours, 3 and 4 elsewhere: 0 is tied to 3, 1 to 4, 2 to nobody.
    W = csr_array(np.array([[0, 1, 0, 3, 0], [1, 0, 0, 0, 2], [0, 0, 0, 0, 0]], dtype=np.float32))
    labels = np.array([1, -1, -1, 0, 1])
    settled = settled_labels(W, labels, np.array([3.0, 6.0]), 0.0)
    np.testing.assert_array_equal(settled, [0, 1, -1])
    np.testing.assert_array_equal(labels, [1, -1, -1, 0, 1])  # those given are not changed


def test_a_label_travels_along_a_chain():
    n = 30
    W = csr_array((np.ones(n, dtype=np.float32), (np.arange(n), np.arange(1, n + 1))), shape=(n, n + 1))
    labels = np.full(n + 1, -1)
    labels[n] = 1
    labels[n - 20] = 0
    settled = settled_labels(W, labels, np.ones(2), 0.0)
    assert settled[n - 1] == 1
    assert settled[: n - 20].max() == 0


def test_the_price_of_large_clusters_decides_between_equal_links():
    W = csr_array(np.array([[0, 1, 1]], dtype=np.float32))
    for totals, expected in (([1.0, 5.0], 0), ([5.0, 1.0], 1)):
        assert settled_labels(W, np.array([-1, 0, 1]), np.array(totals), 0.1)[0] == expected


def test_a_sample_does_not_pay_for_its_own_links():
    """Three clusters hold a link of weight 1; the own one has 5 or 8 in all, 3 of them the sample's."""
    W = csr_array(np.array([[0, 1, 1, 1]], dtype=np.float32))
    for own, expected in ((5.0, 0), (8.0, 1)):
        assert settled_labels(W, np.array([0, 0, 1, 2]), np.array([own, 4.0, 4.5]), 0.1)[0] == expected


def test_who_has_joined_a_cluster_makes_it_dearer_for_the_next():
    W = csr_array(np.array([[0, 0, 1, 1], [0, 0, 1, 1]], dtype=np.float32))
    settled = settled_labels(W, np.array([-1, -1, 0, 1]), np.array([1.0, 2.0]), 0.1)
    np.testing.assert_array_equal(settled, [0, 1])


def test_a_loop_holds_nobody_in_a_cluster():
    W = csr_array(np.array([[5, 1]], dtype=np.float32))
    assert settled_labels(W, np.array([0, 1]), np.array([6.0, 1.0]), 0.0)[0] == 1
