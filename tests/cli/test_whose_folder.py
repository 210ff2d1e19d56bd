"""What stands in a folder already: files that no run wrote stay, and runs of other data are not replaced unasked."""

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
