"""Reading files as a person would expect, and refusing what cannot be used with a text that helps."""

from __future__ import annotations

import io
import os
import pickle

import numpy as np
import pytest

from masked_subspace.inputs import InputError, Samples, read_pairs, read_samples
from masked_subspace.inputs.adjust import without_missing
from masked_subspace.inputs.text import cell_text, clean_text, listed, shortened

RNG = np.random.default_rng(0)
X = RNG.standard_normal((6, 3))
ESCAPE = "\x1b[31mred\x07"


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_npy_matrix_and_stack_of_images(tmp_path):
    np.save(tmp_path / "a.npy", X.astype(np.float32))
    samples = read_samples(tmp_path / "a.npy")
    assert samples.X.dtype == np.float32
    assert np.array_equal(samples.X, X.astype(np.float32))
    np.save(tmp_path / "b.npy", np.arange(24, dtype=np.uint8).reshape(2, 3, 4))
    stack = read_samples(tmp_path / "b.npy")
    assert stack.images_shape == (3, 4)
    assert stack.X.shape == (2, 12)


def test_npz_with_truth_and_shape(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.ones((4, 6)) * np.arange(4)[:, None], y=np.array([5, 7, 5, 9]), shape=(2, 3))
    samples = read_samples(tmp_path / "a.npz")
    assert samples.target.tolist() == [0, 1, 0, 2]
    assert samples.class_names == ("5", "7", "9")
    assert samples.images_shape == (2, 3)


def test_npz_takes_the_only_matrix_and_asks_when_there_are_two(tmp_path):
    np.savez(tmp_path / "a.npz", values=X, ids=np.arange(6))
    assert read_samples(tmp_path / "a.npz").X.shape == (6, 3)
    np.savez(tmp_path / "b.npz", first=X, second=X)
    with pytest.raises(InputError, match="name the matrix of samples X"):
        read_samples(tmp_path / "b.npz")


class Bomb:
    def __reduce__(self):
        return (os.mkdir, ("exploded",))


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_pickles_are_never_loaded(tmp_path, monkeypatch, suffix):
    monkeypatch.chdir(tmp_path)
    array = np.empty(2, dtype=object)
    array[:] = Bomb()
    path = tmp_path / f"bomb{suffix}"
    if suffix == ".npy":
        np.save(path, array, allow_pickle=True)
    else:
        np.savez(path, X=array)
    with pytest.raises(InputError):
        read_samples(path)
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(InputError):
        read_samples(path)
    assert not (tmp_path / "exploded").exists()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_with_names_and_labels(tmp_path, delimiter):
    lines = ["name,height,class,weight", "ann,1.5,x,50", "bob,2.5,y,60", "eve,3.5,x,70"]
    samples = read_samples(write(tmp_path / "a.csv", "\n".join(lines).replace(",", delimiter)))
    assert samples.names == ("ann", "bob", "eve")
    assert samples.target.tolist() == [0, 1, 0]
    assert samples.X.tolist() == [[1.5, 50], [2.5, 60], [3.5, 70]]
    assert [column.role for column in samples.columns] == ["name", "feature", "truth", "feature"]


