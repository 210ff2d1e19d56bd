"""Any clusterer has one label a sample after it was fitted for labels."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from masked_subspace._common.labels import fit_for_labels

X = np.arange(8.0).reshape(4, 2)


class Keeps(BaseEstimator):
    """A clusterer that keeps its labels and notes what it was told."""

    def fit(self, X, **told):
        self.told_, self.labels_ = told, np.arange(len(X))
        return self

    def fit_predict(self, X):
        raise AssertionError("labels are there: nobody needs to fit again")


class Forgets(BaseEstimator):
    """Like a mixture of scikit-learn: labels come out of `fit_predict` only."""

    def __init__(self, missing=0):
        self.missing = missing

    def fit(self, X):
        return self

    def fit_predict(self, X):
        return np.full(len(X) - self.missing, 7)


def test_labels_that_are_kept_stay_and_what_is_known_is_passed_on():
    fitted = fit_for_labels(Keeps(), X, {"must_link": [(0, 1)]})
    assert fitted.labels_.tolist() == [0, 1, 2, 3]
    assert fitted.told_ == {"must_link": [(0, 1)]}
    assert fit_for_labels(Keeps(), X).told_ == {}


def test_labels_that_are_not_kept_are_those_of_fit_predict():
    assert fit_for_labels(Forgets(), X).labels_.tolist() == [7, 7, 7, 7]


def test_a_sample_without_a_label_is_an_error():
    with pytest.raises(ValueError, match="Forgets gave 3 labels for 4 samples"):
        fit_for_labels(Forgets(missing=1), X)
