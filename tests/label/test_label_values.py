"""Numbers of the labelling step against their definitions, where a wrong one would still cluster easy data."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

from masked_subspace._common.rows import leading_eigenpairs
from masked_subspace.distributed import spectral
from masked_subspace.label import kmeans, labeler
from masked_subspace.label.diffusion import CLUSTER_WEIGHT, DAMPING, cluster_weight, spread_labels
from masked_subspace.label.graph import (
    affinity_matrix,
    diffusion_weights,
    in_order,
    large_pieces,
    normalized_graph,
    put_back,
    spectral_embedding,
    vectors_to_weigh,
)
from masked_subspace.label.kmeans import (
    ANCHOR_WEIGHT,
    RESTARTS,
    RESTARTS_ON_SAMPLE,
    _fill_empty,
    cluster_rows,
    named_by_anchors,
)
from masked_subspace.label.labeler import (
    Cut,
    Evidence,
    _split_by_rows,
    attach_to_nearest,
    graph_with_pairs,
    label_graph,
    labels_of_cuts,
    numbered_by_appearance,
)
from masked_subspace.label.modularity import ManyCuts
from masked_subspace.masks.pairs import KnownPairs


def clique(n):
    return np.ones((n, n)) - np.eye(n)


def test_shape_interaction_takes_the_root_of_each_value():
    """A symmetric matrix that is no projection: M = U Σ^½, and not U Σ."""
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.standard_normal((7, 7)))[0]
    Z = (U[:, :3] * [2.0, -1.0, 0.25]) @ U[:, :3].T
    M = U[:, :3] * np.sqrt([2.0, 1.0, 0.25])
    M /= np.linalg.norm(M, axis=1, keepdims=True)
    expected = np.maximum(M @ M.T, 0) ** 2.0
    np.fill_diagonal(expected, 0)
    expected /= expected.max()
    np.testing.assert_allclose(affinity_matrix(Z, "shape-interaction", power=2.0).toarray(), expected, atol=1e-8)
    M = U[:, :2] * np.sqrt([2.0, 1.0])
    M /= np.linalg.norm(M, axis=1, keepdims=True)
    two = np.maximum(M @ M.T, 0) ** 2.0
    np.fill_diagonal(two, 0)
    found = affinity_matrix(Z, "shape-interaction", rank=2, power=2.0).toarray()
    np.testing.assert_allclose(found, two / two.max(), atol=1e-8)


def test_top_k_takes_rows_by_their_maximum_before_they_meet():
    Z = np.array([[0, 4.0, 2.0, 1.0], [0.5, 0, 0.1, 0.2], [1.0, 0, 0, 0], [0, 0, 3.0, 0]])
    rows = np.array([[0, 1, 0.5, 0], [1, 0, 0, 0.4], [1, 0, 0, 0], [0, 0, 1, 0]])
    np.testing.assert_allclose(affinity_matrix(-Z, "top-k", n_links=2).toarray(), (rows + rows.T) / 2)


@pytest.mark.parametrize("n", [40, 500])
def test_the_largest_entry_of_an_eigenvector_is_positive(n):
    """n = 40 is solved directly, n = 500 by iteration."""
    rng = np.random.default_rng(1)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.05), 1)
    W = csr_array(W + W.T + 1e-3 * clique(n) * (np.abs(np.subtract.outer(np.arange(n), np.arange(n))) == 1))
    _, vectors = leading_eigenpairs(normalized_graph(W), 6)
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(6)] > 0).all()


@pytest.mark.parametrize(("small", "kept"), [(3, True), (2, False)])
def test_a_piece_counts_from_a_tenth_of_the_mean_cluster(small, kept):
    """60 samples and two clusters: the limit is 3 samples."""
    W = csr_array(block_diag([clique(30), clique(30 - small), clique(small)]))
    large = large_pieces(W, 2, most=3)
    assert large[:57].all()
    assert large[-small:].all() == kept
    assert large_pieces(W, 3, most=3).all()


def test_with_more_pieces_than_vectors_the_largest_carry_them_and_of_equal_ones_the_first():
    W = csr_array(block_diag([clique(9), clique(12), clique(10), clique(9), clique(10)]))
    placed = np.repeat([False, True, True, False, True], [9, 12, 10, 9, 10])
    np.testing.assert_array_equal(large_pieces(W, 2, most=3), placed)
    assert large_pieces(W, 2, most=4)[:9].all()
    assert not large_pieces(W, 2, most=4)[31:40].any()
    embedding = spectral_embedding(W, 3, None, seed=0)
    np.testing.assert_array_equal(embedding.placed, placed)
    # Unit rows: the same inside a piece, at right angles between pieces.
    rows, piece = embedding.vectors[placed], np.repeat([0, 1, 2], [12, 10, 10])
    np.testing.assert_allclose(rows @ rows.T, np.equal.outer(piece, piece), atol=1e-9)
    # Soft weights look at 4K vectors, so that every piece has its own.
    assert spectral_embedding(W, 3, "auto", seed=0).placed.all()


def test_normalized_graph_is_its_formula_and_keeps_empty_rows():
    W = np.array([[0, 2.0, 1.0, 0], [2.0, 0, 0, 0], [1.0, 0, 0, 0], [0, 0, 0, 0]])
    degree = np.array([3.0, 2.0, 1.0, 1.0])
    np.testing.assert_allclose(normalized_graph(csr_array(W)).toarray(), W / np.sqrt(np.outer(degree, degree)))


def test_diffusion_weights_are_powers_of_the_values():
    values = np.array([1.0, 0.9, 0.8, 0.3])
    weights = diffusion_weights(values, 2)
    t = np.log(weights[1]) / np.log(0.9)
    np.testing.assert_allclose(weights, values**t)
    assert (weights**2).sum() == pytest.approx(2)
    assert [vectors_to_weigh(k) for k in (1, 10, 50, 100)] == [4, 40, 200, 250]


def test_values_below_zero_weigh_nothing_and_none_more_than_one():
    """Rounding takes the first value above 1; a bipartite graph has values near −1, which a long walk forgets."""
    weights = diffusion_weights(np.array([1 + 1e-9, 0.9, 0.7, 0.5, -0.2, -0.95]), 2)
    assert weights[0] == 1
    assert weights[1] > weights[2] > weights[3] > 1e-3
    assert weights[4:].max() < 1e-9
    assert (weights**2).sum() == pytest.approx(2)
    assert (diffusion_weights(np.ones(5), 2) == 1).all()  # more pieces than clusters: no walk tells them apart


def test_the_soft_embedding_weighs_each_vector():
    rng = np.random.default_rng(0)
    W = np.triu(rng.random((60, 60)) < 0.1, 1) * 0.3
    W = csr_array(block_diag([clique(30), clique(30)]) + W + W.T)
    found = spectral_embedding(W, 2, "auto", seed=0)
    values, vectors = leading_eigenpairs(normalized_graph(W), 8)
    weights = diffusion_weights(values, 2)
    expected = (vectors * weights)[:, weights > 0.01]
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(found.vectors, expected, atol=1e-12)
    np.testing.assert_allclose(found.values, values)


def test_known_pairs_change_the_graph_as_they_say():
    W = csr_array(np.array([[0, 3.0, 1.0, 0], [3.0, 0, 0, 2.0], [1.0, 0, 0, 0], [0, 2.0, 0, 0]]))
    known = KnownPairs.of(4, [[0, 3]], [[0, 1]])
    found = graph_with_pairs(W, known).toarray()
    # 0–1 and, since 0 and 3 are together, 1–3 may not be linked; 0–3 is as strong as the strongest edge was
    expected = np.array([[0, 0, 1.0, 3.0], [0, 0, 0, 0], [1.0, 0, 0, 0], [3.0, 0, 0, 0]])
    np.testing.assert_array_equal(found, expected)
    assert graph_with_pairs(W, known).nnz == 4


def test_a_known_link_that_is_there_already_is_not_added_to_it():
    W = csr_array(np.array([[0, 1.0, 4.0], [1.0, 0, 0], [4.0, 0, 0]]))
    found = graph_with_pairs(W, KnownPairs.of(3, [[0, 1]])).toarray()
    np.testing.assert_array_equal(found, [[0, 4, 4], [4, 0, 0], [4, 0, 0]])


def test_the_graph_of_a_fit_with_pairs_has_no_forbidden_edge():
    W = csr_array(block_diag([clique(10), clique(10)]) + 0.2 * clique(20))
    labeling = label_graph(W, 2, None, Evidence(np.eye(20), KnownPairs.of(20, None, [[0, 1]])), seed=0)
    assert labeling.affinity[0, 1] == labeling.affinity[1, 0] == 0
    assert labeling.affinity[0, 2] == W[0, 2]


def test_an_empty_cluster_takes_the_farthest_row_but_never_a_singleton():
    labels = np.array([0, 0, 0, 1], dtype=np.int32)  # cluster 2 is empty, cluster 1 has one row, the farthest of all
    distance = np.array([[1.0, 9, 9], [5.0, 9, 9], [2.0, 9, 9], [9, 100.0, 9]])
    _fill_empty(labels, distance, np.full(4, -1))
    np.testing.assert_array_equal(labels, [0, 2, 0, 1])
    anchored = np.array([0, 0, 0, 1], dtype=np.int32)
    _fill_empty(anchored, distance, np.array([-1, 0, -1, -1]))  # row 1 is known to be in cluster 0
    np.testing.assert_array_equal(anchored, [0, 0, 2, 1])


def test_clusters_stay_empty_where_no_row_can_be_spared():
    """Rows 0 and 1 are known to be in cluster 0, row 2 is the only one of cluster 1: nobody is left for 2 and 3."""
    labels = np.array([0, 0, 1], dtype=np.int32)
    _fill_empty(labels, np.ones((3, 4)), np.array([0, 0, -1]))
    np.testing.assert_array_equal(labels, [0, 0, 1])


def test_of_two_empty_clusters_one_row_fills_one_and_a_cluster_of_two_gives_but_one():
    labels = np.array([0, 0, 0, 1, 1], dtype=np.int32)  # the farthest are the two rows of cluster 1
    _fill_empty(labels, np.array([[1.0], [2], [3], [8], [9]]) * np.ones(4), np.full(5, -1))
    np.testing.assert_array_equal(labels, [0, 0, 3, 1, 2])


def test_clusters_are_named_by_the_most_anchors():
    labels = np.array([0, 0, 0, 1, 1, 2], dtype=np.int32)
    anchors = np.array([2, 2, 0, 0, -1, -1])
    np.testing.assert_array_equal(named_by_anchors(labels, anchors, 3), [2, 2, 2, 0, 0, 1])


def test_an_isolated_sample_follows_the_largest_cosine_of_either_sign():
    X = np.array([[1.0, 0], [0, 1.0], [0.2, -0.9]])
    labels = np.array([0, 1, 7], dtype=np.int32)
    attach_to_nearest(labels, np.array([True, True, False]), X)
    np.testing.assert_array_equal(labels, [0, 1, 1])


def test_constants_of_the_labelling_step():
    assert (ANCHOR_WEIGHT, DAMPING, CLUSTER_WEIGHT) == (0.1, 0.95, 10.0)
    assert (RESTARTS, RESTARTS_ON_SAMPLE) == (20, 10)
    assert (spectral._SAMPLE, spectral._SAMPLE_A_CLUSTER) == (kmeans._SAMPLE, kmeans._SAMPLE_A_CLUSTER)
    assert cluster_weight(np.array([0, 0, 1, 1]), np.array([0, 1, 1, -1])) == (2 + 10) / (1 + 1)


def test_labels_spread_by_the_densities_of_the_walk():
    """Two rounds of the formula written out, with sources from members and anchors."""
    rng = np.random.default_rng(3)
    W = np.triu(rng.random((12, 12)) < 0.35, 1).astype(float)
    W = csr_array(W + W.T + np.diag(np.ones(11), 1) + np.diag(np.ones(11), -1))
    labels, anchors = (np.arange(12) >= 6).astype(np.int32), np.full(12, -1)
    anchors[[1, 8]] = [1, 0]
    S = normalized_graph(W).toarray()
    current = labels
    for _ in range(20):
        sources = np.zeros((12, 2))
        for k in range(2):
            members, mine = current == k, anchors == k
            sources[members, k] += 4.0 / members.sum()
            sources[mine, k] += 1.0
            sources[:, k] /= 4.0 + mine.sum()
        F = np.linalg.inv(np.eye(12) - 0.9 * S) @ sources
        new = (F / F.sum(axis=0)).argmax(axis=1)
        if np.array_equal(new, current):
            break
        current = new
    np.testing.assert_array_equal(spread_labels(W, labels, anchors, 2, alpha=0.9, weight=4.0), current)


def test_with_fewer_places_than_clusters_a_cluster_stays_in_one_place():
    """Rows are moved apart by far less than places are, so that the clusters asked for divide places and mix none."""
    places = np.repeat([[1.0, 0, 0], [1.0, 0.01, 0], [1.0, 0, 0.01]], 12, axis=0)
    labels = cluster_rows(places, 5, seed=0)
    assert len(np.unique(labels)) == 5
    for label in range(5):
        assert len(np.unique(places[labels == label], axis=0)) == 1


def test_the_largest_cluster_is_halved_by_its_rows():
    X = np.repeat([[1.0, 0, 0], [0.9, 0.4, 0], [0, 0, 1.0], [0, 0.4, 0.9]], [3, 3, 4, 8], axis=0)
    labels = np.repeat(np.array([0, 1], dtype=np.int32), [6, 12])
    found = _split_by_rows(labels.copy(), 3, Evidence(X), seed=0)
    assert (found[:6] == 0).all()
    assert len(np.unique(found[6:10])) == len(np.unique(found[10:])) == 1
    assert set(found[6:]) == {1, 2}


def test_several_cuts_of_one_graph_are_those_that_are_made_one_by_one():
    """Of a ring with chords no two cuts are alike, so that none can stand for another."""
    rng = np.random.default_rng(0)
    n = 60
    W = np.zeros((n, n))
    W[np.arange(n), (np.arange(n) + 1) % n] = 1
    W += (rng.random((n, n)) < 0.05) * rng.random((n, n))
    graph = csr_array(np.triu(W + W.T, 1) + np.triu(W + W.T, 1).T)
    evidence = Evidence(rng.random((n, 3)), None, False, 1)
    cuts = [Cut("modularity"), Cut("spectral"), Cut("spectral", 1.75), Cut("modularity", 1.75)]
    found = labels_of_cuts(graph, cuts, 4, "auto", evidence, 3)
    for labels, cut in zip(found[:3], cuts[:3], strict=True):
        parts = cut.parts(4, n)
        alone = label_graph(graph, parts, "auto", evidence, 3, cut=cut.kind).labels
        assert labels.max() + 1 == parts
        np.testing.assert_array_equal(labels, alone)
    about = found[3].max() + 1
    assert abs(about - 7) <= 1
    alone = put_back(ManyCuts(in_order(graph, evidence.order), 3).cut_about(7), evidence.order)
    np.testing.assert_array_equal(found[3], numbered_by_appearance(alone))
    assert not np.array_equal(found[0], found[1])
    assert not np.array_equal(found[2], found[3])


def test_known_labels_spread_with_the_odds_of_the_clusters(monkeypatch):
    """Ten of twelve known labels name the cluster that their sample is in: it counts as (10 + 10) / (2 + 1) of them."""
    W = csr_array(block_diag([clique(10), clique(10)]) + 0.01 * clique(20))
    partial = np.full(20, -1)
    partial[:6], partial[10:16] = [0, 0, 0, 0, 0, 1], [1, 1, 1, 1, 1, 0]
    known = KnownPairs.of(20, partial_labels=partial)
    asked, original = [], labeler.spread_labels
    monkeypatch.setattr(labeler, "spread_labels", lambda *of, **how: asked.append(how) or original(*of, **how))
    label_graph(W, 2, None, Evidence(np.eye(20), known), seed=0)
    assert [how["weight"] for how in asked] == [pytest.approx(20 / 3)]


def test_who_overrules_labels_hears_the_densities_at_the_damping_asked_for():
    rng = np.random.default_rng(3)
    W = np.triu(rng.random((12, 12)) < 0.35, 1).astype(float)
    W = csr_array(W + W.T + np.diag(np.ones(11), 1) + np.diag(np.ones(11), -1))
    labels, anchors, heard = (np.arange(12) >= 6).astype(np.int32), np.full(12, -1), []
    anchors[[1, 8]] = [1, 0]
    sources = np.zeros((12, 2))
    for k in range(2):
        sources[labels == k, k] = 4.0 / 6
        sources[anchors == k, k] += 1.0
    F = np.linalg.inv(np.eye(12) - 0.5 * normalized_graph(W).toarray()) @ (sources / 5)
    spread_labels(
        W, labels, anchors, 2, alpha=0.5, weight=4.0, max_iter=1, assign=lambda new, cost: heard.append(cost) or new
    )
    np.testing.assert_allclose(heard[0], -np.log(F / F.sum(axis=0)), atol=5e-3)
