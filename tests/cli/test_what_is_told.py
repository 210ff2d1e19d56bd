"""What `cluster` prints of a run, line by line, and what other commands print and hand on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.cli import compare, data, demo, exits, reproduce, stored_runs
from masked_subspace.cli import report as report_command
from masked_subspace.cli.cluster import _Job, _tell, _unlike_scales
from masked_subspace.cli.demo import _digits, _side_by_side, _three
from masked_subspace.cli.fitting import TimedFit
from masked_subspace.cli.parser import build_parser
from masked_subspace.cli.printing import complain, say, say_json
from masked_subspace.cli.stored_runs import StoredRun, _same_data, _scored
from masked_subspace.datasets import DatasetError, DatasetStatus
from masked_subspace.inputs import GivenPairs, Samples
from masked_subspace.inputs.samples import Column
from masked_subspace.report import ReportContent, Run
from masked_subspace.report.scoring import scores

LOUD = SimpleNamespace(quiet=False, json=False)
USUAL = build_parser().parse_args(["cluster", "a.csv", "-k", "2"])
WORDS = {"headline": "2 clusters that are.", "next": ["Fit with another random_state.", "Look."]}


def run_of(labels, certainty=None, **more):
    n = len(labels)
    sure = np.full(n, 0.5) if certainty is None else np.asarray(certainty)
    return Run("RMSC", np.asarray(labels), csr_array((n, n)), np.eye(n), sure, **more)


def told(capsys, run, words=WORDS, files=(), pairs=None, estimator=None, **fitted):
    estimator = estimator or SimpleNamespace(labels_=run.labels)
    fit = TimedFit(estimator, **{"seconds": 1.256, "cpu_seconds": 2.0, "warnings": (), **fitted})
    job = _Job(USUAL, Samples(np.zeros((len(run.labels), 2))), fit, pairs, 0.0, ())
    _tell(job, ReportContent("a.csv in 2 clusters", runs=(run,)), words, list(files))
    return capsys.readouterr().out.splitlines()


def test_a_run_is_told_from_its_title_to_its_files(capsys):
    run = run_of([0, 0, 1], [0.8, 0.6, 0.25], scores={"accuracy": 0.5, "NMI": 0.12345})
    lines = told(capsys, run, files=[Path("out/labels.csv"), Path("out/result.json")], warnings=("careful",))
    assert [line.rstrip() for line in lines] == [
        "",
        "a.csv in 2 clusters: RMSC, 1.26 s",
        "accuracy 0.500, NMI 0.123",
        "",
        "cluster  samples  certainty",
        "───────  ───────  ─────────",
        "      0        2       0.70",
        "      1        1       0.25",
        "",
        "2 clusters that are.",
        "note: careful",
        "next: Fit with another --seed.",
        "next: Look.",
        "",
        "wrote out/labels.csv",
        "wrote out/result.json",
    ]


@pytest.mark.parametrize(("seconds", "said"), [(0.1, True), (0.0999, False), (2.34, True)])
def test_compiling_is_told_from_a_tenth_of_a_second_on(capsys, seconds, said):
    lines = told(capsys, run_of([0, 1]), compile_seconds=seconds)
    assert (f"and {seconds:.1f} s of compiling, once after installation" in lines) == said
    assert any("compiling" in line for line in lines) == said


@pytest.mark.parametrize(
    ("candidates", "said"),
    [
        ((), None),
        ((2,), "the number of clusters was chosen"),
        ((2, 4, 5), "the number of clusters was chosen; nearly as much speaks for 4, 5"),
    ],
)
def test_a_number_that_was_chosen_is_told_with_those_that_come_near(capsys, candidates, said):
    lines = told(capsys, run_of([0, 1], n_clusters_candidates=candidates))
    assert [line for line in lines if "was chosen" in line] == ([said] if said else [])


@pytest.mark.parametrize(
    ("scored", "rule"), [({}, ""), ({"NMI": 0.5}, ": accuracy counts them as wrong, NMI and BCA leave them out")]
)
def test_who_is_in_no_cluster_is_told_and_how_scores_count_them(capsys, scored, rule):
    lines = told(capsys, run_of([0, -1, 2, -1, 2], scores=scored))
    assert f"2 of 5 samples are in no cluster{rule}" in lines
    rows = [line.split() for line in lines if line.strip()[:1].isdigit()]
    assert rows[:3] == [["0", "1", "0.50"], ["1", "0", "–"], ["2", "2", "0.50"]]  # nobody is in cluster 1
    assert not any("in no cluster" in line for line in told(capsys, run_of([0, 0, 1])))


MUST, CANNOT = np.array([[0, 1]]), np.array([[0, 2], [1, 3]])


@pytest.mark.parametrize(
    ("labels", "kept", "lost"),
    [([0, 0, 1, 1], "1 must, 2 cannot", False), ([0, 1, 1, 1], "0 must, 1 cannot", True),
     ([0, 0, 0, 1], "1 must, 1 cannot", True)],
)  # fmt: skip
@pytest.mark.parametrize("constraints", ["soft", "hard", None])
def test_known_pairs_that_were_kept_and_how_to_keep_all(capsys, labels, kept, lost, constraints):
    model = SimpleNamespace(labels_=np.array(labels), constraints=constraints)
    if constraints is None:
        del model.constraints
    for repeated, again in ((0, ""), (1, " (1 line repeated another)"), (2, " (2 lines repeated another)")):
        lines = told(capsys, run_of(labels), pairs=GivenPairs(MUST, CANNOT, repeated), estimator=model)
        assert f"known pairs used: 1 must, 2 cannot{again}; kept: {kept}" in lines
        hint = "soft pairs are evidence and can be overruled; --set constraints=hard keeps every one"
        assert (hint in lines) == (lost and constraints == "soft")
    assert not any("known pairs" in line for line in told(capsys, run_of(labels), estimator=model))


def test_unlike_scales_are_no_hint_where_the_method_weighs_or_nothing_has_a_name():
    X = np.array([[-1.0, 0], [1.0, 200], [0, 1000]])
    columns = (Column("a", "feature"), Column("b", "feature"))
    (hint,) = _unlike_scales(Samples(X, columns=columns), SimpleNamespace(view="plain"))
    assert "'b' 432, 'a' 0.816" in hint
    assert _unlike_scales(Samples(X, columns=columns), SimpleNamespace())
    assert _unlike_scales(Samples(X, columns=columns), SimpleNamespace(view="auto")) == ()
    assert _unlike_scales(Samples(X), SimpleNamespace()) == ()
    assert _unlike_scales(Samples(csr_array(X), columns=columns), SimpleNamespace()) == ()
    holed = np.vstack([X, [[np.nan, np.nan]]])  # unknown values have no part in it
    assert _unlike_scales(Samples(holed, columns=columns), SimpleNamespace()) == (hint,)
    assert _unlike_scales(Samples(np.ones((3, 2)), columns=columns), SimpleNamespace()) == ()


@pytest.mark.parametrize(("quiet", "as_json"), [(False, False), (True, False), (False, True), (True, True)])
def test_a_person_and_a_machine_get_what_they_asked_for(capsys, quiet, as_json):
    options = SimpleNamespace(quiet=quiet, json=as_json)
    say(options, "one\ntwo\x1b[31m")
    assert capsys.readouterr().out == ("" if quiet or as_json else "one\ntwo\ufffd[31m\n")
    say_json(options, {"a": np.float64("nan")})
    assert capsys.readouterr().out == ('{\n  "a": null\n}\n' if as_json else "")
    complain("two\nlines")
    assert capsys.readouterr().err == "masked-subspace: two lines\n"


def stored(title, labels, notes=(), facts=None, scored=None, target=None):
    content = ReportContent(
        title, facts=facts or {"samples": len(labels)}, runs=(run_of(labels, scores=scored or {}),), notes=notes,
        target=target, command="theirs",
    )  # fmt: skip
    return StoredRun(Path(title), title, {}, content)


def test_what_was_noted_of_every_run_stands_first_and_the_rest_with_its_name():
    one = stored("one", [0, 1], ("both", "only one"))
    two = stored("two", [0, 1], ("only two", "both"))
    assert report_command._notes([one, two]) == ("both", "one: only one", "two: only two")
    assert report_command._notes([one]) == ("both", "only one")


def test_several_runs_become_one_page():
    facts = {"samples": 3, "features": 4, "seed": 0}
    one, two = stored("one", [0, 0, 1], facts=facts), stored("two", [0, 1, 1], facts={**facts, "features": 5})
    page = report_command._together([one, two], "typed")
    assert (page.title, page.subtitle, page.command) == ("Comparison of runs", "2 runs on 3 samples", "typed")
    assert page.facts == {"samples": 3}
    assert [run.name for run in page.runs] == ["one", "two"]
    assert [table.title for table in page.tables] == ["Comparison", "Who agrees with whom"]
    assert report_command._together([one], "typed") is one.content


def test_runs_are_scored_by_the_rules_of_this_version():
    labels, target = np.array([0, 0, 1, -1]), np.array([0, 0, 1, 1])
    content = stored("one", labels, scored={"accuracy": 1.0}, target=target).content
    assert _scored(content).runs[0].scores == scores(labels, target)
    assert _scored(content).runs[0].scores["accuracy"] == 0.75
    assert _scored(replace(content, target=None)).runs[0].scores == {}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"file": "a", "numbers": "b"}, {"file": "a", "numbers": "c"}, True),
        ({"file": "a", "numbers": "b"}, {"file": "c", "numbers": "b"}, True),
        ({"file": "a", "numbers": "b"}, {"file": "c", "numbers": "d"}, False),
        ({"file": "a"}, {"numbers": "a"}, False),
        ({}, {}, False),
        ({"numbers": "b"}, {"file": "c", "numbers": "b"}, True),
    ],
)
def test_the_same_file_or_the_same_numbers_are_the_same_data(one, other, same):
    first, second = ({"input": {"fingerprints": prints}} for prints in (one, other))
    assert _same_data(first, second) is same


def test_runs_of_unlike_data_are_refused_by_name(monkeypatch):
    contents = {"a": [0, 1], "b": [0, 1, 1], "c": [0, 1], "d": [1, 0]}
    prints = {"a": "x", "b": "x", "c": "x", "d": "y"}
    monkeypatch.setattr(stored_runs, "load_run", lambda folder: stored(str(folder), contents[str(folder)]).content)
    monkeypatch.setattr(
        stored_runs,
        "load_result",
        lambda folder: {"input": {"path": f"{folder}.csv", "fingerprints": {"file": prints[str(folder)]}}},
    )
    found = stored_runs.load_alike([Path("a"), Path("c")])
    assert [one.title for one in found] == ["RMSC (a)", "RMSC (c)"]
    for folder, said in (
        ("b", "b has another number of samples than a: runs of one data set compare"),
        ("d", "d and a are runs of different data (d.csv, a.csv): runs of one data set compare"),
    ):
        with pytest.raises(exits.CommandError) as caught:
            stored_runs.load_alike([Path("a"), Path("c"), Path(folder)])
        assert (str(caught.value), caught.value.code) == (said, exits.Exit.INPUT)


def test_compare_prints_numbered_rows_and_leaves_gaps(monkeypatch, capsys):
    target = np.array([0, 0, 1, 1])
    runs = [
        stored("one", [0, 0, 1, 1], scored={"accuracy": 1.0}, target=target),
        stored("two", [-1, 0, 1, 1], scored={"accuracy": 0.75, "NMI": 0.5}, target=target),
    ]
    monkeypatch.setattr(compare, "load_alike", lambda _: runs)
    options = build_parser().parse_args(["compare", "one", "two"])
    assert compare.run(options) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "Adjusted Rand index (1: the same clusters, 0: no more alike than by chance)",
        "",
        "  run      1      2",
        "─────  ─────  ─────",
        "1 one  1.000  1.000",
        "2 two  1.000  1.000",
        "",
        "samples in no cluster: 1 in two; two runs are compared on the samples that both have in clusters",
        "",
        "Against the known classes (samples in no cluster: accuracy counts them as wrong, NMI and BCA leave them out)",
        "",
        "run  accuracy    NMI",
        "───  ────────  ─────",
        "one     1.000      –",
        "two     0.750  0.500",
    ]
    options.json = True
    assert compare.run(options) == 0
    assert json.loads(capsys.readouterr().out) == {
        "runs": ["one", "two"], "titles": ["one", "two"], "adjusted_rand": [[1.0, 1.0], [1.0, 1.0]],
        "compared": [[4, 3], [3, 3]], "unassigned": [0, 1],
        "scores": [{"accuracy": 1.0}, {"accuracy": 0.75, "NMI": 0.5}],
    }  # fmt: skip
    options.json = False
    monkeypatch.setattr(compare, "load_alike", lambda _: [stored("one", [0, 0, 1, 1]), stored("two", [0, 1, 0, 1])])
    assert compare.run(options) == 0
    shown = capsys.readouterr().out
    assert "no cluster" not in shown
    assert "known classes" not in shown


def test_records_of_data_sets_for_machines(monkeypatch, capsys):
    here = DatasetStatus("a", "A", 10, 4, 2, "cache", Path("a.npz"), 2_500_000, "remark")
    gone = DatasetStatus("b", "B", 11, 5, 3, "public", None, 0, "")
    monkeypatch.setattr(data, "list_datasets", lambda data_home: [here, gone] if data_home == Path("d") else [])
    options = build_parser().parse_args(["data", "list", "--data-home", "d", "--json"])
    assert data.run(options) == 0
    assert json.loads(capsys.readouterr().out)["datasets"] == [
        {"name": "a", "samples": 10, "features": 4, "classes": 2, "available": True, "source": "cache",
         "location": "a.npz", "bytes": 2_500_000, "remark": "remark"},
        {"name": "b", "samples": 11, "features": 5, "classes": 3, "available": False, "source": "public",
         "location": None, "bytes": 0, "remark": ""},
    ]  # fmt: skip


@pytest.mark.parametrize("force", [False, True])
def test_what_was_asked_of_data_fetch_reaches_it(monkeypatch, capsys, force):
    asked = []

    def fetch(name, **how):
        asked.append((name, how))
        return DatasetStatus(name, "", 1, 1, 1, "cache", Path("x"), 0, "")

    monkeypatch.setattr(data, "fetch", fetch)
    options = build_parser().parse_args(
        ["data", "fetch", "orl", "digits", "--data-home", "d", *(["--force"] if force else [])]
    )
    assert data.run(options) == 0
    how = {"data_home": Path("d"), "force": force}
    assert asked == [("orl", how), ("digits", how)]


def test_the_demo_takes_the_small_digits_where_there_is_no_mnist(monkeypatch, capsys):
    asked = []

    def load(name, trial, **how):
        asked.append((name, trial, how))
        if name == "mnist-1000" and not mnist:
            raise DatasetError("not here")
        count = 1000 if name == "mnist-1000" else 1797
        return SimpleNamespace(data=np.arange(count), target=-np.arange(count))

    monkeypatch.setattr(demo, "load_protocol", load)
    for mnist, samples, shown in ((True, None, 1000), (False, None, 1000), (True, 70, 70), (False, 70, 70)):
        asked.clear()
        digits = _digits(SimpleNamespace(seed=5, samples=samples, quiet=False, json=False))
        np.testing.assert_array_equal(digits.data, np.arange(shown))
        np.testing.assert_array_equal(digits.target, -np.arange(shown))
        assert asked == [("mnist-1000", 5, {"download": False}), *([] if mnist else [("digits", 5, {})])]
        assert ("MNIST is not here" in capsys.readouterr().out) != mnist


def test_methods_of_the_demo_stand_side_by_side():
    runs = [run_of([0, 1, 1], scores={"accuracy": 0.5, "NMI": 0.4, "BCA": 0.3}, seconds=2.5),
            replace(run_of([-1, 0, -1], scores={"accuracy": 0.1}, seconds=1.5), name="DBSCAN")]  # fmt: skip
    table = _side_by_side(runs, ("k-means", 0.9, 0.8, 0.7, 0.25))
    assert table.title == "Comparison"
    assert table.columns == ("method", "accuracy", "NMI", "BCA", "seconds")
    assert table.rows == (
        ("k-means", 0.9, 0.8, 0.7, 0.25), ("RMSC", 0.5, 0.4, 0.3, 2.5), ("DBSCAN", 0.1, None, None, 1.5),
    )  # fmt: skip
    assert table.notes == (
        "DBSCAN: 2 samples are in no cluster; accuracy counts them as wrong, NMI and BCA leave them out.",
    )
    assert table.decimals == (None, 3, 3, 3, 2)
    assert (_three(None), _three(0.12345)) == ("–", "0.123")


@pytest.mark.parametrize(
    ("failed", "missing", "code"),
    [(0, {}, 0), (1, {}, exits.Exit.INCOMPLETE), (0, {"orl": "gone"}, exits.Exit.DATA),
     (1, {"orl": "gone"}, exits.Exit.DATA)],
)  # fmt: skip
def test_how_reproduce_ends(monkeypatch, capsys, tmp_path, failed, missing, code):
    measure = SimpleNamespace(mean=1.0, spread=2.0, paper=3.0, difference=4.0, within=True)
    row = SimpleNamespace(table="t", dataset="d", method="m", setting="s", chosen_with_labels=False, done=5,
                          failed=failed, measures={"accuracy": measure})  # fmt: skip
    made = SimpleNamespace(tables=(), files=[Path("f.md")], rows=[row])
    monkeypatch.setattr(reproduce, "without_missing", lambda request: (request, missing))
    monkeypatch.setattr(reproduce, "run_cells", lambda *_: None)
    monkeypatch.setattr(reproduce, "publish", lambda *_: made)
    options = build_parser().parse_args(
        ["reproduce", "table1", "--dataset", "digits", "--method", "knn", "--setting", "auto", "--trials", "2", "--out",
         str(tmp_path)]
    )  # fmt: skip
    assert reproduce.run(options) == code
    shown = capsys.readouterr()
    assert f"2 cells, kept in {tmp_path / 'results.sqlite'}; stop at any time" in shown.out
    assert "wrote f.md" in shown.out
    assert shown.err == "".join(f"masked-subspace: {name} is left out. gone\n" for name in missing)
    options.json = True
    reproduce.run(options)
    assert json.loads(capsys.readouterr().out) == {
        "rows": [{"table": "t", "dataset": "d", "method": "m", "setting": "s", "chosen_with_labels": False, "trials": 5,
                  "failed": failed, "accuracy": {"mean": 1.0, "std": 2.0, "paper": 3.0, "difference": 4.0,
                                                 "within": True}}],
        "files": ["f.md"],
    }  # fmt: skip
