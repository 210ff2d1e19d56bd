"""Votes of k-means on tables: what they are, when they are asked for, and when the judge takes them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans

from masked_subspace import RMSC
from masked_subspace._common.rows import content_order, on_one_scale
from masked_subspace.label.kmeans import cluster_rows
from masked_subspace.metrics import adjusted_rand_index
from masked_subspace.rounds import judge
from masked_subspace.rounds.centres import centre_votes, labels_by_draw


def fitted(X, n_clusters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return RMSC(n_clusters, random_state=0).fit(X)


def record_of(model, way):
    return next((one for one in model.choices_ if one["way"] == way), None)


def touching_groups(seed=0, n_features=30):
    """Four groups that touch, told apart by four hidden numbers that all features show with much noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, 400)
    hidden = 2.2 * np.eye(4)[y] + rng.normal(size=(400, 4))
    X = hidden @ rng.normal(size=(4, n_features)) + 1.5 * rng.normal(size=(400, n_features))
    return X, y


def test_each_vote_is_k_means_of_a_draw_with_features_on_one_scale():
    X, _ = touching_groups()
    rows = on_one_scale(X)
    order, rng = content_order(rows), np.random.default_rng(3)
    votes = centre_votes(X, 4, seed=3)
    assert len(votes) == 6
    for number, vote in enumerate(votes):
        some = rows[order[rng.choice(400, 280, replace=False)]]
        labels = cluster_rows(some, 4, 3 + number, 5)
        centres = np.array([some[labels == k].mean(axis=0) for k in range(4)])
        np.testing.assert_array_equal(vote, ((rows[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1))


def test_units_and_order_change_nothing():
    X, _ = touching_groups(n_features=5)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(X))
    votes = centre_votes(X, 4, 0)
    for one, other in zip(votes, centre_votes(X * 10.0 ** np.arange(-2, 3) + 7, 4, 0), strict=True):
        assert adjusted_rand_index(one, other) == 1
    for one, other in zip(votes, centre_votes(X[order], 4, 0), strict=True):
        assert adjusted_rand_index(one[order], other) == 1


def test_many_samples_are_drawn_from():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 8_000)
    rows = rng.normal(size=(8_000, 2)) + 6 * np.eye(3)[y][:, :2]
    votes = centre_votes(rows, 3, 0)
    assert all(len(vote) == 8_000 for vote in votes)
    seen = np.arange(0, 8_000, 2)
    vote = labels_by_draw(rows, seen, 3, 0, 5)
    np.testing.assert_array_equal(vote[seen], KMeans(3, n_init=5, random_state=0).fit(rows[seen]).predict(rows[seen]))


def test_two_draws_that_disagree_are_enough():
    cloud = np.random.default_rng(0).normal(size=(300, 12))
    both = centre_votes(cloud, 6, 0, least=0.9)
    assert len(both) == 2
    agreed = adjusted_rand_index(*both)
    assert agreed < 0.9
    assert len(centre_votes(cloud, 6, 0, least=agreed)) == 6


def test_groups_that_touch_are_found_about_their_centres():
    """Codes and links err among groups that touch; k-means does not, and the judge says so without labels."""
    X, y = touching_groups()
    model = fitted(X, 4)
    taken = next(one for one in model.choices_ if one["taken"])
    assert taken["way"] == "centres"
    assert taken["cuts"] == []
    k_means = KMeans(4, n_init=10, random_state=0).fit_predict(on_one_scale(X))
    assert adjusted_rand_index(model.labels_, y) > adjusted_rand_index(k_means, y) - 0.03
    assert adjusted_rand_index(model.labels_, k_means) > 0.8
    assert np.mean(model.predict(X[:100]) == model.labels_[:100]) > 0.9


def test_where_they_cannot_lead_no_strength_is_asked_for():
    X, _ = touching_groups()
    y = np.repeat(np.arange(4), 100)
    lines = np.random.default_rng(0).normal(size=(4, 30))
    along = np.random.default_rng(1).normal(size=(400, 1)) * lines[y] + 0.02 * np.random.default_rng(2).normal(
        size=X.shape
    )
    model = fitted(along, 4)
    asked = record_of(model, "centres")
    assert asked is None or (asked["strength"] is None and not asked["taken"])


@pytest.mark.parametrize(("features", "asked"), [(20, False), (21, True), (100, True), (101, False)])
def test_tables_of_21_to_100_features_are_seen_so(features, asked):
    X = np.random.default_rng(0).normal(size=(60, features)) + np.repeat([[0], [3]], 30, axis=0)
    assert (record_of(fitted(X, 2), "centres") is not None) is asked


def test_all_votes_are_asked_for_when_every_way_is_studied():
    X, _ = touching_groups()
    from masked_subspace._common.progress import SilentEvents
    from masked_subspace.estimators.base import Task

    model = fitted(X, 4)
    ways = {way.family.name: way for way in model._judge(Task(X, None, False, 0, 1, SilentEvents()), every=True)}
    way = ways["centres"]
    assert len(way.family.ballot.votes) == 6
    assert way.strength is not None
    assert way.score == pytest.approx(way.agreement * (way.strength + way.evened_strength) / 2 / 1.25)
    assert judge._CENTRES == 1.25
