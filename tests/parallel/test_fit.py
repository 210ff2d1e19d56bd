"""A whole fit on every engine and from every kind of input: the same labels, and nothing left behind."""

from __future__ import annotations

import gc
import os
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.metrics import adjusted_rand_score

from masked_subspace import BMSC, RMSC
from masked_subspace.masks import NeighborMask
from masked_subspace.parallel.dask_engine import ClusterLostError, DaskEngine
from masked_subspace.represent.neighbors import lists as candidates_lists


def rows(n_each: int = 300, n_clusters: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    parts = [rng.standard_normal((n_each, 3)) @ rng.standard_normal((3, 25)) for _ in range(n_clusters)]
    X = np.concatenate(parts) + 0.1 * rng.standard_normal((n_each * n_clusters, 25))
    return X.astype(np.float32), np.repeat(np.arange(n_clusters), n_each)


def model(search: str = "exact", **changes: Any) -> BMSC:
    parameters = {"solver": "sparse", "hard_mask": NeighborMask(24, search), "random_state": 0, "center": False}
    return BMSC(4, **parameters | changes)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("search", ["exact", "approximate"])
def test_engines_give_identical_labels(client: Any, search: str) -> None:
    X, y = rows()
    serial = model(search, n_jobs=1).fit(X)
    assert adjusted_rand_score(y, serial.labels_) > 0.9
    fits = {"threads": model(search, n_jobs=2).fit(X)}
    with parallel_config(backend="loky", n_jobs=2):
        fits["joblib"] = model(search).fit(X)
    with parallel_config(backend="dask"):
        fits["dask"] = model(search).fit(X)
    for name, fit in fits.items():
        np.testing.assert_array_equal(fit.labels_, serial.labels_, err_msg=name)
        assert (fit.representation_matrix_ != serial.representation_matrix_).nnz == 0, name


def test_exact_and_approximate_candidates_cluster_alike() -> None:
    X, _ = rows(n_each=800)
    exact, approximate = model("exact").fit(X), model("approximate").fit(X)
    assert adjusted_rand_score(exact.labels_, approximate.labels_) >= 0.99


def test_memmap_and_dask_arrays_give_the_same_labels(client: Any, folder: Path, tmp_path_factory: Any) -> None:
    da = pytest.importorskip("dask.array")
    X, _ = rows()
    path = tmp_path_factory.mktemp("data") / "rows.npy"
    np.save(path, X)
    expected = model().fit(X).labels_
    for source in (np.load(path, mmap_mode="r"), da.from_array(X, chunks=(500, 25))):
        fit = model().fit(source)
        np.testing.assert_array_equal(fit.labels_, expected)
        with parallel_config(backend="dask"):
            np.testing.assert_array_equal(model().fit(source).labels_, expected)
        assert fit.representation_matrix_.dtype == np.float32
    del fit
    gc.collect()
    assert not list(folder.glob("masked-subspace-*"))


def test_rounds_send_the_rows_once(client: Any) -> None:
    X, _ = rows()
    engine = DaskEngine.of(client)
    before = engine.bytes_sent
    with parallel_config(backend="dask"):
        fit = RMSC(4, members=1, solver="sparse", max_rounds=3, mask_tol=0, random_state=0).fit(X)
    assert fit.n_rounds_ >= 2
    candidates = 4 * len(X) * 64
    assert engine.bytes_sent - before <= X.nbytes + candidates


def test_a_worker_killed_during_a_fit_changes_nothing(client: Any) -> None:
    X, _ = rows(n_each=1200)
    expected = model(n_jobs=1).fit(X)
    victim = next(iter(client.run(os.getpid).values()))
    engine = DaskEngine.of(client)
    started = threading.Event()

    def kill_when_busy() -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not any(client.processing().values()):
            time.sleep(0.005)
        os.kill(victim, signal.SIGKILL)
        started.set()

    killer = threading.Thread(target=kill_when_busy)
    killer.start()
    with parallel_config(backend="dask"):
        fit = model().fit(X)
    killer.join()
    assert started.is_set()
    np.testing.assert_array_equal(fit.labels_, expected.labels_)
    assert all(peak < 2e9 for peak in engine.peak_memory.values())


def test_a_fit_without_workers_fails_soon_and_cleanly(folder: Path) -> None:
    import dask.array as da
    import distributed

    X, _ = rows()
    estimator = model()
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as own,
        distributed.Client(own) as client,
    ):
        DaskEngine.of(client).patience = 1.0
        own.scale(0)
        while client.scheduler_info()["workers"]:
            time.sleep(0.05)
        lazy = da.from_array(X, chunks=(600, 25))
        began = time.monotonic()
        with parallel_config(backend="dask", wait_for_workers_timeout=1), pytest.raises(ClusterLostError) as caught:
            estimator.fit(np.asarray(lazy.compute(scheduler="synchronous")))
        assert time.monotonic() - began < 20
        assert "no worker for 1 s" in str(caught.value)
    assert not hasattr(estimator, "labels_")
    del caught
    gc.collect()
    assert not list(folder.glob("masked-subspace-*"))


def test_an_interrupted_fit_leaves_no_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    da = pytest.importorskip("dask.array")
    X, _ = rows()

    def interrupt(*_: Any) -> Any:
        assert list(folder.glob("masked-subspace-*"))
        raise KeyboardInterrupt

    monkeypatch.setattr(candidates_lists, "trained_centres", interrupt)
    with pytest.raises(KeyboardInterrupt) as caught:
        model("approximate").fit(da.from_array(X, chunks=(600, 25)))
    del caught
    gc.collect()
    assert not list(folder.glob("masked-subspace-*"))
