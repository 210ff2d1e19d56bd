"""Clusters of few features against what one cloud would give."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from masked_subspace import RMSC
from masked_subspace.label.separation import Clouds, inside_share, separation


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
