"""`report`: which folders are read, and where the page goes."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from masked_subspace.cli import report
from masked_subspace.cli.parser import build_parser
from masked_subspace.experiments import publish
from masked_subspace.experiments.results import DATABASE
from masked_subspace.report import ReportContent


@pytest.fixture
def steps(monkeypatch):
    asked = SimpleNamespace(read=[], commands=[], written=[])
    monkeypatch.setattr(report, "load_alike", lambda folders: asked.read.append(list(folders)) or "runs")
    monkeypatch.setattr(report, "_together", lambda _, command: asked.commands.append(command) or ReportContent("runs"))
    monkeypatch.setattr(publish, "report_content", lambda folder: ReportContent(f"tables of {folder.name}"))
    monkeypatch.setattr(report, "write_report", lambda content, path: asked.written.append((content.title, path)))
    return asked


@pytest.mark.parametrize(
    ("words", "place"),
    [("a", "a/report.html"), ("a b", "a/report.html"), ("a b --out c.html", "c.html"), ("a --out c.html", "c.html")],
)
def test_a_page_goes_to_the_first_folder_or_where_it_is_asked_for(steps, capsys, words, place):
    options = build_parser().parse_args(["report", *words.split()])
    options.given = ("report", "my runs")
    assert report.run(options) == 0
    assert steps.read == [options.runs]
    assert steps.written == [("runs", Path(place))]
    assert steps.commands == ["masked-subspace report 'my runs'"]
    assert capsys.readouterr().out == f"wrote {place}\n"
    options.json = True
    report.run(options)
    assert json.loads(capsys.readouterr().out) == {"report": place}


def test_the_tables_of_reproduce_are_shown_alone(steps, tmp_path):
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / DATABASE).touch()
    folder, other = str(tmp_path / "tables"), str(tmp_path / "other")
    report.run(build_parser().parse_args(["report", folder, "-q"]))
    assert steps.written == [("tables of tables", tmp_path / "tables" / "report.html")]
    assert steps.read == []
    report.run(build_parser().parse_args(["report", folder, other, "-q"]))
    report.run(build_parser().parse_args(["report", other, "-q"]))
    assert len(steps.read) == 2
    assert [title for title, _ in steps.written[1:]] == ["runs", "runs"]
