"""Steps of the map by value: what ties samples, how strays come back, where a sample lies in its cluster."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.report import layout
from masked_subspace.report.layout import (
    _inside,
    _links,
    _reined_in,
    _spiral,
    _unit_square,
    cluster_map,
    graph_map,
    principal_axes,
)


def test_the_longer_side_runs_from_minus_one_to_one_and_the_proportions_stay():
    found = _unit_square(np.array([[10.0, 1.0], [14.0, 2.0], [12.0, 3.0]]))
    np.testing.assert_allclose(found, [[-1, -0.5], [1, 0], [0, 0.5]])
    np.testing.assert_allclose(_unit_square(np.array([[1.0, 10.0], [3.0, 14.0]])), [[-0.5, -1], [0.5, 1]])
    np.testing.assert_array_equal(_unit_square(np.full((3, 2), 7.0)), 0)


def test_a_far_stray_comes_to_the_border_and_the_others_stay():
    """Of 99 samples on a circle of radius 2 around (5, 3) and one 100 away the 98 % quantile of the radii is 2; the
    stray comes to 1.25 times that and up to a tenth more."""
    turn = 2 * np.pi * np.arange(100) / 100
    ring = 2 * np.stack([np.cos(turn), np.sin(turn)], axis=1) + [5, 3]
    ring[0] = [105, 3]
    found = _reined_in(ring)
    middle = np.median(ring, axis=0)
    reach = 1.25 * np.quantile(np.linalg.norm(ring - middle, axis=1), 0.98)
    np.testing.assert_allclose(found[1:], ring[1:])
    away = np.linalg.norm(ring[0] - middle)
    np.testing.assert_allclose(
        np.linalg.norm(found[0] - middle), reach * (1 + 0.1 * np.tanh(away / reach - 1)), rtol=1e-12
    )
    assert found[0, 0] == pytest.approx(5 + 2.75, abs=0.1)
    nearer = _reined_in(np.vstack([ring[1:], [[5 + 2.4, 3]]]))
    np.testing.assert_allclose(nearer[-1], [7.4, 3])


def test_links_weigh_the_root_of_their_share_of_a_strong_one():
    W = np.zeros((6, 6))
    for a, b, weight in ((0, 1, 16.0), (1, 2, 4.0), (3, 4, 1e-6)):
        W[a, b] = W[b, a] = weight
    first, second, weight = _links(csr_array(W), np.array([0, 0, 0, 1, 1, 0]))
    strong = np.quantile([16.0, 4.0, 1e-6], 0.98)
    # 5 has no link: it hangs on the best linked sample of its cluster.
    assert list(zip(first.tolist(), second.tolist(), strict=True)) == [(0, 1), (1, 2), (3, 4), (5, 1)]
    np.testing.assert_allclose(weight, [1.0, np.sqrt(4 / strong), 0.05, 0.3])


def test_a_cluster_without_any_link_hangs_on_one_of_its_samples():
    first, second, weight = _links(csr_array((4, 4)), np.array([0, 0, 0, 1]))
    assert set(second.tolist()) == {2}
    assert sorted(first.tolist()) == [0, 1]
    np.testing.assert_array_equal(weight, 0.3)


def test_a_sample_lies_along_the_two_leading_directions_of_its_cluster_in_units_of_their_spread():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((40, 3)) * [1, 5, 2] + 9
    rows[0] = [9, 100, 9]  # a stray is drawn no farther than two and a half spreads
    embedding = np.vstack([rows, [[0, 0, 0], [1, 1, 1]]])
    found = _inside(embedding, np.repeat([0, 1], [40, 2]))
    np.testing.assert_array_equal(found[40:], 0)  # two samples have no inside
    centred = rows - rows.mean(axis=0)
    axes = np.linalg.svd(centred)[2][:2]
    along = centred @ axes.T
    along *= np.sign([axes[k, np.abs(axes[k]).argmax()] for k in range(2)])
    np.testing.assert_allclose(found[:40], np.clip(along / along.std(axis=0), -2.5, 2.5), atol=1e-9)
    assert np.abs(found[0]).max() == 2.5
    three = _inside(np.array([[0.0], [1.0], [2.0]]), np.zeros(3, int))
    np.testing.assert_allclose(three, [[-np.sqrt(1.5), 0], [0, 0], [np.sqrt(1.5), 0]], atol=1e-12)


def test_shares_of_the_axes_are_those_of_the_variances():
    data = np.random.default_rng(0).standard_normal((50, 4)) * [1, 5, 2, 3] + 7
    projected, share = principal_axes(data, 3)
    values, vectors = np.linalg.eigh(np.cov(data.T))
    np.testing.assert_allclose(share, values[::-1][:3] / values.sum())
    expected = (data - data.mean(axis=0)) @ vectors[:, ::-1][:, :3]
    np.testing.assert_allclose(np.abs(projected), np.abs(expected), atol=1e-10)
    flipped, _ = principal_axes(-data, 3)
    np.testing.assert_allclose(flipped, -projected, atol=1e-10)


def test_the_spiral_fills_the_disc_by_the_golden_angle():
    places = _spiral(50)
    radius, turn = np.linalg.norm(places, axis=1), np.unwrap(np.arctan2(places[:, 1], places[:, 0]))
    np.testing.assert_allclose(radius**2, (np.arange(50) + 0.5) / 50)
    step = np.diff(turn) % (2 * np.pi)
    np.testing.assert_allclose(step, np.pi * (3 - np.sqrt(5)), atol=1e-9)


def test_a_stray_that_is_not_far_comes_nearer_to_the_border():
    turn = 2 * np.pi * np.arange(100) / 100
    ring = 2 * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    ring[0] = [3.5, 0]  # 1.4 times the border of 2.5
    found = _reined_in(ring)
    middle = np.median(ring, axis=0)
    reach = 1.25 * np.quantile(np.linalg.norm(ring - middle, axis=1), 0.98)
    away = np.linalg.norm(ring[0] - middle) / reach
    assert 1.3 < away < 1.5
    assert np.linalg.norm(found[0] - middle) == pytest.approx(reach * (1 + 0.1 * np.tanh(away - 1)))


def test_directions_inside_each_cluster_point_where_their_largest_weight_is_positive():
    along, across = np.linspace(-5, 5, 11), np.tile([-1.0, 1, 0], 4)[:11]
    rows = along[:, None] * [3.0, -1.0] + 0.2 * (across - across.mean())[:, None] * [-1.0, -3.0]
    found = _inside(np.vstack([rows, rows + 50]), np.repeat([0, 1], 11))
    for members in (slice(0, 11), slice(11, 22)):
        assert np.corrcoef(found[members, 0], along)[0, 1] > 0.99  # (3, −1) and not (−3, 1)
        assert np.corrcoef(found[members, 1], -across)[0, 1] > 0.99  # (1, 3) and not (−1, −3)
        np.testing.assert_allclose(found[members].std(axis=0), 1, rtol=0.1)


def test_three_samples_are_enough_for_a_map_that_shows_their_links():
    triangle = csr_array(np.ones((3, 3)) - np.eye(3))
    found = graph_map(triangle, np.zeros((3, 1)), np.zeros(3, dtype=int))
    assert np.ptp(found, axis=0).max() == pytest.approx(2)
    np.testing.assert_array_equal(graph_map(csr_array((2, 2)), np.zeros((2, 1)), np.zeros(2, dtype=int)), 0)


@pytest.fixture
def unfolded(monkeypatch):
    """What the forces were asked to do; here they leave everybody where they stand."""
    asked = []

    def stay(places, first, second, weight, sweeps):
        asked.append((places, len(first), sweeps))
        return places

    monkeypatch.setattr(layout, "pull_and_push", stay)
    return asked


def test_the_map_begins_with_centres_and_a_third_of_the_inside_of_each_cluster(unfolded):
    """A little above a third; of many clusters each has less room: by the root of their number. Distances between
    linked samples come to about one: the square grows with n to the power of .15."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2], 10)
    embedding = 3 * np.eye(3)[codes] + 0.3 * rng.normal(size=(30, 3))
    ring = csr_array((np.ones(30), (np.arange(30), (np.arange(30) + 1) % 30)), shape=(30, 30))
    found = graph_map(csr_array(ring + ring.T), embedding, codes)
    begun = _unit_square(cluster_map(embedding, codes))
    begun = _unit_square(begun + 0.35 * _inside(embedding, codes) / np.sqrt(3))
    ((places, links, sweeps),) = unfolded
    np.testing.assert_allclose(places, 4 * 30**0.15 * begun)
    assert (links, sweeps) == (30, 200)
    np.testing.assert_allclose(found, _unit_square(_reined_in(places)))
    assert np.abs(found).max() == pytest.approx(1)


def test_samples_on_one_line_begin_beside_it(unfolded):
    embedding = np.linspace(-1, 1, 8)[:, None]
    graph_map(csr_array((8, 8)), embedding, np.zeros(8, dtype=int))
    ((places, _, _),) = unfolded
    line = _unit_square(np.stack([np.linspace(-1, 1, 8), np.zeros(8)], axis=1))
    np.testing.assert_allclose(places, 4 * 8**0.15 * _unit_square(line + 0.1 * _spiral(8)))


@pytest.mark.parametrize(("most", "sweeps"), [(7 * 39, 40), (7 * 41, 41), (7 * 120, 120), (7 * 201, 200)])
def test_a_map_of_many_links_is_swept_less_often_but_forty_times(unfolded, monkeypatch, most, sweeps):
    monkeypatch.setattr(layout, "_MOST_UPDATES", most)
    line = csr_array((np.ones(7), (np.arange(7), np.arange(1, 8))), shape=(8, 8))
    graph_map(csr_array(line + line.T), np.random.default_rng(0).normal(size=(8, 2)), np.zeros(8, dtype=int))
    assert [one[1:] for one in unfolded] == [(7, sweeps)]
