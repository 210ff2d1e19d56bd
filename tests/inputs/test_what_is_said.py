"""What the reader of a table says about it, in full: why each column is what it is, and nothing that is not so."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.inputs import InputError, Samples, read_samples
from masked_subspace.inputs.adjust import without_missing


def table(path, *columns, sep=",", rows=None):
    """A header in the first place of every column, and its values; as many rows as the shortest has."""
    path.write_text("\n".join(sep.join(map(str, row)) for row in zip(*columns, strict=False)) + "\n", encoding="utf-8")
    return path


def why(samples):
    return {one.name: one.why for one in samples.columns}


FRACTIONS = [f"{k}.{k * 7 % 10 + 1}" for k in range(30)]
MORE = [f"{k * 3 % 30}.5" for k in range(30)]


def test_a_plain_matrix_of_numbers_is_not_talked_about(tmp_path):
    path = tmp_path / "a.csv"
    np.savetxt(path, np.random.default_rng(0).normal(size=(5, 3)), delimiter=",")
    assert read_samples(path).notes == ()
    with_names = [f"s{k},{k}.5,{k * k}.25" for k in range(5)]
    path.write_text("\n".join(with_names))
    assert read_samples(path).notes == (
        "2 features: column 1, column 2",
        "column 'column 0' is taken as the samples' names",
    )


@pytest.mark.parametrize("values", [[100 + k for k in range(30)], [131 - k for k in range(30)]])
def test_why_a_column_of_whole_numbers_is_no_measurement(tmp_path, values):
    """A column of names stands before it, or it would be the names."""
    reason = "an id: it numbers the rows; --features takes it as a measurement"
    names = ["who", *(f"s{k}" for k in range(30))]
    samples = read_samples(table(tmp_path / "a.csv", names, ["n", *values], ["a", *FRACTIONS], ["b", *MORE]))
    assert why(samples)["n"].removeprefix("an id: ") == reason.removeprefix("an id: ")
    assert samples.notes == (
        "2 features: a, b",
        "column 'who' is taken as the samples' names",
        f"column 'n' is ignored: {why(samples)['n']}",
    )


def test_an_id_is_known_by_its_name_and_the_name_column_by_its_values(tmp_path):
    path = table(tmp_path / "a.csv", ["row_id", *[k % 7 for k in range(30)]], ["a", *FRACTIONS], ["b", *MORE])
    samples = read_samples(path)
    assert why(samples) == {"row_id": "an id by its name; --features takes it as a measurement", "a": "", "b": ""}
    assert samples.names is None
    path = table(tmp_path / "b.csv", ["who", *[f"{k} kg" for k in range(30)]], ["a", *FRACTIONS], ["b", *MORE])
    samples = read_samples(path)
    hint = "'0 kg' is no plain number: write such to use it as a feature"
    assert why(samples)["who"] == f"all values differ; {hint}"
    assert samples.notes == ("2 features: a, b", f"column 'who' is taken as the samples' names; {hint}")
    assert why(read_samples(path, name_column="who"))["who"] == "asked for"


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        (["u", "v"] * 15, "text that repeats, not a measurement; --label-column compares with it"),
        (
            ["", "", *(f"t{k}" for k in range(28))],
            "28 different texts and 2 missing, not a measurement; --name-column takes them as names",
        ),
        (
            ["", *["5 kg", "6 kg"] * 14, "7 kg"],
            "text that repeats, not a measurement; --label-column compares with it; '5 kg' is no plain number: write "
            "such to use it as a feature",
        ),
        (["true", "False"] * 15, "text that repeats, not a measurement; --label-column compares with it; write 1 and "
                                 "0 to use it as a feature"),
        ([""] * 30, "it has no values"),
        (["5%", "6"] * 15, "numbers with % and without a sign; write them one way"),
        (["5%", "6€"] * 15, "numbers with € and with %; write them one way"),
        (['"1,5"', "2.25"] * 15, "numbers with decimal points and with decimal commas; write them one way"),
    ],
)  # fmt: skip
def test_why_a_column_is_no_feature(tmp_path, texts, reason):
    samples = read_samples(table(tmp_path / "a.csv", ["x", *texts], ["a", *FRACTIONS], ["b", *MORE]))
    assert why(samples) == {"x": reason, "a": "", "b": ""}
    assert samples.notes == ("2 features: a, b", f"column 'x' is ignored: {reason}")


def test_one_different_text_is_counted_as_one(tmp_path):
    path = table(tmp_path / "a.csv", ["x", "one", *[""] * 29], ["a", *FRACTIONS], ["b", *MORE])
    assert why(read_samples(path))["x"].startswith("1 different text and 29 missing, not a measurement")


@pytest.mark.parametrize(
    ("values", "expected", "remark"),
    [
        (["1,5", "2,25"], [1.5, 2.25], "read with decimal commas"),
        (["1.234.567", "2.000.000"], [1234567, 2e6], "read with decimal commas"),
        (["1,234.5", "7,000.0"], [1234.5, 7000], "read with groups of thousands"),
        (["1,234", "7,000"], [1.234, 7], "read with decimal commas (--decimal . reads them with points)"),
        (["1 234", "7 000"], [1234, 7000], "read with groups of thousands"),
        (["5%", "6%"], [5, 6], "read without the sign %"),
        (["5,5%", "6,5%"], [5.5, 6.5], "read without the sign %; read with decimal commas"),
        (["$5", "$6"], [5, 6], "read without the sign $"),
        (["5", "6"], [5, 6], ""),
    ],
)  # fmt: skip
def test_how_numbers_were_read_is_said(tmp_path, values, expected, remark):
    """In columns that repeat, so that nobody takes them for an id."""
    path = table(tmp_path / "a.csv", ["x", *values * 3], ["a", *"123123"], sep=";")
    samples = read_samples(path)
    assert samples.X[:2, 0].tolist() == expected
    assert why(samples)["x"] == remark
    assert samples.notes == ("2 features: x, a", *([f"x: {remark}"] if remark else []))


def test_the_mark_before_fractions_is_that_of_the_columns_that_tell(tmp_path):
    """1.234 is a thousand beside decimal commas, and 1,234 is one and a bit; whole numbers tell nothing."""
    columns = [
        ["a", "1,5", "2,5", "1,5"],
        ["b", "1.234", "5.678", "1.234"],
        ["c", "3", "4", "3"],
        ["d", "1,234", "2,345", "1,234"],
    ]
    samples = read_samples(table(tmp_path / "a.csv", *columns, sep=";"))
    assert samples.X[0].tolist() == [1.5, 1234, 3, 1.234]
    columns[0] = ["a", "1.5", "2.5", "1.5"]
    samples = read_samples(table(tmp_path / "a.csv", *columns, sep=";"))
    assert samples.X[0].tolist() == [1.5, 1.234, 3, 1234]
    alone = [["b", "1.234", "5.678", "1.234"], ["c", "3", "4", "3"]]
    assert read_samples(table(tmp_path / "a.csv", *alone, sep=";")).X[0].tolist() == [1.234, 3]
    asked = read_samples(table(tmp_path / "a.csv", *alone, sep=";"), decimal=",")
    assert asked.X[0].tolist() == [1234, 3]


def test_a_header_of_numbers_is_said(tmp_path):
    path = table(tmp_path / "a.csv", [2001, *FRACTIONS], [2002, *MORE], [2003, *FRACTIONS])
    samples = read_samples(path)
    assert samples.notes == (
        "3 features: 2001, 2002, 2003",
        "the first line counts 2001, 2002, 2003 and is taken as the header, not as a sample; write a header above it "
        "if it is one",
    )
    path = table(tmp_path / "b.csv", ["a", *FRACTIONS], ["b", *MORE])
    assert read_samples(path).notes == ("2 features: a, b",)


@pytest.mark.parametrize(("end", "said"), [(",\n", "1 line"), (",\n,\n", "2 lines"), ("", None)])
def test_empty_lines_at_the_end_are_left_out_and_counted(tmp_path, end, said):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n3,5\n" + end)
    samples = read_samples(path)
    assert samples.X.tolist() == [[1, 2], [3, 5]]
    left_out = [f"{said} without any value at the end of the file left out"] if said else []
    assert samples.notes == ("2 features: a, b", *left_out)


def test_an_empty_cell_of_a_single_column_is_a_missing_value(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a\n1\n2\n""\n')
    with pytest.raises(InputError, match=r"1 missing value: 'a' 1 \(row 2\)"):
        read_samples(path)
    path.write_text("a,b\n1,2\n,\n3,4\n")  # in the middle it is a sample
    with pytest.raises(InputError, match=r"2 missing values: 'a' 1 \(row 1\), 'b' 1 \(row 1\)"):
        read_samples(path)


@pytest.mark.parametrize(
    ("lines", "shape"),
    [
        (["1 2 3", "4 5 6"], (2, 3)),
        (["a b c", "1 2 3", "4 5 6"], (2, 3)),
        (["1.5", "2.5"], (2, 1)),
        (["1 234", "5 678"], (2, 1)),  # thousands, not two columns
    ],
)
def test_numbers_with_spaces_between_them(tmp_path, lines, shape):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(lines) + "\n")
    assert read_samples(path).X.shape == shape


def test_lines_of_unlike_many_numbers_are_no_columns(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("1 22 3\n4 55\n7 88 9\n")
    with pytest.raises(InputError, match="no column of numbers"):
        read_samples(path)


def test_a_title_above_the_header_is_cut_at_forty_characters(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("t" * 60 + "\na,b\n1,2\n3,4\n")
    with pytest.raises(InputError) as caught:
        read_samples(path)
    assert str(caught.value).endswith(
        f"line 1 ({'t' * 39 + '…'!r}) has 1 value, line 2 has 2; delete what stands above the header"
    )


def test_a_line_of_texts_alone_is_no_table(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("one,two,three,four,five and a very long one\n")
    with pytest.raises(InputError) as caught:
        read_samples(path)
    assert str(caught.value).endswith(
        "holds one line (one, two, three, four and 1 more) and no numbers; write a row for every sample"
    )


def test_names_that_differ_are_not_called_alike(tmp_path):
    names = ["who", *(f"s{k}" for k in range(30))]
    samples = read_samples(table(tmp_path / "a.csv", names, ["a", *FRACTIONS], ["b", *MORE]))
    assert samples.notes == ("2 features: a, b", "column 'who' is taken as the samples' names")
    twice = read_samples(table(tmp_path / "a.csv", names, ["a", *FRACTIONS], ["a", *MORE]))
    assert twice.notes[-1] == "several columns are called a; --features and --drop mean all of a name"


@pytest.mark.parametrize(("count", "more"), [(20, None), (21, 1), (23, 3)])
def test_twenty_ignored_columns_are_named_and_the_others_counted(tmp_path, count, more):
    texts = [[f"t{k}", *["u", "v"] * 15] for k in range(count)]
    notes = read_samples(table(tmp_path / "a.csv", *texts, ["a", *FRACTIONS], ["b", *MORE])).notes
    assert len([note for note in notes if "is ignored" in note]) == 20
    counted = [note for note in notes if "more columns" in note]
    assert counted == ([] if more is None else [f"and {more} more columns are ignored; result.json lists them"])


def test_eight_features_are_named_and_the_others_counted(tmp_path):
    columns = [[f"f{k}", *(f"{k + i % 7}.5" for i in range(30))] for k in range(10)]
    path = table(tmp_path / "a.csv", *columns[:8])
    assert read_samples(path).notes == ("8 features: f0, f1, f2, f3, f4, f5, f6, f7",)
    path = table(tmp_path / "a.csv", *columns)
    assert read_samples(path).notes == ("10 features: f0, f1, f2, f3, f4, f5, f6, f7 and 2 more",)
    assert read_samples(path, features=("f3",)).notes[0] == "1 feature: f3"


def test_roles_that_were_asked_for_are_said(tmp_path):
    path = table(tmp_path / "a.csv", ["a", *FRACTIONS], ["b", *MORE], ["k", *[0, 1] * 15], ["z", *FRACTIONS])
    samples = read_samples(path, features=("a",), drop=("z",), label_column="k")
    assert {one.name: (one.role, one.why) for one in samples.columns} == {
        "a": ("feature", ""),
        "b": ("ignored", "not among --features"),
        "k": ("truth", "to compare with, not a feature"),
        "z": ("ignored", "left out (--drop)"),
    }
    assert samples.notes == (
        "1 feature: a",
        "column 'k' is taken as the truth to compare with, not as a feature",
        "column 'b' is ignored: not among --features",
        "column 'z' is ignored: left out (--drop)",
    )
    with pytest.raises(
        InputError, match=r"no column of numbers to use as features; 'a' .left out .--drop.., 'b' .left"
    ):
        read_samples(path, drop=("a,b,z,k",))


@pytest.mark.parametrize(
    ("texts", "more"), [(["oops"], ""), (["oops", "nothing"], " (one of 2)")]
)  # fmt: skip
def test_a_text_among_numbers_is_named_with_its_row(tmp_path, texts, more):
    """Rows count from 0 below the header, and from 0 where there is none."""
    values = [*FRACTIONS[:20], *texts, *FRACTIONS[20:]]
    for header, row in (([["a"], ["b"]], 20), ([[], []], 20)):
        path = table(tmp_path / "a.csv", [*header[0], *values], [*header[1], *range(3, 3 + len(values))])
        name = "a" if header[0] else "column 0"
        with pytest.raises(InputError) as caught:
            read_samples(path)
        assert f"row {row} has 'oops', not a number, in column {name!r}{more}; correct it" in str(caught.value)
        kept = read_samples(path, drop=(name,))
        assert kept.X.shape[1] == 1


def test_of_a_wide_matrix_every_column_with_gaps_is_named():
    X = np.ones((2, 5))
    X[1, 4] = np.nan
    with pytest.raises(InputError, match=r"1 missing value: 'column 4' 1 \(row 1\)"):
        without_missing(Samples(X), "it")
    X = np.ones((5, 10))
    X[:, :9] = np.nan
    with pytest.raises(
        InputError, match=r"45 missing values: 'column 0' 5 \(rows 0, 1, 2 and 2 more\), .* and 1 more\."
    ):
        without_missing(Samples(X), "it")


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_line_that_is_too_short_is_named_whatever_parts_the_cells(tmp_path, mark):
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\n1,2,3\n4,5\n".replace(",", mark))
    with pytest.raises(InputError, match="line 3 has 2 values where 3 are expected"):
        read_samples(path)
