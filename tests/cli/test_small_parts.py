"""Names of folders, exit codes, clocks and what is left out of a long list: the command's small decisions."""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import KMeans

from masked_subspace._common.files import FileError
from masked_subspace.baselines import NeighborGraph
from masked_subspace.cli import fitting, main, reproduce
from masked_subspace.cli.cluster import _content, _Job, _limit, _reading, _result, _tell, _unlike_scales
from masked_subspace.cli.command import _CtrlC
from masked_subspace.cli.data import _row
from masked_subspace.cli.exits import CommandError, Exit, exit_for
from masked_subspace.cli.fitting import TimedFit, accepted_by, as_pictures
from masked_subspace.cli.folders import _stem
from masked_subspace.cli.parser import build_parser
from masked_subspace.cli.report import _shared
from masked_subspace.datasets import DatasetStatus, DownloadError
from masked_subspace.inputs import InputError, Samples
from masked_subspace.inputs.samples import Column, MissingExtraError, ReadOptions
from masked_subspace.registry import SettingError
from masked_subspace.report.scoring import agreement


@pytest.mark.parametrize(
    ("file", "stem"),
    [("a.csv", "a"), ("a.b.csv", "a.b"), ("a.b.csv.gz", "a.b"), ("folder", "folder"), ("-", "input"), (".csv", ".csv")],
)
def test_a_folder_is_named_after_the_file_without_its_ending(file, stem):
    assert _stem(Path(file)) == stem


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CommandError("no"), 2),
        (CommandError("no", Exit.DATA), 5),
        (MissingExtraError("needs: pip install it"), 2),
        (ImportError("drawing needs matplotlib: pip install 'masked-subspace[report]'"), 2),
        (ImportError("no module"), None),
        (InputError("no"), 3),
        (FileError("no"), 4),
        (DownloadError("no"), 5),
        (SettingError("no"), 2),
        (RuntimeError("no"), None),
    ],
)
def test_every_error_has_its_exit_code(error, code):
    assert exit_for(error) == code


def test_exit_codes_are_those_of_the_help():
    assert [int(one) for one in Exit] == [0, 1, 2, 3, 4, 5, 6, 130]
    words = ["done", "defect", "usage", "input", "output", "data", "some", "interrupted"]
    for one, word in zip(Exit, words, strict=True):
        assert f"{int(one)} {word}" in build_parser().epilog


def test_defaults_of_the_command():
    options = build_parser().parse_args(["cluster", "a.csv", "-k", "2-9"])
    assert (options.method, options.seed, options.clusters, options.max_gb) == ("rmsc", 0, (2, 9), None)
    assert (options.scale, options.impute, options.missing, options.jobs) == ("none", "none", "error", None)
    assert _limit(options) is None
    assert _limit(build_parser().parse_args(["cluster", "a.csv", "-k", "2", "--max-gb", "0.5"])) == 500_000_000


@pytest.mark.parametrize(
    ("option", "value", "taken"),
    [
        ("-k", "3-3", False),
        ("-k", "3-4", True),
        ("-k", "0", False),
        ("--seed", "4294967295", True),
        ("--seed", "4294967296", False),
        ("--max-gb", "0", False),
        ("--max-gb", "1e9", False),
        ("--jobs", "-1", True),
        ("--jobs", "0", False),
    ],
)
def test_limits_of_numbers(option, value, taken, capsys):
    arguments = ["cluster", "a.csv", "-k", "2", option, value]
    if taken:
        build_parser().parse_args(arguments)
    else:
        with pytest.raises(SystemExit):
            build_parser().parse_args(arguments)
        assert value in capsys.readouterr().err


def test_more_than_forty_clusters_are_counted(digits, tmp_path, capsys):
    arguments = ["--method", "kmeans", "--no-report", "--out", str(tmp_path)]
    assert main(["cluster", str(digits), "-k", "43", *arguments]) == 0
    out = capsys.readouterr().out
    assert "… and 3 more" in out
    assert "\n     39" in out
    assert "\n     40" not in out
    assert main(["cluster", str(digits), "-k", "40", *arguments]) == 0
    assert "… and" not in capsys.readouterr().out


def test_compiling_is_taken_out_of_the_seconds_but_never_more_than_all(monkeypatch):
    class Slow:
        def fit(self, X, y=None):
            time.sleep(0.05)
            self.labels_ = np.zeros(len(X), dtype=int)
            return self

    for compiled, expected in ((0.02, 0.02), (100.0, None)):

        @contextmanager
        def clock(_, compiled=compiled):
            yield lambda: compiled

        monkeypatch.setattr(fitting, "_compile_clock", clock)
        began, cpu_began = time.perf_counter(), time.process_time()
        found = fitting.fit(Slow(), np.zeros((3, 1)))
        whole = time.perf_counter() - began
        assert 0 <= found.cpu_seconds <= time.process_time() - cpu_began
        assert 0.05 <= found.seconds + found.compile_seconds <= whole
        if expected is None:
            assert found.seconds == 0
        else:
            assert found.compile_seconds == expected
            assert found.seconds < whole - 0.02 + 1e-9


