"""Clusters of few features against what one cloud would give."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from masked_subspace import RMSC
from masked_subspace.label.separation import Clouds, Inside, inside_share, separation


def test_the_share_inside_is_0_by_chance_and_1_without_a_link_outside():
    X, y = make_blobs(300, 2, centers=[[0, 0], [20, 0], [0, 20]], random_state=0)
    assert inside_share(X, y) == 1
    shuffled = np.random.default_rng(0).permutation(y)
    assert abs(inside_share(X, shuffled)) < 0.05


def test_the_share_inside_by_hand():
    X = np.arange(12.0)[:, None]
    labels = np.repeat([0, 1], 6)
    near = [sorted(range(12), key=lambda j, i=i: abs(i - j))[1:11] for i in range(12)]
    inside = np.mean([[labels[i] == labels[j] for j in of] for i, of in enumerate(near)])
    assert inside_share(X, labels) == pytest.approx((inside - 0.5) / 0.5, abs=0.02)


@pytest.mark.parametrize("features", [2, 3, 6])
def test_gaps_are_told_from_cells_of_one_cloud(features):
    X, y = make_blobs(300, features, centers=4, cluster_std=0.5, center_box=(-10, 10), random_state=3)
    assert separation(X / X.std(axis=0), y) > 0.9
    cloud = np.random.default_rng(0).normal(size=(300, features))
    assert separation(cloud, KMeans(4, n_init=5, random_state=0).fit_predict(cloud)) < 0.6


def test_a_cloud_in_the_plane_warns_and_groups_in_the_plane_do_not():
    with pytest.warns(UserWarning, match="may not be real"):
        RMSC(3, random_state=0).fit(np.random.default_rng(0).normal(size=(200, 2)))
    X, _ = make_blobs(200, 2, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RMSC(3, random_state=0).fit(X)
    assert model.structure_ > 0.5


def test_clouds_are_drawn_once_and_judge_any_labels():
    X, y = make_blobs(200, 3, centers=4, cluster_std=0.5, random_state=0)
    X = X / X.std(axis=0)
    clouds = Clouds.like(X)
    assert clouds.excess(y) > 0.8
    assert clouds.excess(np.random.default_rng(0).integers(0, 4, 200)) < 0
    assert separation(X, y) == 1


def test_clouds_have_the_covariance_of_the_samples():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 3)) @ np.array([[3.0, 0, 0], [1, 1, 0], [0.5, 0.2, 0.3]]) + 7
    expected = np.cov(X.T)
    clouds = [cloud for cloud, _ in Clouds.like(X).clouds]
    assert len(clouds) == 6
    for cloud in clouds:
        np.testing.assert_allclose(np.cov(cloud.T), expected, atol=0.1 * expected.max())
    # A uniform cloud ends at √3 standard deviations along each principal direction, a normal one does not.
    values, vectors = np.linalg.eigh(expected)
    farthest = [np.abs(cloud @ vectors / np.sqrt(values)).max() for cloud in clouds]
    assert max(farthest[1::2]) < 1.9
    assert min(farthest[::2]) > 2.5


def test_excess_is_measured_from_the_cloud_with_the_most_links_inside():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2)) + 3 * np.repeat(np.eye(2), 60, axis=0)
    labels = np.repeat([0, 1], 60)
    clouds = Clouds.like(X, 5)
    of_clouds = [
        inside_share(cloud, KMeans(2, n_init=2, random_state=5).fit_predict(cloud)) for cloud, _ in clouds.clouds
    ]
    assert max(of_clouds) > min(of_clouds)
    expected = (inside_share(X, labels) - max(of_clouds)) / (1 - max(of_clouds))
    assert clouds.excess(labels) == pytest.approx(expected)
    half = clouds.excess_of_clearest(labels) / 2
    assert separation(X, labels, 5) == pytest.approx(np.clip((max(expected, half) + 0.12) / 0.87, 0, 1))


def test_clouds_are_cut_until_the_excess_is_known_to_be_below_what_is_asked_for():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2)) + 3 * np.repeat(np.eye(2), 60, axis=0)
    labels = np.repeat([0, 1], 60)
    exact = Clouds.like(X, 5).excess(labels)
    lazy = Clouds.like(X, 5)
    bound = lazy.excess(labels, enough=1.0)
    assert exact <= bound < 1
    assert len(lazy._found[2]) == 1
    assert lazy.excess(labels, enough=exact) == exact
    assert lazy.excess(labels) == exact
    assert len(lazy._found[2]) == 6


def test_clouds_are_drawn_with_the_seed():
    X = np.random.default_rng(0).normal(size=(30, 2))
    one, again, other = (Clouds.like(X, seed).clouds[0][0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, other)


def test_separation_runs_from_no_gap_to_a_clear_one():
    """0 from an excess of −.12 down, 1 from .75 up, straight between; looked at where it is neither."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 60)
    between = 0
    for apart in (2.5, 2.8, 3.1, 3.4, 3.7):
        X = rng.normal(size=(120, 2)) + apart * np.repeat(np.eye(2), 60, axis=0)
        clouds = Clouds.like(X, 3)
        excess = max(clouds.excess(labels), clouds.excess_of_clearest(labels) / 2)
        found = separation(X, labels, 3)
        assert found == pytest.approx(np.clip((excess + 0.12) / 0.87, 0, 1))
        between += 0.02 < found < 0.98
    assert between >= 2


