"""What a fitted clusterer says of samples: its own keep their labels and places, new ones get sensible ones."""

import pickle

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from masked_subspace import BMSC, RMSC, BilevelClustering
from masked_subspace.baselines import LSR
from masked_subspace.datasets import make_subspaces
from masked_subspace.metrics import clustering_accuracy

ESTIMATORS = [BMSC(4), RMSC(4), BilevelClustering(n_clusters=4), LSR(4)]
SET = pytest.mark.parametrize("load", [load_iris, load_wine], ids=["iris", "wine"])


@pytest.fixture(scope="module", params=ESTIMATORS, ids=lambda one: type(one).__name__)
def fitted(request, subspaces):
    """Each of the estimators on every second sample."""
    return request.param.set_params(random_state=0, n_jobs=1).fit(subspaces.data[::2])


@SET
@pytest.mark.filterwarnings("ignore:The clusters may not be real")
def test_training_samples_keep_their_labels_and_places(load):
    X = load().data
    for model in (BMSC(3, random_state=0, n_jobs=1).fit(X), RMSC(3, random_state=0, n_jobs=1).fit(X)):
        copied = len(X) - len(np.unique(X, axis=0))
        assert np.sum(model.predict(X) != model.labels_) <= copied <= 0.01 * len(X)
        moved = np.abs(model.transform(X) - model.embedding_).max(axis=1) > 1e-12
        assert moved.sum() <= copied
        np.testing.assert_array_equal(model.predict_proba(X[:9]), model.memberships_[:9])


def test_a_shuffled_part_of_the_training_samples_too(fitted, subspaces):
    part = np.random.default_rng(0).permutation(60)[:20]
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict(subspaces.data[::2][part]), fitted.labels_[part])
    np.testing.assert_array_equal(again.transform(subspaces.data[::2][part]), fitted.embedding_[part])


@pytest.mark.filterwarnings("ignore:.*identical copy", "ignore:.*may not be real")
def test_equal_samples_in_two_clusters_have_the_cluster_of_the_first():
    X = np.full((2, 1), 0.5)
    model = BMSC(2, center=False, random_state=0).fit(X)
    assert sorted(model.labels_) == [0, 1]
    np.testing.assert_array_equal(model.predict(X), [model.labels_[0]] * 2)


def test_new_samples_of_a_subspace_lie_beside_its_training_samples(fitted, subspaces):
    new, true = subspaces.data[1::2], subspaces.target[1::2]
    places = fitted.transform(new)
    assert places.shape == (60, fitted.embedding_.shape[1])
    centres = np.stack([fitted.embedding_[fitted.labels_ == k].mean(axis=0) for k in range(4)])
    nearest = np.linalg.norm(places[:, None] - centres, axis=2).argmin(axis=1)
    assert clustering_accuracy(true, nearest) == 1
    np.testing.assert_array_equal(nearest, fitted.predict(new))
    np.testing.assert_array_equal(nearest, fitted.predict(new, method="subspace"))
    assert fitted.score(new) == pytest.approx(1)


def test_directions_keep_their_length(fitted, subspaces):
    lengths = np.linalg.norm(fitted.embedding_, axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(fitted.transform(subspaces.data[1::2]), axis=1), 1, atol=1e-6)


def test_the_subspaces_are_those_the_samples_were_drawn_from(fitted, subspaces):
    assert len(fitted.subspaces_) == 4
    for cluster, record in enumerate(fitted.subspaces_):
        true = subspaces.target[::2][fitted.labels_ == cluster][0]
        assert set(record) >= {"mean", "basis", "dim", "explained"}
        assert record.dim == record["dim"] == 3
        assert record.basis.shape == (3, 30)
        assert subspace_angles(record.basis.T, subspaces.bases[true].T).max() < 1e-6
    residuals = fitted.subspace_residuals(subspaces.data)
    assert residuals.shape == (120, 4)
    assert residuals.min(axis=1).max() < 1e-6
    assert np.sort(residuals, axis=1)[:, 1].min() > 0.1


def test_dimensions_of_found_clusters_under_noise():
    errors = []
    for seed in range(4):
        drawn = make_subspaces(5, 4, 40, 50, noise=(0.02, 0.1)[seed % 2], random_state=seed)
        model = BMSC(5, random_state=0, n_jobs=1).fit(drawn.data)
        errors += [abs(record.dim - 4) for record in model.subspaces_]
    assert np.mean(np.array(errors) <= 1) >= 0.95


def test_subspaces_of_an_earlier_fit_do_not_outlive_it(subspaces):
    model = BMSC(4, random_state=0, n_jobs=1).fit(subspaces.data)
    before = model.subspaces_
    model.fit(subspaces.data[:60, :20], partial_labels=np.repeat([0, 1, 2, 3], 15))
    assert model.subspaces_ is not before
    assert model.subspaces_[0].basis.shape[1] == 20


def test_sparse_samples_of_a_baseline_have_subspaces_in_their_features(subspaces):
    for features in (30, 200):  # fewer and more features than samples
        X = np.zeros((len(subspaces.data), features))
        X[:, :30] = subspaces.data
        model = LSR(4, random_state=0, n_jobs=1).fit(csr_array(X))
        for cluster, record in enumerate(model.subspaces_):
            assert record.basis.shape == (3, features)
            np.testing.assert_allclose(record.basis @ record.basis.T, np.eye(3), atol=1e-8)
            members = X[model.labels_ == cluster]
            np.testing.assert_allclose(record.mean, members.mean(axis=0), atol=1e-8)
        np.testing.assert_allclose(model.transform(csr_array(X[:7])), model.embedding_[:7])
        assert model.subspace_residuals(csr_array(X)).min(axis=1).max() < 1e-6
        assert clustering_accuracy(subspaces.target, model.predict(csr_array(X), method="subspace")) == 1


def test_set_output(fitted, subspaces):
    model = pickle.loads(pickle.dumps(fitted)).set_output(transform="pandas")
    table = model.transform(subspaces.data[::2])
    assert list(table.columns) == list(model.get_feature_names_out())
    np.testing.assert_array_equal(table.to_numpy(), fitted.embedding_)


def test_grid_search_without_scoring_splits_no_cluster(subspaces):
    rows = np.random.default_rng(0).permutation(len(subspaces.data))
    search = GridSearchCV(BMSC(random_state=0, n_jobs=1), {"n_clusters": [1, 4, 9]}, cv=2, error_score="raise")
    search.fit(subspaces.data[rows])
    assert search.best_params_ == {"n_clusters": 4}
    assert search.best_score_ > 0.9
    assert search.cv_results_["mean_test_score"][0] == 0


def test_what_cannot_be_answered_is_said(fitted, subspaces):
    with pytest.raises(ValueError, match="method is 'nearest'; choose"):
        fitted.predict(subspaces.data, method="nearest")
    with pytest.raises(ValueError, match="29 features"):
        fitted.subspace_residuals(subspaces.data[:, :29])
    for ask in ("transform", "score", "subspace_residuals"):
        with pytest.raises(NotFittedError):
            getattr(BMSC(3), ask)(subspaces.data)
    with pytest.raises(NotFittedError):
        _ = BMSC(3).subspaces_
