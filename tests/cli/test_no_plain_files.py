"""Pipes, links, foreign databases and foreign parts: one line and the documented exit code, and nothing is touched."""

import os
import shutil
import sqlite3

import pytest

from masked_subspace.cli import main
from masked_subspace.cli.exits import Exit
from masked_subspace.experiments.results import DATABASE, Results
from masked_subspace.inputs.text import sized

from .conftest import FAST, command
from .test_mistakes import REPRODUCE, refused

pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")


@pipes
def test_a_pipe_in_the_place_of_a_run_or_of_its_files_is_not_waited_for(digits, tmp_path):
    cluster = ["cluster", str(digits), "-k", "4", *FAST, "-q", "--no-report", "--out"]
    assert main([*cluster, str(tmp_path / "run")]) == 0
    os.mkfifo(tmp_path / "pipe")
    folders = [tmp_path / "pipe"]
    for name in ("result.json", "labels.csv", "details.npz"):
        folders.append(shutil.copytree(tmp_path / "run", tmp_path / name))
        (folders[-1] / name).unlink()
        os.mkfifo(folders[-1] / name)
    for folder in folders:
        done = command("compare", tmp_path / "run", folder)  # in a process that can be ended
        assert (done.returncode, done.stderr.count("\n")) == (Exit.INPUT, 1), done.stderr
        assert "is not a complete run" in done.stderr


@pytest.mark.parametrize("table", ["customers", "data"])
def test_the_database_of_another_program_stays_as_it_is(tmp_path, capsys, table):
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        connection.execute(f"CREATE TABLE {table} (something TEXT)")
    before = (tmp_path / DATABASE).read_bytes()
    said = refused(capsys, Exit.OUTPUT, *REPRODUCE, "--show-only", "--out", tmp_path)
    assert f"{tmp_path / DATABASE} is no results database of this program: it" in said
    assert os.listdir(tmp_path) == [DATABASE]
    assert (tmp_path / DATABASE).read_bytes() == before


def test_a_database_half_made_or_with_a_table_more_is_ours(tmp_path):
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        connection.execute("CREATE TABLE artifacts (key TEXT PRIMARY KEY, content BLOB NOT NULL)")
    Results(tmp_path / DATABASE).close()
    with sqlite3.connect(tmp_path / DATABASE) as connection:
        connection.execute("CREATE TABLE remarks (text TEXT)")
    Results(tmp_path / DATABASE).close()


@pipes
def test_a_database_that_is_no_plain_file(tmp_path, capsys):
    for make in (os.mkfifo, os.mkdir):
        folder = tmp_path / make.__name__
        folder.mkdir()
        make(folder / DATABASE)
        assert "is no plain file" in refused(capsys, Exit.OUTPUT, *REPRODUCE, "--show-only", "--out", folder)


@pytest.mark.parametrize("name", ["report.html", "table1-digits.md", "table1-digits.json"])
def test_reproduce_replaces_nothing_that_it_did_not_write(tmp_path, capsys, name):
    (tmp_path / name).write_text("mine")
    said = refused(capsys, Exit.OUTPUT, *REPRODUCE, "--show-only", "--out", tmp_path)
    assert "move it away or choose another --out" in said
    assert os.listdir(tmp_path) == [name]
    (tmp_path / name).unlink()
    for _ in range(2):
        assert main([*REPRODUCE, "--show-only", "-q", "--out", str(tmp_path)]) == 0


def test_a_report_of_nothing_is_said(tmp_path, capsys):
    Results(tmp_path / DATABASE).close()
    assert "holds no table or figure" in refused(capsys, Exit.INPUT, "report", tmp_path)
    for text in ("mine", "[]", "{}", '{"made_with": {}, "tables": [{}], "figures": []}', "[" * 100_000):
        (tmp_path / "table1.json").write_text(text)
        assert "table1.json is no part that" in refused(capsys, Exit.INPUT, "report", tmp_path)
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("n_bytes", "said"), [(1, "1 byte"), (49, "49 bytes"), (1500, "1.5 kB"), (2e6, "2.0 MB"), (1e8, "0.1 GB")]
)
def test_sizes_are_said_in_a_unit_that_shows_them(n_bytes, said):
    assert sized(n_bytes) == said


def test_a_small_limit_is_said_as_it_was_given(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("a,b\n" + "1,2\n" * 400)
    error = refused(capsys, Exit.INPUT, "cluster", tmp_path / "a.csv", "-k", 2, "--max-gb", "1e-6")
    assert "is 1.6 kB of text; at most 1.0 kB are read at once" in error
