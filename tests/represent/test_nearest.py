"""Links by distance: the formula, the mask, and data whose clusters are clouds."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from masked_subspace import RMSC
from masked_subspace._common.progress import SilentEvents
from masked_subspace.estimators.base import Task
from masked_subspace.masks.soft import LabelMask
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.representer import MaskedRepresenter, NearestRepresenter
from masked_subspace.rounds.mixtures import MIXTURES
from masked_subspace.rows.preparation import VIEWS, Preparation


def all_others(n):
    return np.array([[j for j in range(n) if j != i] for i in range(n)], dtype=np.int32)


def links_of(X, candidates, mask=None):
    return NearestRepresenter(X, AdmmSettings(0.0), candidates).represent_many([AdmmSettings(0.0)], mask)[0]


def test_the_weight_of_a_link_is_the_gaussian_of_its_distance_by_both_scales():
    X = np.random.default_rng(0).normal(size=(20, 3))
    Z = links_of(X, all_others(20)).representation.toarray()
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    scale = np.sort(distance, axis=1)[:, 7]  # 0 is the sample itself
    expected = np.exp(-(distance**2) / np.outer(scale, scale))
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(Z, expected, rtol=1e-12)


def test_a_link_by_cosine_weighs_as_the_cosine_with_its_sign():
    X = np.random.default_rng(0).normal(size=(20, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    nearest = NearestRepresenter(X, AdmmSettings(0.0), all_others(20), by_cosine=True)
    Z = nearest.represent_many([AdmmSettings(0.0)], None)[0].representation.toarray()
    expected = X @ X.T
    np.fill_diagonal(expected, 0)
    assert expected.min() < -0.5
    np.testing.assert_allclose(Z, expected, atol=1e-12)


def test_fewer_neighbours_than_the_scale_asks_for_and_missing_ones():
    X = np.random.default_rng(1).normal(size=(5, 2))
    candidates = all_others(5)
    candidates[2, 3] = -1
    Z = links_of(X, candidates).representation
    assert Z.nnz == 19
    assert np.isfinite(Z.data).all()


def test_copies_are_the_nearest_of_each_other():
    X = np.repeat(np.random.default_rng(2).normal(size=(3, 4)), 12, axis=0)
    Z = links_of(X, all_others(36)).representation.toarray()
    assert np.isfinite(Z).all()
    assert (Z[0, 1:12] == 1).all()


def test_a_mask_divides_by_the_squared_price():
    X = np.random.default_rng(3).normal(size=(12, 3))
    mask = LabelMask(np.arange(12) % 2, 2.0)
    free, masked = (links_of(X, all_others(12), one).representation.toarray() for one in (None, mask))
    same = np.equal.outer(np.arange(12) % 2, np.arange(12) % 2) & ~np.eye(12, dtype=bool)
    np.testing.assert_allclose(masked[same], 4 * free[same])
    other = ~np.equal.outer(np.arange(12) % 2, np.arange(12) % 2)
    np.testing.assert_allclose(masked[other], free[other] / 4)


def test_beside_a_long_constant_the_nearest_by_angle_are_the_nearest_by_distance():
    X, _ = make_blobs(300, 3, centers=4, random_state=0)
    rows = Preparation.learn(X, VIEWS["distance"]).apply(X)
    found = MaskedRepresenter(n_candidates=20).nearest(rows).candidates
    true = np.argsort(np.linalg.norm(X[:, None] - X[None], axis=2), axis=1)[:, 1:11]
    shared = [len(set(a) & set(b)) for a, b in zip(found.tolist(), true.tolist(), strict=True)]
    assert np.mean(shared) > 9.5


@pytest.mark.parametrize("seed", [1, 2])
def test_clouds_of_unequal_size_are_found_by_their_distances(seed):
    X, y = make_blobs([400, 60, 40, 20], 6, cluster_std=1.5, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RMSC(4, random_state=0).fit(X)
        only_codes = RMSC(4, random_state=0, view="standardized").fit(X)
    # Mixtures of the same samples may be clearer still; they see them as links by distance do.
    assert next(one["way"] for one in model.choices_ if one["taken"]) in ("near", *MIXTURES)
    near = next(
        way for way in model._judge(Task(X, None, False, 0, 1, SilentEvents()), every=True) if way.family.name == "near"
    )
    assert clustering_accuracy(y, near.labels) > 0.95
    assert clustering_accuracy(y, model.labels_) > 0.99
    assert clustering_accuracy(y, model.labels_) >= clustering_accuracy(y, only_codes.labels_)
    assert np.mean(model.predict(X) == model.labels_) > 0.99


def test_features_on_one_scale_are_one_view_of_distances():
    X, _ = make_blobs(120, 4, centers=3, cluster_std=4.0, random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RMSC(3, random_state=0).fit(X)
    near = [one for one in model.choices_ if one["way"] == "near"]
    assert not near or near[0]["views"] == ["distance"]


def test_what_only_algorithm_1_has_leaves_distances_out():
    X, _ = make_blobs([60, 20, 20], 6, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RMSC(3, noise=1.0, random_state=0).fit(X)
    assert "near" not in [one["way"] for one in model.choices_]
