"""The tables of docs/findings/peers.md and unseen.md are those of the stored runs."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
PAGES, STORED = ROOT / "docs" / "findings", ROOT / "benchmarks" / "peers"
NAMES = ["peers", "unseen"]

pytestmark = pytest.mark.skipif(not PAGES.exists(), reason="docs/ is not in a checkout")


def records(page):
    return [json.loads(line) for line in (STORED / f"{page}.jsonl").read_text(encoding="utf-8").splitlines()]


def accuracies(page):
    """All runs of a method on a set, in %."""
    found = defaultdict(list)
    for one in records(page):
        found[one["set"], one["method"]].append(100 * one["accuracy"])
    return found


def tables(page):
    """Each as a list of rows of cells."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", (PAGES / f"{page}.md").read_text(encoding="utf-8"), re.MULTILINE)
    return [[[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()] for block in blocks]


def of_sets(page):
    return [table for table in tables(page) if table[0][0] == "set"]


@pytest.mark.parametrize("page", NAMES)
def test_every_cell_is_a_stored_run(page):
    stored, seen = accuracies(page), set()
    for head, _, *rows in of_sets(page):
        for name, *cells in rows:
            best = max(np.mean(values) for (of, _), values in stored.items() if of == name)
            for method, cell in zip(head[1:], cells, strict=True):
                values = stored.get((name, method), [])
                shown = [] if cell == "–" else [float(number) for number in re.findall(r"[\d.]+", cell)]
                wanted = [np.mean(values), np.std(values)][: min(2, len(values))] if values else []
                assert shown == [float(f"{one:.1f}") for one in wanted], (name, method)
                assert cell.startswith("**") == (bool(values) and np.mean(values) >= best - 1e-9), (name, method)
                seen.add((name, method))
    assert seen >= set(stored)


@pytest.mark.parametrize("page", NAMES)
def test_the_distances_to_the_best_follow_from_them(page):
    stored = accuracies(page)
    sets = {row[0] for row in of_sets(page)[0][2:]}
    means = {key: float(np.mean(values)) for key, values in stored.items() if key[0] in sets}
    best = {name: max(value for (of, _), value in means.items() if of == name) for name in sets}
    (_, _, *rows) = next(table for table in tables(page) if table[0][1] == "mean, points")
    assert {row[0] for row in rows} == {method for _, method in means}
    for method, mean, worst, seconds in rows:
        behind = [best[name] - value for (name, of), value in means.items() if of == method]
        assert float(mean) == pytest.approx(np.mean(behind), abs=0.051), method
        assert float(worst) == pytest.approx(max(behind), abs=0.051), method
        spent = [one["cpu_seconds"] for one in records(page) if one["method"] == method and one["set"] in sets]
        assert float(seconds) == pytest.approx(np.median(spent), abs=0.0051), method


def test_how_often_rmsc_is_the_best_is_said_the_same_on_both_pages():
    page = "peers"
    stored = accuracies(page)
    sets = {row[0] for row in of_sets(page)[0][2:]}
    means = {key: float(np.mean(values)) for key, values in stored.items() if key[0] in sets}
    first = sum(means[name, "RMSC"] >= max(v for (of, _), v in means.items() if of == name) - 1e-9 for name in sets)
    n_methods = len({method for _, method in means})
    assert f"RMSC is the best of {n_methods} on {first} of {len(sets)} sets" in (PAGES / f"{page}.md").read_text(
        encoding="utf-8"
    )
    guide = (ROOT / "docs" / "guide" / "methods.md").read_text(encoding="utf-8")
    assert f"the best of fifteen methods on {first} of {len(sets)} sets" in guide
    assert n_methods == 15
