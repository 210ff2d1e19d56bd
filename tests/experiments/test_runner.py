"""Filling the database for real: killed, interrupted, doubled, it ends in the same place."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from masked_subspace.experiments.compute import cell_keys, compute, load_trial
from masked_subspace.experiments.results import DATABASE, Results
from masked_subspace.experiments.runner import RunOptions, run_cells
from masked_subspace.experiments.settings import Cell, FitSetting, cells

TRIALS = 3
ARGUMENTS = [
    "reproduce", "table1", "--dataset", "digits", "--method", "ssc-omp", "--method", "knn", "--setting", "auto",
    "--trials", str(TRIALS), "--json",
]  # fmt: skip
DETERMINED = "key, dataset, trial, data_hash, method, fit, seed, state, accuracy, nmi, bca, labels, n_iter, n_rounds"


def started(out: Path, *more: str) -> subprocess.Popen:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    # A job in the background of a shell inherits "ignore Ctrl-C"; these tests are about what happens when it is heard.
    heed = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"{heed}; from masked_subspace.cli import main; sys.exit(main())", *ARGUMENTS]
    return subprocess.Popen(
        [*command, "--out", str(out), *more],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def rows(out: Path) -> list[tuple]:
    if not (out / DATABASE).exists():
        return []
    with sqlite3.connect(f"file:{out / DATABASE}?mode=ro", uri=True) as connection:
        try:
            return connection.execute(f"SELECT {DETERMINED} FROM cells ORDER BY key").fetchall()
        except sqlite3.OperationalError:  # the file is there, its tables not yet
            return []


def wait_for_first_cell(process: subprocess.Popen, out: Path) -> None:
    for _ in range(6000):
        if any("done" in row for row in rows(out)) or process.poll() is not None:
            return
        time.sleep(0.05)
    raise AssertionError("no cell was computed in five minutes")


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> list[tuple]:
    out = tmp_path_factory.mktemp("whole")
    chosen = cells("table1", datasets=["digits"], methods=["ssc-omp", "knn"], settings=["auto"], trials=TRIALS)
    run_cells(chosen, out / DATABASE, RunOptions())
    found = rows(out)
    assert len(found) == 2 * TRIALS
    assert {row[7] for row in found} == {"done"}
    return found


def test_killed_and_started_again_it_ends_in_the_same_place(uninterrupted, tmp_path):
    process = started(tmp_path)
    wait_for_first_cell(process, tmp_path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert sum(row[7] == "done" for row in rows(tmp_path)) < 2 * TRIALS
    again = started(tmp_path)
    _, errors = again.communicate(timeout=120)
    assert again.returncode == 0, errors
    assert rows(tmp_path) == uninterrupted
    assert (tmp_path / "table1-digits.md").exists()


def test_interrupted_it_gives_its_claim_back(uninterrupted, tmp_path):
    process = started(tmp_path)
    wait_for_first_cell(process, tmp_path)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "interrupted" in errors
    assert "Traceback" not in errors
    assert {row[7] for row in rows(tmp_path)} == {"done"}
    assert set(rows(tmp_path)) <= set(uninterrupted)


def test_interrupting_workers_is_as_quiet(uninterrupted, tmp_path):
    process = started(tmp_path, "--jobs", "2")
    wait_for_first_cell(process, tmp_path)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: Ctrl-C reaches the workers too
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert {row for row in rows(tmp_path) if row[7] == "done"} <= set(uninterrupted)


def test_two_processes_fill_one_file(uninterrupted, tmp_path):
    both = [started(tmp_path), started(tmp_path)]
    for process in both:
        _, errors = process.communicate(timeout=240)
        assert process.returncode == 0, errors
    assert rows(tmp_path) == uninterrupted


def test_worker_processes_give_the_same(uninterrupted, tmp_path):
    chosen = cells("table1", datasets=["digits"], methods=["knn"], settings=["auto"], trials=TRIALS)
    run_cells(chosen, tmp_path / DATABASE, RunOptions(jobs=2))
    assert rows(tmp_path) == [row for row in uninterrupted if row[4] == "knn"]


def test_what_is_there_is_not_computed_again(tmp_path):
    chosen = cells("table1", datasets=["digits"], methods=["knn"], settings=["auto"], trials=1)
    run_cells(chosen, tmp_path / DATABASE, RunOptions())

    def finished() -> list[tuple]:
        with sqlite3.connect(tmp_path / DATABASE) as connection:
            return connection.execute("SELECT finished_at, wall_seconds, claimed_at FROM cells").fetchall()

    before = finished()
    run_cells(chosen, tmp_path / DATABASE, RunOptions())
    assert finished() == before


def test_a_method_that_fails_does_not_stop_the_others(tmp_path):
    good = Cell("table1", "knn", "auto", "digits", 0, FitSetting("knn"))
    bad = Cell("table1", "knn", "auto", "digits", 0, FitSetting("knn", {"n_neighbors": -1}))
    run_cells([bad, good], tmp_path / DATABASE, RunOptions())
    data_hash = load_trial("digits", 0).hash
    with Results(tmp_path / DATABASE) as results:
        assert results.get(cell_keys(good, data_hash)[0])["state"] == "done"
        failed = results.get(cell_keys(bad, data_hash)[0])
        assert failed["state"] == "failed"
        assert "n_neighbors" in failed["error"]


def test_a_cell_carries_its_provenance(tmp_path):
    cell = Cell("table1", "bmsc", "auto", "digits", 0, FitSetting("bmsc", {"n_links": 4}))
    outcome = compute(cell, load_trial("digits", 0), threads=1)
    for column in ("seconds", "wall_seconds", "cpu_seconds", "peak_mb"):
        assert outcome[column] > 0, column
    assert outcome["seconds"] <= outcome["wall_seconds"]
    for word in ("numpy", "cpu", "load", "threads", "commit"):
        assert word in outcome["provenance"]
    assert '"n_links":4' in outcome["details"]


def test_a_mask_from_another_method_is_that_methods_labels(tmp_path):
    from masked_subspace.experiments.compute import prepared_estimator

    trial = load_trial("digits", 0)
    X = trial.X[:200]
    source = FitSetting("knn")
    estimator = prepared_estimator(FitSetting("gmsc", {}, source), X, 10, 0, 1)
    expected = prepared_estimator(source, X, 10, 0, 1).fit(X).labels_
    assert np.array_equal(estimator.soft_mask, expected)
    assert np.array_equal(prepared_estimator(FitSetting("rmsc", {}, source), X, 10, 0, 1).init, expected)
