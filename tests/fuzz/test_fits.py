"""Any estimator on any rows with anything known: right labels, or an error that says what is wrong. Nothing else."""

from __future__ import annotations

import os
import warnings
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from strategies import bounded, estimators, knowledge, samples

pytestmark = [
    pytest.mark.fuzz,
    pytest.mark.skipif("MASKED_SUBSPACE_FUZZ" not in os.environ, reason="`make fuzz` runs it"),
]

# The words by which an error may say what is wrong: an argument's name, or X.
NAMED = (
    "X", "n_clusters", "n_samples", "must_link", "cannot_link", "partial_labels", "solver", "affine", "mask", "penalty",
    "ridge", "Found array",
)  # fmt: skip


def fitted(model: Any, X: np.ndarray, told: dict[str, Any]) -> Any:
    """The fitted model, or the text of its refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return model.fit(X, **told)
        except (ValueError, TypeError) as error:
            return str(error)


@bounded(60)
@given(st.data())
def test_labels_or_a_clear_error(data: Any) -> None:
    X, model = data.draw(samples()), data.draw(estimators())
    told = data.draw(knowledge(len(X)))
    X_before, told_before, parameters = X.copy(), deepcopy(told), model.get_params()
    result = fitted(model, X, told)
    np.testing.assert_array_equal(X, X_before)
    for name, value in told_before.items():
        np.testing.assert_array_equal(told[name], value)
    assert model.get_params() == parameters
    if isinstance(result, str):
        assert any(name in result for name in NAMED), result
        assert not [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
        return
    n, k = len(X), model.n_clusters
    assert result.labels_.shape == (n,)
    assert result.labels_.dtype.kind == "i"
    assert 0 <= result.labels_.min() <= result.labels_.max() < k
    Z, W = result.representation_matrix_, result.affinity_matrix_
    assert Z.shape == W.shape == (n, n)
    assert np.isfinite(Z.data).all()
    assert np.isfinite(W.data).all()
    assert (W.data >= 0).all()
    assert abs(W - W.T).max() <= 1e-6 * max(1.0, W.data.max(initial=0.0))
    assert W.diagonal().max() == 0
    assert np.isfinite(result.embedding_).all()
    assert set(np.unique(result.predict(X))) <= set(range(k))
    if model.constraints == "hard":
        assert_kept(result.labels_, told)
    if "partial_labels" in told:
        known = told["partial_labels"] >= 0
        np.testing.assert_array_equal(result.labels_[known], told["partial_labels"][known])


def assert_kept(labels: np.ndarray, told: dict[str, Any]) -> None:
    for a, b in told.get("must_link", ()):
        assert labels[a] == labels[b]
    for a, b in told.get("cannot_link", ()):
        assert labels[a] != labels[b]


@bounded(20)
@given(st.data())
def test_the_same_seed_gives_the_same_result(data: Any) -> None:
    X, model = data.draw(samples()), data.draw(estimators())
    told = data.draw(knowledge(len(X)))
    first, second = (fitted(clone(model), given_X, told) for given_X in (X, np.asfortranarray(X)))
    if isinstance(first, str):
        assert first == second
        return
    np.testing.assert_array_equal(first.labels_, second.labels_)
    assert (first.representation_matrix_ != second.representation_matrix_).nnz == 0
    np.testing.assert_array_equal(first.embedding_, second.embedding_)


@bounded(15)
@given(st.data())
def test_what_is_no_number_is_refused_by_name(data: Any) -> None:
    X, model = data.draw(samples()).astype(np.float64), data.draw(estimators())
    X[data.draw(st.integers(0, len(X) - 1)), 0] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    result = fitted(model, X, {})
    assert isinstance(result, str)
    assert "X contains" in result
