"""Mistakes that people make, and files that lie: one line, the documented exit code, no traceback, nothing obeyed."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import zlib

import numpy as np
import pytest

from masked_subspace.cli import main
from masked_subspace.cli.exits import Exit
from masked_subspace.experiments.results import DATABASE, Results

from .conftest import FAST, HEEDING_CTRL_C, label_rows, started


def refused(capsys, code, *arguments):
    """Run the command; its one line of error."""
    try:
        found = main([str(one) for one in arguments])
    except SystemExit as ended:
        found = ended.code
    assert found == code
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert error.startswith("masked-subspace: ")
    assert error.count("\n") == 1
    return error


@pytest.mark.parametrize(
    ("typed", "code", "said"),
    [
        ("clutser x.csv -k 3", Exit.USAGE, "did you mean 'cluster'"),
        ("sing", Exit.USAGE, "choose of cluster, demo, reproduce"),
        ("cluster x.csv --clusterz 3", Exit.USAGE, "there is no option --clusterz (did you mean '--clusters'?)"),
        ("cluster x.csv -k 3 --metod=bmsc", Exit.USAGE, "there is no option --metod (did you mean '--method'?)"),
        (
            "cluster x.csv -k 3 --scale standart",
            Exit.USAGE,
            "--scale: 'standart' is unknown (did you mean 'stand",
        ),
        ("cluster x.csv -k 3 --impute medan", Exit.USAGE, "did you mean 'median'"),
        ("cluster x.csv -k atuo", Exit.USAGE, "did you mean 'auto'"),
        ("cluster x.csv more.csv -k 3", Exit.USAGE, "unexpected 'more.csv'"),
        ("cluster", Exit.USAGE, "required"),
        ("--verson", Exit.USAGE, "did you mean '--version'"),
        ("reproduce tabel1", Exit.USAGE, "did you mean 'table1'"),
        ("data fetsh orl", Exit.USAGE, "did you mean 'fetch'"),
        ("data fetch orll", Exit.USAGE, "did you mean 'orl'"),
        ("completion bsh", Exit.USAGE, "did you mean 'bash'"),
    ],
)
def test_a_mistyped_word_is_answered_with_the_nearest(capsys, typed, code, said):
    error = refused(capsys, code, *typed.split())
    assert said in error
    assert "did you mean" in said or "did you mean" not in error


def test_the_beginning_of_an_option_and_values_like_options_are_taken(digits, tmp_path, capsys):
    asked = ["--clust", "2", "--meth=kmeans", "--no-rep", "--quiet", "--out", str(tmp_path / "o")]
    assert main(["cluster", str(digits), *asked]) == 0
    error = refused(capsys, Exit.INPUT, "cluster", "-k", "2", "--out", tmp_path / "o", "--", "--clusterz")
    assert "--clusterz" in error


def test_a_mistyped_column_is_answered_with_the_nearest(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("length,width,species\n1,2,a\n2,3,b\n3,5,a\n")
    asked = ("cluster", tmp_path / "a.csv", "-k", 2, "--out", tmp_path / "o")
    assert "did you mean 'species'" in refused(capsys, Exit.INPUT, *asked, "--label-column", "speces")
    assert "did you mean 'width'" in refused(capsys, Exit.INPUT, *asked, "--features", "length,widht")


def test_pairs_that_are_missing_a_folder_or_no_text(digits, tmp_path, capsys):
    (tmp_path / "binary.csv").write_bytes(b"0,1,must\n\xff\xfe,2,must\n")
    for path, said in ((tmp_path / "no.csv", "no file"), (tmp_path, "is a folder"), (tmp_path / "binary.csv", "UTF-8")):
        error = refused(capsys, Exit.INPUT, "cluster", digits, "-k", 4, *FAST, "--pairs", path, "--out", tmp_path / "o")
        assert said in error
        assert "--pairs" in error
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0,5,mist\n", "line 1: 'mist' is neither must nor cannot"),
        ("0,5x,must\n", "line 1: '5x' is neither a sample's name nor a row from 0 to 239"),
        ("x,y,mist\n", "line 1: 'x' is neither"),
        ("first,second,kind\n", "holds no pair"),
        ("", "holds no pair"),
        ("0,1,must\n1,0,cannot\n", "lines 1 and 2 say opposite things"),
    ],
)
def test_every_line_of_pairs_counts_also_the_first(digits, tmp_path, capsys, text, said):
    (tmp_path / "p.csv").write_text(text)
    arguments = ["cluster", digits, "-k", 4, "--method", "bmsc", "--pairs", tmp_path / "p.csv", "--out", tmp_path / "o"]
    assert said in refused(capsys, Exit.INPUT, *arguments)


def test_pairs_used_and_kept_are_told(digits, tmp_path, capsys):
    truth = np.load(digits)["y"]
    same = np.flatnonzero(truth == truth[0])[:3]
    other = int(np.flatnonzero(truth != truth[0])[0])
    lines = [f"{same[0]},{same[1]},must", f"{same[1]},{same[0]},must", f"{same[0]},{other},cannot"]
    (tmp_path / "p.csv").write_text("first,second,kind\n" + "\n".join(lines))
    arguments = ["cluster", str(digits), "-k", "4", "--method", "BMSC", "--set", "constraints=hard", "--jobs", "1"]
    assert main([*arguments, "--pairs", str(tmp_path / "p.csv"), "--out", str(tmp_path / "o")]) == 0
    said = capsys.readouterr().out
    assert "known pairs used: 1 must, 1 cannot (1 line repeated another); kept: 1 must, 1 cannot" in said


@pytest.mark.parametrize(
    ("more", "code", "said"),
    [
        (["--max-gb", "nan"], Exit.USAGE, "gigabytes"),
        (["--max-gb", "-1"], Exit.USAGE, "gigabytes"),
        (["--set", "n_clusters=3"], Exit.USAGE, "use --clusters"),
        (["--set", "random_state=3"], Exit.USAGE, "use --seed"),
        (["--set", "sparsity=-1", "--method", "bmsc"], Exit.USAGE, "sparsity"),
        (["--set", "sparsitty=1", "--method", "bmsc"], Exit.USAGE, "did you mean 'sparsity'"),
        (["--out", "a\0b"], Exit.USAGE, "no possible file name"),
        (["--seed", "-1"], Exit.USAGE, "whole number from 0"),
        (["--jobs", "0"], Exit.USAGE, "whole number above 0"),
        (["--method", "rmcs"], Exit.USAGE, "did you mean 'rmsc'"),
        (["--method", "no_such_package:Class"], Exit.USAGE, "cannot be imported"),
        (["--method", "sklearn.cluster:KMean"], Exit.USAGE, "did you mean 'KMeans'"),
        (["--method", "sklearn.cluster:DBSCAN"], Exit.USAGE, "--clusters auto"),
        (["--method", "kmeans", "--pairs", "PAIRS"], Exit.USAGE, "takes no known pairs"),
        (["--label-column", "no"], Exit.INPUT, "no array 'no'"),
        (["-k", "9-2"], Exit.USAGE, "LOW below HIGH"),
        (["-k", "many"], Exit.USAGE, "whole number"),
    ],
)
def test_options_that_make_no_sense(digits, tmp_path, capsys, monkeypatch, more, code, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "PAIRS").write_text("0,1,must\n")
    assert said in refused(capsys, code, "cluster", digits, "-k", 4, *more)
    assert not (tmp_path / "digits-clusters" / "labels.csv").exists()


def test_a_missing_extra_is_a_usage_error(tmp_path, capsys, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "PIL", None)
    (tmp_path / "a.png").write_bytes(b"")
    assert "pip install" in refused(capsys, Exit.USAGE, "cluster", tmp_path, "-k", 2)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    assert "pip install" in refused(capsys, Exit.USAGE, "cluster", tmp_path / "a.parquet", "-k", 2)


def test_flipped_bits_in_a_compressed_archive_are_one_line(tmp_path, capsys):
    rng = np.random.default_rng(0)
    np.savez_compressed(tmp_path / "a.npz", X=rng.integers(0, 9, (40, 6)), y=np.arange(40) % 2)
    whole = (tmp_path / "a.npz").read_bytes()
    codes = []
    for bit in rng.integers(0, 8 * len(whole), 120):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << (bit % 8)
        (tmp_path / "b.npz").write_bytes(flipped)
        codes.append(main(["cluster", str(tmp_path / "b.npz"), "-k", "2", "--method", "kmeans", "-q", "--no-report",
                           "--out", str(tmp_path / "o")]))  # fmt: skip
        assert "Traceback" not in capsys.readouterr().err
    assert set(codes) <= {Exit.OK, Exit.INPUT}
    assert codes.count(Exit.INPUT) > 60


def test_formulas_and_reordering_marks_reach_nobody(tmp_path, capsys):
    names = ["=1+1", "+cmd", "-2+3", "@sum", "\tx", "-5", "a\u202etxt", "plain", "b", "c", "d", "e"]
    rng = np.random.default_rng(0)
    rows = [f"{name},{rng.random()},{rng.random()},{'=HYPERLINK()' if k % 2 else '-1'}" for k, name in enumerate(names)]
    (tmp_path / "a.csv").write_text("who,u,v,class\n" + "\n".join(rows), encoding="utf-8")
    assert (
        main(["cluster", str(tmp_path / "a.csv"), "-k", "2", "--method", "kmeans", "--out", str(tmp_path / "o")]) == 0
    )
    printed = capsys.readouterr().out
    assert "\u202e" not in printed
    assert "\x1b" not in printed
    found = label_rows(tmp_path / "o")
    shown = [row["sample"] for row in found]
    assert shown[:4] == ["'=1+1", "'+cmd", "'-2+3", "'@sum"]
    assert shown[4:7] == ["\ufffdx", "-5", "a\ufffdtxt"]  # a number is no formula
    assert {row["class"] for row in found} == {"'=HYPERLINK()", "-1"}


def test_escapes_in_keys_of_archives_and_library_messages_are_not_printed(tmp_path, capsys):
    np.savez(tmp_path / "a.npz", **{"x\x1b[31m\u202e": np.zeros((3, 3)), "z": np.zeros((3, 3))})
    error = refused(capsys, Exit.INPUT, "cluster", tmp_path / "a.npz", "-k", 2)
    assert "\x1b" not in error
    assert "\u202e" not in error
    (tmp_path / "b.csv").write_text("a;b\n" + "1;2\n" * 20 + "3;\x1b[31m\u202e\n")
    error = refused(capsys, Exit.INPUT, "cluster", tmp_path / "b.csv", "-k", 2)
    assert "\x1b" not in error
    assert "\u202e" not in error


@pytest.mark.parametrize("quiet", [[], ["-q"], ["--json"]], ids=["aloud", "quiet", "json"])
def test_an_image_shape_that_cannot_be_is_said_once_also_by_a_quiet_command(tmp_path, capsys, quiet):
    X = np.random.default_rng(0).random((12, 6))
    said = "masked-subspace: shape [2, 4] of the file is no image of 6 values and is not used\n"
    for shape, expected in ([2, 4], said), ([2, 3], ""):
        np.savez(tmp_path / "a.npz", X=X, shape=shape)
        assert main(["cluster", str(tmp_path / "a.npz"), "-k", "2", *FAST, *quiet, "--out", str(tmp_path / "o")]) == 0
        out, error = capsys.readouterr()
        assert error == expected
        assert ("is not used" in out) == (bool(expected) and quiet == ["--json"])
        result = json.loads((tmp_path / "o" / "result.json").read_text(encoding="utf-8"))
        assert any("is not used" in note for note in result["notes"]) == bool(expected)


REPRODUCE = ["reproduce", "table1", "--dataset", "digits", "--method", "knn", "--setting", "auto", "--trials", "1"]


def test_databases_that_are_damaged_foreign_newer_or_locked(tmp_path, capsys):
    def said(folder):
        return refused(capsys, Exit.OUTPUT, *REPRODUCE, "--show-only", "--out", folder)

    for name in ("flipped", "foreign", "newer"):
        (tmp_path / name).mkdir()
    Results(tmp_path / "flipped" / DATABASE).close()
    content = bytearray((tmp_path / "flipped" / DATABASE).read_bytes())
    content[3] ^= 1
    (tmp_path / "flipped" / DATABASE).write_bytes(content)
    assert "damaged" in said(tmp_path / "flipped")
    with sqlite3.connect(tmp_path / "foreign" / DATABASE) as connection:
        connection.execute("CREATE TABLE data (something TEXT)")
    assert "no results database of this program" in said(tmp_path / "foreign")
    with sqlite3.connect(tmp_path / "newer" / DATABASE) as connection:
        connection.execute("PRAGMA user_version=7")
    assert "version 7" in said(tmp_path / "newer")


def test_a_locked_database_is_not_told_to_free_space(tmp_path):
    with Results(tmp_path / DATABASE, patience=0.1) as results:
        other = sqlite3.connect(tmp_path / DATABASE, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(OSError, match="another process is writing") as caught:
            results.release("k")
        assert "space" not in str(caught.value)
        other.close()


@pytest.mark.parametrize("seed", range(3))
def test_flipped_bytes_in_a_database_give_no_traceback(tmp_path, capsys, seed):
    assert main([*REPRODUCE, "-q", "--out", str(tmp_path)]) == 0
    connection = sqlite3.connect(tmp_path / DATABASE)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    whole, rng = (tmp_path / DATABASE).read_bytes(), np.random.default_rng(seed)
    for place in rng.integers(0, len(whole), 25):
        content = bytearray(whole)
        content[place] ^= int(rng.integers(1, 256))
        (tmp_path / DATABASE).write_bytes(content)
        for suffix in ("-wal", "-shm"):
            (tmp_path / f"{DATABASE}{suffix}").unlink(missing_ok=True)
        assert main([*REPRODUCE, "--show-only", "-q", "--out", str(tmp_path)]) in (0, Exit.OUTPUT, Exit.INCOMPLETE)
        assert "Traceback" not in capsys.readouterr().err


def test_a_set_of_another_table_is_refused_with_the_right_command(tmp_path, capsys):
    (tmp_path / "table1.md").write_text("kept")
    error = refused(capsys, Exit.USAGE, "reproduce", "table1", "--dataset", "ORL", "--out", tmp_path)
    assert "reproduce table2 --dataset orl" in error
    assert os.listdir(tmp_path) == ["table1.md"]


def test_ctrl_c_at_any_moment_is_one_word(digits, tmp_path):
    rng = np.random.default_rng(zlib.crc32(b"ctrl-c"))
    for seconds in rng.uniform(0.15, 2.5, 6):
        out = tmp_path / f"{seconds:.3f}"
        process = started("cluster", digits, "-k", 4, *FAST, "-q", "--out", out, program=HEEDING_CTRL_C)
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=120)
        if process.returncode in (1, -signal.SIGINT) and "Traceback" in errors and ", in main" not in errors:
            continue  # Python itself had not come to the command yet
        assert process.returncode in (Exit.OK, Exit.INTERRUPTED, -signal.SIGINT), errors
        assert "Traceback" not in errors
        assert errors in ("", "interrupted\n")


KEEPS_CTRL_C = """
import ctypes, os, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from masked_subspace.cli import command

@ctypes.CFUNCTYPE(None)
def compiled():  # what is raised in here cannot get out
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)

def action():
    compiled()
    time.sleep(30)
    return 0

started = time.monotonic()
code = command._guarded(action)
print(code, time.monotonic() - started < 20)
"""


def test_ctrl_c_that_compiled_code_keeps_for_itself_still_ends_the_work():
    done = subprocess.run([sys.executable, "-c", KEEPS_CTRL_C], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("130 True\n", "interrupted\n")
