"""missing="ignore": NaN entries are unknown, the rest is used."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator

from masked_subspace import BMSC, GMSC, RMSC, BilevelClustering
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace.baselines import LSR
from masked_subspace.datasets import make_subspaces
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.rows.missing import Completion

METHODS = (BMSC, GMSC, RMSC)


@pytest.fixture(scope="module")
def half():
    """Four subspaces of dimension 3 in 30, half of their entries unknown, samples mixed."""
    return make_subspaces(missing=0.5, random_state=0, shuffle=True)


@pytest.fixture(scope="module")
def fitted(half):
    return BMSC(4, missing="ignore", random_state=0).fit(half.data)


def test_half_of_the_entries_are_enough(half, fitted):
    assert clustering_accuracy(half.target, fitted.labels_) > 0.98
    means = SimpleImputer().fit_transform(half.data)
    assert clustering_accuracy(half.target, BMSC(4, random_state=0).fit_predict(means)) < 0.97


@pytest.mark.parametrize("method", [GMSC, RMSC])
def test_the_others_take_them_too(method):
    data = make_subspaces(missing=0.3, random_state=1)
    model = method(4, missing="ignore", random_state=0).fit(data.data)
    assert clustering_accuracy(data.target, model.labels_) == 1
    assert model.n_missing_ == np.isnan(data.data).sum()


def test_what_was_estimated_is_kept(half, fitted):
    hidden = half.missing_mask
    assert fitted.n_missing_ == hidden.sum()
    np.testing.assert_array_equal(fitted.completed_[~hidden], half.data[~hidden])
    error = np.sqrt(np.mean((fitted.completed_ - half.clean)[hidden] ** 2)) / half.clean.std()
    # What hidden entries said of the error is what it is, or worse: their rows had fewer entries.
    assert error < 1.2 * fitted.missing_error_ < 0.5


@pytest.mark.parametrize("method", METHODS)
def test_without_nan_nothing_changes(method):
    X = make_subspaces(4, 3, 20, 25, random_state=0).data
    one, other = (method(4, missing=word, random_state=0).fit(X) for word in ("error", "ignore"))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.memberships_, other.memberships_)
    np.testing.assert_array_equal(one.predict(X[:7] + 0.01), other.predict(X[:7] + 0.01))
    assert one.n_missing_ == other.n_missing_ == 0
    assert not hasattr(other, "completed_")


def test_the_same_seed_gives_the_same_labels(half, fitted):
    again = clone(fitted).fit(half.data)
    np.testing.assert_array_equal(again.labels_, fitted.labels_)
    np.testing.assert_array_equal(again.completed_, fitted.completed_)


def test_samples_of_fit_keep_their_cluster(half, fitted):
    np.testing.assert_array_equal(fitted.predict(half.data), fitted.labels_)
    np.testing.assert_allclose(fitted.predict_proba(half.data), fitted.memberships_)
    np.testing.assert_allclose(fitted.transform(half.data), fitted.embedding_)
    restored = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(restored.predict(half.data), fitted.labels_)


@pytest.mark.parametrize("way", ["vote", "subspace"])
def test_new_samples_with_unknown_entries(half, way):
    model = BMSC(4, missing="ignore", random_state=0).fit(half.data[:150])
    found = np.concatenate([model.labels_, model.predict(half.data[150:], method=way)])
    assert clustering_accuracy(half.target, found) > 0.95


def test_new_samples_with_unknown_entries_where_fit_saw_none(half):
    model = BMSC(4, missing="ignore", random_state=0).fit(half.clean[:150])
    found = np.concatenate([model.labels_, model.predict(half.data[150:])])
    assert clustering_accuracy(half.target, found) > 0.95
    # One at a time or together is the same.
    np.testing.assert_array_equal(found[150:160], [model.predict(row[None])[0] for row in half.data[150:160]])


@pytest.mark.parametrize("method", METHODS)
def test_nan_is_refused_and_the_remedy_named(method, half):
    with pytest.raises(ValueError, match=r'X contains NaN, first at row 0, column \d+; missing="ignore" takes NaN'):
        method(4).fit(half.data)


@pytest.mark.parametrize("estimator", [BilevelClustering(n_clusters=4), LSR(4)])
def test_those_without_the_parameter_do_not_name_it(estimator, half):
    with pytest.raises(ValueError, match=r"X contains NaN, first at row 0, column \d+; remove or impute"):
        estimator.fit(half.data)


def test_a_model_that_refuses_nan_refuses_it_in_predict_too(half):
    model = BMSC(4, random_state=0).fit(half.clean)
    with pytest.raises(ValueError, match='missing="ignore"'):
        model.predict(half.data)


def test_infinity_is_no_unknown_entry(half):
    X = half.data.copy()
    X[3, 4] = np.inf
    with pytest.raises(ValueError, match=r"X contains infinity \(inf\), first at row 3, column 4; remove"):
        BMSC(4, missing="ignore").fit(X)


def test_a_bad_value_of_the_parameter(half):
    with pytest.raises(ValueError, match="The 'missing' parameter of BMSC must be a str among"):
        BMSC(4, missing="drop").fit(half.data)


def test_a_sample_without_any_value_is_refused(half, fitted):
    X = half.data.copy()
    X[[5, 9]] = np.nan
    message = r"X has 2 row\(s\) without any value, first row 5; nothing is known"
    with pytest.raises(ValueError, match=message):
        BMSC(4, missing="ignore").fit(X)
    with pytest.raises(ValueError, match=message):
        fitted.predict(X)


def test_a_feature_without_any_value_decides_nothing(half):
    X = np.insert(half.data, 7, np.nan, axis=1)
    with pytest.warns(UserWarning, match=r"1 feature\(s\) without any value, first column 7"):
        model = BMSC(4, missing="ignore", random_state=0).fit(X)
    assert clustering_accuracy(half.target, model.labels_) > 0.98
    assert (model.completed_[:, 7] == 0).all()
    assert model.n_features_in_ == 31
    # Nor does it later: nothing is known about what its values mean.
    X[:, 7] = 100.0
    assert clustering_accuracy(model.labels_, model.predict(X)) > 0.98


def test_a_later_fit_forgets_what_was_missing(half):
    model = BMSC(4, missing="ignore", random_state=0).fit(half.data)
    model.fit(half.clean)
    assert model.n_missing_ == 0
    assert not hasattr(model, "completed_")
    assert not hasattr(model, "missing_error_")


def test_a_failed_fit_leaves_the_one_before(half):
    model = BMSC(4, missing="ignore", random_state=0).fit(half.data)
    with pytest.raises(ValueError, match=r"row of zeros|constant"):
        model.fit(np.where(np.isnan(half.data), np.nan, 0.0))
    assert model.n_missing_ == half.missing_mask.sum()


@pytest.mark.parametrize("dtype", ["float32", "Float64"])
def test_data_frames(half, fitted, dtype):
    frame = pd.DataFrame(half.data).rename(columns=str).astype(dtype)
    model = BMSC(4, missing="ignore", random_state=0).fit(frame)
    assert clustering_accuracy(fitted.labels_, model.labels_) > 0.97
    assert model.completed_.dtype == ("float32" if dtype == "float32" else "float64")
    np.testing.assert_array_equal(model.predict(frame), model.labels_)


def test_pure_noise_does_not_become_structure():
    """Estimates from neighbours must not draw samples together that have nothing in common."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 30))
    X[rng.random(X.shape) < 0.4] = np.nan
    with pytest.warns(UserWarning, match="clusters may not be real"):
        assert BMSC(4, missing="ignore", random_state=0).fit(X).structure_ < 0.22


@pytest.mark.parametrize("method", METHODS)
def test_tags_follow_the_parameter(method):
    assert get_tags(method(missing="ignore")).input_tags.allow_nan
    assert not get_tags(method()).input_tags.allow_nan
    assert not get_tags(method(missing="ignore", affinity="precomputed")).input_tags.allow_nan


@pytest.mark.parametrize("method", METHODS)
def test_scikit_learn_finds_nothing_to_complain_about(method):
    results = check_estimator(method(missing="ignore"), on_fail=None)
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []


@pytest.mark.parametrize("missing", ["error", "ignore"])
def test_nothing_is_learnt_of_samples_that_are_known(monkeypatch, missing):
    monkeypatch.setattr(Completion, "learn", lambda *_, **__: pytest.fail("no entry is unknown"))
    X = np.random.default_rng(0).normal(size=(9, 4))
    sparse = SparseSamples.of(csr_array(np.eye(4)))
    model = BMSC(3, missing=missing)
    for samples in (X, sparse):
        assert model._completed(samples, 5) is samples
        assert model._completed_new(samples) is samples
    assert (model.n_missing_, model._completion) == (0, 5)
    assert not hasattr(model, "completed_")
