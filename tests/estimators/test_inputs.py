"""Bad input gets a clear error before any work; unusual good input just works."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from masked_subspace import BMSC, GMSC, RMSC, BilevelClustering
from masked_subspace.metrics import clustering_accuracy

X = np.random.default_rng(0).normal(size=(30, 5))


def broken(value, row=3, column=2):
    bad = X.copy()
    bad[row, column] = value
    return bad


@pytest.mark.parametrize(
    ("data", "parameters", "message"),
    [
        (broken(np.nan), {}, "X contains NaN, first at row 3, column 2"),
        (broken(np.inf), {}, "X contains infinity .inf., first at row 3, column 2"),
        (X[:3], {"n_clusters": 4}, "n_samples=3 should be >= n_clusters=4"),
        (X, {"n_clusters": 0}, "'n_clusters' parameter .* Got 0"),
        (np.vstack([X, np.zeros(5)]), {"center": False}, "row of zeros, row 30.*center=True"),
        (np.vstack([X, np.zeros(5)]), {"view": "uncentered"}, "row of zeros, row 30"),
        (np.ones((10, 4)), {}, "constant"),
        (X[:1], {"n_clusters": 1}, "minimum of 2"),
        (X, {"sparsity": -1.0}, "'sparsity' parameter .* Got -1.0"),
        (X, {"penalty_growth": 0.9}, "'penalty_growth' parameter .* Got 0.9"),
        (X, {"penalty": 0.0}, "'penalty' parameter"),
        (X, {"affinity": "nearest"}, "'affinity' parameter"),
        (X, {"solver": "fast"}, "'solver' parameter"),
        (X, {"hard_mask": np.ones((4, 4))}, "hard_mask is for 4 samples but X has 30"),
        (1e8 + 1e-8 * X, {}, "constant up to rounding"),
        ((1e25 * X).astype(np.float32), {}, "squares leave the range of float32"),
        (1e-200 * X, {}, "squares leave the range of float64"),
        (np.zeros((10, 4), dtype=int), {"center": False}, "constant up to rounding"),
        (np.full((10, 3), "a"), {}, "could not convert|dtype|numeric"),
        (X * 1j, {}, "[Cc]omplex"),
        (X[0], {}, "1D array"),
        (X[:, :, None], {}, "dim 3|3 dim|3D|dimension"),
    ],
)
def test_bad_input_is_refused(data, parameters, message):
    with pytest.raises(ValueError, match=message):
        BMSC(**{"n_clusters": 2, **parameters}).fit(data)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.ones((4, 4)), "soft_mask has shape .4, 4.; it must be 30 × 30"),
        (np.zeros(29, dtype=int), "soft_mask has 29 entries but X has 30"),
        (np.triu(np.ones((30, 30))), "not symmetric"),
        (-np.ones((30, 30)), "negative"),
        ([np.zeros(30, dtype=int), np.zeros(3, dtype=int)], r"soft_mask\[1\] has 3 entries"),
    ],
)
def test_bad_soft_masks_are_refused(mask, message):
    with pytest.raises(ValueError, match=message):
        GMSC(2, soft_mask=mask).fit(X)


def test_a_bad_init_is_called_by_its_name():
    with pytest.raises(ValueError, match=r"init has shape .4, 4."):
        RMSC(2, init=np.ones((4, 4))).fit(X)
    with pytest.raises(ValueError, match=r"init has dtype .*give a mask, labels, n × n prices or a clusterer"):
        RMSC(2, init="kmeans").fit(X)


@pytest.mark.parametrize(
    ("parameters", "known", "message"),
    [
        ({}, {"partial_labels": np.r_[0:5, np.full(25, -1)]}, "partial_labels has 5 different labels"),
        ({"constraints": "hard"}, {"cannot_link": [[0, 1], [0, 2], [1, 2]]}, "cannot_link cannot be kept"),
        ({"view": "root"}, {}, "negative entries"),
    ],
)
def test_what_cannot_be_is_refused_before_work_starts(monkeypatch, parameters, known, message):
    monkeypatch.setattr(RMSC, "_without_outliers", lambda *_: pytest.fail("work has started"))
    with pytest.raises(ValueError, match=message):
        RMSC(2, outliers="auto", **parameters).fit(X, **known)


def test_many_copies_are_named(subspaces):
    with pytest.warns(UserWarning, match="120 of the 120 rows of X have an identical copy.*np.unique"):
        BMSC(4, random_state=0).fit(np.repeat(subspaces.data[:40], 3, axis=0))


@pytest.mark.parametrize("constant", [1e6, 1e8])
def test_a_large_constant_feature_costs_no_row_its_direction(subspaces, constant):
    padded = np.c_[subspaces.data, np.full(len(subspaces.data), constant)].astype(np.float32)
    model = GMSC(4, random_state=0).fit(padded)
    assert clustering_accuracy(subspaces.target, model.labels_) == 1


def test_a_blank_sample_is_a_value_among_whole_numbers_however_they_come():
    counts = np.random.default_rng(0).integers(0, 255, (40, 6))
    counts[3] = 0
    reference = BMSC(2, random_state=0).fit(counts).labels_
    for same in (counts.tolist(), pd.DataFrame(counts).rename(columns=str)):
        np.testing.assert_array_equal(BMSC(2, random_state=0).fit(same).labels_, reference)


def test_nothing_is_left_of_an_earlier_fit(subspaces):
    model = RMSC(4, outliers="auto", random_state=0).fit(subspaces.data)
    assert {"outliers_", "member_labels_"} <= set(vars(model))
    model.set_params(outliers=None, members=1).fit(subspaces.data)
    assert not {"outliers_", "member_labels_"} & set(vars(model))


def test_predict_says_that_negative_entries_have_no_root(subspaces):
    model = RMSC(4, view="root", random_state=0).fit(np.abs(subspaces.data))
    with pytest.warns(UserWarning, match="negative entries, down to -"):
        model.predict(-np.abs(subspaces.data[:3]))


def test_stopping_early_warns_and_says_what_to_change():
    with pytest.warns(
        ConvergenceWarning, match=r"stopped after 2 iterations.*raise max_iter, tol or penalty_growth .now 2"
    ):
        BMSC(2, max_iter=2, random_state=0).fit(X)


@pytest.mark.parametrize("estimator", [BMSC(), GMSC(), RMSC(), BilevelClustering()], ids=lambda e: type(e).__name__)
def test_scikit_learn_finds_nothing_to_complain_about(estimator):
    results = check_estimator(estimator, on_fail=None)
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []


def test_clone_and_pickle(subspaces):
    model = RMSC(4, random_state=0, n_links=5)
    assert clone(model).get_params() == model.get_params()
    model.fit(subspaces.data)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.labels_, model.labels_)
    np.testing.assert_array_equal(again.predict(subspaces.data), model.predict(subspaces.data))


def test_pipeline_grid_search_and_pandas(subspaces):
    pipeline = make_pipeline(StandardScaler(with_std=False), GMSC(4, random_state=0))
    labels = pipeline.fit_predict(pd.DataFrame(subspaces.data).rename(columns=str))
    assert clustering_accuracy(subspaces.target, labels) == 1
    search = GridSearchCV(
        BMSC(4, random_state=0),
        {"n_links": [3, 5]},
        scoring=lambda model, X, y: clustering_accuracy(y, model.predict(X)),
        cv=2,
    )
    search.fit(subspaces.data, subspaces.target)
    assert set(search.cv_results_["param_n_links"]) == {3, 5}


def test_read_only_and_fortran_ordered_arrays(subspaces):
    reference = BMSC(4, random_state=0).fit(subspaces.data)
    frozen = subspaces.data.copy()
    frozen.setflags(write=False)
    for data in (frozen, np.asfortranarray(subspaces.data)):
        np.testing.assert_array_equal(BMSC(4, random_state=0).fit(data).labels_, reference.labels_)
    np.testing.assert_array_equal(frozen, subspaces.data)


def test_small_integers_are_solved_in_float32():
    counts = np.random.default_rng(0).integers(0, 255, (40, 6)).astype(np.uint8)
    counts[3] = 0
    assert BMSC(2, random_state=0).fit(counts).representation_matrix_.dtype == np.float32


@pytest.mark.parametrize("estimator", [BMSC(10), RMSC(10)])
def test_predict_agrees_with_the_labels_on_the_training_set(digits, estimator):
    model = estimator.set_params(random_state=0).fit(digits[0])
    assert np.mean(model.predict(digits[0]) == model.labels_) >= 0.99


def test_predict_on_new_samples(subspaces):
    model = RMSC(4, random_state=0).fit(subspaces.data[::2])
    assert clustering_accuracy(subspaces.target[1::2], model.predict(subspaces.data[1::2])) == 1


def test_the_bilevel_frame_has_no_members_to_choose_its_rounds_by():
    with pytest.raises(ValueError, match="'max_rounds' parameter of BilevelClustering must be an int"):
        BilevelClustering(n_clusters=2, max_rounds="auto").fit(X)


def test_too_many_samples_for_the_dense_solver_says_what_to_use_instead(monkeypatch):
    monkeypatch.setattr("masked_subspace.represent.dense.solve.available_bytes", lambda: 1_000_000)
    big = np.random.default_rng(0).normal(size=(2_000, 3))
    mask = np.ones((2_000, 2_000), dtype=np.float32)
    with pytest.raises((ValueError, MemoryError), match=r"192 MB .* only 1 MB .*solver='sparse'"):
        GMSC(2, solver="dense", soft_mask=mask).fit(big)


def test_verbose_shows_rounds_as_they_come(capsys):
    RMSC(2, sparsity=1e-3, verbose=1, random_state=0, max_rounds=2).fit(X)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("round 1: objective")
    assert "mask change" in lines[0]
    BMSC(2, random_state=0).fit(X)
    assert capsys.readouterr().err == ""
