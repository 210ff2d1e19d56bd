"""From words to an estimator, from its errors to an exit code, and how Ctrl-C and a closed pipe end the command."""

from __future__ import annotations

import signal
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

from masked_subspace import __version__, bench
from masked_subspace._common.validation import InvalidParameterError
from masked_subspace.cli import command, main
from masked_subspace.cli.exits import CommandError, Exit
from masked_subspace.cli.fitting import accepted_by, as_pictures, estimator_for, fit, parse_settings
from masked_subspace.cli.parser import build_parser


class Failing(BaseEstimator):
    def __init__(self, error=None, said=()):
        self.error, self.said = error, said

    def fit(self, X, y=None, must_link=None):
        self.known = must_link
        for text, kind in self.said:
            warnings.warn(text, kind, stacklevel=1)
        if self.error is not None:
            raise self.error
        self.labels_ = np.zeros(len(X), dtype=int)
        return self


class Ours(Failing):
    __module__ = "masked_subspace.test"


ROWS = np.zeros((4, 2))


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InvalidParameterError("wrong"), Exit.USAGE, "wrong"),
        (ValueError("bad values"), Exit.INPUT, "bad values"),
        (TypeError("no"), Exit.INPUT, "no"),
        (MemoryError("8 TB"), Exit.INPUT, "Failing needs more memory than there is: 8 TB"),
        (RuntimeError("odd"), Exit.INPUT, "Failing failed: RuntimeError: odd"),
    ],
)
def test_what_a_fit_raises_becomes_one_line_and_a_code(error, code, said):
    with pytest.raises(CommandError) as caught:
        fit(Failing(error), ROWS)
    assert (str(caught.value), caught.value.code) == (said, code)


def test_a_defect_of_ours_keeps_its_traceback():
    with pytest.raises(RuntimeError, match="odd"):
        fit(Ours(RuntimeError("odd")), ROWS)
    with pytest.raises(CommandError, match="bad values"):
        fit(Ours(ValueError("bad values")), ROWS)


def test_warnings_are_kept_once_each_and_only_those_for_users():
    said = (("one", UserWarning), ("two", UserWarning), ("one", UserWarning), ("old", DeprecationWarning),
            ("slow", RuntimeWarning))  # fmt: skip
    found = fit(Failing(said=said), ROWS, {"must_link": "these"})
    assert found.warnings == ("one", "two")
    assert found.estimator.known == "these"
    assert found.compile_seconds == 0.0


@pytest.mark.parametrize(
    ("texts", "settings"),
    [
        ([], {}),
        (["a=1", "b=0.5", "c=true", "d=null", 'e="x"', "f=[1, 2]"],
         {"a": 1, "b": 0.5, "c": True, "d": None, "e": "x", "f": [1, 2]}),
        (["a=None", "b=True", "c=False", "d=words", "e=x=y", "f="],
         {"a": None, "b": True, "c": False, "d": "words", "e": "x=y", "f": ""}),
        ([" a =1", "a=2"], {"a": 2}),
    ],
)  # fmt: skip
def test_settings_are_json_or_python_or_text(texts, settings):
    assert parse_settings(texts) == settings


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a", "--set 'a' must look like NAME=VALUE"),
        ("=1", "--set '=1' must look like NAME=VALUE"),
        ("n_clusters=3", "--set 'n_clusters=3': use --clusters for that"),
        (" random_state =3", "use --seed for that"),
        ("n_jobs=3", "use --jobs for that"),
        ("verbose=1", "use --quiet for that"),
    ],
)
def test_settings_that_have_an_option_of_their_own(text, said):
    with pytest.raises(CommandError, match="--set") as caught:
        parse_settings([text])
    assert said in str(caught.value)
    assert caught.value.code == Exit.USAGE


def options(*words, **more):
    parsed = build_parser().parse_args(["cluster", "a.csv", *words])
    vars(parsed).update(more)
    return parsed


