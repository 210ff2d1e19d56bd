"""The same promise where more is left open: the number of clusters, entries of X, or the samples behind a graph.

A few dozen cases, the same on every run, are part of `make test`; `make fuzz` looks longer.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from strategies import bounded, knowledge, samples
from test_fits import NAMED, content, fitted

from masked_subspace import BMSC, GMSC, RMSC

pytestmark = pytest.mark.fuzz
MASKED = (BMSC, GMSC, RMSC)
VIEWS = ("auto", "plain", "lifted", "standardized", "homogeneous", "low-rank", "distance", "distance-standardized")


def refused(result: Any) -> bool:
    """Whether the fit was refused, which must say what is wrong."""
    if isinstance(result, str):
        assert any(name in result for name in NAMED), result
        return True
    return False


def assert_clusters(result: Any, n: int) -> None:
    assert result.labels_.shape == (n,)
    assert result.labels_.min() >= (0 if result.min_certainty is None else -1)
    assert result.labels_.max() < result.n_clusters_
    assert np.isfinite(result.embedding_).all()
    assert 0 <= result.structure_ <= 1
    assert result.memberships_.shape == (n, result.n_clusters_)
    np.testing.assert_allclose(result.memberships_.sum(axis=1), 1, atol=1e-5)


@bounded(12)
@given(st.data())
def test_a_number_of_clusters_that_is_left_open(data: Any) -> None:
    X = data.draw(samples())
    wanted = data.draw(st.sampled_from(["auto", (2, 4), (1, 3), (3, 3), (5, 2), (0, 2), (2, 99), (2, 3, 4), "many"]))
    model = data.draw(st.sampled_from(MASKED))(
        wanted,
        view=data.draw(st.sampled_from(VIEWS)),
        cut=data.draw(st.sampled_from(["auto", "spectral", "modularity"])),
        min_certainty=data.draw(st.sampled_from([None, 0.3])),
        random_state=0,
    )
    result = fitted(model, X, data.draw(knowledge(len(X))))
    if refused(result):
        return
    low, high = (1, len(X)) if wanted == "auto" else wanted
    assert low <= result.n_clusters_ <= min(high, len(X))
    assert_clusters(result, len(X))


@bounded(12)
@given(st.data())
def test_entries_that_are_unknown(data: Any) -> None:
    X = data.draw(samples()).astype(np.float64)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    X[rng.random(X.shape) < data.draw(st.sampled_from([0.01, 0.1, 0.5, 1.0]))] = np.nan
    before = X.copy()
    model = data.draw(st.sampled_from(MASKED))(
        data.draw(st.sampled_from([1, 2, 3, "auto"])),
        missing="ignore",
        center=data.draw(st.booleans()),
        normalize=data.draw(st.booleans()),
        view=data.draw(st.sampled_from(VIEWS)),
        solver=data.draw(st.sampled_from(["auto", "sparse"])),
        random_state=0,
    )
    result = fitted(model, X, {})
    np.testing.assert_array_equal(X, before)
    if refused(result):
        return
    assert_clusters(result, len(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Rows that are equal cannot be told apart: all get the cluster of the first.
        _, first, code = np.unique(X, axis=0, return_index=True, return_inverse=True, equal_nan=True)
        np.testing.assert_array_equal(result.predict(X), result.labels_[first[code.ravel()]])
        assert np.isfinite(result.transform(X)).all()


LIES: dict[str, Any] = {
    "none": lambda W, rng: W,  # noqa: ARG005
    "not symmetric": lambda W, rng: W + np.triu(rng.random(W.shape)),
    "negative": lambda W, rng: W - rng.random() * W.max(initial=1.0),
    "not finite": lambda W, rng: np.where(rng.random(W.shape) < 0.1, np.nan, W),
    "not square": lambda W, rng: W[:, 1:],  # noqa: ARG005
    "no links": lambda W, rng: 0 * W,  # noqa: ARG005
    "isolated samples": lambda W, rng: W * np.outer(*[rng.random(len(W)) < 0.5] * 2),
}


@bounded(20)
@given(st.data())
def test_graphs_and_what_is_none(data: Any) -> None:
    n = data.draw(st.integers(2, 24))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    W = rng.random((n, n)) * (rng.random((n, n)) < data.draw(st.sampled_from([0.05, 0.3, 1.0])))
    W = (W + W.T) * data.draw(st.sampled_from([1e-12, 1.0, 1e12]))
    lie = data.draw(st.sampled_from(sorted(LIES)))
    W = LIES[lie](W, rng)
    X = data.draw(st.sampled_from([np.asarray, csr_array]))(W)
    model = data.draw(st.sampled_from(MASKED))(
        data.draw(st.sampled_from([1, 2, 5, "auto", (2, 4)])),
        affinity="precomputed",
        cut=data.draw(st.sampled_from(["auto", "spectral", "modularity"])),
        constraints=data.draw(st.sampled_from(["soft", "hard"])),
        random_state=0,
    )
    told = data.draw(knowledge(n))
    result = fitted(model, X, told)
    np.testing.assert_array_equal(content(X), W)
    if refused(result):
        return
    assert lie not in ("not square", "not finite", "no links")
    assert result.labels_.shape == (n,)
    assert result.labels_.min() >= 0
    assert result.labels_.max() < result.n_clusters_
    assert not hasattr(result, "subspaces_")
