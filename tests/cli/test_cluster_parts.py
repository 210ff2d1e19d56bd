"""What `cluster` hands from reading to fitting, to the page and to the folder, without fits that take time."""

from __future__ import annotations

import io
import json
import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

from masked_subspace import BMSC
from masked_subspace.cli import cluster, main
from masked_subspace.cli.cluster import _content, _Job, _takes_pairs
from masked_subspace.cli.fitting import TimedFit
from masked_subspace.cli.parser import build_parser
from masked_subspace.inputs import GivenPairs, Samples
from masked_subspace.inputs.samples import Column

LABELS = np.repeat([0, 1], 4)
ROWS = np.random.default_rng(0).normal(size=(8, 4)) + 9 * LABELS[:, None]


def model(labels=LABELS, **more):
    return SimpleNamespace(labels_=labels, **more)


def with_graph(**more):
    same = np.equal.outer(LABELS, LABELS) - np.eye(8)
    return model(affinity_matrix_=csr_array(same), embedding_=np.eye(2)[LABELS], **more)


def content_of(estimator, file="a.csv", samples=None):
    options = build_parser().parse_args(["cluster", file, "-k", "2", "--method", "kmeans"])
    job = _Job(options, samples or Samples(ROWS), TimedFit(estimator, 1.5, 2.0, ()), None, 0.0, ())
    return _content(job, ROWS)


def test_standard_input_is_called_so():
    assert content_of(model(), "-").title == "standard input in 2 clusters"
    assert content_of(model(), "below/a.csv").title == "a.csv in 2 clusters"
    assert content_of(model(np.zeros(8, dtype=int))).title == "a.csv in 1 cluster"
    assert content_of(model(np.where(np.arange(8) < 2, -1, LABELS))).facts["clusters"] == 2


@pytest.mark.parametrize(
    ("shape", "estimator", "told"),
    [(None, with_graph(), True), ((2, 2), with_graph(), False), ((2, 2), model(), True), (None, model(), True)],
)
def test_features_are_told_unless_rows_are_pictures_and_have_a_graph(shape, estimator, told):
    columns = tuple(Column(name, "feature") for name in "abcd")
    content = content_of(estimator, samples=Samples(ROWS, images_shape=shape, columns=columns))
    assert bool(content.runs[0].profiles) == told
    assert (content.images is None) == (shape is None)
    if told:
        assert content.runs[0].profiles[0]["features"][0]["feature"] in "abcd"


def test_rounds_are_counted():
    assert content_of(with_graph(n_rounds_=3)).facts["rounds"] == 3
    assert content_of(with_graph()).facts["rounds"] == 1


def test_who_takes_known_pairs():
    assert _takes_pairs(BMSC(2))
    assert not _takes_pairs(KMeans(2))

    class Half:
        def fit(self, X, must_link=None):
            return self

    assert not _takes_pairs(Half())


@pytest.fixture
def steps(monkeypatch, tmp_path):
    """What each step was asked; nothing is read, fitted or written."""
    asked = SimpleNamespace(limits=[], known=[], saved=[])
    samples = Samples(ROWS, notes=("it was read",), faults=("it lies",), fingerprints={"file": "f"})
    pairs = GivenPairs(np.array([[0, 1]]), np.array([[0, 7], [0, 2]]), 1)

    def accepted(estimator, X, limit):
        asked.limits.append(limit)
        return X, ("it was made dense",)

    def fit(estimator, X, known):
        asked.known.append(known)
        return TimedFit(with_graph(constraints="soft"), 1.5, 2.0, ("careful",))

    def save(folder, content, result, page):
        asked.saved.append((folder, content, result, page))
        return [folder / "labels.csv"]

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cluster, "read_samples", lambda *_: samples)
    monkeypatch.setattr(cluster, "read_pairs", lambda *_: pairs)
    monkeypatch.setattr(cluster, "accepted_by", accepted)
    monkeypatch.setattr(cluster, "fit", fit)
    monkeypatch.setattr(cluster, "save_run", save)
    monkeypatch.setattr(cluster, "render", lambda _: "the page")
    return asked


def test_what_is_asked_of_every_step(steps, capsys):
    began = time.perf_counter()
    assert main(["cluster", "below/a.b.csv", "-k", "2", "--method", "bmsc", "--pairs", "p.csv"]) == 0
    took = time.perf_counter() - began
    shown = capsys.readouterr()
    assert shown.err == "masked-subspace: it lies\n"
    assert shown.out.startswith("it was read\npairs are by row, from 0\nit was made dense\n")
    assert "known pairs used: 1 must, 2 cannot (1 line repeated another); kept: 1 must, 1 cannot" in shown.out
    ((folder, content, result, page),) = steps.saved
    assert (folder, page) == (Path("a.b-clusters"), "the page")
    assert folder.is_dir()
    assert content.notes == ("it lies", "it was read", "pairs are by row, from 0", "it was made dense", "careful")
    assert steps.limits == [4_000_000_000]
    (known,) = steps.known
    assert known["must_link"].tolist() == [[0, 1]]
    assert result["pairs"] == {"must": 1, "must_kept": 1, "cannot": 2, "cannot_kept": 1, "repeated": 1}
    assert result["verdict"]["headline"].startswith("2 clusters")
    assert re.fullmatch("[0-9a-f]{16,64}", result["input"].pop("place"))
    assert result["input"] == {"path": "below/a.b.csv", "samples": 8, "features": 4, "fingerprints": {"file": "f"}}
    assert result["provenance"]
    assert 0 <= result["timings"]["read"] <= took


def test_without_a_report_and_with_a_limit_and_a_place(steps, capsys):
    words = ["cluster", "a.csv", "-k", "2", "--method", "bmsc", "--no-report", "--max-gb", "0.5", "--out", "here/below"]
    assert main([*words, "--json"]) == 0
    ((folder, _, _, page),) = steps.saved
    assert (folder, page) == (Path("here/below"), None)
    assert steps.limits == [500_000_000]
    assert steps.known == [None]
    assert json.loads(capsys.readouterr().out)["files"] == ["here/below/labels.csv"]


def test_standard_input_has_a_folder_of_its_own(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    text = "\n".join(f"{a:.3f},{b:.3f}" for a, b in ROWS[:, :2])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["cluster", "-", "-k", "2", "--method", "kmeans", "--no-report"]) == 0
    assert "standard input is read as text table" in capsys.readouterr().out
    assert (tmp_path / "input-clusters" / "labels.csv").exists()
    result = json.loads((tmp_path / "input-clusters" / "result.json").read_text(encoding="utf-8"))
    assert (result["input"]["path"], result["method"], result["pairs"]) == ("-", "kmeans", {})