@pytest.mark.parametrize(
    ("quiet", "json", "terminal", "bars"),
    [(False, False, True, 1), (True, False, True, 0), (False, True, True, 0), (False, False, False, 0)],
)
def test_bars_are_shown_on_a_terminal_unless_somebody_asked_for_quiet(monkeypatch, quiet, json, terminal, bars):
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: terminal))
    assert fitting.wants_progress(SimpleNamespace(quiet=quiet, json=json)) == bars


def test_of_several_runs_only_what_all_say_of_the_data_stands_above_them():
    first, same, other, silent = (
        SimpleNamespace(content=SimpleNamespace(facts=facts))
        for facts in ({"samples": 5}, {"samples": 5}, {"samples": 6}, {})
    )
    assert _shared([first, same], "samples")
    assert not _shared([first, other], "samples")
    assert not _shared([first, silent], "samples")
    assert not _shared([silent, silent], "samples")


def test_only_fits_of_ours_are_clocked_for_compiling():
    with fitting._compile_clock(False) as compiled:
        assert compiled() == 0.0


@pytest.mark.parametrize("command", ["cluster a.csv -k 3", "demo", "reproduce table2", "report a"])
@pytest.mark.parametrize("out", ["", "a\0b"])
def test_no_command_writes_to_what_is_no_file_name(command, out, capsys):
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args([*command.split(), "--out", out])
    assert ended.value.code == Exit.USAGE
    assert "is no possible file name" in capsys.readouterr().err


def test_what_was_asked_of_reading_reaches_the_reader():
    parse = build_parser().parse_args
    assert _reading(parse(["cluster", "a.csv", "-k", "3"])) == ReadOptions()
    asked = "--features a --drop b --name-column c --label-column d --decimal , --impute knn --missing drop"
    more = "--scale standard --image-side 20 --color --skip-unreadable --max-gb 1.5"
    assert _reading(parse(["cluster", "a.csv", "-k", "3", *asked.split(), *more.split()])) == ReadOptions(
        features=("a",), drop=("b",), name_column="c", label_column="d", decimal=",", impute="knn", missing="drop",
        scale="standard", image_side=20, color=True, skip_unreadable=True, max_bytes=1_500_000_000,
    )  # fmt: skip


def test_what_was_read_and_found_is_on_the_page_and_in_the_result(capsys):
    X = np.random.default_rng(0).random((40, 6)) + np.repeat([[0.0], [9]], 20, axis=0)
    options = build_parser().parse_args(["cluster", "a.csv", "-k", "2", "--method", "knn", "--seed", "5"])
    options.given = ("cluster", "a.csv")
    columns = tuple(Column(name, "feature", "", 0) for name in "abcdef")
    names, classes = tuple(f"sample {k}" for k in range(40)), np.repeat([0, 1], 20)
    samples = Samples(X, names, classes, ["u", "v"], (2, 3), (), columns)
    model = NeighborGraph(2, random_state=0).fit(X)
    job = _Job(options, samples, TimedFit(model, 1.5, 2.5, ("careful",), 0.25), None, 0.75, ("a note",))
    content = _content(job, X)
    assert content.title == "a.csv in 2 clusters"
    assert content.subtitle == "k-NN graph on 40 samples of 6 values"
    assert content.facts == {
        "method": "k-NN graph", "samples": 40, "features": 6, "clusters": 2, "rounds": 1, "seed": 5,
    }  # fmt: skip
    assert (content.names, content.class_names, content.images.shape) == (names, ["u", "v"], (40, 2, 3))
    np.testing.assert_array_equal(content.target, classes)
    assert content.notes == ("a note", "careful")
    assert content.command == "masked-subspace cluster a.csv"
    (run,) = content.runs
    assert (run.name, run.seconds, run.scores["accuracy"]) == ("k-NN graph", 1.5, 1)
    result = _result(job, content)
    assert result["timings"] == {"read": 0.75, "fit": 1.5, "compile": 0.25, "fit_cpu": 2.5}
    assert (result["input"]["samples"], result["input"]["features"], result["seed"]) == (40, 6, 5)
    assert (result["cluster_sizes"], result["unassigned"], result["pairs"]) == ([20, 20], 0, {})
    assert (result["notes"], result["warnings"], result["method"]) == (["a note", "careful"], ["careful"], "knn")
    assert [column["name"] for column in result["columns"]] == list("abcdef")
    chosen = replace(content, runs=(replace(run, n_clusters_candidates=(2, 3, 5)),))
    _tell(job, chosen, {"headline": "", "next": []}, [])
    assert "the number of clusters was chosen; nearly as much speaks for 3, 5\n" in capsys.readouterr().out


