"""Votes of Gaussian mixtures: which tables suit them, what they vote, and when the judge takes them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_circles
from sklearn.mixture import GaussianMixture

from masked_subspace import RMSC
from masked_subspace._common.rows import content_order
from masked_subspace.metrics import adjusted_rand_index, clustering_accuracy
from masked_subspace.rounds import judge, mixtures
from masked_subspace.rounds.flats import FLATS
from masked_subspace.rounds.mixtures import MIXTURES, mixture_votes, number_of_mixtures, suits_a_mixture
from masked_subspace.rows.checks import check_samples


def flats(n=300, d=3, seed=1, far=0.5):
    """Three lines and planes of R³ that cross, with a little noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = np.zeros((n, d))
    for k in range(3):
        basis = np.linalg.qr(rng.normal(size=(d, d)))[0][:, : 1 + k % 2]
        X[y == k] = far * rng.normal(size=d) + 2 * rng.normal(size=((y == k).sum(), basis.shape[1])) @ basis.T
    return X + 0.03 * rng.normal(size=X.shape), y


def way_of(model):
    return next(record["way"] for record in model.choices_ if record["taken"])


@pytest.mark.parametrize("name", MIXTURES)
def test_few_features_and_enough_samples_suit(name):
    rng = np.random.default_rng(0)
    assert suits_a_mixture(rng.random((200, 20)), 3, name)
    assert not suits_a_mixture(rng.random((200, 21)), 3, name)
    assert not suits_a_mixture(rng.random((8, 4)), 3, name)
    assert not suits_a_mixture(check_samples(RMSC(3), csr_array(rng.random((200, 5))), reset=True), 3, name)


def test_own_covariances_need_samples_for_each_cluster():
    X = np.random.default_rng(0).random((100, 10))
    assert not suits_a_mixture(X, 5, "mixture")
    assert suits_a_mixture(X, 5, "shared-mixture")


@pytest.mark.parametrize("name", MIXTURES)
def test_permuted_samples_get_the_same_votes(name):
    X, _ = flats()
    order = np.random.default_rng(5).permutation(len(X))
    votes, permuted = mixture_votes(X, 3, name, 7), mixture_votes(X[order], 3, name, 7)
    assert len(votes) == 6
    for vote, other in zip(votes, permuted, strict=True):
        assert adjusted_rand_index(vote[order], other) == 1


def test_every_feature_counts_the_same_whatever_its_unit():
    X, _ = flats()
    for vote, other in zip(
        mixture_votes(X, 3, "mixture", 0), mixture_votes(X * [1e-3, 1, 1e4] + 5, 3, "mixture", 0), strict=True
    ):
        assert adjusted_rand_index(vote, other) == 1


def test_features_with_two_values_do_not_hold_a_component():
    X, y = flats()
    coin = np.random.default_rng(2).integers(0, 2, (len(X), 1)).astype(float)
    plain, beside = (mixture_votes(one, 3, "mixture", 0) for one in (X, np.hstack([X, coin])))
    for vote, other in zip(plain, beside, strict=True):
        assert adjusted_rand_index(vote, other) == 1
    assert clustering_accuracy(y, plain[0]) > 0.9


def test_a_table_of_answers_alone_is_seen_as_it_is():
    answers = np.random.default_rng(2).integers(0, 2, (100, 4)).astype(float)
    assert all(len(vote) == 100 for vote in mixture_votes(answers, 2, "shared-mixture", 0))


@pytest.mark.parametrize("n", [300, 2500])
def test_flats_that_cross_are_told_apart(n):
    X, y = flats(n)
    model = RMSC(3, random_state=0).fit(X)
    assert way_of(model) in ("mixture", "affine-mixture")
    assert clustering_accuracy(y, model.labels_) > 0.95
    assert len(model.member_labels_) == 6
    record = next(record for record in model.choices_ if record["taken"])
    assert record["cuts"] == []
    assert record["score"] == max(one["score"] for one in model.choices_ if "score" in one)
    np.testing.assert_array_equal(model.predict(X[:50]), model.labels_[:50])


