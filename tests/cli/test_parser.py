"""Every option of every command: what it becomes, what it is without being given, and what help says of it."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from masked_subspace.cli.exits import Exit
from masked_subspace.cli.parser import build_parser

OUTPUT = {"json": False, "quiet": False}
WITHOUT = {
    "cluster a.csv -k 3": {
        "file": Path("a.csv"), "clusters": 3, "method": "rmsc", "settings": [], "pairs": None, "features": [],
        "drop": [], "name_column": None, "label_column": None, "decimal": None, "scale": "none", "impute": "none",
        "missing": "error", "image_side": None, "color": False, "skip_unreadable": False, "max_gb": None, "seed": 0,
        "jobs": None, "out": None, "no_report": False, **OUTPUT,
    },
    "demo": {"out": Path("demo-report"), "samples": None, "method": [], "seed": 0, "jobs": None, **OUTPUT},
    "reproduce table1": {
        "part": "table1", "setting": None, "trials": None, "first_trial": None, "dataset": None, "method": None,
        "jobs": 1, "threads": 1, "out": Path("reproduction"), "accept_older": False, "retry_failed": False,
        "show_only": False, **OUTPUT,
    },
    "report a": {"runs": [Path("a")], "out": None, **OUTPUT},
    "compare a": {"runs": [Path("a")], **OUTPUT},
    "data list": {"action": "list", "data_home": None, **OUTPUT},
    "data fetch orl": {"action": "fetch", "names": ["orl"], "force": False, "data_home": None, **OUTPUT},
    "completion bash": {"shell": "bash"},
}  # fmt: skip
WITH = {
    "cluster a.csv --clusters 2-9 --method ssc --set a=1 --set b=2 --pairs p --features x --features y --drop u "
    "--drop v --name-column n --label-column l --decimal , --scale standard --impute knn --missing drop "
    "--image-side 20 --color --skip-unreadable --max-gb 0.5 --seed 7 --jobs 2 --out o --no-report --json --quiet": {
        "file": Path("a.csv"), "clusters": (2, 9), "method": "ssc", "settings": ["a=1", "b=2"], "pairs": Path("p"),
        "features": ["x", "y"], "drop": ["u", "v"], "name_column": "n", "label_column": "l", "decimal": ",",
        "scale": "standard", "impute": "knn", "missing": "drop", "image_side": 20, "color": True,
        "skip_unreadable": True, "max_gb": 0.5, "seed": 7, "jobs": 2, "out": Path("o"), "no_report": True,
        "json": True, "quiet": True,
    },
    "demo --out o --samples 50 --method ssc --method knn --seed 3 --jobs 2 -q": {
        "out": Path("o"), "samples": 50, "method": ["ssc", "knn"], "seed": 3, "jobs": 2, "json": False, "quiet": True,
    },
    "reproduce all --setting auto --setting paper --trials 3 --first-trial 4 --dataset a --dataset b --method c "
    "--method d --jobs 2 --threads 3 --out o --accept-older --retry-failed --show-only --json": {
        "part": "all", "setting": ["auto", "paper"], "trials": 3, "first_trial": 4, "dataset": ["a", "b"],
        "method": ["c", "d"], "jobs": 2, "threads": 3, "out": Path("o"), "accept_older": True, "retry_failed": True,
        "show_only": True, "json": True, "quiet": False,
    },
    "report a b --out o -q": {"runs": [Path("a"), Path("b")], "out": Path("o"), "json": False, "quiet": True},
    "compare a b --json": {"runs": [Path("a"), Path("b")], "json": True, "quiet": False},
    "data list --data-home d --json": {"action": "list", "data_home": Path("d"), "json": True, "quiet": False},
    "data fetch orl usps --force --data-home d -q": {
        "action": "fetch", "names": ["orl", "usps"], "force": True, "data_home": Path("d"), "json": False,
        "quiet": True,
    },
    "completion zsh": {"shell": "zsh"},
}  # fmt: skip


@pytest.mark.parametrize("line", [*WITHOUT, *WITH])
def test_what_options_become(line):
    words = line.split()
    found = vars(build_parser().parse_args(words))
    assert found == {"version": False, "command": words[0], **(WITHOUT | WITH)[line]}


def test_the_version_can_be_asked_for_without_a_command():
    found = build_parser().parse_args(["--version"])
    assert (found.version, found.command) == (True, None)
    assert build_parser().parse_args([]).command is None


@pytest.mark.parametrize(
    "line",
    [
        "cluster",
        "cluster a.csv",
        "cluster -k 3",
        "cluster a.csv -k 3 --decimal ;",
        "cluster a.csv -k 3 --scale no",
        "cluster a.csv -k 3 --impute mean",
        "cluster a.csv -k 3 --missing keep",
        "cluster a.csv -k 3 --image-side 0",
        "cluster a.csv -k 3 --image-side 1.5",
        "cluster a.csv -k 3 --max-gb much",
        "cluster a.csv -k 3 --seed x",
        "cluster a.csv -k 3 --jobs -2",
        "cluster a.csv -k 2-",
        "cluster a.csv -k -3",
        "cluster a.csv -k 0-3",
        "cluster a.csv -k 3-2",
        "demo --samples 0",
        "demo --seed -1",
        "demo --jobs 0",
        "reproduce",
        "reproduce table4",
        "reproduce table1 --setting best",
        "reproduce table1 --trials 0",
        "reproduce table1 --jobs 0",
        "reproduce table1 --jobs -1",
        "reproduce table1 --threads 0",
        "reproduce table1 --first-trial x",
        "report",
        "compare",
        "data",
        "data drop",
        "data fetch",
        "completion",
        "completion fish",
    ],
)
def test_what_makes_no_sense_is_one_line_and_two(line, capsys):
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args(line.split())
    assert ended.value.code == Exit.USAGE
    said = capsys.readouterr().err
    assert said.startswith("masked-subspace: ")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("--jobs", "-1", -1),
        ("--jobs", "1", 1),
        ("--seed", "0", 0),
        ("--image-side", "1", 1),
        ("--max-gb", "0.001", 0.001),
        ("--max-gb", "999999999", 999999999.0),
        ("-k", " Auto ", "auto"),
        ("-k", "1-2", (1, 2)),
        ("-k", "1", 1),
        ("-k", "4611686018427387904", 2**62),
    ],
)
def test_numbers_at_their_limits_are_taken(option, text, value):
    found = vars(build_parser().parse_args(["cluster", "a.csv", "-k", "2", option, text]))
    name = {"-k": "clusters"}.get(option, option.removeprefix("--").replace("-", "_"))
    assert found[name] == value


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("--jobs", "0", "'0' is not a whole number above 0 (or -1 for all cores)"),
        ("--seed", "-1", "'-1' is not a whole number from 0 to 4294967295"),
        ("--image-side", "0", "'0' is not a whole number above 0"),
        ("--image-side", "4611686018427387905", "is not a whole number above 0"),
        ("--max-gb", "1e9", "'1e9' is not a number of gigabytes above 0"),
        ("-k", "2-2", "'2-2' is no range; write LOW-HIGH with LOW below HIGH, e.g. 2-9"),
        ("-k", "few", "'few' is no number of clusters; give a whole number above 0, a range like 2-9, or auto"),
        ("-k", "3-x", "'3-x' is no number of clusters"),
    ],
)
def test_a_wrong_number_is_answered_with_what_is_wanted(option, text, said, capsys):
    with pytest.raises(SystemExit):
        build_parser().parse_args(["cluster", "a.csv", "-k", "2", option, text])
    assert said in capsys.readouterr().err


def parsers(parser, name=""):
    yield name, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below, one in action.choices.items():
                yield from parsers(one, f"{name} {below}".strip())


def parser_of(name):
    return dict(parsers(build_parser()))[name]


COMMANDS = ["bench", "cluster", "compare", "completion", "data", "demo", "report", "reproduce"]


def test_every_command_says_what_it_does(capsys):
    assert sorted(one for one in dict(parsers(build_parser())) if one and " " not in one) == COMMANDS
    with pytest.raises(SystemExit) as ended:
        build_parser().parse_args(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage: masked-subspace ")
    assert "COMMAND" in shown
    for name in COMMANDS:
        _, named, said = shown.partition(f"\n    {name}")
        assert named
        assert len(said.partition("\n    ")[0].split()) > 3 or len(said.split("\n")[1].split()) > 3
    for name in [*COMMANDS, ""]:
        assert parser_of(name).description or name == "data"


# Options without a word of help: the seed of the demo, and names and parts that speak for themselves.
SPEAK_FOR_THEMSELVES = {("demo", "--seed"), ("reproduce", "part"), ("data fetch", "names"), ("completion", "shell")}


@pytest.mark.parametrize("name", [one for one in [*COMMANDS, "data list", "data fetch"] if one != "data"])
def test_every_option_says_what_it_is_for(name):
    silent = {(name, (one.option_strings or [one.dest])[0]) for one in parser_of(name)._actions if not one.help}
    assert silent <= SPEAK_FOR_THEMSELVES


VALUES = {
    "cluster": {
        "file": "FILE", "-k": "K", "--method": "NAME", "--set": "NAME=VALUE", "--pairs": "CSV", "--features": "NAMES",
        "--drop": "NAMES", "--name-column": "NAME", "--label-column": "NAME", "--image-side": "PIXELS",
        "--max-gb": "GB", "--jobs": "N", "--out": "DIR",
    },
    "demo": {"--out": "DIR", "--samples": "N", "--method": "NAME", "--jobs": "N"},
    "reproduce": {
        "--trials": "N", "--first-trial": "T", "--dataset": "NAME", "--method": "NAME", "--jobs": "N", "--threads": "N",
        "--out": "DIR",
    },
    "report": {"runs": "RUN", "--out": "FILE"},
    "compare": {"runs": "RUN"},
    "data list": {"--data-home": "DIR"},
    "data fetch": {"--data-home": "DIR", "names": "NAME"},
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_help_calls_values_by_what_they_are(name):
    called = {(one.option_strings or [one.dest])[0]: one.metavar for one in parser_of(name)._actions if one.metavar}
    assert called == VALUES[name]


def test_help_of_cluster_names_its_methods_and_the_formats(capsys):
    with pytest.raises(SystemExit):
        build_parser().parse_args(["cluster", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "rmsc" in shown
    assert "package.module:Class of any clusterer (default: rmsc)" in shown
    assert "or a folder of images or trajectories, or - for standard input" in shown
    assert "reading:" in shown
    assert "Cluster the rows of a file" in shown


def test_help_of_data_says_what_can_be_done(capsys):
    with pytest.raises(SystemExit):
        build_parser().parse_args(["data", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "ACTION" in shown
    assert "list what is where and how big" in shown
    assert "fetch get a set" in shown
