"""The README is short, its links lead somewhere, its example runs, and its table is what the stored runs say."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from masked_subspace.registry import METHODS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
RUNS = ROOT / "benchmarks" / "peers" / "readme.jsonl"
# What the README calls a set; draws of MNIST from 10 on took no part in any choice.
TITLES = {
    "ORL, 40 faces": "orl",
    "USPS-1000, digits": "usps-1000",
    "USPS, 9,298 digits": "usps",
    "MNIST-1000, held out": "mnist-1000",
    "MNIST, 10,000 digits": "mnist-10000",
    "scikit-learn's digits": "digits",
    "COIL20, objects": "coil20",
    "COIL100, objects": "coil100",
    "Palm prints": "palm",
    "TOX-171, genes": "tox171",
    "Lymphoma, genes": "lymphoma",
    "Isolet, spoken letters": "isolet",
    "iris": "iris",
    "iris, standardized": "iris-standardized",
    "wine": "wine",
    "wine, standardized": "wine-standardized",
    "breast cancer": "breast-cancer",
    "breast cancer, standardized": "breast-cancer-standardized",
    "PC–MAC, word counts": "pcmac",
    "79 motion sequences": "motions",
}

pytestmark = pytest.mark.skipif(not README.exists(), reason="these tests are not in a checkout")


def stored_cells():
    """Mean ± standard deviation (runs) in percent, by set and method."""
    values = defaultdict(list)
    for line in RUNS.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        values[record["set"], record["method"]].append(100 * record["accuracy"])
    spread = {key: f" ± {np.std(found):.1f}" if len(found) > 1 else "" for key, found in values.items()}
    return {key: f"{np.mean(found):.1f}{spread[key]} ({len(found)})" for key, found in values.items()}


def shown_cells():
    text = README.read_text(encoding="utf-8")
    lines = re.findall(r"^\|(.+)\|$", text, flags=re.MULTILINE)[2:]
    for line in lines:
        cells = [cell.strip().replace("**", "") for cell in line.split("|")]
        for start in range(0, len(cells), 3):
            if cells[start]:
                yield TITLES[cells[start]], *cells[start + 1 : start + 3]


def test_the_table_is_that_of_the_stored_runs():
    stored, shown = stored_cells(), list(shown_cells())
    assert {name for name, *_ in shown} == {name for name, _ in stored}  # no set is left out because it looks bad
    for name, ours, k_means in shown:
        assert (ours, k_means) == (stored[name, "RMSC"], stored[name, "k-means"]), name


def test_it_is_short():
    assert len(README.read_text(encoding="utf-8").splitlines()) < 80


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md"])
def test_links_inside_the_repository_lead_somewhere(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", text) if not link.startswith("http")]
    assert [link for link in targets if not (ROOT / link).exists()] == []


def test_where_it_counts_the_methods_the_number_is_right():
    """k-means is scikit-learn's; BMSC, GMSC and RMSC are the paper's."""
    others = sum(method.path.startswith("masked_subspace.baselines") for method in METHODS.values())
    words = ("seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen")
    right = dict(enumerate(words, start=7))[others]
    for page in (README, ROOT / "docs" / "index.md"):
        told = re.findall(r"(\w+) other methods", page.read_text(encoding="utf-8").lower())
        assert {word for word in told if word in words} <= {right}, page


def test_its_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.+?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(code.splitlines()) <= 12
    names = {}
    exec(code, names)
    assert len(names["model"].labels_) == 1797
    assert (tmp_path / "digits.html").stat().st_size > 10_000
