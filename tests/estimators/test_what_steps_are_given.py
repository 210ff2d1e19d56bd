"""What the rounds, the votes and new samples are given by the estimator that asks them."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace import BMSC, GMSC, RMSC
from masked_subspace._common.progress import SilentEvents
from masked_subspace.datasets import make_subspaces
from masked_subspace.estimators import voting
from masked_subspace.estimators.base import Task
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.represent.representer import MaskedRepresenter


class EnoughError(Exception):
    """Raised where a test has seen enough."""


@pytest.mark.parametrize(
    ("name", "model", "rounds"),
    [
        ("bmsc", BMSC(3, max_iter=17), {"max_rounds": 1, "tol": 0.0}),
        ("gmsc", GMSC(3, max_iter=17), {"max_rounds": 1, "tol": 0.0}),
        ("rmsc", RMSC(3, max_iter=17, members=1, max_rounds=4, mask_tol=0.3), {"max_rounds": 4, "tol": 0.3}),
    ],
)
def test_rounds_expect_as_many_iterations_as_there_may_be(monkeypatch, name, model, rounds):
    asked = []

    def run_rounds(strategy, _mask, **how):
        asked.append((strategy, how))
        raise EnoughError

    monkeypatch.setattr(MaskedRepresenter, "prepare", lambda *_, **__: "prepared")
    monkeypatch.setattr(f"masked_subspace.estimators.{name}.OneMember", lambda *given: given)
    monkeypatch.setattr(f"masked_subspace.estimators.{name}.run_rounds", run_rounds)
    model.n_clusters_, model._bounds = 3, (3, 3)
    X, events = np.eye(5), SilentEvents()
    with pytest.raises(EnoughError):
        model._play(X, Task(X, None, False, 4, 1, events))
    (prepared, _labeler, _psi, evidence, seed, max_iter), how = asked[0]
    assert prepared == "prepared"
    assert evidence.X is X
    assert (seed, max_iter) == (4, 17)
    assert how == {**rounds, "events": events}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_new_samples_are_rebuilt_in_the_precision_of_the_training_rows(monkeypatch, dtype):
    asked = []

    def noted(rows, new_rows, *_, **__):
        asked.append((rows.dtype, new_rows.dtype))
        return csr_array((len(new_rows), len(rows)), dtype=rows.dtype)

    monkeypatch.setattr(voting, "represent_over", noted)
    rows = np.random.default_rng(0).normal(size=(9, 4)).astype(dtype)
    for new in (np.ones((2, 4)), np.ones((2, 4), np.float32)):
        voting.voters_of(rows, new, n_candidates=5, n_threads=1)
    assert asked == [(dtype, dtype)] * 2


def test_after_a_fit_on_workers_new_samples_are_placed_and_nothing_else_is_told():
    X = make_subspaces(3, 3, 12, 20, random_state=0).data
    model = BMSC(3, random_state=0, n_jobs=1).fit(X)
    labels = model.labels_
    result = SimpleNamespace(
        anchors=SimpleNamespace(result=lambda: (model._rows, labels)),
        preparation=SimpleNamespace(result=lambda: model._preparation),
    )
    model._keep_anchors(result)
    votes = model._voters(X) @ np.eye(3)[labels]  # also for samples of the fit, which are not kept
    np.testing.assert_array_equal(model.predict(X), votes.argmax(axis=1))
    for call in (lambda: model.transform(X), lambda: model.subspaces_, lambda: model.predict(X, method="subspace")):
        with pytest.raises(AttributeError, match="needs all samples in one process"):
            call()


@pytest.mark.parametrize(
    ("there", "pairs", "where"), [(True, None, "workers"), (True, [[0, 1]], None), (False, None, None)]
)
def test_a_large_dask_array_is_fitted_on_the_workers_of_a_client(monkeypatch, there, pairs, where):
    da = pytest.importorskip("dask.array")
    X = da.zeros((900, 4))
    monkeypatch.setattr("masked_subspace.estimators.bmsc.client_for", lambda _: "client" if there else None)
    monkeypatch.setattr(
        BMSC, "_fit_on_workers", lambda _, given, client: "workers" if given is X and client == "client" else None
    )
    known = None if pairs is None else KnownPairs.of(900, must_link=pairs)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert BMSC(3)._fit_graph(X, lambda _: known) == where
        assert BMSC(3)._fit_graph(np.zeros((900, 4)), lambda _: known) is None  # an array stays here
    assert ["known pairs or labels are given" in str(one.message) for one in said] == [True] * (pairs is not None)
