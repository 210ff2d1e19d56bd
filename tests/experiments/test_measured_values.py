"""What a result says of a fit: seconds without the last spectral step, megabytes of 2²⁰ bytes, tops of pairs."""

from __future__ import annotations

import zlib
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.experiments import compute, figures, graphs, pair_study, runner, settings, tables
from masked_subspace.experiments.compute import Trial
from masked_subspace.experiments.runner import RunOptions
from masked_subspace.experiments.settings import FitSetting


def test_a_result_counts_in_the_units_of_its_columns(monkeypatch):
    """Three seconds by the clock, of which one is the last spectral step; 3 · 2²⁰ bytes."""
    model = SimpleNamespace(
        labels_=np.array([1, 0, 1]), history_=[{"seconds": 2.5, "solver_seconds": 1.5}], n_iter_=7, n_rounds_=2
    )
    asked = []
    monkeypatch.setattr(compute, "_warm_up", lambda *_: None)
    monkeypatch.setattr(compute, "prepared_estimator", lambda *given: asked.append(given) or model)
    monkeypatch.setattr(compute, "provenance", lambda threads: {"threads": threads})
    monkeypatch.setattr(compute, "fit_for_labels", lambda *_: None)
    monkeypatch.setattr(compute, "readable_parameters", lambda _: {})
    monkeypatch.setattr(compute, "reset_peak", lambda: None)
    monkeypatch.setattr(compute, "peak_bytes", lambda: 3 * 2**20)
    clock, work = iter([10.0, 13.0]), iter([1.0, 6.0])
    monkeypatch.setattr(
        compute, "time", SimpleNamespace(perf_counter=lambda: next(clock), process_time=lambda: next(work))
    )
    trial = Trial(np.eye(3, dtype=np.float32), np.array([0, 1, 0]), (1, 3), "here", "hash")
    cell = SimpleNamespace(fit=FitSetting("bmsc"), trial=4)
    found = compute.compute(cell, trial, 2)
    assert asked == [(cell.fit, trial.X, 2, 4, 2)]
    assert (found["seconds"], found["wall_seconds"], found["cpu_seconds"], found["peak_mb"]) == (2, 3, 5, 3)
    assert (found["accuracy"], found["n_iter"], found["n_rounds"], found["error"]) == (1, 7, 2, None)
    assert np.frombuffer(zlib.decompress(found["labels"]), "<i4").tolist() == [1, 0, 1]


def test_the_affinity_of_the_paper_is_the_mean_of_both_directions(monkeypatch):
    Z = csr_array(np.array([[0, 2.0, -3], [1, 0, 0], [0, 0.5, 0]]))
    own = csr_array(np.eye(3))
    model = SimpleNamespace(representation_matrix_=Z, affinity_matrix_=own)
    monkeypatch.setattr(graphs, "resolve", lambda *_: FitSetting("bmsc"))
    monkeypatch.setattr(graphs, "load_trial", lambda *_: SimpleNamespace(hash="h", X=None, n_clusters=2))
    monkeypatch.setattr(graphs, "fit_estimator", lambda *_: model)
    kept = {}
    results = SimpleNamespace(artifact=kept.get, store_artifact=kept.__setitem__)
    expected = [[0, 1.5, 1.5], [1.5, 0, 0.25], [1.5, 0.25, 0]]
    for _ in range(2):  # computed, and then taken from what was kept
        found = graphs.graphs_of("bmsc", "paper", "digits", results)
        np.testing.assert_allclose(found.paper_affinity.toarray(), expected)
        np.testing.assert_allclose(found.own_affinity.toarray(), np.eye(3))
        monkeypatch.setattr(graphs, "fit_estimator", None)


def test_tops_of_pairs_are_ninetieth_percentiles_of_their_own_kind():
    same = np.arange(22) < 11
    values = {method: np.where(same, 0.0, 100.0) + np.arange(22) % 11 for method in ("bmsc", "gmsc", "rmsc")}
    values["rmsc"] = values["rmsc"] + np.where(np.arange(22) % 11 < 3, 1, 0)
    one = pair_study.PairStudy("digits", np.arange(22), np.arange(22) + 1, same, values)
    table = pair_study._distributions([one], "paper")
    (_, kind, count, *own), (_, other, _, *across) = table.rows
    assert (kind, count, other) == ("same", 11, "different")
    np.testing.assert_allclose(own[:6], [5, 5, 5 + 3 / 11, 9, 9, 9])
    np.testing.assert_allclose(across[:6], [105, 105, 105 + 3 / 11, 109, 109, 109])
    np.testing.assert_allclose(own[6:], [100 * 3 / 11, 0])


