"""`BMSC(K).fit(dask_array)` with an active client runs on the workers, or says why it does not."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from in_process import subspaces
from joblib import parallel_config

from masked_subspace import BMSC
from masked_subspace.distributed import fit_distributed
from masked_subspace.estimators import on_workers
from masked_subspace.estimators.on_workers import client_for, reasons_against

da = pytest.importorskip("dask.array")

K = 4
X, Y = subspaces(3900)
X, NEW, Y_NEW = X[:3600], X[3600:], Y[3600:]


@pytest.fixture
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 samples take too long for a test."""
    monkeypatch.setattr(on_workers, "WORKERS_FROM", 2_000)


@pytest.mark.usefixtures("few_are_enough")
def test_labels_are_those_of_a_distributed_fit_and_new_samples_are_placed(client: Any) -> None:
    lazy = da.from_array(X, chunks=(900, -1))
    model = BMSC(K, random_state=0).fit(X[:300])
    model.fit(lazy)
    np.testing.assert_array_equal(model.labels_, fit_distributed(lazy, K, client=client, cut="auto").compute())
    assert model.n_clusters_ == K
    assert model.n_features_in_ == X.shape[1]
    assert not hasattr(model, "affinity_matrix_"), "of the fit before"
    name_of = {int(label): int(np.bincount(Y[:3600][model.labels_ == label]).argmax()) for label in range(K)}
    placed = pickle.loads(pickle.dumps(model)).predict(NEW)
    assert np.mean([name_of[int(label)] == y for label, y in zip(placed, Y_NEW, strict=True)]) > 0.97
    for wanted in (lambda: model.predict(NEW, method="subspace"), lambda: model.memberships(NEW)):
        with pytest.raises(AttributeError, match="fitted on a Dask cluster"):
            wanted()
    assert not hasattr(model, "subspaces_")
    # A fit in this process knows its samples again.
    again = model.fit(X[:300])
    np.testing.assert_array_equal(again.predict(X[:300]), again.labels_)
    assert len(again.subspaces_) == K


@pytest.mark.usefixtures("few_are_enough")
def test_settings_that_need_one_process_are_named(client: Any) -> None:
    lazy = da.from_array(X[:2100], chunks=(700, -1))
    with pytest.warns(UserWarning, match=r"runs in this process: known pairs or labels are given, view=0\.5"):
        model = BMSC(K, view=0.5, random_state=0).fit(lazy, must_link=[[0, 1]])
    assert model.affinity_matrix_.shape == (2100, 2100)
    assert client_for(lazy) is client


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"n_clusters": "auto"}, "n_clusters='auto' is not one number"),
        ({"n_clusters": 300}, "fewer than 100 samples a cluster"),
        ({"affinity": "symmetric"}, "affinity='symmetric'"),
        ({"hard_mask": np.zeros(5)}, "hard_mask is given"),
        ({"affine": True}, "affine=True"),
        ({"solver": "dense"}, "solver='dense'"),
        ({"min_certainty": 0.5}, "min_certainty=0.5"),
        ({"missing": "ignore"}, "missing='ignore'"),
    ],
)
def test_every_setting_that_workers_do_not_know_is_a_reason(changes: dict[str, Any], reason: str) -> None:
    assert reasons_against(BMSC(**{"n_clusters": K} | changes), 25_000, known=False) == [reason]
    assert reasons_against(BMSC(K), 25_000, known=False) == []


def test_few_samples_arrays_and_joblib_stay_in_this_process(client: Any) -> None:
    many = da.zeros((20_001, 3), chunks=(5_000, 3))
    assert client_for(many) is client
    assert client_for(many[:20_000]) is None
    assert client_for(np.zeros((20_001, 3))) is None
    assert client_for(many[many[:, 0] > 0]) is None  # of unknown length
    with parallel_config(backend="dask"):
        assert client_for(many) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = BMSC(K, random_state=0, n_jobs=1).fit(da.from_array(X[:600], chunks=(200, -1)))
    assert model.affinity_matrix_.shape == (600, 600)


def test_without_a_client_nothing_runs_elsewhere() -> None:
    assert client_for(da.zeros((20_001, 3), chunks=(5_000, 3))) is None