def test_csv_without_header_and_with_a_byte_order_mark(tmp_path):
    (tmp_path / "a.csv").write_bytes("\ufeff1,2\n3,4\n\n5,6\n".encode())
    assert read_samples(tmp_path / "a.csv").X.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_csv_label_column_by_name(tmp_path):
    path = write(tmp_path / "a.csv", "a,kind\n1,7\n2,8\n")
    assert read_samples(path).X.shape == (2, 2)
    chosen = read_samples(path, label_column="kind")
    assert chosen.X.shape == (2, 1)
    assert chosen.class_names == ("7", "8")
    with pytest.raises(InputError, match="no column 'sort'"):
        read_samples(path, label_column="sort")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n1,2\n3\n", "line 3 has 1 value where 2"),
        ("a,b\n1,2\n3,\n", r"1 missing value: 'b' 1 \(row 1\)"),
        ("a,b\n1,2\n" * 1 + "3,4\n" * 60 + "5,oops\n", "row 61 has 'oops', not a number, in column 'b'"),
        ("a,b\n1,2\n3,nan\n", r"1 missing value: 'b' 1 \(row 1\)"),
        ("a,b\n1,2\n3,inf\n", "infinite values or numbers too large: row 1, column 'b'"),
        ("a\nb\nc\n", "no column of numbers"),
        ("a,b\n1,2\n", "1 sample of 2 values; at least 2"),
    ],
)
def test_csv_errors_name_the_place(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_samples(write(tmp_path / "a.csv", text))


def test_csv_that_is_no_text(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"a,b\n1,2\n\xff\xfe,3\n")
    with pytest.raises(InputError, match="not UTF-8"):
        read_samples(tmp_path / "a.csv")


def test_a_csv_of_two_gigabytes_is_refused_at_once(tmp_path):
    with (tmp_path / "big.csv").open("wb") as stream:
        stream.truncate(2_000_000_000)  # sparse: no disk is used
    with pytest.raises(InputError, match=r"2\.0 GB of text; at most 1\.0 GB.*\.npy or \.parquet"):
        read_samples(tmp_path / "big.csv")


def test_the_limit_can_be_moved(tmp_path):
    path = write(tmp_path / "a.csv", "1,2\n3,4\n")
    with pytest.raises(InputError, match="raise --max-gb"):
        read_samples(path, max_bytes=4)
    assert read_samples(path, max_bytes=8).X.shape == (2, 2)


def test_hostile_headers_and_names_are_defused(tmp_path):
    header = f'name,"=cmd(),{ESCAPE}",<script>'
    rows = [f'"{ESCAPE}, ""quoted""",1,2', '"line\nbreak",3,5', "../../etc/passwd,4,4"]
    samples = read_samples(write(tmp_path / "a.csv", "\n".join([header, *rows])))
    assert samples.X.shape == (3, 2)
    for text in (*samples.names, *samples.notes):
        assert "\x1b" not in text
        assert "\n" not in text
    assert samples.names[2] == "../../etc/passwd"


def test_parquet(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = arrow.table({"id": ["a", "b", "c"], "x": [1.0, 2.0, 3.0], "n": [4, 5, 6], "label": ["u", "v", "u"]})
    parquet.write_table(table, tmp_path / "a.parquet")
    samples = read_samples(tmp_path / "a.parquet")
    assert samples.names == ("a", "b", "c")
    assert samples.X.tolist() == [[1, 4], [2, 5], [3, 6]]
    assert samples.target.tolist() == [0, 1, 0]
    (tmp_path / "b.parquet").write_bytes(b"not parquet")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        read_samples(tmp_path / "b.parquet")


def image(path, size=(8, 6), value=0):
    Image = pytest.importorskip("PIL.Image")
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((size[1], size[0]), value, dtype=np.uint8)).save(path)


def test_image_folder_in_natural_order_with_classes(tmp_path):
    for number in (10, 2, 1):
        image(tmp_path / "cats" / f"img{number}.png", value=number)
    image(tmp_path / "dogs" / "img1.png", value=200)
    (tmp_path / "cats" / "notes.txt").write_text("no image")
    samples = read_samples(tmp_path)
    assert samples.names == ("cats/img1.png", "cats/img2.png", "cats/img10.png", "dogs/img1.png")
    assert samples.class_names == ("cats", "dogs")
    assert samples.target.tolist() == [0, 0, 0, 1]
    assert samples.images_shape == (6, 8)
    assert samples.X[:, 0].tolist() == [1, 2, 10, 200]


def test_images_of_several_sizes_become_one(tmp_path):
    image(tmp_path / "a.png", (8, 6))
    image(tmp_path / "b.png", (80, 60))
    assert read_samples(tmp_path).images_shape == (32, 32)
    assert read_samples(tmp_path, image_side=16).images_shape == (16, 16)
    assert read_samples(tmp_path).target is None


def test_a_damaged_image_is_named(tmp_path):
    image(tmp_path / "a.png")
    (tmp_path / "b\x1b[31m.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    with pytest.raises(InputError, match="cannot be read as an image") as caught:
        read_samples(tmp_path)
    assert "\x1b" not in str(caught.value)


def test_an_image_cut_short_is_named(tmp_path):
    image(tmp_path / "a.png")
    image(tmp_path / "b.png", (60, 60))
    whole = (tmp_path / "b.png").read_bytes()
    (tmp_path / "b.png").write_bytes(whole[: len(whole) - 30])
    with pytest.raises(InputError, match=r"b\.png"):
        read_samples(tmp_path)


def test_a_giant_image_is_refused_before_it_is_decoded(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    image(tmp_path / "a.png")
    stream = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(stream, "PNG")
    (tmp_path / "b.png").write_bytes(stream.getvalue())
    with pytest.raises(InputError, match=r"b\.png"):
        read_samples(tmp_path)


@pytest.mark.parametrize("name", ["nothing.npy", "data.xyz", "empty"])
def test_paths_that_cannot_be_used(tmp_path, name):
    if name == "data.xyz":
        write(tmp_path / name, "1")
    if name == "empty":
        (tmp_path / name).mkdir()
    with pytest.raises(InputError, match=name):
        read_samples(tmp_path / name)


def test_file_names_that_are_no_text():
    assert clean_text(os.fsdecode(b"a\xffb")) == "a\ufffdb"


NAMED = Samples(X, names=("a", "b", "c", "d", "e", "f"))


def test_pairs_by_name_and_by_row(tmp_path):
    by_name = "first,second,kind\na,b,must\na,f,cannot\nc,d,-1\n"
    by_row = "first,second,kind\n0,1,must\n0,5,cannot\n2,3,-1\n"
    for text, by in ((by_name, "name"), (by_row, "row")):
        pairs = read_pairs(write(tmp_path / "p.csv", text), NAMED)
        assert pairs.must_link.tolist() == [[0, 1]]
        assert pairs.cannot_link.tolist() == [[0, 5], [2, 3]]
        assert set(pairs.fit_arguments()) == {"must_link", "cannot_link"}
        assert pairs.by == by
        assert pairs.note.startswith(f"pairs are by {by}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,must\na,zz,must\n", "line 2: 'zz' is neither a sample's name nor a row from 0 to 5"),
        ("a,b,must\na,b,maybe\n", "line 2: 'maybe' is neither must nor cannot"),
        ("a,b,must\na,b\n", "line 2: three values"),
        ("a,a,must\n", "line 1: a sample is paired with itself"),
        ("0,6,must\n", "row from 0 to 5"),
    ],
)
def test_pairs_errors_name_the_line(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_pairs(write(tmp_path / "p.csv", text), NAMED)


@pytest.mark.parametrize(("line", "said"), [("5,6", "has 2 values where 3"), ("5,6,7,8", "has 4 values where 3")])
def test_lines_too_short_or_too_long_are_named(tmp_path, line, said):
    path = tmp_path / "a.csv"
    path.write_text(f"a,b,c\n1,2,3\n{line}\n7,8,9\n")
    with pytest.raises(InputError, match=rf"line 3 {said} are expected"):
        read_samples(path)


@pytest.mark.parametrize(
    "text", ["=1", "+a", "-a", "@a", " =1", "\t=1", "\uff1d1", "\uff0ba", "\uff0da", "\uff20a", "\u00a0=1"]
)
def test_what_begins_like_a_formula_is_text_in_a_cell(text):
    assert cell_text(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "-5", "+1.5e3", "\uff11", "\u2212x"])
def test_other_text_stays_as_it_is_in_a_cell(text):
    assert cell_text(text) == text


def test_rows_left_out_twice_keep_the_numbers_they_have_in_the_file():
    """Rows 4, 7 and 9 of a file are left; without row 7, whose value is missing, 4 and 9 are."""
    samples = Samples(np.array([[1.0, 2], [np.nan, 3], [4, 5]]), target=np.array([0, 1, 2]), rows=(4, 7, 9))
    found = without_missing(samples, "a.csv", missing="drop")
    assert found.rows == (4, 9)
    assert found.names == ("4", "9")
    assert found.X.tolist() == [[1, 2], [4, 5]]
    assert found.target.tolist() == [0, 2]
    assert "1 row is left out: 7" in found.notes[-1]


@pytest.mark.parametrize("impute", ["median", "knn"])
def test_an_empty_column_cannot_be_filled_in_and_an_empty_row_can(impute):
    X = np.array([[1.0, 2], [np.nan, np.nan], [3, 6], [5, 4]])
    filled = without_missing(Samples(X), "a.csv", impute=impute).X
    np.testing.assert_allclose(filled[1], [3, 4])
    X[:, 1] = np.nan
    with pytest.raises(InputError, match="column 1 has no value at all"):
        without_missing(Samples(X), "a.csv", impute=impute)


def test_names_of_more_than_sixty_characters_are_cut_with_a_sign():
    assert shortened("x" * 60) == "x" * 60
    assert shortened("x" * 61) == "x" * 59 + "…"
    assert listed(["x" * 60, "y" * 61]) == "x" * 60 + ", " + "y" * 59 + "…"
    assert listed(list("abcdef")) == "a, b, c, d, e and 1 more"
