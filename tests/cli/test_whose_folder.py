"""What stands in a folder already: files that no run wrote stay, and runs of other data are not replaced unasked."""

from types import SimpleNamespace

import numpy as np
import pytest

from masked_subspace.cli import cluster as command_cluster
from masked_subspace.cli import main
from masked_subspace.cli.exits import Exit

from .conftest import FAST
from .test_mistakes import refused


@pytest.mark.parametrize("name", ["result.json", "report.html", "affinity.npz"])
def test_a_file_of_somebody_else_is_named_before_anything_is_fitted(digits, tmp_path, capsys, monkeypatch, name):
    monkeypatch.setattr(command_cluster, "fit", None)
    (tmp_path / name).write_text('{"scores": 1}')
    error = refused(capsys, Exit.OUTPUT, "cluster", digits, "-k", 4, *FAST, "--out", tmp_path)
    assert f"{tmp_path} has a {name} that no run wrote; move it away or choose another --out" in error
    assert (tmp_path / name).read_text() == '{"scores": 1}'


def test_a_page_replaces_no_file_that_is_no_page(digits, tmp_path, capsys):
    arguments = ["cluster", str(digits), "-k", "4", *FAST, "-q", "--no-report", "--out", str(tmp_path / "run")]
    assert main(arguments) == 0
    (tmp_path / "notes.html").write_text("mine")
    labels = (tmp_path / "run/labels.csv").read_text()
    for name in ("notes.html", "run/labels.csv", "run"):
        error = refused(capsys, Exit.OUTPUT, "report", tmp_path / "run", "--out", tmp_path / name)
        assert "is no report that this program wrote" in error
    assert ((tmp_path / "notes.html").read_text(), (tmp_path / "run/labels.csv").read_text()) == ("mine", labels)
    for _ in range(2):
        assert main(["report", str(tmp_path / "run"), "-q"]) == 0
    assert main(arguments) == 0
    (tmp_path / "report.html").write_text("mine")
    assert "no report" in refused(capsys, Exit.OUTPUT, "demo", "--out", tmp_path)


@pytest.fixture
def tables(digits, tmp_path, monkeypatch):
    """Inputs whose default folder is one and the same."""
    monkeypatch.chdir(tmp_path)
    X = np.load(digits)["X"][:80]
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    np.save("t.npy", X)
    np.savetxt("t.csv", X, delimiter=",")
    np.savetxt("a/t.csv", X[:60], delimiter=",")
    np.savetxt("b/t.csv", X[:70], delimiter=",")
    return tmp_path


def test_a_run_of_another_input_is_not_replaced_in_the_default_folder(tables, capsys, monkeypatch):
    cluster = ["-k", "4", *FAST, "-q", "--no-report"]
    assert main(["cluster", "a/t.csv", *cluster]) == 0
    kept = (tables / "t-clusters/labels.csv").read_text()
    for other in ("b/t.csv", "t.csv", "t.npy"):
        with monkeypatch.context() as patch:
            patch.setattr(command_cluster, "fit", None)  # said before the fit
            error = refused(capsys, Exit.OUTPUT, "cluster", other, *cluster)
        assert f"t-clusters holds the run of another input (a/t.csv, not {other}); give --out FOLDER, or" in error
    assert (tables / "t-clusters/labels.csv").read_text() == kept
    assert main(["cluster", "b/t.csv", *cluster, "--out", "t-clusters"]) == 0  # whoever names it means it
    assert (tables / "t-clusters/labels.csv").read_text() != kept


def test_the_same_input_again_replaces_its_run_also_after_a_change(tables):
    cluster = ["-k", "4", *FAST, "-q", "--no-report"]
    assert main(["cluster", "a/t.csv", *cluster]) == 0
    (tables / "a/t.csv").write_text((tables / "t.csv").read_text())
    assert main(["cluster", str(tables / "a/t.csv"), *cluster]) == 0  # the same place
    assert main(["cluster", "t.csv", *cluster]) == 0  # the same content


def test_standard_input_is_the_same_if_its_content_is(tables, capsys, monkeypatch):
    def piped(name):
        stream = (tables / name).open("rb")
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=stream))
        return ["cluster", "-", "-k", "4", *FAST, "-q", "--no-report"]

    for _ in range(2):
        assert main(piped("a/t.csv")) == 0
    assert "input-clusters holds the run of another input (another standard input)" in refused(
        capsys, Exit.OUTPUT, *piped("b/t.csv")
    )