@pytest.mark.parametrize(("codes", "fails"), [((0, 0), False), ((1, 0), False), ((1, -9), True)])
def test_work_goes_on_while_one_process_does(monkeypatch, tmp_path, codes, fails):
    left = iter(codes)

    def process(**_):
        return SimpleNamespace(exitcode=next(left), start=lambda: None, is_alive=lambda: False)

    monkeypatch.setattr(runner.multiprocessing, "get_context", lambda _: SimpleNamespace(Process=process))
    monkeypatch.setattr(runner, "_stop", lambda _: None)
    options = RunOptions(jobs=2)
    if fails:
        with pytest.raises(RuntimeError, match=r"all 2 processes ended with exit codes \[1, -9\]"):
            runner._run_processes([], tmp_path / "results.sqlite", options, None)
    else:
        runner._run_processes([], tmp_path / "results.sqlite", options, None)


def test_own_settings_outrank_inherited_ones_and_a_set_outranks_all(monkeypatch):
    rows = {
        "bmsc": {"all": {"a": 1, "b": 1, "c": 1}, "orl": {"c": 2}},
        "gmsc": {"all": {"like": "bmsc", "b": 3, "d": 3}, "orl": {"d": 4}},
    }
    other = {"rmsc": {"all": {"like": "paper.gmsc", "a": 5}}}
    monkeypatch.setattr(settings, "_toml", lambda _: {"paper": rows, "tuned": other})
    assert settings._merged("paper", "gmsc", "orl") == {"a": 1, "b": 3, "c": 2, "d": 4}
    assert settings._merged("paper", "gmsc", "digits") == {"a": 1, "b": 3, "c": 1, "d": 3}
    assert settings._merged("tuned", "rmsc", "orl") == {"a": 5, "b": 3, "c": 2, "d": 4}


def test_the_spread_of_trials_is_that_of_a_sample():
    """Of .5 and .7: a mean of 60 %, and 10·√2 where two trials estimate one deviation."""
    found = tables._measure("accuracy", [{"accuracy": 0.5}, {"accuracy": 0.7}], {"accuracy": [61.0, 2.0]})
    assert (found.mean, found.spread) == (pytest.approx(60), pytest.approx(10 * np.sqrt(2)))
    assert (found.paper, found.paper_spread) == (61, 2)
    alone = tables._measure("cpu_seconds", [{"cpu_seconds": 3.0}], {})
    assert (alone.mean, alone.spread, alone.paper) == (3, None, None)


@pytest.mark.parametrize(("n_samples", "n_zoomed"), [(45, 4), (12, 2)])
def test_below_each_graph_is_its_first_tenth(monkeypatch, n_samples, n_zoomed):
    zooms = []

    def plot_affinity(_graph, _target, *, ax, zoom=None):
        zooms.append(zoom)
        return SimpleNamespace(set_title=lambda *_, **__: None)

    canvas = SimpleNamespace(subplots=lambda *shape: np.empty(shape, dtype=object))
    drawn = SimpleNamespace(new_figure=lambda *_: canvas, plot_affinity=plot_affinity)
    monkeypatch.setattr(figures, "plots", drawn)
    monkeypatch.setattr(figures, "_png", lambda _: b"")
    monkeypatch.setattr(figures, "load_trial", lambda *_: SimpleNamespace(target=np.zeros(n_samples, int)))
    own = SimpleNamespace(own_affinity=csr_array(np.eye(n_samples)))
    monkeypatch.setattr(figures, "graphs_of", lambda *_, **__: own)
    found = figures.figure4(None, "paper")
    assert zooms == [None, (0, n_zoomed)] * 3
    assert f"the first {n_zoomed} samples" in " ".join(str(part) for part in vars(found).values())
