"""Cells, pairs, endings and headers: the small parts of readers, each with all that it says."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.inputs import InputError, Samples, read_pairs, read_samples
from masked_subspace.inputs.limits import decoding, regular_file
from masked_subspace.inputs.numbers import COMMA, POINT, kind, number, without_sign
from masked_subspace.inputs.registry import by_content, by_ending, kinds
from masked_subspace.inputs.text import counted, listed
from masked_subspace.inputs.zipped import read_header

X = np.random.default_rng(0).normal(size=(6, 4))


@pytest.mark.parametrize(
    ("text", "bare", "sign"),
    [("5%", "5", "%"), ("5 %", "5", "%"), ("€ 5", "5", "€"), ("-$5", "-5", "$"), ("+£5.5", "+5.5", "£"),
     ("5,5 €", "5,5", "€"), ("\u22125", "-5", ""), ("$", "$", ""), ("5", "5", ""), ("5‰", "5", "‰")],
)  # fmt: skip
def test_signs_at_numbers(text, bare, sign):
    assert without_sign(text) == (bare, sign)


def test_numbers_with_signs_are_numbers():
    assert [kind(text) for text in ("5%", "$5", "5 €", "1,5%", "$ 1,234.5", "5$%", "%", "a%")] == [
        "plain", "plain", "plain", "comma", "point", "text", "text", "text",
    ]  # fmt: skip
    assert number("12,5 %", COMMA) == 12.5
    assert number("$1,234.5", POINT) == 1234.5


def test_pairs_begin_with_a_header_only_if_it_reads_like_one(tmp_path):
    samples = Samples(X, names=tuple("abcdef"))
    for text, must in (
        ("one,two,kind\na,b,must\n", [[0, 1]]),
        (" First , Second , LINK \nb,a,must\n", [[0, 1]]),
        ("a,b,must\n\nc,d,same\n", [[0, 1], [2, 3]]),
    ):
        (tmp_path / "p.csv").write_text(text)
        assert read_pairs(tmp_path / "p.csv", samples).must_link.tolist() == must
    for text, said in (
        ("a,b,kind\n", "line 1: 'kind' is neither must nor cannot"),  # two samples and a wrong word
        ("a,two,kind\n", "line 1: 'two' is neither a sample's name nor a row from 0 to 5"),
        ("one,b,kind\n", "line 1: 'one' is neither"),
        ("a,b,must\none,two,kind\n", "line 2: 'one' is neither"),
        ("one,two,three,kind\n", "line 1: three values are needed .first, second, must or cannot., not 4"),
        ("a,b,must\n,,\n", "line 2: '' is neither"),
    ):
        (tmp_path / "p.csv").write_text(text)
        with pytest.raises(InputError, match=said):
            read_pairs(tmp_path / "p.csv", samples)


def test_a_name_that_is_a_number_comes_before_the_row(tmp_path):
    samples = Samples(X, names=("1", "0", "c", "d", "e", "f"))
    (tmp_path / "p.csv").write_text("0,c,must\nf,1,cannot\n")
    found = read_pairs(tmp_path / "p.csv", samples)
    assert found.must_link.tolist() == [[1, 2]]
    assert found.cannot_link.tolist() == [[0, 5]]


def test_endings_and_first_bytes_decide_who_reads(tmp_path):
    assert by_ending(tmp_path / "a.tar.gz") is None
    assert by_ending(tmp_path / "a.mtx.gz").module == "matrix_market"
    assert by_ending(tmp_path / "a.csv.gz").module == "delimited"
    assert by_ending(tmp_path / "A.CSV").name == "text table"
    assert by_content(b"1,2").module == "delimited"
    assert kinds().startswith(".npy, .npz, .csv, ")
    assert kinds().endswith(" or a folder of images or trajectories")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a.xlsx", r"of an unknown kind \(\.xlsx\); \.npy, .* can be read\. Save a spreadsheet as CSV\."),
        ("a.ods", "Save a spreadsheet as CSV"),
        ("a.jpg", r"of an unknown kind \(\.jpg\); .* can be read\.$"),
        ("a", r"of an unknown kind \(no ending\)"),
    ],
)
def test_an_unknown_kind_is_told_what_can_be_read(tmp_path, name, said):
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(InputError, match=said):
        read_samples(tmp_path / name)


def test_what_decoders_raise_is_one_line_about_the_file():
    for error, said in (
        (RuntimeError("two\nlines"), "it cannot be read as X: two lines"),
        (KeyError(), "it cannot be read as X: KeyError"),
        (ValueError("set allow_pickle"), "it cannot be read as X: it holds no plain array; Python objects are never"),
        (RuntimeError("y" * 400), "it cannot be read as X: " + "y" * 300),
        (MemoryError(), "it needs more memory than there is"),
        (InputError("as it is"), "as it is"),
    ):
        with pytest.raises(InputError) as caught, decoding("it", "X"):
            raise error
        assert str(caught.value).startswith(said)
        assert len(str(caught.value)) < 330
    with pytest.raises(ImportError), decoding("it", "X"):
        raise ImportError("pip install it")


def test_the_header_of_an_array_in_both_versions(tmp_path):
    for version in ((1, 0), (2, 0)):
        with (tmp_path / "a.npy").open("wb") as stream:
            np.lib.format.write_array(stream, np.asfortranarray(X), version=version)
        with (tmp_path / "a.npy").open("rb") as stream:
            assert read_header(stream) == ((6, 4), True, np.dtype("f8"))
        np.testing.assert_array_equal(read_samples(tmp_path / "a.npy").X, X)
    with (tmp_path / "a.npy").open("wb") as stream:
        np.lib.format.write_array(stream, X, version=(3, 0))
    with pytest.raises(InputError, match=r"its format version is \(3, 0\); 1\.0 and 2\.0 are known"):
        read_samples(tmp_path / "a.npy")


def test_a_stack_of_colour_images_and_one_of_too_many_sides(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(48, dtype=np.uint8).reshape(2, 2, 4, 3))
    assert read_samples(tmp_path / "a.npy").images_shape == (2, 4, 3)
    for wrong in (np.ones((2, 2, 2, 2, 2)), np.zeros((0, 2, 2))):
        np.save(tmp_path / "a.npy", wrong)
        with pytest.raises(InputError, match="has shape"):
            read_samples(tmp_path / "a.npy")


def test_standard_words():
    assert [counted(count, "row") for count in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert listed(["a", "b", "c"], 2) == "a, b and 1 more"
    assert listed([]) == ""


def test_a_folder_is_no_file(tmp_path):
    with pytest.raises(InputError, match="is a folder; a file is needed"):
        regular_file(tmp_path)
    (tmp_path / "a").write_bytes(b"123")
    assert regular_file(tmp_path / "a") == 3
