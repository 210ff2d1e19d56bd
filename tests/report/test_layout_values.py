"""Steps of the map by value: what ties samples, how strays come back, where a sample lies in its cluster."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.report.layout import _inside, _links, _reined_in, _spiral, _unit_square, principal_axes


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
