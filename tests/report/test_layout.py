"""The map of clusters and the principal axes, where the right answer is known."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.label.graph import distances, nearest_centres
from masked_subspace.report.layout import cluster_map, graph_map, principal_axes, scaled


def test_distances_that_fit_the_plane_are_met():
    places = np.random.default_rng(0).standard_normal((6, 2))
    wanted = distances(places, places)
    found = scaled(wanted)
    assert distances(found, found) == pytest.approx(wanted, abs=0.05 * wanted.max())


def test_equal_distances_do_not_collapse():
    found = scaled(1.0 - np.eye(8))
    apart = distances(found, found)[~np.eye(8, dtype=bool)]
    assert apart.min() > 0.3


def test_a_sample_without_doubt_stands_at_its_centre_and_one_in_doubt_half_way():
    embedding = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1], [0.5, 0.5]])
    codes = np.array([0, 0, 1, 1, 1])
    places = cluster_map(embedding, codes)
    assert places[0] == pytest.approx(places[1])
    own = np.linalg.norm(places[4] - places[2])
    other = np.linalg.norm(places[4] - places[0])
    assert own < other


def test_a_sample_between_two_clusters_stands_between_them():
    embedding = np.array([[2.0, 0], [2, 0], [2, 0], [-1, 0], [-1, 0], [-1, 0], [0.5, 0]])
    places = cluster_map(embedding, np.array([0, 0, 0, 1, 1, 1, 1]))
    # Cluster 1's centre is (−1, −1, −1, .5)/4 = −.625: the last sample is 1.125 from it and 1.5 from the other.
    share = 1.125 / (1.125 + 1.5)
    start, end = places[3], places[0]
    first = (0.375) / (0.375 + 3.0)  # the others of cluster 1 lie off its centre too
    centre = (start - first * end) / (1 - first)
    assert places[6] == pytest.approx((1 - share) * centre + share * end, abs=1e-6)


def test_one_cluster_is_one_place():
    places = cluster_map(np.random.default_rng(0).standard_normal((4, 3)), np.zeros(4, dtype=int))
    assert np.isfinite(places).all()
    assert np.ptp(places, axis=0) == pytest.approx([0, 0])


@pytest.mark.parametrize("embedding", [np.ones((40, 1)), np.linspace(-1, 1, 40)[:, None]])
def test_the_map_of_one_cluster_shows_its_graph_and_not_a_spot_or_a_line(embedding):
    ring = np.arange(40)
    W = csr_array((np.ones(40), (ring, (ring + 1) % 40)), shape=(40, 40))
    places = graph_map(csr_array(W + W.T), embedding, np.zeros(40, dtype=int))
    assert np.ptp(places, axis=0).min() > 0.5
    apart = distances(places, places)
    assert apart[ring, (ring + 1) % 40].mean() < 0.5 * apart.mean()


def test_principal_axes_are_ordered_and_their_signs_fixed():
    rng = np.random.default_rng(0)
    data = rng.standard_normal((200, 3)) * [1, 5, 2]
    projected, share = principal_axes(data, 2)
    assert projected.shape == (200, 2)
    assert share[0] > share[1]
    assert np.corrcoef(projected[:, 0], data[:, 1])[0, 1] > 0.99


def linked(n, pairs):
    rows, columns = np.array(pairs).T
    W = csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))
    return csr_array(W + W.T)


def test_the_map_shows_two_parts_of_one_cluster_apart():
    """Samples 0–19 and 20–39 are a cluster without links between them; the embedding does not tell them apart."""
    rng = np.random.default_rng(0)
    halves = [(a, b) for start in (0, 20, 40) for a in range(start, start + 20) for b in range(a + 1, start + 20)]
    codes = np.repeat([0, 0, 1], 20)
    embedding = np.eye(2)[codes] + 0.01 * rng.standard_normal((60, 2))
    places = graph_map(linked(60, halves), embedding, codes)
    assert np.abs(places).max() == pytest.approx(1)
    first, second = places[:20], places[20:40]
    within = max(distances(first, first).mean(), distances(second, second).mean())
    assert distances(first, second).mean() > 2 * within


def test_the_map_is_the_same_every_time_and_finite_for_isolated_samples():
    codes = np.repeat([0, 1, 2], 10)
    rng = np.random.default_rng(0)
    embedding = rng.standard_normal((30, 3))
    graph = linked(30, [(0, 1), (1, 2), (12, 13)])
    places = graph_map(graph, embedding, codes)
    assert np.isfinite(places).all()
    assert np.array_equal(places, graph_map(graph, embedding, codes))
    assert np.isfinite(graph_map(csr_array((30, 30)), embedding, codes)).all()
    assert np.isfinite(graph_map(csr_array((2, 2)), embedding[:2], np.array([0, 1]))).all()


def test_the_next_cluster_is_the_nearest_other_centre():
    nearest = nearest_centres(np.array([[0.0], [1.0], [5.0]]), np.array([0, 1, 2]))
    assert nearest.following.tolist() == [1, 0, 1]
    assert nearest.own.tolist() == [0, 0, 0]
    assert nearest.other.tolist() == [1, 1, 4]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_cluster_whose_samples_lie_in_one_place_is_drawn(dtype):
    codes = np.repeat([0, 1], 10)
    graph = csr_array(np.kron(np.eye(2), np.ones((10, 10))) - np.eye(20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        places = graph_map(graph, np.eye(2, dtype=dtype)[codes], codes)
    assert np.isfinite(places).all()


def test_a_sample_beyond_the_middle_stands_half_way_and_no_farther():
    """Its own centre is 7.5 away and the other one 1: full doubt, and still on its own side."""
    embedding = np.array([[0.0], [0.0], [0.0], [10.0], [9.0], [9.0], [9.0]])
    places = cluster_map(embedding, np.array([0, 0, 0, 0, 1, 1, 1]))
    t = 2.5 / (2.5 + 9.0)  # of the first: its centre is 2.5 away, the other 9
    own = (places[0] - t * places[4]) / (1 - t)
    np.testing.assert_allclose(places[3], (own + places[4]) / 2, atol=1e-6)
