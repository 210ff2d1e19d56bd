"""Rows along the directions that hold nearly all of their energy, where they are long and many."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.label.labeler import Evidence
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.rounds import recursion
from masked_subspace.rounds.recursion import Recipe
from masked_subspace.rows.preparation import VIEWS, along_leading_directions


def rows_with_energies(energies, n, d, seed=0):
    """n × d rows whose squared singular values are these, and 0 beyond."""
    rng = np.random.default_rng(seed)
    left = np.linalg.qr(rng.normal(size=(n, len(energies))))[0]
    right = np.linalg.qr(rng.normal(size=(d, len(energies))))[0]
    return (left * np.sqrt(energies)) @ right.T


@pytest.mark.parametrize(("energies", "kept"), [([50, 30, 18, 1.5, 0.5], 4), ([60, 39.5, 0.3, 0.2], 2), ([1.0], 1)])
def test_the_fewest_directions_that_hold_99_percent_are_kept(energies, kept):
    rows = rows_with_energies(energies, 520, 256)
    seen = along_leading_directions(rows)
    assert seen.shape == (520, kept)
    np.testing.assert_allclose((seen**2).sum(axis=0), energies[:kept])
    # Products are those of the rows without the directions that were left out.
    u, s, v = np.linalg.svd(rows, full_matrices=False)
    leading = (u[:, :kept] * s[:kept]) @ v[:kept]
    np.testing.assert_allclose(seen @ seen.T, leading @ leading.T, atol=1e-10)


@pytest.mark.parametrize(("n", "d"), [(600, 255), (511, 256), (519, 260)])
def test_short_or_few_rows_stay_as_they_are(n, d):
    rows = rows_with_energies([50, 49.5, 0.5], n, d)
    assert along_leading_directions(rows) is rows
    assert along_leading_directions(rows_with_energies([50, 49.5, 0.5], 520, 260)).shape == (520, 2)


def test_rows_in_a_file_stay_there(tmp_path):
    rows = np.memmap(tmp_path / "rows", dtype=np.float32, mode="w+", shape=(520, 256))
    rows[:] = rows_with_energies([50, 49.5, 0.5], 520, 256)
    assert along_leading_directions(rows) is rows


def test_single_precision_stays():
    rows = rows_with_energies([50, 49.5, 0.5], 520, 256).astype(np.float32)
    assert along_leading_directions(rows).dtype == np.float32


@pytest.mark.parametrize(
    ("view", "outliers", "solver", "turned"),
    [
        ("uncentered", None, "sparse", True),
        ("uncentered", 0.1, "sparse", False),  # outliers are single features
        ("uncentered", None, "dense", False),  # exactly as asked
        ("uncentered-whitened", None, "sparse", False),  # all directions matter there
    ],
)
def test_members_whose_codes_are_solved_see_them(monkeypatch, view, outliers, solver, turned):
    asked = []
    monkeypatch.setattr(recursion, "along_leading_directions", lambda rows: asked.append(rows.shape) or rows)
    representer = MaskedRepresenter(solver=solver, outliers=outliers)
    recipe = Recipe(representer, 3, 3, (3, 4, 5), [], 3.0)
    X = np.random.default_rng(0).normal(size=(40, 6))
    recipe.look(X, VIEWS[view], Evidence(X, None, False, 1))
    assert bool(asked) is turned
