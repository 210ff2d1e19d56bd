"""How many places an addition takes, as CONTRIBUTING.md says: here each is made in just these places, and is there.

Baselines are in test_registry.py, cuts in test_additions.py. Kinds of graphs are branches of one function: tests/label
goes through all.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

import masked_subspace
from masked_subspace import GMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.inputs import read_samples, registry
from masked_subspace.inputs.samples import Samples
from masked_subspace.masks import HardMask, SoftMask
from masked_subspace.report import ReportContent, page, render

_VIEW = """
from masked_subspace.rows.preparation import VIEWS, View
VIEWS["toy"] = View("toy", standardize=True)  # the one line
from masked_subspace.rounds.judge import FAMILIES
FAMILIES["toy"] = ("toy",)  # the one word that lets the judge try it
from masked_subspace import BMSC, RMSC
from masked_subspace.datasets import make_subspaces
X = make_subspaces(n_subspaces=3, per_subspace=20, noise=0.05, random_state=0).data
assert '"toy"' in BMSC.__doc__
assert BMSC(3, view="toy", random_state=0).fit(X).view_ == "toy"
assert "toy" in [record["way"] for record in RMSC(3, random_state=0).fit(X).choices_]
"""


def test_a_view_is_one_line_and_one_word_for_the_judge():
    done = subprocess.run([sys.executable, "-c", _VIEW], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_an_input_format_is_one_file_and_one_line(tmp_path, monkeypatch):
    module = ModuleType("masked_subspace.inputs.toy")
    module.read = lambda source: Samples(np.array(source.path.read_text().split(), dtype=float).reshape(-1, 2))
    monkeypatch.setitem(sys.modules, "masked_subspace.inputs.toy", module)
    monkeypatch.setattr(registry, "FORMATS", (*registry.FORMATS, registry.Format("toy", (".toy",), "toy")))
    path = tmp_path / "numbers.toy"
    path.write_text("1 2 3 4 5 6")
    assert read_samples(path).X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert ".toy" in registry.kinds()


class Far(SoftMask):
    def __init__(self, n_samples):
        self.n_samples = n_samples

    def at(self, rows, cols):
        return 1.0 + np.abs(rows - cols)


class Even(HardMask):
    def __init__(self, n_samples):
        self.n_samples = n_samples

    def allowed(self, rows, cols):
        return ((rows - cols) % 2 == 0) & (rows != cols)


def test_masks_are_one_class_each():
    X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
    model = GMSC(3, soft_mask=Far(60), hard_mask=Even(60), random_state=0).fit(X)
    rows, cols = model.representation_matrix_.nonzero()
    assert len(rows) > 0
    assert np.all((rows - cols) % 2 == 0)
    assert isinstance(model.soft_mask_, Far)


def test_a_panel_of_the_report_is_one_file(tmp_path, monkeypatch):
    shutil.copytree(Path(masked_subspace.__file__).parent / "report" / "assets", tmp_path / "assets")
    (tmp_path / "assets" / "panel_toy.js").write_text("addPanel({ id: 'toy', draw: () => [] });")
    monkeypatch.setattr(page, "files", lambda _package: tmp_path)
    text = render(ReportContent("A title"))
    assert text.index("function addPanel(") < text.index("addPanel({ id: 'toy'") < text.index("async function start()")
