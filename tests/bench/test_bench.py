"""The benchmark itself, on a toy size: it must measure, compare, and fail when a ratio is too small."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from masked_subspace import bench
from masked_subspace.bench import cases, extras, fits, measure, report
from masked_subspace.bench.plain import plain_iterations
from masked_subspace.datasets import make_subspaces
from masked_subspace.represent.model import AdmmSettings


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(60, 4)) @ rng.normal(size=(4, 30)) for _ in range(5)])
    X += 0.05 * rng.normal(size=X.shape)
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), np.repeat(np.arange(5), 60)


def test_two_plain_iterations_are_the_formulas_of_the_paper(rows):
    """From zeros, with λ₁ and λ₂; entry by entry where a formula has entries."""
    X = rows[0][:80].astype(np.float64)
    price, noise, outliers = 1e-3, 1.0, 0.01
    settings = AdmmSettings(price, mask_weight=0.5, penalty=0.2, penalty_growth=1.5, noise=noise, outliers=outliers)
    prices = np.random.default_rng(1).uniform(0.5, 1.5, (80, 80))
    first, second, *_, last = plain_iterations(X, settings, prices)
    G, off_diagonal = X @ X.T, ~np.eye(80, dtype=bool)
    np.testing.assert_allclose(first.Z, np.linalg.solve(G + 2 * 0.2 * np.eye(80), G).T, atol=1e-12)
    np.testing.assert_allclose(first.C[~off_diagonal], 0)
    C = 0.2 * first.Z / (0.5 * prices**2 + 0.2)
    np.testing.assert_allclose(first.C[off_diagonal], C[off_diagonal], atol=1e-12)
    np.testing.assert_array_equal(first.Q != 0, np.abs(first.Z) > np.sqrt(2 * price / 0.2))
    R = X - first.Z @ X
    np.testing.assert_allclose(first.noise, R / 3, atol=1e-12)
    np.testing.assert_allclose(first.outliers, np.where(np.abs(2 * R / 3) > np.sqrt(0.02), 2 * R / 3, 0), atol=1e-12)
    U1, U2, mu = 0.2 * (first.Z - first.C), 0.2 * (first.Q - first.Z), 0.3
    right = (X - first.noise - first.outliers) @ X.T - U1 + mu * first.C + U2 + mu * first.Q
    np.testing.assert_allclose(second.Z, np.linalg.solve(G + 2 * mu * np.eye(80), right.T).T, atol=1e-12)
    np.testing.assert_allclose(second.Q[second.Q != 0], (second.Z - U2 / mu)[second.Q != 0], atol=1e-12)
    assert last.change < settings.tol


@pytest.mark.parametrize("mask", ["none", "labels", "array"])
def test_a_full_comparison_shows_agreement(rows, mask):
    X, y = rows
    row = measure.measure(cases.Case("toy", len(X), 1e-6, mask), X, y, repeats=1)
    assert row["ratio"] == pytest.approx(row["plain_seconds"] / row["seconds"])
    assert row["ari"] >= 0.999
    assert row["support_difference"] <= 1e-3
    assert row["met"]


_SIGNATURES_AROUND_THE_CLOCK = """
import sys
import numpy as np
from numba.core.dispatcher import Dispatcher
from masked_subspace.bench import cases, measure
from masked_subspace.represent.dense import kernels, lazy_kernels
from masked_subspace.represent.dense.solve import solve_dense

def compiled():
    found = [one for module in (kernels, lazy_kernels) for one in vars(module).values() if isinstance(one, Dispatcher)]
    return {one.__name__: sorted(map(str, one.signatures)) for one in found}

rng = np.random.default_rng(0)
X = np.vstack([rng.normal(size=(80, 4)) @ rng.normal(size=(4, 30)) for _ in range(5)])
X += 0.05 * rng.normal(size=X.shape)
X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
y = np.repeat(np.arange(5), 80)
options = {"sparsity": 1e-2} | ({"noise": 1.0} if sys.argv[2] == "noise" else {})
case = cases.Case("toy", len(X), mask=sys.argv[1], options=options)
measure.warm_up(case, X, y)
before = compiled()
for rows in (X, X.astype(np.float64)):  # near-ties of the first, if there are any, take the code of the second
    result = solve_dense(rows, case.settings, soft_mask=case.soft_mask(y))
