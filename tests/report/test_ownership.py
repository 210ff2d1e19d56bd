"""What no run wrote is never replaced or removed by one; what runs wrote is, also after a kill."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from masked_subspace._common import together
from masked_subspace._common.files import FileError
from masked_subspace.report import render
from masked_subspace.report.archive import FILES, PAGE, SEAL, load_result, load_run, refuse_to_replace, save_run
from masked_subspace.report.page import is_page, refuse_foreign_page

from .test_archive import result_for

WITHOUT_PAGE = sorted(set(FILES) - {PAGE})
NOT_SEALED = ["mine", "{}", "[1]", '{"name": "x"}', '{"seal": "0", "checksums": {}}', "[" * 100_000, "", "\0\xff"]


@pytest.fixture
def one(content):
    return replace(content, runs=content.runs[1:], tables=(), figures=())


def remembered(folder):
    return {path.name: path.readlink() if path.is_symlink() else path.is_dir() or path.read_bytes()
            for path in folder.iterdir()}  # fmt: skip


def refused(folder, one, name, reason="that no run wrote"):
    """Neither before the fit nor after it; everything stays as it is."""
    before, told = remembered(folder), rf"has a {name} {reason}; move it away or choose another --out"
    with pytest.raises(FileError, match=told):
        refuse_to_replace(folder)
    with pytest.raises(FileError, match=told):
        save_run(folder, one, result_for(one))
    assert remembered(folder) == before


@pytest.mark.parametrize("text", NOT_SEALED, ids=range(len(NOT_SEALED)))
def test_a_result_of_another_program_stays(one, tmp_path, text):
    (tmp_path / SEAL).write_text(text, encoding="latin-1")
    refused(tmp_path, one, SEAL)


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_plain_file_stays(one, tmp_path, name):
    for number, make in enumerate((
        lambda path: path.mkdir(),
        lambda path: path.symlink_to("nowhere"),
        lambda path: path.symlink_to(tmp_path / "elsewhere"),
    )):  # fmt: skip
        (tmp_path / "elsewhere").write_text("mine")
        folder = tmp_path / str(number)
        folder.mkdir()
        make(folder / name)
        refused(folder, one, name)
    assert (tmp_path / "elsewhere").read_text() == "mine"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_stays_and_is_not_waited_for(one, tmp_path):
    os.mkfifo(tmp_path / SEAL)
    with pytest.raises(FileError, match=r"has a result.json that no run wrote"):
        refuse_to_replace(tmp_path)


def test_what_may_not_be_read_stays(one, tmp_path, monkeypatch):
    (tmp_path / SEAL).write_text("secret")
    usual = Path.open

    def forbidden(path, *arguments, **more):
        if path.name == SEAL:
            raise PermissionError(13, "Permission denied")
        return usual(path, *arguments, **more)

    monkeypatch.setattr(Path, "open", forbidden)
    with pytest.raises(FileError, match=r"has a result.json that cannot be read \(Permission denied\)"):
        refuse_to_replace(tmp_path)


def test_a_file_that_the_run_there_did_not_write_stays(one, tmp_path):
    save_run(tmp_path, one, result_for(one))
    (tmp_path / PAGE).write_text("<p>mine")
    refused(tmp_path, one, PAGE)


@pytest.mark.parametrize("name", ["labels.csv", "details.npz", PAGE])
def test_a_file_that_was_changed_by_hand_stays(one, tmp_path, name):
    save_run(tmp_path, one, result_for(one), "<p>page")
    with (tmp_path / name).open("ab") as stream:
        stream.write(b"my own remark")
    refused(tmp_path, one, name, "that was changed after a run wrote it")


def test_a_result_that_was_changed_by_hand_stays_with_all_that_it_spoke_of(one, tmp_path):
    save_run(tmp_path, one, result_for(one))
    body = json.loads((tmp_path / SEAL).read_text(encoding="utf-8"))
    (tmp_path / SEAL).write_text(json.dumps({**body, "name": "better"}))
    refused(tmp_path, one, "affinity.npz")


def test_what_runs_wrote_is_replaced(one, tmp_path):
    save_run(tmp_path, one, result_for(one), render(one))
    (tmp_path / PAGE).write_text(render(replace(one, title="made again by `report`")), encoding="utf-8")
    save_run(tmp_path, one, result_for(one))
    assert sorted(os.listdir(tmp_path)) == WITHOUT_PAGE


@pytest.mark.parametrize(("fails_at", "times"), [(0, 2), (1, 2), (2, 2), (3, 2), (4, 1)])
def test_a_move_that_fails_half_way_leaves_proof_of_whose_files_these_are(one, tmp_path, monkeypatch, fails_at, times):
    save_run(tmp_path, one, result_for(one), render(one))
    usual, calls = os.replace, []

    def failing(source, target):
        if Path(target).parent == tmp_path or Path(target).name == together._BEFORE:
            calls.append(target)
            if len(calls) > fails_at:
                raise OSError(5, "Input/output error")
        usual(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", failing)
        for _ in range(times):  # the second one finds what the first one left
            calls.clear()
            with pytest.raises(FileError, match="Input/output error"):
                save_run(tmp_path, one, result_for(one))
    (tmp_path / "notes.txt").write_text("kept")
    save_run(tmp_path, one, {**result_for(one), "name": "last"})
    assert load_result(tmp_path)["name"] == "last"
    assert load_run(tmp_path).title == one.title
    assert sorted(os.listdir(tmp_path)) == sorted([*WITHOUT_PAGE, "notes.txt"])


def test_a_folder_of_a_person_is_not_taken_for_what_a_killed_process_left(one, tmp_path):
    theirs = tmp_path / ".unfinished-thesis"
    theirs.mkdir()
    (theirs / "chapter.tex").write_text("mine")
    for _ in range(2):
        save_run(tmp_path, one, result_for(one))
    assert (theirs / "chapter.tex").read_text() == "mine"


def test_a_page_is_known_by_what_it_says_before_anything_a_person_named(one, tmp_path):
    page = tmp_path / "page.html"
    refuse_foreign_page(page)
    page.write_text(render(one), encoding="utf-8")
    refuse_foreign_page(page)
    (tmp_path / "link.html").symlink_to(page)
    page.with_name("mine.html").write_text("<!doctype html><title>masked-subspace</title>")
    for name in ("link.html", "mine.html", ""):
        assert not is_page(tmp_path / name)
        with pytest.raises(FileError, match=r"is no report that this program wrote; move it away or choose another"):
            refuse_foreign_page(tmp_path / name)
