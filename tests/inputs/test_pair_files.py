"""What a file says of pairs, and how many of them a clustering keeps."""

import numpy as np
import pytest

from masked_subspace.inputs import GivenPairs, InputError, Samples, read_pairs

MUST, CANNOT = np.array([[0, 1], [1, 2], [3, 4]]), np.array([[0, 3], [1, 4]])


def test_pairs_that_a_clustering_keeps_are_counted_by_kind():
    pairs = GivenPairs(MUST, CANNOT)
    assert pairs.kept_by(np.array([0, 0, 0, 1, 1])) == (3, 2)
    assert pairs.kept_by(np.array([0, 0, 1, 2, 0])) == (1, 1)
    assert pairs.kept_by(np.zeros(5)) == (3, 0)
    assert pairs.kept_by(np.arange(5)) == (0, 2)


def test_a_kind_that_nobody_gave_is_no_argument_of_fit():
    none = np.empty((0, 2), dtype=np.int64)
    assert set(GivenPairs(MUST, CANNOT).fit_arguments()) == {"must_link", "cannot_link"}
    assert list(GivenPairs(none, CANNOT).fit_arguments()) == ["cannot_link"]
    assert GivenPairs(none, none).fit_arguments() == {}


@pytest.mark.parametrize("word", ["must", "MUST-LINK", " same ", "together", "1", "+1", "true"])
def test_every_word_for_together(tmp_path, word):
    path = tmp_path / "pairs.csv"
    path.write_text(f"2,0,{word}\n1,2,cannot\n0,2,{word}\n")
    found = read_pairs(path, Samples(np.zeros((3, 2))))
    assert found.must_link.tolist() == [[0, 2]]  # the smaller row first, said twice and kept once
    assert found.cannot_link.tolist() == [[1, 2]]
    assert found.repeated == 1


@pytest.mark.parametrize("word", ["cannot", "Cannot_Link", "different", "apart", "0", "-1", "false"])
def test_every_word_for_apart(tmp_path, word):
    path = tmp_path / "pairs.csv"
    path.write_text(f"first,second,kind\na,b,{word}\n")
    found = read_pairs(path, Samples(np.zeros((3, 2)), names=("a", "b", "c")))
    assert (found.must_link.tolist(), found.cannot_link.tolist(), found.repeated) == ([], [[0, 1]], 0)


def test_rows_that_were_left_out_keep_their_numbers_in_the_file(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("4,7,must\n")
    assert read_pairs(path, Samples(np.zeros((3, 2)), rows=(2, 4, 7))).must_link.tolist() == [[1, 2]]
    with pytest.raises(InputError, match="line 1"):
        read_pairs(path, Samples(np.zeros((3, 2)), rows=(2, 4, 8)))


def test_lines_that_contradict_each_other_are_both_named(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("0,1,must\n\n1,0,cannot\n")
    with pytest.raises(InputError, match="lines 1 and 3 say opposite things"):
        read_pairs(path, Samples(np.zeros((3, 2))))


NUMBERED = Samples(np.zeros((4, 2)), names=("1", "2", "3", "4"))


@pytest.mark.parametrize("text", ["a,b,must\n0,2,must\n", "0,b,must\n", "0,1,cannot\n1,2,must\nc,a,must\n"])
def test_names_in_some_lines_and_rows_in_others_are_refused(tmp_path, text):
    path = tmp_path / "pairs.csv"
    path.write_text(text)
    said = r"is a sample's name and '0' \(line \d\) is none, only a row; give names in all lines, or rows in all lines$"
    with pytest.raises(InputError, match=rf"'\w' \(line \d\) {said}"):
        read_pairs(path, Samples(np.zeros((3, 2)), names=("a", "b", "c")))


def test_names_that_look_like_numbers_are_names_in_all_lines_or_an_error(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("1,2,must\n2,3,cannot\n")
    found = read_pairs(path, NUMBERED)
    assert (found.must_link.tolist(), found.cannot_link.tolist()) == ([[0, 1]], [[1, 2]])
    assert found.note == "pairs are by name: their numbers are rows, too, which are not meant"
    path.write_text("1,2,must\n0,2,must\n")  # 0 is a row only: it used to be row 0, and 1 the sample called 1
    with pytest.raises(InputError, match=r"rows in all lines and leave the column of names out \(--drop\)"):
        read_pairs(path, NUMBERED)
    path.write_text("2,4,must\n")
    assert read_pairs(path, NUMBERED).also_rows is False  # there is no row 4
    assert read_pairs(path, Samples(np.zeros((5, 2)))).note == "pairs are by row, from 0"


def test_pairs_are_whole_numbers_also_where_there_are_none(tmp_path):
    path = tmp_path / "pairs.csv"
    for text in ("0,1,must\n", "0,1,cannot\n"):
        path.write_text(text)
        found = read_pairs(path, Samples(np.zeros((3, 2))))
        assert found.must_link.dtype == found.cannot_link.dtype == np.int64
        assert {found.must_link.shape, found.cannot_link.shape} == {(0, 2), (1, 2)}
