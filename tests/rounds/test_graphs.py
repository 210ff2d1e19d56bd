"""Anyone's graph through our cuts: as a function, and as `affinity="precomputed"`."""

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csc_matrix, csr_array
from sklearn.exceptions import NotFittedError

from masked_subspace import BMSC, GMSC, RMSC, cluster_graph
from masked_subspace.label.agreement import agreement_with
from masked_subspace.label.labeler import Cut, label_graph
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.rounds.graphs import check_graph, evidence_of, outcome_of_cuts

TRUE = np.repeat([0, 1, 2], [30, 50, 70])


@pytest.fixture(scope="module")
def graph():
    """Three communities of random links, ten times as many inside as between."""
    rng = np.random.default_rng(0)
    likely = np.where(TRUE[:, None] == TRUE, 0.3, 0.03)
    W = np.triu(rng.random(likely.shape) < likely, 1) * rng.random(likely.shape)
    return W + W.T


@pytest.mark.parametrize("cut", ["auto", "spectral", "modularity"])
def test_every_cut_finds_the_communities_however_the_graph_comes(graph, cut):
    labels = cluster_graph(graph, 3, cut=cut, random_state=0, n_jobs=1)
    assert clustering_accuracy(TRUE, labels) > 0.95
    for same in (csr_array(graph), csc_matrix(graph), coo_matrix(graph), graph + np.eye(150)):
        np.testing.assert_array_equal(cluster_graph(same, 3, cut=cut, random_state=0, n_jobs=1), labels)


@pytest.mark.parametrize("estimator", [BMSC, GMSC, RMSC])
def test_estimators_cut_the_graph_they_are_given(graph, estimator):
    model = estimator(3, affinity="precomputed", random_state=0, n_jobs=1).fit(csr_array(graph))
    assert clustering_accuracy(TRUE, model.labels_) > 0.95
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), graph)
    assert model.memberships_.shape == (150, 3)
    assert model.n_features_in_ == 150
    assert 0.5 < model.structure_ <= 1
    assert model.__sklearn_tags__().input_tags.pairwise
    if estimator is RMSC:
        np.testing.assert_array_equal(model.labels_, cluster_graph(graph, 3, random_state=0, n_jobs=1))
        assert len(model.member_labels_) > 1


def test_a_graph_of_a_fit_gives_the_clusters_of_the_fit(graph):
    rows = np.random.default_rng(0).normal(size=(3, 4, 20))[TRUE]
    X = np.einsum("ni,nij->nj", np.random.default_rng(1).normal(size=(150, 4)), rows)
    fitted = BMSC(3, random_state=0, n_jobs=1).fit(X)
    again = BMSC(3, affinity="precomputed", random_state=0, n_jobs=1).fit(fitted.affinity_matrix_)
    assert clustering_accuracy(fitted.labels_, again.labels_) == 1


def test_known_pairs_hold_in_a_graph(graph):
    model = BMSC(3, affinity="precomputed", constraints="hard", random_state=0, n_jobs=1)
    model.fit(graph, must_link=[[0, 40]], cannot_link=[[1, 2]])
    assert model.labels_[0] == model.labels_[40]
    assert model.labels_[1] != model.labels_[2]


def test_new_samples_have_no_place_in_a_graph(graph):
    model = RMSC(3, affinity="precomputed", random_state=0, n_jobs=1)
    with pytest.raises(NotFittedError):
        model.predict(graph)
    model.fit(graph)
    for ask in ("predict", "predict_proba", "transform", "score", "subspace_residuals"):
        with pytest.raises(AttributeError, match=r'needs samples, but RMSC was fitted with affinity="precomputed"'):
            getattr(model, ask)(graph)
    assert not hasattr(model, "subspaces_")


def broken(graph, value):
    bad = graph.copy()
    bad[2, 5] = bad[5, 2] = value
    return bad


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda W: W[:10], r"has shape \(10, 150\); a graph is n × n"),
        (lambda W: W[0], r"has shape \(150,\); a graph is n × n"),
        (lambda W: broken(W, -1.0), "negative weights, down to -1"),
        (lambda W: broken(W, np.nan), "NaN or infinity"),
        (lambda W: np.triu(W), "not symmetric"),
        (lambda W: W * 1j, "dtype complex128"),
        (lambda W: W[:2, :2], "n_samples=2; it should be >= n_clusters=3"),
        (lambda _: np.eye(9), "no links between different samples"),
    ],
)
def test_what_is_no_graph_is_refused(graph, change, message):
    with pytest.raises(ValueError, match="W.* " + message):
        cluster_graph(change(graph), 3)
    with pytest.raises(ValueError, match="X.* " + message):
        BMSC(3, affinity="precomputed").fit(change(graph))


def test_bad_arguments_are_named(graph):
    with pytest.raises(ValueError, match="cut is 'normalized'; choose one of 'auto', 'spectral', 'modularity'"):
        cluster_graph(graph, 3, cut="normalized")
    with pytest.raises(ValueError, match=r"n_clusters is 2\.5"):
        cluster_graph(graph, 2.5)


