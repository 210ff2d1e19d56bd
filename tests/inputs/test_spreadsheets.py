"""Tables as spreadsheets and other programs write them: nothing is lost without a word, nothing is misread."""

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from masked_subspace.inputs import InputError, read_samples

N = 24
VALUES = np.random.default_rng(0).normal(size=(N, 3)).round(3)


def write(path, head, row, end=""):
    path.write_text(head + "".join(f"{row(i)}\n" for i in range(N)) + end, encoding="utf-8")
    return path


def plain(i, mark=","):
    return mark.join(str(value) for value in VALUES[i])


def roles(samples):
    return {column.name: column.role for column in samples.columns}


@pytest.mark.parametrize(
    ("cell", "sign"), [("{} %", "%"), ("{}%", "%"), ("{} €", "€"), ("${}", "$"), ("-£{}", "£"), ("{}\u00a0‰", "‰")]
)
def test_a_percent_sign_or_a_currency_does_not_hide_a_measurement(tmp_path, cell, sign):
    path = write(tmp_path / "a.csv", "p;x;z\n", lambda i: f"{cell.format(f'{i * 1.7:.1f}')};{plain(i, ';')[:5]};1.5")
    path.write_text(path.read_text(encoding="utf-8").replace(".", ","), encoding="utf-8")
    samples = read_samples(path)
    expected = np.array([round(i * 1.7, 1) for i in range(N)])
    np.testing.assert_allclose(samples.X[:, 0], -expected if cell.startswith("-") else expected)
    assert f"read without the sign {sign}; read with decimal commas" in " ".join(samples.notes)


def test_numbers_with_and_without_a_sign_are_not_mixed(tmp_path):
    path = write(tmp_path / "a.csv", "p,x\n", lambda i: f"{i}.5{'%' if i % 2 else ''},{VALUES[i, 0]}")
    samples = read_samples(path)
    assert samples.feature_names == ("x",)
    assert "column 'p' is ignored: numbers with % and without a sign; write them one way" in samples.notes


def test_a_typographic_minus_is_a_minus(tmp_path):
    path = write(tmp_path / "a.csv", "p,x\n", lambda i: f"\N{MINUS SIGN}{i}.5,{VALUES[i, 0]}")
    assert read_samples(path).X[3, 0] == -3.5


def test_other_columns_tell_what_a_comma_between_three_digits_means(tmp_path):
    grouped = write(tmp_path / "a.csv", "money;count\n", lambda i: f"1,{i:03d}.50;{i % 7 + 1},000")
    np.testing.assert_array_equal(read_samples(grouped).X[1], [1001.5, 2000])
    beside_points = write(tmp_path / "b.csv", "share;count\n", lambda i: f"0.{i + 1};{i % 7 + 1},000")
    assert read_samples(beside_points).X[1, 1] == 2000
    with_commas = write(tmp_path / "c.csv", "share;count\n", lambda i: f"0,{i + 1};{i % 7 + 1},000")
    assert read_samples(with_commas).X[1, 1] == 2


@pytest.mark.parametrize(("first", "role"), [("2024-01-{:02d}", "name"), ("{} kg", "name"), ("{:02d}.03.2024", "name")])
def test_texts_that_begin_like_numbers_are_pointed_out(tmp_path, first, role):
    path = write(tmp_path / "a.csv", "day,x,z\n", lambda i: f"{first.format(i + 1)},{plain(i)[:5]},2.5")
    samples = read_samples(path)
    assert roles(samples)["day"] == role
    assert f"{first.format(1)!r} is no plain number: write such to use it as a feature" in " ".join(samples.notes)


def test_names_of_letters_get_no_such_hint(tmp_path):
    samples = read_samples(write(tmp_path / "a.csv", "who,x,z\n", lambda i: f"n{i},{VALUES[i, 0]},{VALUES[i, 1]}"))
    assert "no plain number" not in " ".join(samples.notes)


def test_true_and_false_say_how_to_become_a_feature(tmp_path):
    path = write(tmp_path / "a.csv", "flag,x,z\n", lambda i: f"{i % 2 == 0},{VALUES[i, 0]},{VALUES[i, 1]}")
    assert "write 1 and 0 to use it as a feature" in " ".join(read_samples(path).notes)


@pytest.mark.parametrize(
    ("head", "counted"),
    [("name,2019,2020,2021\n", "2019, 2020, 2021"), (",0,1,2\n", "0, 1, 2"), ("who,2010,2015,2020\n", "2010, 2015")],
)
def test_years_and_numbered_columns_are_a_header(tmp_path, head, counted):
    samples = read_samples(write(tmp_path / "a.csv", head, lambda i: f"n{i},{plain(i)}"))
    np.testing.assert_array_equal(samples.X, VALUES)
    assert f"the first line counts {counted}" in " ".join(samples.notes)


def test_eight_numbered_columns_of_whole_numbers_are_a_header_and_seven_are_a_sample(tmp_path):
    for width, rows in ((8, N), (7, N + 1)):
        head = ",".join(map(str, range(width))) + "\n"
        path = write(tmp_path / "a.csv", head, lambda i, width=width: ",".join(str(i * k % 11) for k in range(width)))
        assert read_samples(path).n_samples == rows


