"""Numbers as they are written, cell by cell."""

import math

import pytest

from masked_subspace.inputs import InputError, read_samples
from masked_subspace.inputs.numbers import COMMA, MISSING, POINT, is_grouped_by_points, kind, number


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", "plain"),
        ("-1.5e-3", "plain"),
        (".5", "plain"),
        ("5.", "plain"),
        ("-inf", "plain"),
        ("Infinity", "plain"),
        ("1,234", "either"),
        ("-1,234", "either"),
        ("+12,000", "either"),
        ("1 234", "spaced"),
        ("-1'234'567", "spaced"),
        ("1,234.5", "point"),
        ("1,234.", "point"),
        ("-1,234,567", "point"),
        ("1 234.5", "point"),
        ("1,5", "comma"),
        (",5", "comma"),
        ("-1.234,5", "comma"),
        ("1234,567", "comma"),
        ("1,5e3", "comma"),
        ("1.234.567", "comma"),
        ("12.34.567", "text"),
        ("1,23,456", "text"),
        ("1 23", "text"),
        ("abc", "text"),
        ("1-2", "text"),
    ],
)
def test_how_a_cell_can_be_read(text, expected):
    assert kind(text) == expected
    assert kind(f"  {text} ") == expected


@pytest.mark.parametrize("text", sorted(MISSING))
def test_what_is_missing_is_no_number(text):
    for form in (text, text.upper(), f" {text} "):
        assert kind(form) == "missing"
        assert math.isnan(number(form, POINT))
        assert math.isnan(number(form, COMMA))


def test_the_usual_marks_of_a_missing_value_are_known():
    assert {"", "NA", "n/a", "NaN", "null", "None", "?", "-", "."} <= {*MISSING, "NA", "NaN", "None"}
    assert [kind(text) for text in ("NA", "n/a", "NaN", "null", "None", "?", "-", ".", "")] == ["missing"] * 9


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("1,234.5", POINT, 1234.5),
        ("1 234.5", POINT, 1234.5),
        ("1'234", POINT, 1234.0),
        ("1\u202f234", COMMA, 1234.0),
        ("1.234,5", COMMA, 1234.5),
        ("1 234,5", COMMA, 1234.5),
        ("1,234", POINT, 1234.0),
        ("1,234", COMMA, 1.234),
        (" -,5 ", COMMA, -0.5),
        ("1,5e3", COMMA, 1500.0),
    ],
)
def test_the_value_of_a_cell(text, decimal, value):
    assert number(text, decimal) == value


def test_points_between_thousands():
    assert is_grouped_by_points(" -1.234.567 ")
    assert is_grouped_by_points("1.234")
    assert not is_grouped_by_points("1.23")
    assert not is_grouped_by_points("1234.567")


OTHERWISE = [(".", "1,32"), (".", "1.234.567"), (".", "1.234,5"), (".", ",5"), (",", "1.32"), (",", "1,234.5"),
             (",", "1,234,567"), (",", "€ 1.5")]  # fmt: skip


@pytest.mark.parametrize(("mark", "cell"), OTHERWISE)
def test_a_number_that_has_no_meaning_with_the_mark_asked_for_is_refused(tmp_path, mark, cell):
    """1,32 used to be 132 with points, and 1.32 with commas."""
    path = tmp_path / "a.csv"
    sign = "€ " if "€" in cell else ""
    path.write_text(f"x;z\n{sign}1;2\n{cell};3\n{sign}7;5\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"row 1 has .* in column 'x', which is no number with --decimal \{mark}; wi"):
        read_samples(path, decimal=mark)
    assert read_samples(path, decimal=mark, drop=("x",)).n_samples == 3
    (hint,) = [note for note in read_samples(path).notes if note.startswith("x: ")] or [""]
    assert "--decimal" not in hint  # there is no other way to read it