def test_isolated_samples_are_counted(graph):
    alone = graph.copy()
    alone[7] = alone[:, 7] = 0
    with pytest.warns(UserWarning, match="1 of the 150 samples of W have no links"):
        labels = cluster_graph(alone, 3, random_state=0, n_jobs=1)
    assert clustering_accuracy(np.delete(TRUE, 7), np.delete(labels, 7)) > 0.95


@pytest.mark.parametrize("unit", [1e-8, 1.0, 1e8])
def test_weights_are_symmetric_in_whatever_unit(unit):
    """Beside the largest weight: rounding of large ones is no fault, and half of a small one is."""
    W = unit * np.kron(np.eye(2), np.ones((4, 4)))
    W[0, 1] *= 1 + 1e-7
    assert len(np.unique(cluster_graph(W, 2, random_state=0))) == 2
    W[0, 1] *= 1.5
    with pytest.raises(ValueError, match="not symmetric"):
        cluster_graph(W, 2, random_state=0)


def test_the_sketch_is_one_step_of_a_lazy_walk():
    """(D^-½ W D^-½ + I) times random directions, at unit length: a sample without links has a row of its own."""
    W = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3)) * 2.0
    W[5] = W[:, 5] = 0
    degree = np.array([4.0, 4.0, 4.0, 2.0, 2.0, 1.0])
    directions = np.random.default_rng(0).normal(size=(6, 6))
    expected = (W / np.sqrt(np.outer(degree, degree)) + np.eye(6)) @ directions
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(evidence_of(csr_array(W), None, hard=False, n_threads=1).X, expected, atol=1e-12)


def test_entries_that_are_given_twice_are_summed():
    """Parts of a weight may be negative, and a weight is too small or not symmetric only as a whole."""
    columns = np.array([1, 2, 1, 0, 2, 0, 0, 1])
    weights = np.array([3.0, 2, -1, 2, 4, 2, 0, 4])
    given = csr_array((weights, columns, [0, 3, 5, 8]), shape=(3, 3))
    found = check_graph(given, 2, "W")
    np.testing.assert_array_equal(found.toarray(), [[0, 2, 2], [2, 0, 4], [2, 4, 0]])
    assert found.nnz == 6
    assert given.nnz == 8  # that of the caller stays as it is


@pytest.mark.parametrize(("share", "symmetric"), [(0.9e-5, True), (1.1e-5, False)])
def test_weights_that_differ_by_a_hundred_thousandth_of_the_largest_are_equal(share, symmetric):
    W = np.kron(np.eye(2), np.ones((3, 3)))
    W[0, 1] += 8 * share
    W[4, 5] = W[5, 4] = 8.0
    if symmetric:
        assert check_graph(W, 2, "W")[0, 1] == 1 + 8 * share
    else:
        with pytest.raises(ValueError, match="not symmetric"):
            check_graph(W, 2, "W")


def test_a_sketch_has_64_columns_or_as_many_as_samples():
    for n, columns in ((20, 20), (64, 64), (90, 64)):
        ring = np.roll(np.eye(n), 1, axis=1)
        X = evidence_of(csr_array(ring + ring.T), None, hard=False, n_threads=1).X
        assert X.shape == (n, columns)
        np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)


def test_several_cuts_of_a_graph_vote_and_their_consensus_is_taken(graph):
    W = csr_array(graph)
    evidence = evidence_of(W, None, hard=False, n_threads=1)
    cuts = [Cut("spectral"), Cut("modularity"), Cut("modularity", 2.0)]
    found = outcome_of_cuts(W, 3, cuts, "auto", evidence, 0)
    expected = [
        label_graph(W, parts, "auto", evidence, 0, cut=kind).labels
        for kind, parts in (("spectral", 3), ("modularity", 3), ("modularity", 6))
    ]
    for vote, labels in zip(found.votes, expected, strict=True):
        np.testing.assert_array_equal(vote, labels)
    assert len(np.unique(found.votes[2])) == 6
    np.testing.assert_allclose(found.certainty, agreement_with(found.labeling.labels, expected))
    one = outcome_of_cuts(W, 3, cuts[1:2], "auto", evidence, 0)
    np.testing.assert_array_equal(one.labeling.labels, expected[1])
    assert (one.votes, one.certainty) == ([], None)
    finer = outcome_of_cuts(W, 3, cuts[2:], "auto", evidence, 0)  # a finer cut alone is brought back to K
    assert len(np.unique(finer.labeling.labels)) == 3
    assert len(finer.votes) == 1


def test_cuts_vote_without_the_known_pairs_and_their_consensus_hears_of_them(graph):
    W = csr_array(graph)
    wrong = KnownPairs.of(150, must_link=[[i, 149 - i] for i in range(40)])
    cuts = [Cut("spectral"), Cut("modularity")]
    free, told = (
        outcome_of_cuts(W, 3, cuts, "auto", evidence_of(W, known, hard=False, n_threads=1), 0)
        for known in (None, wrong)
    )
    for vote, other in zip(free.votes, told.votes, strict=True):
        np.testing.assert_array_equal(vote, other)
    assert (abs(told.labeling.affinity - free.labeling.affinity)).max() > 0
