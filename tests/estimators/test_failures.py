"""A fit that fails leaves nothing of it behind; unusual sizes neither warn in crowds nor take long."""

import time
import warnings

import numpy as np
import pytest

from masked_subspace import BMSC, GMSC, RMSC
from masked_subspace.baselines import BDR, EDSC, LRR, LSR, SSC, SSCOMP, EnSC, SoftS3C

ALL = [BMSC, GMSC, RMSC, BDR, EDSC, LRR, LSR, SSC, SSCOMP, EnSC, SoftS3C]


def rows(n_each=12, seed=0):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.standard_normal((n_each, 3)) @ rng.standard_normal((3, 10)) for _ in range(3)])


def interrupt(*args, **kwargs):
    raise KeyboardInterrupt


@pytest.mark.parametrize("estimator", ALL)
def test_a_failed_fit_leaves_nothing_behind(estimator, monkeypatch):
    X = rows()
    new = estimator(3, random_state=0)
    before = dict(vars(new))
    with pytest.raises(ValueError):
        new.fit(X, must_link=[[0, 1]], cannot_link=[[0, 1]])
    assert vars(new) == before
    fitted = estimator(3, random_state=0).fit(X)
    before, labels = dict(vars(fitted)), fitted.predict(X)
    # The last step of a fit fails: everything else has been computed by then.
    monkeypatch.setattr(type(fitted), "_set_fitted", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(np.hstack([X, X]))
    assert vars(fitted).keys() == before.keys()
    assert fitted.n_features_in_ == 10
    np.testing.assert_array_equal(fitted.predict(X), labels)


@pytest.mark.parametrize(
    ("estimator", "scale"), [(BMSC, 1e-60), (GMSC, 1e60), (GMSC, 1e100), (RMSC, 1e-40), (RMSC, 1e40)]
)
def test_huge_and_tiny_rows_cluster_as_ordinary_ones_and_do_not_warn(estimator, scale):
    X = rows()
    expected = estimator(3, normalize=False, random_state=0).fit(X).labels_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = estimator(3, normalize=False, random_state=0).fit(X * 2.0 ** round(np.log2(scale))).labels_
    np.testing.assert_array_equal(found, expected)


def test_rows_beyond_what_the_sparse_solver_can_multiply_are_refused():
    for scale in (1e-60, 1e60):
        with pytest.raises(ValueError, match="sixth powers"):
            RMSC(3, normalize=False, random_state=0).fit(rows() * scale)


def test_copies_are_warned_of_once():
    X = np.repeat(rows(), 2, axis=0)
    for estimator in (GMSC, RMSC):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator(3, random_state=0).fit(X)
        assert sum("identical copy" in str(one.message) for one in caught) == 1
        assert len(caught) == 1


@pytest.mark.parametrize("estimator", [SSC, EnSC, SoftS3C])
@pytest.mark.parametrize("normalize", [True, False])
def test_one_feature_is_quick(estimator, normalize):
    """Every atom is a multiple of every other: active sets must not go round in circles."""
    X = np.random.default_rng(0).standard_normal((30, 1))
    estimator(3, normalize=normalize, random_state=0).fit(X)  # compiles
    began = time.process_time()
    fitted = estimator(3, normalize=normalize, random_state=0).fit(X)
    assert time.process_time() - began < 3
    assert fitted.n_iter_ < 50
    assert len(np.unique(fitted.labels_)) <= 3


@pytest.mark.parametrize("estimator", [GMSC, RMSC])
def test_labels_outside_the_clusters_are_refused(estimator):
    X = rows()
    for labels, message in (([0, 3], "partial_labels holds 3"), ([0, -2], "partial_labels holds -2")):
        known = np.full(len(X), -1)
        known[:2] = labels
        with pytest.raises(ValueError, match=message):
            estimator(3).fit(X, partial_labels=known)
