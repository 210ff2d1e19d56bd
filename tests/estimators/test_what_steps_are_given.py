"""What the rounds, the votes and new samples are given by the estimator that asks them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace import BMSC, GMSC, RMSC
from masked_subspace._common.progress import SilentEvents
from masked_subspace.datasets import make_subspaces
from masked_subspace.estimators import voting
from masked_subspace.estimators.base import Task
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
