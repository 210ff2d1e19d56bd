"""The parser that names the nearest right word, on a parser of its own."""

import pytest

from masked_subspace.cli.exits import Exit
from masked_subspace.cli.mistyped import Parser


@pytest.fixture
def parser():
    parser = Parser(prog="masked-subspace")
    commands = parser.add_subparsers(dest="command", required=True)
    cluster = commands.add_parser("cluster")
    cluster.add_argument("input", nargs="?")
    cluster.add_argument("--clusters", type=int)
    cluster.add_argument("--note")
    parser.add_argument("--version", action="store_true")
    return parser


def said(parser, capsys, *words):
    with pytest.raises(SystemExit) as ended:
        parser.parse_args(words)
    assert ended.value.code == Exit.USAGE
    error = capsys.readouterr().err
    assert error.startswith("masked-subspace: ")
    assert error.count("\n") == 1
    return error


def test_the_beginning_of_a_name_and_a_value_with_an_equals_sign_are_taken(parser):
    assert parser.parse_args(["cluster", "--clus", "3"]).clusters == 3
    assert parser.parse_args(["cluster", "--clusters=3"]).clusters == 3
    assert parser.parse_args(["--vers", "cluster"]).version


def test_what_follows_two_dashes_is_no_option(parser):
    assert parser.parse_args(["cluster", "--", "--clusterz"]).input == "--clusterz"


def test_a_text_with_spaces_is_a_value(parser):
    assert parser.parse_args(["cluster", "--note", "--not an option"]).note == "--not an option"


def test_options_of_a_command_are_not_those_before_it(parser, capsys):
    assert "there is no option --clusters" in said(parser, capsys, "--clusters", "3", "cluster")
    assert "there is no option --clusterz (did you mean '--clusters'?)" in said(
        parser, capsys, "cluster", "--clusterz=3"
    )


def test_words_too_many_are_named(parser, capsys):
    assert "unexpected 'b.csv'; see masked-subspace" in said(parser, capsys, "cluster", "a.csv", "b.csv")
