"""The command end to end on small data: what it writes, what it prints, what its exit codes mean."""

from __future__ import annotations

import csv
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import load_npz
from sklearn.datasets import load_digits

from masked_subspace.cli import main
from masked_subspace.cli.exits import Exit
from masked_subspace.report.archive import FILES

from .conftest import FAST, clusters_in, command


def test_cluster_writes_everything(digits, tmp_path, capsys):
    out = tmp_path / "out"
    assert (
        main(["cluster", str(digits), "--clusters", "4", "--set", "sparsity=1e-3", "--jobs", "1", "--out", str(out)])
        == 0
    )
    assert sorted(os.listdir(out)) == ["affinity.npz", "details.npz", "labels.csv", "report.html", "result.json"]
    with (out / "labels.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 240
    assert {row["cluster"] for row in rows} == {"0", "1", "2", "3"}
    affinity = load_npz(out / "affinity.npz")
    assert affinity.shape == (240, 240)
    assert abs(affinity - affinity.T).max() < 1e-6
    result = json.loads((out / "result.json").read_text(encoding="utf-8"))
    assert result["method"] == "rmsc"
    assert result["parameters"]["sparsity"] == 1e-3
    assert sum(result["cluster_sizes"]) == 240
    assert result["scores"]["accuracy"] > 0.9
    assert result["timings"]["fit"] > 0
    assert result["history"][0]["round"] == 1
    assert {"numpy", "scipy", "python"} <= set(result["provenance"]["versions"])
    printed = capsys.readouterr().out
    assert "accuracy" in printed
    assert "wrote" in printed


def test_json_is_all_that_is_printed(digits, tmp_path, capsys):
    assert main(["cluster", str(digits), "--clusters", "4", *FAST, "--json", "--out", str(tmp_path)]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["parameters"]["n_clusters"] == 4
    assert {Path(path).name for path in result["files"]} == set(FILES)


def test_a_chosen_number_of_clusters_is_told_stored_and_drawn(digits, tmp_path, capsys):
    arguments = ["cluster", str(digits), "--clusters", "2-9", "--method", "bmsc", "--jobs", "1", "--out", str(tmp_path)]
    assert main(arguments) == 0
    assert "the number of clusters was chosen" in capsys.readouterr().out
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["candidates"][0] == result["facts"]["clusters"]
    assert 2 <= result["facts"]["clusters"] <= 9
    assert "was chosen among 8 numbers from 2 to 9" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_quiet_prints_nothing_and_no_report_is_left_out(digits, tmp_path, capsys):
    assert (
        main(["cluster", str(digits), "--clusters", "4", *FAST, "--quiet", "--no-report", "--out", str(tmp_path)]) == 0
    )
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
    assert "report.html" not in os.listdir(tmp_path)


def test_the_same_seed_gives_the_same_labels(digits, tmp_path):
    arguments = ["cluster", str(digits), "--clusters", "4", "--method", "bmsc", "--jobs", "1", "--quiet", "--seed", "3"]
    for name in "ab":
        assert main([*arguments, "--out", str(tmp_path / name)]) == 0
    assert (tmp_path / "a" / "labels.csv").read_bytes() == (tmp_path / "b" / "labels.csv").read_bytes()


def test_names_of_a_csv_are_kept_and_defused(tmp_path, capsys):
    rng = np.random.default_rng(0)
    lines = ["name,<b>bold</b>,second,third,label"]
    directions = np.eye(3)
    for k in range(60):
        x = directions[k % 3] * (1 + rng.random()) + 0.01 * rng.standard_normal(3)
        lines.append(f"</script>\x1b[31m{k},{x[0]},{x[1]},{x[2]},{'abc'[k % 3]}")
    (tmp_path / "bad\x1b[32m.csv").write_text("\n".join(lines), encoding="utf-8")
    out = tmp_path / "out"
    arguments = ["cluster", str(tmp_path / "bad\x1b[32m.csv"), "--clusters", "3", "--method", "knn", "--jobs", "1"]
    assert main([*arguments, "--out", str(out)]) == 0
    assert "\x1b" not in capsys.readouterr().out
    with (out / "labels.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["sample"] for row in rows] == [f"</script>\ufffd[31m{k}" for k in range(60)]
    assert {row["class"] for row in rows} == {"a", "b", "c"}
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count("</script>") == 2


def test_an_image_folder_keeps_its_names(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    bunch = load_digits(n_class=2)
    for k, (picture, y) in enumerate(zip(bunch.images[:60], bunch.target[:60], strict=True)):
        folder = tmp_path / "pictures" / f"class {y}"
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray((picture * 15).astype(np.uint8)).save(folder / f"{k}.png")
    out = tmp_path / "out"
    assert main(["cluster", str(tmp_path / "pictures"), "--clusters", "2", *FAST, "--quiet", "--out", str(out)]) == 0
    with (out / "labels.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert rows[0]["sample"] == "class 0/0.png"
    assert json.loads((out / "result.json").read_text(encoding="utf-8"))["scores"]["accuracy"] > 0.95


def test_known_pairs_are_obeyed_when_hard(digits, tmp_path):
    truth = np.load(digits)["y"]
    plain = tmp_path / "plain"
    arguments = ["cluster", str(digits), "--clusters", "4", "--method", "bmsc", "--jobs", "1", "--quiet", "--no-report"]
    assert main([*arguments, "--out", str(plain)]) == 0
    labels = clusters_in(plain)
    # Pairs that the plain run gets wrong: of one class but apart.
    apart = [(i, j) for i in range(240) for j in range(i) if truth[i] == truth[j] and labels[i] != labels[j]]
    assert apart, "the plain run makes no mistake to mend"
    i, j = apart[0]
    (tmp_path / "pairs.csv").write_text(f"first,second,kind\n{i},{j},must\n")
    told = [*arguments, "--pairs", str(tmp_path / "pairs.csv"), "--set", "constraints=hard"]
    assert main([*told, "--out", str(tmp_path / "told")]) == 0
    mended = clusters_in(tmp_path / "told")
    assert mended[i] == mended[j]


def test_the_report_is_made_again_and_runs_are_compared(digits, tmp_path, capsys):
    for method in ("knn", "lsr"):
        arguments = ["cluster", str(digits), "--clusters", "4", "--method", method, "--jobs", "1", "--quiet"]
        assert main([*arguments, "--out", str(tmp_path / method)]) == 0
    first = (tmp_path / "knn" / "report.html").read_text(encoding="utf-8")
    (tmp_path / "knn" / "report.html").unlink()
    assert main(["report", str(tmp_path / "knn"), "--quiet"]) == 0
    again = (tmp_path / "knn" / "report.html").read_text(encoding="utf-8")
    assert len(again) == pytest.approx(len(first), rel=0.02)
    both = tmp_path / "both.html"
    assert main(["report", str(tmp_path / "knn"), str(tmp_path / "lsr"), "--out", str(both), "--quiet"]) == 0
    text = both.read_text(encoding="utf-8")
    assert "k-NN graph (knn)" in text
    assert "LSR (lsr)" in text
    capsys.readouterr()
    assert main(["report", str(tmp_path)]) == Exit.INPUT
    assert "not a complete run" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["cluster", "nowhere.npy", "--clusters", "3"], Exit.INPUT, "there is no file or folder nowhere.npy"),
        (["cluster", "FILE", "--clusters", "999"], Exit.INPUT, "--clusters 999 is more than the 240 samples"),
        (["cluster", "FILE", "--clusters", "4", "--set", "magic=1"], Exit.USAGE, "rmsc has no parameter 'magic'"),
        (["cluster", "FILE", "--clusters", "4", "--set", "magic"], Exit.USAGE, "NAME=VALUE"),
        (["cluster", "FILE", "--clusters", "4", "--set", "sparsity=-1"], Exit.USAGE, "sparsity"),
        (["cluster", "FILE", "--clusters", "4", "--out", "FILE"], Exit.OUTPUT, "a file of that name exists"),
        (["data", "fetch", "nothing"], Exit.USAGE, "there is no data set 'nothing'"),
        (["reproduce", "table1", "--dataset", "nothing"], Exit.USAGE, "--dataset 'nothing'"),
    ],
)
def test_errors_are_one_line_and_an_exit_code(digits, tmp_path, monkeypatch, capsys, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    assert main([str(digits) if one == "FILE" else one for one in arguments]) == code
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.startswith("masked-subspace: ")
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(
    "arguments", [["cluster", "x.npy"], ["cluster", "x.npy", "--clusters", "0"], ["reproduce", "table9"], ["fly"]]
)
def test_bad_usage_exits_with_two(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == Exit.USAGE
    assert capsys.readouterr().err.startswith("masked-subspace: ")


def test_help_and_version_are_fast():
    best = min(_seconds("--help") for _ in range(3))
    assert best < 0.5
    assert command("--version").stdout.strip()[0].isdigit()
    assert command().returncode == Exit.USAGE


def _seconds(*arguments: str) -> float:
    """CPU time of a fresh process: what the command costs, however busy the machine is."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert command(*arguments).returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_no_room_for_the_files_is_said_and_nothing_half_remains(digits, tmp_path):
    arguments = ["cluster", digits, "--clusters", "4", *FAST, "--out", tmp_path / "out"]
    assert command(*arguments).returncode == 0  # whatever is compiled once is compiled now
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.name != "result.json"}
    limit = min(len(content) for name, content in before.items() if name in ("report.html", "details.npz")) // 2
    done = command(*arguments, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert done.returncode == Exit.OUTPUT, done.stderr
    assert "cannot write" in done.stderr
    assert "Traceback" not in done.stderr
    after = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.name != "result.json"}
    assert after == before


def test_reproduce_without_room_is_said(tmp_path):
    arguments = ["reproduce", "table1", "--dataset", "digits", "--method", "knn", "--setting", "auto", "--trials", "1"]
    limited = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # noqa: E731
    done = command(*arguments, "--out", tmp_path / "out", preexec_fn=limited)
    assert done.returncode == Exit.OUTPUT, done.stderr
    assert "results" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_read_only_folder_is_said(digits, tmp_path, monkeypatch, capsys):
    locked = tmp_path / "locked"
    locked.mkdir()
    base = Path(tempfile.gettempdir())
    for folder in {tmp_path, *tmp_path.parents, digits.parent}:
        if base in folder.parents:
            folder.chmod(0o755)
    locked.chmod(0o555)
    monkeypatch.chdir(tmp_path)
    cluster = ["cluster", str(digits), "--clusters", "4", *FAST, "--quiet", "--out"]
    reproduce = ["reproduce", "table1", "--dataset", "digits", "--method", "knn", "--trials", "1", "--out"]
    is_root = os.geteuid() == 0
    if is_root:
        for number, arguments in enumerate((cluster, reproduce)):
            # What is imported late may lie where nobody may read.
            assert main([*arguments, str(tmp_path / f"open{number}")]) == 0
        os.seteuid(65534)  # root may write anywhere; nobody may not
    try:
        for arguments in ([*cluster, str(locked)], [*cluster, str(locked / "below")], [*reproduce, str(locked)]):
            assert main(arguments) == Exit.OUTPUT
            assert "choose another --out" in capsys.readouterr().err
    finally:
        if is_root:
            os.seteuid(0)
    assert os.listdir(locked) == []


def test_interrupting_cluster_leaves_nothing_half(tmp_path):
    X = np.random.default_rng(0).standard_normal((2500, 60)).astype(np.float32)
    np.save(tmp_path / "x.npy", X)
    heed = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    program = f"{heed}; from masked_subspace.cli import main; sys.exit(main())"
    arguments = ["cluster", str(tmp_path / "x.npy"), "--clusters", "40", "--jobs", "1", "--out", str(tmp_path / "out")]
    process = subprocess.Popen([sys.executable, "-c", program, *arguments], stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "out").exists() and process.poll() is None:
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == Exit.INTERRUPTED, errors
    assert errors.strip().endswith("interrupted")
    assert os.listdir(tmp_path / "out") == []
