"""The demo with fits that take no time: what is fitted, what is shown, what is written."""

from __future__ import annotations

import json
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

from masked_subspace.cli import demo
from masked_subspace.cli.fitting import TimedFit
from masked_subspace.cli.parser import build_parser
from masked_subspace.registry import SettingError

TARGET = np.repeat([0, 1, 2], 4)
LABELS = {"KMeans": np.repeat([0, 1, 2], [3, 5, 4]), "DBSCAN": np.where(np.arange(12) < 2, -1, TARGET)}


@pytest.fixture
def fitted(monkeypatch):
    """Every fit takes a quarter of a second, and finds the classes; k-means and DBSCAN err."""
    asked, threads = [], []

    def fit(estimator, X):
        asked.append((type(estimator).__name__, estimator.get_params(), len(X), list(threads)))
        labels = LABELS.get(type(estimator).__name__, TARGET)
        compiled = {"SSC": 1.25, "BMSC": 0.1, "GMSC": 0.0999}.get(type(estimator).__name__, 0.0)
        return TimedFit(SimpleNamespace(labels_=labels), 0.25, 1.0, (), compiled)

    @contextmanager
    def limited(number):
        threads.append(number)
        yield
        threads.pop()

    rows = np.random.default_rng(0).random((12, 4)) + 5 * np.eye(4)[TARGET]
    digits = SimpleNamespace(data=rows, target=TARGET, images_shape=(2, 2), origin="somewhere")
    monkeypatch.setattr(demo, "fit", fit)
    monkeypatch.setattr(demo, "limited_threads", limited)
    monkeypatch.setattr(demo, "_digits", lambda _: digits)
    return asked


@pytest.fixture
def written(monkeypatch):
    contents = []
    usual = demo.write_report
    monkeypatch.setattr(demo, "write_report", lambda content, path: (contents.append(content), usual(content, path))[1])
    return contents


def parsed(tmp_path, *words):
    return build_parser().parse_args(["demo", "--out", str(tmp_path / "o"), *words])


def test_what_the_demo_fits(fitted, tmp_path):
    assert demo.run(parsed(tmp_path, "--seed", "7", "--jobs", "2", "--method", "knn", "-q")) == 0
    assert [name for name, *_ in fitted] == ["KMeans", "SSC", "BMSC", "GMSC", "RMSC", "NeighborGraph"]
    for name, parameters, n_samples, threads in fitted:
        assert (parameters["n_clusters"], parameters.get("random_state", 7), n_samples) == (3, 7, 12)
        assert threads == ([1] if name == "KMeans" else [])
        assert parameters.get("n_jobs", 2) == 2
    assert fitted[0][1]["n_init"] == 20
    np.testing.assert_array_equal(fitted[3][1]["soft_mask"], LABELS["KMeans"])
    assert all("soft_mask" not in one[1] for one in fitted if one[0] != "GMSC")


def test_what_the_demo_shows(fitted, written, tmp_path, capsys):
    options = parsed(tmp_path, "--method", "sklearn.cluster:DBSCAN")
    assert demo.run(options) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "12 digits, 3 classes, from somewhere"
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:] if line.endswith("0.25")}
    assert list(rows) == ["k-means", "SSC", "BMSC", "GMSC", "RMSC", "DBSCAN"]
    assert rows["SSC"] == ["1.000", "1.000", "1.000", "0.25"]
    assert rows["k-means"][0] == "0.917"
    assert rows["DBSCAN"] == ["0.833", "1.000", "1.000", "0.25"]
    assert lines[-5:] == [
        "DBSCAN: 2 samples are in no cluster; accuracy counts them as wrong, NMI and BCA leave them out.",
        "",
        "not in these seconds: 1.4 s of compiling, once after installation (SSC 1.2, BMSC 0.1)",
        "",
        f"wrote {tmp_path / 'o' / 'report.html'}",
    ]
    (content,) = written
    assert content.title == "6 ways to cluster digits"
    assert content.subtitle == "12 handwritten digits; no method saw a label. GMSC's mask comes from k-means."
    assert content.facts == {"samples": 12, "features": 4, "classes": 3, "data": "somewhere"}
    assert content.images.shape == (12, 2, 2)
    np.testing.assert_array_equal(content.target, TARGET)
    assert [(run.name, run.seconds) for run in content.runs] == [
        (name, 0.25) for name in ("SSC", "BMSC", "GMSC", "RMSC", "DBSCAN")
    ]
    assert content.runs[0].scores["accuracy"] == 1
    assert content.tables[0].rows[0][0] == "k-means"


def test_what_the_demo_tells_a_machine(fitted, written, tmp_path, capsys):
    assert demo.run(parsed(tmp_path, "--json")) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["columns"] == ["method", "accuracy", "NMI", "BCA", "seconds"]
    assert [row[0] for row in found["rows"]] == ["k-means", "SSC", "BMSC", "GMSC", "RMSC"]
    assert found["compile_seconds"] == {"SSC": 1.25, "BMSC": 0.1, "GMSC": 0.0999, "RMSC": 0.0}
    assert found["report"] == str(tmp_path / "o" / "report.html")
    assert written[0].title == "Five ways to cluster digits"


def test_compiling_that_takes_less_than_a_tenth_is_not_told(fitted, monkeypatch, tmp_path, capsys):
    model = SimpleNamespace(labels_=TARGET)
    for seconds, told in ((0.02, False), (0.025, True)):  # of four methods
        monkeypatch.setattr(demo, "fit", lambda *_, each=seconds: TimedFit(model, 0.25, 1.0, (), each))
        assert demo.run(parsed(tmp_path)) == 0
        assert ("of compiling" in capsys.readouterr().out) == told


def test_a_wrong_name_is_said_before_anything_is_fitted(fitted, tmp_path):
    with pytest.raises(SettingError, match="nothing"):
        demo.run(parsed(tmp_path, "--method", "nothing"))
    assert fitted == []
    assert not (tmp_path / "o").exists()