def test_what_was_asked_reaches_the_estimator(monkeypatch):
    asked = options("-k", "2-5", "--method", "bmsc", "--seed", "7", "--jobs", "2", "--set", "sparsity=0.01")
    monkeypatch.setattr("sys.stderr", SimpleNamespace(isatty=lambda: True))
    found = estimator_for(asked, ROWS).get_params()
    assert (found["n_clusters"], found["random_state"], found["n_jobs"], found["sparsity"]) == ((2, 5), 7, 2, 0.01)
    assert found["verbose"] == 1
    asked.quiet = True
    assert estimator_for(asked, ROWS).get_params()["verbose"] == 0
    means = estimator_for(options("-k", "3", "--method", "sklearn.cluster:KMeans"), ROWS)
    assert (type(means), means.n_clusters, means.random_state, means.verbose) == (KMeans, 3, 0, 0)


def test_missing_values_are_for_methods_that_know_what_to_do():
    holed = np.array([[1.0, np.nan], [2, 3]])
    ask = lambda method, missing: options("-k", "2", "--method", method, missing=missing)  # noqa: E731
    assert estimator_for(ask("bmsc", "ignore"), holed).missing == "ignore"
    assert estimator_for(ask("bmsc", "ignore"), ROWS).missing == "error"
    assert estimator_for(ask("bmsc", "error"), holed).missing == "error"
    for rows in (holed, csr_array(holed)):
        with pytest.raises(CommandError, match="--method kmeans cannot ignore missing values; --impute median fills"):
            estimator_for(ask("kmeans", "ignore"), rows)
    assert estimator_for(ask("kmeans", "ignore"), ROWS)
    assert estimator_for(ask("kmeans", "error"), holed)


def test_methods_that_find_the_number_take_auto_alone():
    assert estimator_for(options("-k", "auto", "--method", "sklearn.cluster:DBSCAN"), ROWS)
    with pytest.raises(CommandError, match="has no n_clusters: it finds the number itself; --clusters auto"):
        estimator_for(options("-k", "3", "--method", "sklearn.cluster:DBSCAN"), ROWS)
    mixture = estimator_for(options("-k", "3", "--method", "sklearn.mixture:GaussianMixture"), ROWS)
    assert mixture.n_components == 3


def test_who_takes_a_sparse_matrix_gets_it():
    sparse = csr_array(np.eye(3))
    assert accepted_by(KMeans(), sparse, 0) == (sparse, ())
    dense = np.eye(3)
    assert accepted_by(Failing(), dense, 0) == (dense, ())
    with pytest.raises(CommandError, match="Failing needs a dense matrix") as caught:
        accepted_by(Failing(), sparse, 71)
    assert caught.value.code == Exit.INPUT
    found, notes = accepted_by(Failing(), sparse, 72)
    np.testing.assert_array_equal(found, np.eye(3))
    assert notes == ("the sparse matrix is made dense for Failing",)


def test_pictures_of_rows_with_gaps_and_of_shapes_that_may_be_either():
    rows = np.array([[0.0, np.nan], [2.0, 4.0]])
    assert as_pictures(rows, (1, 2)).tolist() == [[[0, 0]], [[127, 255]]]
    assert as_pictures(rows - 1, (1, 2)).dtype == np.uint8
    either = np.random.default_rng(0).random((2, 3, 4, 3))  # three at both ends: colours stand last
    low, high = either.min(), either.max()
    expected = ((either - low) * 255 / (high - low)).mean(axis=3).astype(np.uint8)
    np.testing.assert_array_equal(as_pictures(either.reshape(2, -1), (3, 4, 3)), expected)
    single = np.random.default_rng(0).random((2, 1, 4, 5))
    assert as_pictures(single.reshape(2, -1), (1, 4, 5)).shape == (2, 4, 5)
    assert as_pictures(rows, (2,)) is None
    assert as_pictures(np.zeros((2, 16)), (1, 4, 2, 2)) is None
    assert as_pictures(csr_array(rows), (1, 2)) is None


