"""Votes along topics: what they are, when the judge takes them, and that nothing hangs on order or form."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

from masked_subspace import RMSC
from masked_subspace._common.rows import content_order
from masked_subspace.label.kmeans import cluster_rows
from masked_subspace.metrics import adjusted_rand_index, clustering_accuracy
from masked_subspace.rounds.topics import topic_votes
from masked_subspace.rows.preparation import VIEWS, Preparation


def texts(n_samples=240, n_words=500, n_kinds=4, length=25, seed=0, common=0.5):
    """Counts of words: half of each text is common to all kinds, the rest has the words of its kind."""
    rng = np.random.default_rng(seed)
    shared, own = rng.dirichlet(np.full(n_words, 0.1)), rng.dirichlet(np.full(n_words, 0.1), size=n_kinds)
    y = rng.integers(0, n_kinds, n_samples)
    return np.array([rng.multinomial(length, common * shared + (1 - common) * own[k]) for k in y]).astype(float), y


def taken(model):
    return next(record["way"] for record in model.choices_ if record["taken"])


def test_eight_votes_in_two_numbers_of_topics():
    X, y = texts()
    rows = Preparation.learn(X, VIEWS["topics"]).apply(X)
    votes = topic_votes(rows, 4, seed=0)
    assert len(votes) == 8
    assert all(vote.shape == y.shape and set(vote) <= set(range(4)) for vote in votes)
    assert np.mean([adjusted_rand_index(vote, y) for vote in votes]) > 0.8


def test_votes_see_the_leading_topics_only():
    X, _ = texts()
    rows = Preparation.learn(X, VIEWS["topics"]).apply(X)
    changed = rows.copy()
    changed[:, 11:] = np.random.default_rng(0).normal(size=changed[:, 11:].shape)  # 2 K + 3 = 11
    for vote, other in zip(topic_votes(rows, 4, 0), topic_votes(changed, 4, 0), strict=True):
        if adjusted_rand_index(vote, other) < 1:
            # The order by content, by which samples are drawn, sees all columns; the topics that vote are the same.
            assert adjusted_rand_index(vote, other) > 0.8


def test_each_vote_is_k_means_of_a_draw_in_its_own_space():
    """K + 3 topics and 2K + 3, as they are and evened out by the root of their size, two draws of seven tenths each."""
    X, _ = texts(n_samples=90, n_words=120)
    rows = Preparation.learn(X, VIEWS["topics"]).apply(X)
    order, rng = content_order(rows), np.random.default_rng(5)
    size = np.sqrt((rows**2).sum(axis=0))
    expected = []
    for count in (7, 11):
        for power in (0.0, 0.5):
            topics = rows[:, :count] / size[:count] ** power
            topics = topics / np.linalg.norm(topics, axis=1, keepdims=True)
            for number in range(2):
                some = topics[order[rng.choice(90, 63, replace=False)]]
                labels = cluster_rows(some, 4, 5 + number, 5)
                centres = np.array([some[labels == k].mean(axis=0) for k in range(4)])
                expected.append(((topics[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1))
    np.testing.assert_array_equal(topic_votes(rows, 4, seed=5), expected)


def test_samples_with_one_vote_are_nearest_to_its_centre():
    X, _ = texts(n_kinds=2)
    rows = Preparation.learn(X, VIEWS["topics"]).apply(X)
    vote = topic_votes(rows, 2, seed=3)[0]
    leading = rows[:, :5] / np.linalg.norm(rows[:, :5], axis=1, keepdims=True)
    model = KMeans(2, n_init=10, random_state=0).fit(leading)
    assert adjusted_rand_index(vote, model.labels_) > 0.9


def test_permuted_samples_get_the_same_votes():
    X, _ = texts()
    order = np.random.default_rng(5).permutation(len(X))
    rows, permuted = (Preparation.learn(one, VIEWS["topics"]).apply(one) for one in (X, X[order]))
    for vote, other in zip(topic_votes(rows, 4, 7), topic_votes(permuted, 4, 7), strict=True):
        assert adjusted_rand_index(vote[order], other) == 1


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_texts_are_told_apart_by_their_topics(form):
    X, y = texts()
    model = RMSC(4, random_state=0).fit(form(X))
    assert taken(model) == "topics"
    assert {record["way"] for record in model.choices_} == {"topics", "plain"}
    assert clustering_accuracy(y, model.labels_) > 0.95
    assert model.structure_ > 0.5
    new, kinds = texts(n_samples=60)[0], texts(n_samples=60)[1]
    assert adjusted_rand_index(model.predict(form(new)), kinds) > 0.6


def test_other_data_are_not_asked_for_topics():
    X = np.random.default_rng(0).random((60, 30))
    with pytest.warns(UserWarning, match="structure_"):
        model = RMSC(3, random_state=0).fit(X)
    assert "topics" not in {record["way"] for record in model.choices_}


def test_topics_give_way_to_what_only_the_solver_has():
    X, _ = texts()
    model = RMSC(4, affine=True, random_state=0).fit(X)
    assert "topics" not in {record["way"] for record in model.choices_}


def test_draws_are_clustered_from_five_starts_and_hold_5000_samples_at_most(monkeypatch):
    asked = []

    def cluster(rows, n_clusters, seed, n_init):
        asked.append((len(rows), n_clusters, seed, n_init))
        return np.arange(len(rows)) % n_clusters

    monkeypatch.setattr("masked_subspace.rounds.topics.cluster_rows", cluster)
    rows = np.random.default_rng(0).normal(size=(8_000, 6))
    topic_votes(rows, 2, seed=7)
    assert asked == [(5_000, 2, 7, 5), (5_000, 2, 8, 5)] * 4
    asked.clear()
    topic_votes(rows[:5], 4, seed=7)  # as many as clusters at least
    assert {size for size, *_ in asked} == {4}
