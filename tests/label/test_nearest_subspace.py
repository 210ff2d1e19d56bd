"""The nearest subspace: distances are plain ones, and the clusters decide how many directions they keep."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

from masked_subspace._common.sparse.implicit import ImplicitRows
from masked_subspace.datasets import make_subspaces
from masked_subspace.label import nearest_subspace
from masked_subspace.label.nearest_subspace import NearestSubspace, of_most_energy
from masked_subspace.metrics import clustering_accuracy


def test_flat_clusters_keep_all_directions_above_noise():
    made = make_subspaces(3, 10, per_subspace=90, ambient=30, noise=0.02, random_state=0)
    train, new = np.arange(270) % 3 > 0, np.arange(270) % 3 == 0
    model = NearestSubspace.learn(made.data[train], made.target[train], 3, 30)
    assert model.rule == "above noise"
    assert [basis.shape[1] for _, basis in model.subspaces] == [10, 10, 10]
    np.testing.assert_array_equal(model.labels(made.data[new]), made.target[new])
    for cluster, (mean, basis) in enumerate(model.subspaces):
        np.testing.assert_allclose(mean, made.data[train][made.target[train] == cluster].mean(axis=0))
        np.testing.assert_allclose(basis.T @ basis, np.eye(10), atol=1e-10)


def test_digits_keep_few():
    X, y = load_digits(return_X_y=True)
    model = NearestSubspace.learn(X[:600], y[:600], 10, 64)
    assert model.rule == "most energy"
    assert max(basis.shape[1] for _, basis in model.subspaces) <= 9
    assert clustering_accuracy(y[600:900], model.labels(X[600:900])) > 0.9


def test_the_nearest_is_that_of_plain_distances():
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(90, 8)), np.arange(90) % 3
    model = NearestSubspace.learn(rows, labels, 3, 8)
    new = rng.normal(size=(40, 8))
    plain = [np.linalg.norm((new - mean) - (new - mean) @ basis @ basis.T, axis=1) for mean, basis in model.subspaces]
    np.testing.assert_array_equal(model.labels(new), np.argmin(plain, axis=0))


def test_clusters_of_one_sample_and_of_none():
    rng = np.random.default_rng(0)
    rows = np.vstack([rng.normal(size=(20, 5)) + 9, np.full((1, 5), -30.0), rng.normal(size=(20, 5)) - 9])
    labels = np.repeat([0, 2, 3], [20, 1, 20])  # nobody is in cluster 1
    model = NearestSubspace.learn(rows, labels, 4, 5)
    np.testing.assert_array_equal(model.labels(rows), labels)
    assert model.clusters.tolist() == [0, 2, 3]


def test_the_rule_does_not_depend_on_the_order_of_rows():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]
    order = np.random.default_rng(0).permutation(400)
    straight, permuted = NearestSubspace.learn(X, y, 10, 64), NearestSubspace.learn(X[order], y[order], 10, 64)
    assert straight.rule == permuted.rule
    np.testing.assert_array_equal(straight.labels(X), permuted.labels(X))


def test_rows_that_are_not_written_out_are_placed_like_arrays():
    made = make_subspaces(3, 4, 40, 60, noise=0.02, random_state=0)
    X = np.where(np.abs(made.data) > 0.05, made.data, 0)
    implicit = ImplicitRows.of(csr_array(X), X.mean(axis=0), 0.0)
    dense = NearestSubspace.learn(X - X.mean(axis=0), made.target, 3, 60)
    ours = NearestSubspace.learn(implicit, made.target, 3, 60)
    assert ours.rule == dense.rule
    np.testing.assert_array_equal(ours.labels(implicit), dense.labels(X - X.mean(axis=0)))
    # What takes the place of rows is the rows turned: clusters lie as far from their mean as they did.
    lengths = [[np.linalg.norm(mean) for mean, _ in model.subspaces] for model in (ours, dense)]
    np.testing.assert_allclose(*lengths)


@pytest.mark.parametrize(("members", "features", "kept"), [(50, 40, 2), (2, 40, 1), (1, 40, 0), (50, 3, 1)])
def test_four_fifths_of_the_energy_within_limits(members, features, kept):
    assert of_most_energy(np.array([5.0, 3.0, 1.0, 1.0]), members, features) == kept


def test_a_rule_is_judged_by_rows_that_it_has_not_seen(monkeypatch):
    """All directions rebuild every row they were taken from, and say nothing of others."""
    rng = np.random.default_rng(0)
    rows, labels = rng.normal(size=(60, 80)), rng.integers(0, 3, 60)
    rules = {"above noise": lambda variances, *_: len(variances), "most energy": lambda *_: 0}
    monkeypatch.setattr(nearest_subspace, "RULES", rules)
    assert NearestSubspace.learn(rows, labels, 3, 80).rule == "most energy"


def test_all_directions_are_kept_only_where_they_tell_clearly_more(monkeypatch):
    made = make_subspaces(3, 10, per_subspace=60, ambient=30, noise=0.02, random_state=0)
    assert NearestSubspace.learn(made.data, made.target, 3, 30).rule == "above noise"
    monkeypatch.setattr(nearest_subspace, "_CLEARLY", 0.99)
    assert NearestSubspace.learn(made.data, made.target, 3, 30).rule == "most energy"


def test_many_members_are_known_by_some_of_them(monkeypatch):
    monkeypatch.setattr(nearest_subspace, "_MOST_MEMBERS", 30)
    rows = np.random.default_rng(0).normal(size=(100, 6))
    some = nearest_subspace.drawn_by_content(rows, 30, np.random.default_rng(0))
    (mean, _), *_ = NearestSubspace.learn(rows, np.zeros(100, dtype=int), 1, 6).subspaces
    np.testing.assert_allclose(mean, rows[some].mean(axis=0))


def test_folds_are_drawn_anew_for_every_split(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(40, 3))
    trained = []
    plain = nearest_subspace._Directions.of_clusters

    def seen(train, labels, n_clusters):
        trained.append({tuple(row) for row in train})
        return plain(train, labels, n_clusters)

    monkeypatch.setattr(nearest_subspace._Directions, "of_clusters", seen)
    nearest_subspace._rule_for(rows, np.arange(40) % 2, 2, 3)
    every = {tuple(row) for row in rows}
    left_out = [frozenset(every - train) for train in trained]
    assert [len(fold) for fold in left_out] == [10] * 12
    assert all(frozenset.union(*left_out[start : start + 4]) == every for start in (0, 4, 8))
    assert len(set(left_out)) == 12


@pytest.mark.parametrize(("more", "rule"), [(3, "most energy"), (4, "above noise")])
def test_clearly_more_is_a_hundredth_of_the_rows_of_all_splits(monkeypatch, more, rule):
    """A hundred rows, each left out three times: the rule of few directions errs so often, the other never."""
    labels = np.arange(100) % 2
    rows = np.column_stack([labels, np.random.default_rng(0).random(100)])
    wrong = iter([True] * more)

    def distances(others, rules):
        told = np.abs(others[:, :1] - [0.0, 1.0])
        if rules[0] is nearest_subspace.of_most_energy:
            for row in told:
                if next(wrong, False):
                    row[:] = row[::-1]
        return told

    class Named:
        def subspace(self, rule, _):
            return rule

    monkeypatch.setattr(nearest_subspace, "squared_distances", distances)
    monkeypatch.setattr(nearest_subspace._Directions, "of_clusters", lambda *_: {0: Named(), 1: Named()})
    assert nearest_subspace._rule_for(rows, labels, 2, 2) == rule