def test_the_command_reads_its_words_from_the_process(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["masked-subspace", "--version"])
    assert main() == 0
    assert capsys.readouterr().out == f"{__version__}\n"
    assert main([]) == Exit.USAGE
    assert capsys.readouterr().out.startswith("usage: masked-subspace")


@pytest.mark.parametrize(("returned", "code"), [(None, 0), (0, 0), (3, 3)])
def test_everything_after_bench_is_the_benchmark_s(monkeypatch, returned, code):
    asked = []
    monkeypatch.setattr(bench, "main", lambda words: asked.append(words) or returned)
    assert main(["bench", "--help", "--nonsense"]) == code
    assert asked == [["--help", "--nonsense"]]


def test_ctrl_c_while_modules_load_is_one_word(monkeypatch, capsys):
    def pressed(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run", pressed)
    assert main(["data", "list"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


@pytest.fixture
def ctrl_c(monkeypatch):
    """Ctrl-C as a process in the foreground has it; afterwards as it was."""
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, usual)


def test_what_a_library_makes_of_ctrl_c_is_still_ctrl_c(ctrl_c, capsys):
    def library():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as error:
            raise RuntimeError("could not load") from error

    assert command._guarded(library) == Exit.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"
    with pytest.raises(RuntimeError, match="could not"):
        command._guarded(lambda: (_ for _ in ()).throw(RuntimeError("could not")))


def test_ctrl_c_itself_is_one_word(ctrl_c, capsys):
    assert command._guarded(lambda: signal.raise_signal(signal.SIGINT)) == Exit.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"


def test_only_a_ctrl_c_that_was_lost_is_said_again_and_only_while_the_command_runs(ctrl_c, monkeypatch):
    again, sent = [], []

    class Timer:
        def __init__(self, seconds, action):
            again.append((seconds, action))

        def start(self):
            again.append((self.daemon, "started"))

    monkeypatch.setattr(command.threading, "Timer", Timer)
    monkeypatch.setattr(command.signal, "pthread_kill", lambda *which: sent.append(which))
    heard = command._CtrlC()
    with pytest.raises(KeyboardInterrupt):
        heard._handle(signal.SIGINT, None)
    assert heard.pressed
    sys.excepthook(ValueError, ValueError(), None)
    sys.unraisablehook(SimpleNamespace(exc_type=ValueError))
    assert again == []
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert again == [(0.05, heard._press), (True, "started")]
    sys.unraisablehook(SimpleNamespace(exc_type=KeyboardInterrupt))
    assert len(again) == 4
    heard._press()
    assert sent == [(command.threading.main_thread().ident, signal.SIGINT)]
    heard.leave()
    heard._press()
    assert len(sent) == 1


def test_errors_for_people_are_one_line_on_standard_error(capsys):
    def refused():
        raise CommandError("two\nlines", Exit.DATA)

    assert command._guarded(refused) == Exit.DATA
    assert capsys.readouterr().err == "masked-subspace: two lines\n"
    assert command._guarded(lambda: 6) == 6


def test_as_many_clusters_as_samples_may_be_asked_for(tmp_path, capsys):
    np.savetxt(tmp_path / "a.csv", np.random.default_rng(0).normal(size=(5, 2)), delimiter=",")
    asked = [
        "cluster",
        str(tmp_path / "a.csv"),
        "--method",
        "kmeans",
        "-q",
        "--no-report",
        "--out",
        str(tmp_path / "o"),
    ]
    assert main([*asked, "-k", "5"]) == 0
    for number in ("6", "2-6"):
        assert main([*asked, "-k", number]) == Exit.INPUT
        assert capsys.readouterr().err == "masked-subspace: --clusters 6 is more than the 5 samples\n"