def test_what_was_asked_of_reproduce_reaches_the_cells(monkeypatch, tmp_path):
    asked = []

    class EnoughError(Exception):
        pass

    def request(**parts):
        asked.append(parts)
        raise EnoughError

    monkeypatch.setattr(reproduce, "Request", request)
    which = ["--setting", "auto", "--dataset", "mnist-1000", "--method", "rmsc", "--trials", "3", "--first-trial", "7"]
    how = ["--accept-older", "--threads", "2", "--show-only"]
    options = build_parser().parse_args(["reproduce", "table1", *which, *how])
    with pytest.raises(EnoughError):
        reproduce.run(options)
    assert asked == [
        {
            "part": "table1",
            "settings": ("auto",),
            "datasets": ("mnist-1000",),
            "methods": ("rmsc",),
            "trials": 3,
            "first_trial": 7,
            "accept_older": True,
            "threads": 2,
            "compute": False,
        }
    ]


def test_how_cells_are_computed_is_what_was_asked(monkeypatch, tmp_path):
    asked = []

    class EnoughError(Exception):
        pass

    def run_cells(cells, database, how, events):
        asked.append((len(cells), database, how))
        raise EnoughError

    monkeypatch.setattr(reproduce, "run_cells", run_cells)
    monkeypatch.setattr(reproduce, "without_missing", lambda request: (request, {}))
    which = ["--setting", "auto", "--dataset", "digits", "--method", "rmsc", "--trials", "2"]
    how = ["--jobs", "3", "--threads", "2", "--retry-failed", "-q", "--out", str(tmp_path)]
    options = build_parser().parse_args(["reproduce", "table1", *which, *how])
    with pytest.raises(EnoughError):
        reproduce.run(options)
    ((count, database, how),) = asked
    assert (count, database) == (2, tmp_path / "results.sqlite")
    assert (how.jobs, how.threads, how.accept_older, how.retry_failed) == (3, 2, False, True)


def test_scales_are_unlike_from_a_factor_of_fifty_on():
    def said(*spreads):
        X = np.array([[-1.0], [1.0]]) * np.array(spreads)
        return _unlike_scales(Samples(X, columns=tuple(Column(name, "feature") for name in "abc")), KMeans(2))

    assert said(1, 50, 3) == ()
    (hint,) = said(1, 51, 3)
    assert "'b' 51, 'a' 1" in hint
    assert said(0, 50, 1) == ()  # a constant column is no scale
    assert said(0, 60, 1)


def test_a_sparse_matrix_is_made_dense_where_all_its_entries_fit():
    X = csr_array(np.eye(10, 20))
    method = SimpleNamespace()
    for limit, fits in ((1_600, True), (1_599, False)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fitting, "_tags", lambda _: SimpleNamespace(sparse=False))
            if fits:
                dense, (note,) = accepted_by(method, X, limit)
                np.testing.assert_array_equal(dense, np.eye(10, 20))
                assert "made dense for SimpleNamespace" in note
            else:
                with pytest.raises(CommandError, match=r"needs a dense matrix, which would take 0\.0 GB"):
                    accepted_by(method, X, limit)


def test_colours_become_their_mean_wherever_they_stand():
    pictures = np.random.default_rng(0).random((2, 4, 5, 3))
    pictures[0, 0, 0], pictures[1, 0, 0] = 0, 1
    expected = (255 * pictures).mean(axis=3).astype(np.uint8)
    np.testing.assert_array_equal(as_pictures(pictures.reshape(2, -1), (4, 5, 3)), expected)
    first = np.moveaxis(pictures, 3, 1)
    np.testing.assert_array_equal(as_pictures(first.reshape(2, -1), (3, 4, 5)), expected)
    assert as_pictures(np.zeros((2, 3)), None) is None
    np.testing.assert_array_equal(as_pictures(np.full((2, 4), 7.0), (2, 2)), np.zeros((2, 2, 2)))


def test_sizes_of_sets_are_megabytes():
    status = DatasetStatus("a", "A", 10, 4, 2, "cache", Path("a.npz"), 2_500_000, "remark")
    assert _row(status) == ("a", 10, 4, 2, "cache", "2.5 MB", "a.npz remark")
    gone = DatasetStatus("a", "A", 10, 4, 2, "public", None, 0, "")
    assert _row(gone) == ("a", 10, 4, 2, "no", "–", "to be fetched")


def test_runs_are_compared_on_samples_that_both_have_in_clusters():
    first, second = np.array([0, 0, 1, 1, -1]), np.array([1, 1, 0, 0, 0])
    assert agreement(first, second) == (1.0, 4)
    assert agreement(np.full(5, -1), second)[0] is None


@pytest.mark.parametrize(
    ("pressed", "left"), [(False, signal.default_int_handler), (True, signal.SIG_DFL)], ids=["never", "once"]
)
def test_after_one_ctrl_c_the_next_ends_the_process_without_a_word(monkeypatch, pressed, left):
    monkeypatch.setattr("sys.excepthook", None)
    monkeypatch.setattr("sys.unraisablehook", None)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        heard = _CtrlC()
        assert signal.getsignal(signal.SIGINT) == heard._handle
        if pressed:
            with pytest.raises(KeyboardInterrupt):
                heard._handle(signal.SIGINT, None)
        heard.leave()
        assert signal.getsignal(signal.SIGINT) is left
        ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
        _CtrlC().leave()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN, ignored
    finally:
        signal.signal(signal.SIGINT, usual)
