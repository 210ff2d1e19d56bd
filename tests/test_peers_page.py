"""The tables of docs/findings/peers.md are those of the stored runs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "findings" / "peers.md"
STORED = ROOT / "benchmarks" / "peers" / "peers.jsonl"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="docs/ is not in a checkout")


def accuracies():
    records = [json.loads(line) for line in STORED.read_text(encoding="utf-8").splitlines()]
    return {(one["set"], one["method"]): 100 * one["accuracy"] for one in records}


def tables(text):
    """Each as a list of rows of cells."""
    blocks = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    return [[[cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines()] for block in blocks]


def test_every_cell_is_a_stored_run():
    stored = accuracies()
    seen = 0
    for head, _, *rows in tables(PAGE.read_text(encoding="utf-8"))[:2]:
        for name, *cells in rows:
            best = max(value for (of, _), value in stored.items() if of == name)
            for method, cell in zip(head[1:], cells, strict=True):
                value = stored[name, method]
                assert cell.strip("*") == f"{value:.1f}", (name, method)
                assert cell.startswith("**") == (value >= best - 1e-9), (name, method)
                seen += 1
    assert seen >= len(stored)


def test_the_distances_to_the_best_follow_from_them():
    stored = accuracies()
    sets, methods = (list(dict.fromkeys(key[place] for key in stored)) for place in (0, 1))
    assert len(stored) == len(sets) * len(methods)
    value = np.array([[stored[name, method] for method in methods] for name in sets])
    behind = value.max(axis=1, keepdims=True) - value
    *_, (_, _, *rows) = tables(PAGE.read_text(encoding="utf-8"))
    shown = {row[0]: (float(row[1]), float(row[2])) for row in rows}
    for place, method in enumerate(methods):
        assert shown[method] == pytest.approx((behind[:, place].mean(), behind[:, place].max()), abs=0.06)
