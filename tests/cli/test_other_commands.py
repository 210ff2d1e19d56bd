"""demo, data and reproduce end to end on small data."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest

from masked_subspace.cli import demo, main
from masked_subspace.cli.exits import Exit
from masked_subspace.experiments.publish import Request
from masked_subspace.inputs.registry import FORMATS


def test_output_may_be_cut_short_by_its_reader():
    program = "import sys; from masked_subspace.cli import main; sys.exit(main())"
    shell = f"{sys.executable} -c '{program}' data list | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_help_names_every_format_that_can_be_read(capsys):
    with pytest.raises(SystemExit):
        main(["cluster", "--help"])
    shown = capsys.readouterr().out
    assert {ending for one in FORMATS for ending in one.endings} <= set(shown.replace(",", " ").split())
    assert "KINDS" not in shown


def test_data_list_knows_all_sets(capsys):
    assert main(["data", "list"]) == 0
    text = capsys.readouterr().out
    for name in ("mnist", "usps", "orl", "coil20", "coil100", "digits"):
        assert name in text
    assert main(["data", "list", "--json"]) == 0
    found = {one["name"]: one for one in json.loads(capsys.readouterr().out)["datasets"]}
    assert found["digits"]["available"]


def test_demo_shows_five_methods(tmp_path, capsys):
    assert main(["demo", "--samples", "200", "--jobs", "1", "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    methods = [
        line.split()[0]
        for line in lines
        if line.split()[:1] and line.split()[0] in ("k-means", "SSC", "BMSC", "GMSC", "RMSC")
    ]
    assert methods == ["k-means", "SSC", "BMSC", "GMSC", "RMSC"]
    assert (tmp_path / "report.html").stat().st_size < 10_000_000


def test_reproduce_prints_and_writes_a_table(tmp_path, capsys):
    arguments = [
        "reproduce",
        "table2",
        "--dataset",
        "digits",
        "--method",
        "knn",
        "--trials",
        "2",
        "--out",
        str(tmp_path),
    ]
    assert main(arguments) == 0
    assert "5-NN graph (control)" in capsys.readouterr().out
    found = set(os.listdir(tmp_path))
    assert {"results.sqlite", "table2-digits.md", "table2-digits.csv", "table2-digits.tex", "report.html"} <= found
    # Without restrictions it shows every row that has a cell, and no other.
    assert main(["reproduce", "table2", "--dataset", "digits", "--show-only", "--json", "--out", str(tmp_path)]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["trials"] == 2
    assert row["accuracy"]["mean"] > 60
    (tmp_path / "report.html").unlink()
    assert main(["report", str(tmp_path), "--quiet"]) == 0
    assert "5-NN graph" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_set_that_the_paper_does_not_have_is_kept_apart(tmp_path, capsys):
    """Files of the paper's own table stay as they are, and the page shows both."""
    table = {"title": "Table 1, MNIST", "columns": ["method"], "rows": [["theirs"]], "notes": [], "decimals": [None]}
    stored = {"made_with": {}, "figures": [], "tables": [table]}
    (tmp_path / "table1.json").write_text(json.dumps(stored))
    (tmp_path / "table1.md").write_text("kept")
    arguments = ["--method", "knn", "--setting", "auto", "--trials", "1", "--out", str(tmp_path)]
    assert main(["reproduce", "table1", "--dataset", "digits", *arguments]) == 0
    assert "Table 1, digits (a set that the paper does not have)" in capsys.readouterr().out
    assert (tmp_path / "table1.md").read_text() == "kept"
    assert json.loads((tmp_path / "table1.json").read_text()) == stored
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Table 1, MNIST" in page
    assert "Table 1, digits" in page


@pytest.mark.parametrize(
    ("part", "datasets", "stem"),
    [
        ("table1", None, "table1"),
        ("table1", ("mnist-1000",), "table1"),
        ("table1", ("mnist-1000", "digits"), "table1-digits"),
        ("table2", ("orl", "coil20"), "table2"),
        ("figures", ("coil20",), "figures"),
        ("figures", ("digits",), "figures-digits"),
        ("all", ("orl", "mnist-1000"), "all"),
    ],
)
def test_files_are_named_after_the_part_and_the_sets_beyond_the_paper(part, datasets, stem):
    assert Request(part, datasets=datasets).stem == stem


def test_reproduce_goes_on_without_a_set_that_is_not_to_be_had(tmp_path, monkeypatch, capsys):
    for variable in ("MASKED_SUBSPACE_DATA", "MASKED_SUBSPACE_CACHE"):
        monkeypatch.setenv(variable, str(tmp_path / "nothing"))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # nobody listens there: the network cannot be reached
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    arguments = ["reproduce", "table2", "--method", "knn", "--trials", "1", "--out", str(tmp_path / "out"), "--json"]
    assert main([*arguments, "--dataset", "coil20", "--dataset", "digits"]) == Exit.DATA
    captured = capsys.readouterr()
    assert "coil20 is left out" in captured.err
    assert [row["dataset"] for row in json.loads(captured.out)["rows"]] == ["digits"]
    assert main([*arguments, "--dataset", "coil20"]) == Exit.DATA
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.slow
def test_reproduce_table3_and_figures_on_small_digits(tmp_path, capsys):
    arguments = ["--dataset", "digits", "--setting", "auto", "--out", str(tmp_path), "--json"]
    assert main(["reproduce", "table3", *arguments]) == 0
    files = json.loads(capsys.readouterr().out)["files"]
    assert "all linked pairs" in (tmp_path / "table3-digits.md").read_text(encoding="utf-8")
    assert any(path.endswith("table3-digits.csv") for path in files)
    assert main(["reproduce", "figures", *arguments]) == 0
    for number in (1, 2, 3, 4):
        assert (tmp_path / f"figure{number}-digits.png").read_bytes().startswith(b"\x89PNG")


def test_the_package_can_be_run_as_the_command():
    from masked_subspace import __version__

    command = [sys.executable, "-m", "masked_subspace", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == __version__
    assert "usage: masked-subspace" in subprocess.run(
        [*command[:-1], "--help"], capture_output=True, text=True, check=True, timeout=60
    ).stdout  # fmt: skip


def test_the_demo_takes_a_method_that_leaves_everybody_out(tmp_path, capsys):
    method = ["--method", "sklearn.cluster:DBSCAN"]  # with its own settings, on pixels: nobody has a neighbor
    assert main(["demo", "--samples", "60", *method, "--out", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    row = next(line for line in shown.splitlines() if line.startswith("DBSCAN"))
    assert row.split()[1:4] == ["0.000", "–", "–"]
    assert "DBSCAN: 60 samples are in no cluster; accuracy counts them as wrong" in shown
    assert (tmp_path / "report.html").exists()


def test_the_demo_names_the_methods_that_were_compiled_and_their_seconds(tmp_path, monkeypatch, capsys):
    def fit(estimator, X):
        return replace(usual(estimator, X), compile_seconds=1.5 if type(estimator).__name__ == "SSC" else 0.04)

    usual = demo.fit
    monkeypatch.setattr(demo, "fit", fit)
    assert main(["demo", "--samples", "120", "--jobs", "1", "--out", str(tmp_path)]) == 0
    assert "1.6 s of compiling, once after installation (SSC 1.5)" in capsys.readouterr().out