assert compiled() == before, [name for name, signatures in compiled().items() if signatures != before[name]]
print(result.details["path"])
"""


@pytest.mark.parametrize(
    ("mask", "model", "path"),
    [
        ("none", "plain", "lazy"),
        ("labels", "plain", "lazy"),
        ("array", "plain", "blocked"),
        ("none", "noise", "blocked"),
    ],
)
def test_nothing_is_compiled_on_the_clock(mask, model, path):
    """In a process of its own: here, other tests have compiled everything."""
    done = subprocess.run(
        [sys.executable, "-c", _SIGNATURES_AROUND_THE_CLOCK, mask, model], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == path


def test_sampled_plain_iterations_are_scaled(rows):
    X, y = rows
    row = measure.measure(cases.Case("toy", len(X), 1e9, plain_iterations=3), X, y, repeats=1)
    assert row["plain_sampled"] == 3
    assert row["plain_seconds"] > 0
    assert not row["met"]
    assert measure.missed([row], share=0.5) == [row]


def run_with(rows: list[dict]) -> dict:
    return {"machine": {"cpu": "a processor", "cores": 2, "load": 0.1}, "quick": True, "cases": rows}


def toy_row(ratio: float) -> dict:
    return {
        "case": "toy", "n": 10, "goal": 4.0, "seconds": 1.0, "wall_seconds": 1.0, "n_iter": 7, "plain_seconds": ratio,
        "ratio": ratio, "most_seconds": None, "most_megabytes": None, "met": ratio >= 4, "megabytes": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(("ratio", "code"), [(4.5, 0), (2.1, 0), (1.9, 1)])
def test_exit_code_and_files(ratio, code, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bench, "run_bench", lambda **_: run_with([toy_row(ratio)]))
    stored, written = tmp_path / "stored.json", tmp_path / "run.json"
    stored.write_text(json.dumps(run_with([toy_row(5.0)])))
    assert bench.main(["--quick", "--compare", str(stored), "--json", str(written)]) == code
    shown = capsys.readouterr()
    assert json.loads(written.read_text())["cases"][0]["ratio"] == ratio
    assert "against the stored run" in shown.out
    assert f"{ratio:.2f}" in shown.out
    assert ("under half its goal" in shown.err) == (code == 1)
    assert ("MISSED" in shown.out) == (ratio < 4)


def test_goals_of_memory_and_seconds_count():
    row = toy_row(9.0) | {"most_seconds": 0.4, "most_megabytes": None}
    assert measure.missed([row], share=1.0)
    assert measure.missed([row], share=0.5)
    assert not measure.missed([row | {"most_seconds": 0.6}], share=0.5)
    assert measure.missed([toy_row(9.0) | {"most_megabytes": 0.4}], share=0.5)


def test_growth_is_drawn(tmp_path):
    points = [{"n": n, "seconds": n / 100, "megabytes": n / 10} for n in (500, 1000, 2000)]
    report.draw_growth({"points": points, "seconds_slope": 1.0, "memory_slope": 1.0}, tmp_path / "growth.svg")
    assert (tmp_path / "growth.svg").stat().st_size > 1000


def test_every_goal_of_the_table_is_a_case():
    found = {(case.name, case.n_samples): case.goal for case in cases.model_cases((1000, 2000, 4000), 2000, 3)}
    assert found["BMSC", 4000] == 100
    assert found["GMSC, label mask", 2000] == 25
    assert found["GMSC-n", 1000] == 4
    assert len(found) == 12
    assert all(case.goal == 5 for case in cases.regime_cases(1000, 3))


def test_importing_is_quick():
    assert 0 <= extras.import_seconds() < 5  # the goal is 1 s; a busy machine is given room


def toy_fit(ratio: float) -> dict:
    samples = {"fit": "digits", "n": 10, "d": 3, "way": "plain"}
    return samples | {"seconds": ratio, "peer_seconds": 1.0, "ratio": ratio, "goal": 5.0}


@pytest.mark.parametrize(("ratio", "code"), [(4.0, 0), (9.9, 0), (10.1, 1)])
def test_whole_fits_are_guarded_at_twice_their_goal(ratio, code, monkeypatch, capsys):
    monkeypatch.setattr(bench, "run_bench", lambda **_: run_with([]) | {"fits": [toy_fit(ratio)]})
    assert bench.main(["--quick"]) == code
    shown = capsys.readouterr()
    assert ("MISSED" in shown.out) == (ratio > 5)
    assert ("twice its goal" in shown.err) == (code == 1)


def test_a_fit_is_timed_beside_k_means(monkeypatch):
    case = fits.FitCase("motions", 2, quick=True, goal=1e-9)
    monkeypatch.setattr(fits, "FIT_CASES", (case, fits.FitCase("subspaces", 2)))
    monkeypatch.setattr(fits, "generated", lambda *_: make_subspaces(2, per_subspace=40, random_state=0).data)
    (row,) = fits.fits(quick=True)
    assert (row["fit"], row["n"]) == ("motions", 80)
    assert row["ratio"] == pytest.approx(row["seconds"] / max(row["peer_seconds"], 1e-3))
    assert fits.too_slow([row]) == [row]
    assert row["way"] in fits.fit_line(row)
