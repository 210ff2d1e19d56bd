"""Any estimator on any rows with anything known: right labels, or an error that says what is wrong. Nothing else.

A few hundred cases, the same on every run, are part of `make test`; `make fuzz` looks longer.
"""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from counting import count
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import issparse
from sklearn.base import clone
from strategies import FORMS, bounded, estimators, knowledge, samples

pytestmark = pytest.mark.fuzz

# The words by which an error may say what is wrong: an argument's name, or X.
NAMED = (
    "X", "n_clusters", "n_samples", "must_link", "cannot_link", "partial_labels", "solver", "affine", "mask", "penalty",
    "ridge", "Found array", "init", "view",
)  # fmt: skip


def fitted(model: Any, X: Any, told: dict[str, Any]) -> Any:
    """The fitted model, or the text of its refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, **told)
        except (ValueError, TypeError) as error:
            count("fits refused")
            return str(error)
    count("fits")
    return model


def content(X: Any) -> np.ndarray:
    return X.toarray() if issparse(X) else np.array(X)


def same(a: Any, b: Any) -> bool:
    """Whether two parameters are the same object or hold the same numbers."""
    return a is b or (isinstance(a, np.ndarray) and np.array_equal(a, b)) or (np.isscalar(a) and a == b)


@bounded(90)
@given(st.data())
def test_labels_or_a_clear_error(data: Any) -> None:
    rows = data.draw(samples())
    X = FORMS[data.draw(st.sampled_from(sorted(FORMS)))](rows)
    model = data.draw(estimators(len(rows)))
    told = data.draw(knowledge(len(rows)))
    told_before, parameters = deepcopy(told), model.get_params(deep=False)
    arrays_before = {name: value.copy() for name, value in parameters.items() if isinstance(value, np.ndarray)}
    result = fitted(model, X, told)
    np.testing.assert_array_equal(content(X), rows)
    for name, value in told_before.items():
        np.testing.assert_array_equal(told[name], value)
    assert all(same(value, parameters[name]) for name, value in model.get_params(deep=False).items())
    for name, value in arrays_before.items():
        np.testing.assert_array_equal(parameters[name], value)
    if isinstance(result, str):
        assert any(name in result for name in NAMED), result
        assert not [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]
        return
    assert_fitted(result, X, len(rows))
    if model.constraints == "hard" and getattr(model, "min_certainty", None) is None:
        assert_kept(result.labels_, told)
    if "partial_labels" in told:
        known = (told["partial_labels"] >= 0) & (result.labels_ >= 0)
        np.testing.assert_array_equal(result.labels_[known], told["partial_labels"][known])


def assert_fitted(result: Any, X: Any, n: int) -> None:
    k = result.n_clusters
    assert result.labels_.shape == (n,)
    assert result.labels_.dtype.kind == "i"
    least = 0 if getattr(result, "min_certainty", None) is None else -1
    assert least <= result.labels_.min() <= result.labels_.max() < k
    Z, W = result.representation_matrix_, result.affinity_matrix_
    assert Z.shape == W.shape == (n, n)
    assert np.isfinite(Z.data).all()
    assert np.isfinite(W.data).all()
    assert (W.data >= 0).all()
    assert abs(W - W.T).max() <= 1e-6 * max(1.0, W.data.max(initial=0.0))
    assert W.diagonal().max() == 0
    assert np.isfinite(result.embedding_).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert set(np.unique(result.predict(X))) <= set(range(-1 if least < 0 else 0, k))
    if hasattr(result, "memberships_"):
        np.testing.assert_allclose(result.memberships_.sum(axis=1), 1, atol=1e-5)
        assert 0 <= result.structure_ <= 1


def assert_kept(labels: np.ndarray, told: dict[str, Any]) -> None:
    for a, b in told.get("must_link", ()):
        assert labels[a] == labels[b]
    for a, b in told.get("cannot_link", ()):
        assert labels[a] != labels[b]


@bounded(30)
@given(st.data())
def test_the_same_seed_gives_the_same_result(data: Any) -> None:
    X = data.draw(samples())
    model = data.draw(estimators(len(X)))
    told = data.draw(knowledge(len(X)))
    first, second = (fitted(clone(model), given_X, told) for given_X in (X, np.asfortranarray(X)))
    if isinstance(first, str):
        assert first == second
        return
    np.testing.assert_array_equal(first.labels_, second.labels_)
    assert (first.representation_matrix_ != second.representation_matrix_).nnz == 0
    np.testing.assert_array_equal(first.embedding_, second.embedding_)


@bounded(40)
@given(st.data())
def test_what_is_no_number_is_refused_by_name(data: Any) -> None:
    X = data.draw(samples()).astype(np.float64)
    model = data.draw(estimators(len(X)))
    X[data.draw(st.integers(0, len(X) - 1)), 0] = data.draw(st.sampled_from([np.nan, np.inf, -np.inf]))
    result = fitted(model, X, {})
    assert isinstance(result, str)
    assert "X contains" in result


@bounded(6, dear=True)
@given(samples(), st.integers(1, 4), st.integers(1, 3))
def test_the_autoencoder_too(X: np.ndarray, n_clusters: int, max_epochs: int) -> None:
    pytest.importorskip("torch")
    from masked_subspace.baselines import AutoencoderEDSC

    before = X.copy()
    first, second = (fitted(AutoencoderEDSC(n_clusters, max_epochs=max_epochs, random_state=0), X, {}) for _ in "ab")
    np.testing.assert_array_equal(X, before)
    if isinstance(first, str):
        assert any(name in first for name in NAMED), first
        assert first == second
        return
    assert_fitted(first, X, len(X))
    np.testing.assert_array_equal(first.labels_, second.labels_)