def test_one_cluster_that_stands_apart_counts_where_the_others_touch():
    rng = np.random.default_rng(0)
    touching = rng.normal(size=(200, 3))
    far = 0.5 * rng.normal(size=(30, 3)) + [6, 0, 0]
    X, labels = np.vstack([touching, far]), np.full(230, 4)
    labels[:200] = KMeans(4, n_init=5, random_state=0).fit_predict(touching)
    alone = touching / touching.std(axis=0)
    assert separation(alone, labels[:200]) < 0.3
    X = X / X.std(axis=0)
    clouds = Clouds.like(X)
    assert clouds.excess_of_clearest(labels) == 1
    assert clouds.excess(labels) < 0.5
    assert separation(X, labels) == pytest.approx((0.5 + 0.12) / 0.87)


def test_the_clearest_cluster_by_hand():
    """Ten to the left keep all their nine and one link to the right, thirty to the right all of theirs."""
    X = np.concatenate([np.arange(10) * 0.1, 50 + np.arange(30) * 0.1])[:, None]
    labels = np.repeat([3, 1], [10, 30])
    near = Clouds.like(X).near
    for highest, expected in ((0.5, 1.0), (0.9, 1.0)):
        clouds = Clouds(near, [None], 0, {2: [Inside(0.0, highest)]})
        assert clouds.excess_of_clearest(labels) == pytest.approx(expected)
    clouds = Clouds(near, [None], 0, {2: [Inside(0.0, 0.6)]})
    swapped = labels.copy()
    swapped[[0, 39]] = 1, 3
    kept = [np.mean([np.mean(swapped[near[i]] == swapped[i]) for i in np.flatnonzero(swapped == k)]) for k in (1, 3)]
    assert clouds.excess_of_clearest(swapped) == pytest.approx((max(kept) - 0.6) / 0.4)


def test_the_last_cloud_counts_too_and_no_cloud_is_without_a_gap():
    """q of the clouds as given; an excess is divided by what is left above the best of them, a thousandth at least."""
    X = np.repeat([[0.0], [50.0]], 12, axis=0) + np.arange(24)[:, None] * 0.1
    labels = np.repeat([0, 1], 12)
    labels[[2, 17]] = 1, 0
    inside = inside_share(X, labels)
    assert 0.5 < inside < 0.95
    near = Clouds.like(X).near
    for found, highest in (([0.1, 0.2, 0.6], 0.6), ([0.6, 0.2, 0.1], 0.6), ([0.3, 0.7, 0.1], 0.7)):
        clouds = Clouds(near, [None] * 3, 0, {2: [Inside(one, 0.0) for one in found]})
        assert clouds.excess(labels) == pytest.approx((inside - highest) / (1 - highest))
    perfect = Clouds(near, [None], 0, {2: [Inside(1.0, 1.0)]})
    assert perfect.excess(np.arange(24) % 2) == pytest.approx((inside_share(X, np.arange(24) % 2) - 1) / 1e-3)


@pytest.mark.parametrize("each", [4, 6, 8])
def test_a_few_samples_in_groups_far_apart_stand_apart(each):
    """Two thirds of a cluster's samples count as neighbours: of ten, most would be in another cluster."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], each)
    X = rng.normal(size=(len(y), 3)) + 12 * np.eye(3)[y]
    assert separation(X / X.std(axis=0), y) > 0.7
    assert separation(X / X.std(axis=0), np.arange(len(y)) % 3) == 0


def test_ten_neighbours_count_where_clusters_have_fifteen_samples():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(30, 2)) + 2 * np.eye(2)[np.arange(30) % 2], np.arange(30) % 2
    ten = Clouds.like(X)
    assert ten.near.shape == (30, 10)
    excess = max(ten.excess(labels), ten.excess_of_clearest(labels) / 2)
    assert separation(X, labels) == pytest.approx(np.clip((excess + 0.12) / 0.87, 0, 1))
    assert Clouds.like(X, 0, 3).near.shape == (30, 3)