@pytest.mark.parametrize("alone", [False, True])
def test_what_is_known_holds_with_mixtures(monkeypatch, alone):
    """Of Gaussians, where mixtures of whole subspaces are not asked, and of subspaces."""
    if alone:
        monkeypatch.setattr(judge, "suits_flats", lambda *_: False)
    X, y = flats()
    model = RMSC(3, random_state=0).fit(X, partial_labels=np.where(np.arange(len(X)) < 30, y, -1))
    assert way_of(model) in (("mixture",) if alone else FLATS)
    assert (model.labels_[:30] == y[:30]).mean() > 0.95


def test_a_second_round_cuts_the_graphs_again():
    X, _ = flats()
    model = RMSC(3, random_state=0, max_rounds=2).fit(X)
    assert 1 <= model.n_rounds_ <= 2
    assert len(np.unique(model.labels_)) == 3


def test_rings_that_no_subspace_predicts_count_by_their_gap():
    X, y = make_circles(400, noise=0.05, factor=0.4, random_state=0)
    model = RMSC(2, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.95
    assert way_of(model) not in MIXTURES


def test_the_closed_form_must_win_in_few_features():
    X, y = flats(450, seed=0)
    model = RMSC(3, random_state=0).fit(X)
    low_rank = [record for record in model.choices_ if record["way"] == "low-rank"]
    assert len(low_rank) == 1
    assert low_rank[0]["gap"] > 0
    assert clustering_accuracy(y, model.labels_) > 0.9


def test_a_draw_is_seven_tenths_of_the_samples_and_five_thousand_at_most():
    assert mixtures._drawn(100) == 70
    assert mixtures._drawn(7_142) == 4_999
    assert mixtures._drawn(50_000) == 5_000


def test_votes_are_those_of_mixtures_of_the_draws_that_are_written_down():
    """Each fitted to 70 % of the samples in the order of their content, drawn with the seed; features of variance 1."""
    X, _ = flats(80)
    rows = (X - X.mean(axis=0)) / X.std(axis=0)
    order, rng = content_order(rows), np.random.default_rng(3)
    for number, vote in enumerate(mixture_votes(X, 3, "shared-mixture", 3)):
        drawn = order[rng.choice(80, 56, replace=False)]
        model = GaussianMixture(3, covariance_type="tied", reg_covar=0.01, n_init=2, random_state=number)
        assert adjusted_rand_index(vote, model.fit(rows[drawn]).predict(rows)) == 1


def test_every_cluster_needs_two_samples_of_a_draw():
    X = np.random.default_rng(0).random((20, 2))  # 14 are drawn
    assert suits_a_mixture(X, 7, "shared-mixture")
    assert not suits_a_mixture(X, 8, "shared-mixture")


@pytest.mark.parametrize(("n_measured", "kept"), [(0, 2), (1, 3), (2, 2), (3, 3)])
def test_features_of_two_values_are_left_out_where_two_others_aremeasured(n_measured, kept):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(50, n_measured)), rng.integers(0, 2, (50, 2))])
    np.testing.assert_array_equal(mixtures.measured(X), X[:, :kept])


def test_mixtures_count_clouds_and_say_nothing_of_one():
    rng = np.random.default_rng(0)
    centres = 6 * rng.normal(size=(4, 3))
    X = np.vstack([centre + rng.normal(size=(40, 3)) for centre in centres])
    found = number_of_mixtures(X, 2, 20, 0)
    assert found.n_clusters == found.candidates[0] == 4
    assert [record["n_clusters"] for record in found.records] == list(range(2, 2 + len(found.records)))
    best = max(found.records, key=lambda record: record["score"])
    assert best["n_clusters"] == 4
    assert best["score"] == pytest.approx((best["agreement"] - 0.65) * best["information"])
    assert number_of_mixtures(X[rng.permutation(160)], 2, 20, 0).n_clusters == 4
    assert number_of_mixtures(X, 5, 7, 0).n_clusters in (5, 6, 7)
    assert number_of_mixtures(rng.normal(size=(200, 4)), 2, 20, 0) is None
    assert number_of_mixtures(X[:4], 3, 4, 0) is None  # too few samples for any