@pytest.mark.parametrize("head", ["1,1,1\n", "1,2,4\n", "1.5,2.5,3.5\n"])
def test_numbers_that_do_not_count_are_a_sample(tmp_path, head):
    assert read_samples(write(tmp_path / "a.csv", head, plain)).n_samples == N + 1


def test_the_mark_that_excel_names_in_the_first_line_is_heeded(tmp_path):
    path = write(tmp_path / "a.csv", "sep=;\na;b;c\n", lambda i: plain(i, ";"))
    samples = read_samples(path)
    assert samples.feature_names == ("a", "b", "c")
    np.testing.assert_array_equal(samples.X, VALUES)


def test_lines_of_nothing_at_the_end_are_left_out_and_said(tmp_path):
    samples = read_samples(write(tmp_path / "a.csv", "a;b;c\n", lambda i: plain(i, ";"), end=";;\n;;\n"))
    assert samples.n_samples == N
    assert "2 lines without any value at the end of the file left out" in samples.notes
    between = write(tmp_path / "b.csv", "a;b;c\n", lambda i: ";;" if i == 5 else plain(i, ";"))
    with pytest.raises(InputError, match=r"3 missing values: 'a' 1 \(row 5\)"):
        read_samples(between)


@pytest.mark.parametrize("head", ["", "a b c\n", "  a   b  c \n"])
def test_numbers_between_spaces_as_numpy_writes_them(tmp_path, head):
    path = write(tmp_path / "a.txt", head, lambda i: f"  {plain(i, '   ')} ")
    samples = read_samples(path)
    np.testing.assert_array_equal(samples.X, VALUES)
    assert (samples.feature_names == ("a", "b", "c")) == bool(head)


def test_one_number_in_groups_of_thousands_is_not_cut_at_its_spaces(tmp_path):
    path = write(tmp_path / "a.txt", "", lambda i: f"{i + 1} 234")
    np.testing.assert_array_equal(read_samples(path).X[:2, 0], [1234, 2234])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("a,b\n", r"holds one line \(a, b\) and no numbers; write a row for every sample"),
        ("Report of 2024\n\na,b\n1,2\n3,4\n", r"line 1 \('Report of 2024'\) has 1 value, line 3 has 2; delete what"),
        ("PK\x03\x04junk", "is a zip archive or an Excel workbook, not text; save it as CSV"),
        ("a,b\n1,2\n1e999,3\n", r"infinite values or numbers too large: row 1, column 'a'; correct or drop"),
        ("a,b\n1,2\n", "has 1 sample of 2 values; at least 2 samples"),
        ("a,b\n1,2\n3\n", "line 3 has 1 value where 2 are expected"),
    ],
)
def test_what_is_no_table_is_told_with_the_remedy(tmp_path, content, said):
    (tmp_path / "a.csv").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said):
        read_samples(tmp_path / "a.csv")


def test_a_workbook_is_refused_with_the_remedy(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04")
    with pytest.raises(InputError, match=r"unknown kind \(.xlsx\).*Save a spreadsheet as CSV"):
        read_samples(tmp_path / "a.xlsx")


def test_columns_of_one_name_are_pointed_out(tmp_path):
    samples = read_samples(write(tmp_path / "a.csv", "a,b,a\n", plain))
    assert "several columns are called a; --features and --drop mean all of a name" in samples.notes


def test_texts_that_differ_but_for_a_missing_one_do_not_repeat(tmp_path):
    path = write(tmp_path / "a.csv", "who,x\n", lambda i: f"{'' if i == 4 else f'n{i}'},{VALUES[i, 0]}")
    said = "23 different texts and 1 missing, not a measurement; --name-column takes them as names"
    assert f"column 'who' is ignored: {said}" in read_samples(path).notes
    names = [None, *(f"n{i}" for i in range(N - 1))]
    parquet.write_table(pa.table({"who": names, "x": VALUES[:, 0]}), tmp_path / "a.parquet")
    assert f"column 'who' is ignored: {said}" in read_samples(tmp_path / "a.parquet").notes


def test_columns_of_a_parquet_file_that_are_no_numbers_say_what_they_are(tmp_path):
    table = {"nested": [{"u": 1}] * N, "list": [[1.0, 2.0]] * N, "flag": [True, False] * (N // 2), "x": VALUES[:, 0]}
    parquet.write_table(pa.table(table), tmp_path / "a.parquet")
    samples = read_samples(tmp_path / "a.parquet")
    assert samples.feature_names == ("flag", "x")
    notes = " ".join(samples.notes)
    assert "flag: true and false are 1 and 0" in notes
    assert "column 'nested' is ignored: struct<u: int64>, not a column of numbers" in notes
    assert "column 'list' is ignored: list<" in notes


def test_a_name_without_end_does_not_fill_the_screen(tmp_path):
    samples = read_samples(write(tmp_path / "a.csv", f"{'x' * 900},b,c\n", plain))
    assert max(map(len, samples.notes)) < 100
    assert samples.columns[0].name == "x" * 900
