"""Limits of the labelling step with their numbers written out: where another path begins, and how often it starts."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.label import kmeans, labeler
from masked_subspace.label.graph import affinity_matrix, large_enough, spectral_embedding
from masked_subspace.label.kmeans import Clusters, _best_of_sample, cluster_rows, cluster_rows_from_anchors
from masked_subspace.label.labeler import (
    Cut,
    Evidence,
    GraphLabeler,
    _placed,
    cut_for,
    graph_with_pairs,
    label_rows,
    labels_of_cuts,
    numbered_by_appearance,
)
from masked_subspace.label.nearest_subspace import of_most_energy
from masked_subspace.label.number_of_clusters import Number
from masked_subspace.label.separation import rows_of_one_scale
from masked_subspace.masks.pairs import KnownPairs


@pytest.fixture
def starts(monkeypatch):
    """How many rows were clustered from how many starts."""
    asked = []

    def restarted(rows, n_clusters, n_init, seed, _weights=None):
        asked.append((len(rows), n_init, seed))
        return Clusters(np.zeros(len(rows), dtype=np.int32), rows[:n_clusters], 0.0)

    monkeypatch.setattr(kmeans, "_restarted", restarted)
    return asked


def test_up_to_20000_rows_are_clustered_from_20_starts_and_a_sample_of_more_from_10(starts):
    line = np.arange(20_001.0)[:, None]
    cluster_rows(line[:20_000], 3, 5)
    cluster_rows(line, 3, 5)
    cluster_rows(line[:50], 3, 5, 7)
    assert starts == [(20_000, 20, 5), (20_000, 10, 5), (50, 7, 5)]
    starts.clear()
    _best_of_sample(np.arange(30_000.0)[:, None], 41, 5, 10)
    _best_of_sample(np.arange(30_000.0)[:, None], 70, 5, 10)
    assert starts == [(20_500, 10, 5), (30_000, 10, 5)]  # 500 for each cluster, or all


@pytest.mark.parametrize(("n_anchored", "n_init", "expected"), [(2, None, 10), (2, 4, 4), (3, None, 1)])
def test_anchors_leave_ten_starts_to_chance_and_one_where_every_cluster_has_some(
    monkeypatch, n_anchored, n_init, expected
):
    drawn = []
    original = kmeans._centres_from_anchors
    monkeypatch.setattr(kmeans, "_centres_from_anchors", lambda *given: drawn.append(1) or original(*given))
    rows = np.random.default_rng(0).normal(size=(30, 2))
    anchors = np.full(30, -1)
    anchors[:n_anchored] = np.arange(n_anchored)
    cluster_rows_from_anchors(rows, np.arange(30) % 3, 3, anchors, 0, n_init)
    assert len(drawn) == expected


def test_votes_are_cut_from_five_starts(monkeypatch):
    from masked_subspace.label.kmeans import RESTARTS_OF_A_RANK, RESTARTS_OF_A_VOTE

    asked = []
    monkeypatch.setattr(
        labeler, "cluster_rows", lambda rows, *of: asked.append(of) or (np.arange(len(rows)) % 2).astype(np.int32)
    )
    W = csr_array(np.kron(np.eye(2), np.ones((5, 5))) - np.eye(10))
    labels_of_cuts(W, [Cut("spectral")], 2, 2, Evidence(np.eye(10)), 3, RESTARTS_OF_A_VOTE)
    assert asked == [(2, 3, 5, 1)]
    assert RESTARTS_OF_A_RANK == 10


def test_auto_cuts_by_modularity_above_2000_samples():
    assert [cut_for("auto", n) for n in (2_000, 2_001)] == ["spectral", "modularity"]
    assert [cut_for(cut, 9_000) for cut in ("spectral", "modularity")] == ["spectral", "modularity"]
    assert Cut("modularity", 1.5).parts(3, 100) == 4  # 4.5, to the even


@pytest.mark.parametrize(("n_placed", "by_rows"), [(10, False), (9, True)])
def test_where_most_samples_are_isolated_the_rows_are_clustered(n_placed, by_rows):
    """Of 20 samples the embedding places some, and says another thing than the rows."""
    rows = np.repeat([[1.0, 0.1], [0.1, 1.0]], 10, axis=0) + 0.01 * np.random.default_rng(0).normal(size=(20, 2))
    embedding = np.eye(2)[np.arange(20) % 2]
    placed = np.arange(20) < n_placed
    labels = label_rows(embedding, placed, csr_array((20, 20)), 2, Evidence(rows), 0)
    halves = numbered_by_appearance(np.repeat([0, 1], 10))
    assert np.array_equal(labels, halves) is by_rows
    if not by_rows:
        np.testing.assert_array_equal(labels[:10], np.arange(10) % 2)


@pytest.mark.parametrize(("n_placed", "by_rows"), [(10, False), (9, True)])
def test_where_most_samples_have_no_community_the_rows_are_clustered(n_placed, by_rows):
    rows = np.repeat([[1.0, 0.1], [0.1, 1.0]], 10, axis=0) + 0.01 * np.random.default_rng(0).normal(size=(20, 2))
    labels = np.where(np.arange(20) < n_placed, np.arange(20) % 2, -1).astype(np.int32)
    found = _placed(labels.copy(), 2, Evidence(rows), 0)
    assert (len(np.unique(found[:10])) == len(np.unique(found[10:])) == 1) is by_rows
    if not by_rows:
        np.testing.assert_array_equal(found[:10], labels[:10])


@pytest.mark.parametrize(("n_samples", "n_looks"), [(5_000, 1), (5_001, 0)])
def test_up_to_5000_samples_a_number_of_clusters_must_predict(monkeypatch, n_samples, n_looks):
    asked = []

    def number(families, low, high, seed, *, samples, order, n_threads):
        asked.append((len(families), low, high, seed, len(samples), len(order), n_threads))
        return Number(2, [2], [])

    monkeypatch.setattr(labeler, "number_of_clusters", number)
    one = GraphLabeler((2, 4))
    evidence = Evidence(np.random.default_rng(0).normal(size=(n_samples, 2)), n_threads=2)
    assert [one._number(csr_array((n_samples, n_samples)), evidence, 7) for _ in range(2)] == [2, 2]
    assert asked == [(1, 2, 4, 7, n_looks, n_samples, 2)]  # once
    assert GraphLabeler(3)._number(csr_array((9, 9)), evidence, 7) == 3


def test_five_links_and_a_fourth_power_unless_told_otherwise():
    Z = np.random.default_rng(0).random((12, 12)) + 0.1
    for kind in ("top-k", "code-neighbors"):
        found, five = affinity_matrix(Z, kind), affinity_matrix(Z, kind, n_links=5)
        assert abs(found - five).max() == 0
        assert abs(found - affinity_matrix(Z, kind, n_links=6)).max() > 0
    found = affinity_matrix(Z, "shape-interaction").toarray()
    np.testing.assert_allclose(found, affinity_matrix(Z, "shape-interaction", power=4.0).toarray())
    assert np.abs(found - affinity_matrix(Z, "shape-interaction", power=2.0).toarray()).max() > 1e-3


def test_a_group_is_tied_by_ten_links_a_sample():
    """A ring of 33 with chords of length 2, 4, 8 and 16."""
    known = KnownPairs.of(33, [[i, i + 1] for i in range(32)])
    degree = np.diff(graph_with_pairs(csr_array((33, 33)), known).indptr)
    np.testing.assert_array_equal(degree, 10)


def test_pieces_as_large_as_the_largest_count_however_many_clusters_are_wanted():
    sizes = np.array([3, 3, 1])
    np.testing.assert_array_equal(large_enough(sizes, 1, 9), [True, True, True])
    np.testing.assert_array_equal(large_enough(np.array([40, 3, 4]), 1, 9), [True, False, False])
    np.testing.assert_array_equal(large_enough(np.array([1, 1, 1]), 100, 2), [True, True, False])


def test_as_many_vectors_as_clusters_unless_told_otherwise():
    W = np.random.default_rng(0).random((30, 30))
    W = csr_array(W + W.T)
    assert spectral_embedding(W, 4, None, 0).vectors.shape == (30, 4)
    assert spectral_embedding(W, 4, 6, 0).values.shape == (6,)
    assert spectral_embedding(W, 4, "auto", 0).values.shape == (16,)


def test_nine_directions_at_most_and_one_less_than_the_members():
    even = np.ones(60)
    assert [of_most_energy(even, members, 100) for members in (200, 10, 9, 4)] == [9, 9, 8, 3]
    assert of_most_energy(even, 200, 12) == 6
    assert of_most_energy(np.array([8.0, 2.0]), 200, 100) == 1  # four fifths exactly


def test_of_many_samples_a_thousand_are_put_on_one_scale():
    X = np.random.default_rng(0).normal(size=(1_001, 2)) * [1, 9] + 4
    rows, places = rows_of_one_scale(X)
    assert len(rows) == len(set(places.tolist())) == 1_000
    expected = (X[places] - X[places].mean(axis=0)) / X[places].std(axis=0)
    np.testing.assert_allclose(rows, expected)
    assert len(rows_of_one_scale(X[:1_000])[1]) == 1_000
