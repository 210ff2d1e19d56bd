"""Readers at their edges: turned and coloured images, rests of rows, types of numbers, names as a table writes them."""

from __future__ import annotations

import io
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import coo_array

from masked_subspace.inputs import InputError, Samples, read_pairs, read_samples
from masked_subspace.inputs.adjust import without_missing
from masked_subspace.inputs.delimited import _Scan
from masked_subspace.inputs.images import _orientation
from masked_subspace.inputs.samples import as_csr, checked_matrix, fingerprint
from masked_subspace.inputs.zipped import ZippedArrays


def test_two_rows_at_least_must_be_left():
    X = np.array([[1.0, 2], [np.nan, 3], [4, np.nan], [5, 6]])
    kept = without_missing(Samples(X), "it", missing="drop")
    assert (kept.rows, kept.names) == ((0, 3), ("0", "3"))
    with pytest.raises(InputError, match="it: 1 rows have no missing value"):
        without_missing(Samples(X[:3]), "it", missing="drop")


@pytest.mark.parametrize("turn", range(1, 9))
def test_a_size_is_that_of_the_upright_image(tmp_path, turn):
    """Of the eight ways a camera may note, four lie on their side."""
    image = pytest.importorskip("PIL.Image")
    exif = image.Exif()
    exif[0x0112] = turn
    for name in "ab":
        image.fromarray(np.arange(6 * 4, dtype=np.uint8).reshape(4, 6)).save(tmp_path / f"{name}.png", exif=exif)
    with image.open(tmp_path / "a.png") as found:
        assert _orientation(found) == turn
    assert read_samples(tmp_path).images_shape == ((6, 4) if turn > 4 else (4, 6))


def test_an_image_side_of_64_is_kept_and_one_of_65_is_not(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for side, kept in ((64, 64), (65, 32)):
        folder = tmp_path / str(side)
        folder.mkdir()
        for name in "ab":
            image.fromarray(np.zeros((side, side), dtype=np.uint8)).save(folder / f"{name}.png")
        assert read_samples(folder).images_shape == (kept, kept)


def test_colours_take_three_times_as_much(tmp_path):
    image = pytest.importorskip("PIL.Image")
    for name in "ab":
        image.fromarray(np.zeros((5, 8, 3), dtype=np.uint8)).save(tmp_path / f"{name}.png")
    needed = 4 * 2 * 5 * 8  # bytes of two gray images
    assert read_samples(tmp_path, max_bytes=needed).X.shape == (2, 40)
    with pytest.raises(InputError, match="--max-gb"):
        read_samples(tmp_path, max_bytes=needed - 1)
    assert read_samples(tmp_path, max_bytes=3 * needed, color=True).X.shape == (2, 120)
    with pytest.raises(InputError, match="--max-gb"):
        read_samples(tmp_path, max_bytes=3 * needed - 1, color=True)


@pytest.mark.parametrize(("side", "taken"), [(7071, True), (7072, False)])
def test_images_of_fifty_million_pixels_are_the_largest(tmp_path, side, taken):
    from masked_subspace.inputs.images import _open

    closed = []
    picture = SimpleNamespace(width=side, height=side, close=lambda: closed.append(True))
    library = SimpleNamespace(Image=SimpleNamespace(open=lambda _: picture))
    if taken:
        assert _open(tmp_path, library) is picture
    else:
        with pytest.raises(InputError, match="7072 × 7072 pixels; shrink it first"):
            _open(tmp_path, library)
    assert closed == ([] if taken else [True])


def test_fingerprints_tell_numbers_apart_that_single_precision_does_not():
    X = np.random.default_rng(0).normal(size=(3, 4))
    assert fingerprint(X) != fingerprint(X + 1e-12)
    assert fingerprint(X.astype(np.float32)) == fingerprint(X.astype(np.float32).astype(np.float64))
    assert fingerprint(X) == fingerprint(np.asfortranarray(X))
    assert fingerprint(X) != fingerprint(X.reshape(4, 3))


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("f2", "f4"),
        ("f4", "f4"),
        ("f8", "f8"),
        (">f4", "f8"),
        (">f8", "f8"),
        ("g", "f8"),
        ("u1", "f4"),
        ("i2", "f4"),
        ("?", "f4"),
        ("i4", "f8"),
        ("u8", "f8"),
    ],
)
def test_numbers_are_kept_in_a_type_that_holds_them(given, kept):
    X = np.array([[0, 1], [1, 0]]).astype(given)
    found = checked_matrix(X, "it")
    assert found.dtype == np.dtype(kept)
    assert found.dtype.isnative
    np.testing.assert_array_equal(found, X)


def test_entries_given_twice_are_added():
    found = as_csr(coo_array(([1.0, 2.0, 4.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)))
    assert found.nnz == 2
    np.testing.assert_array_equal(found.toarray(), [[0, 3], [4, 0]])
    assert found.indices.dtype == found.indptr.dtype == np.int32


def test_an_array_that_goes_on_behind_its_end_is_refused():
    content = io.BytesIO()
    np.save(content, np.arange(6.0).reshape(2, 3))
    for more in (b"", b"\0"):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("X.npy", content.getvalue() + more)
        with ZippedArrays(packed, "it") as arrays:
            if more:
                with pytest.raises(InputError, match="holds more than its header says"):
                    arrays.read("X")
            else:
                np.testing.assert_array_equal(arrays.read("X"), np.arange(6.0).reshape(2, 3))


def test_columns_of_a_fortran_array_stay_columns():
    packed = io.BytesIO()
    X = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    np.savez(packed, X=X)
    with ZippedArrays(packed, "it") as arrays:
        np.testing.assert_array_equal(arrays.read("X"), X)


def test_a_pair_may_name_samples_as_labels_csv_writes_them(tmp_path):
    samples = Samples(np.zeros((3, 2)), names=("=a", " b", "c"))
    for text in ("'=a,c,must\n", "=a,c,must\n"):
        (tmp_path / "pairs.csv").write_text(text)
        assert read_pairs(tmp_path / "pairs.csv", samples).must_link.tolist() == [[0, 2]]
    (tmp_path / "pairs.csv").write_text("b,c,cannot\nc,b,0\n")
    found = read_pairs(tmp_path / "pairs.csv", samples)
    assert (found.cannot_link.tolist(), found.repeated) == ([[1, 2]], 1)


def test_a_track_is_a_row_of_its_places_frame_by_frame(tmp_path):
    tracks = np.random.default_rng(0).normal(size=(2, 5, 3))
    savemat(tmp_path / "cars_truth.mat", {"x": np.concatenate([tracks, np.ones((1, 5, 3))]), "s": np.arange(5) % 2})
    samples = read_samples(tmp_path)
    expected = [[tracks[axis, point, frame] for frame in range(3) for axis in range(2)] for point in range(5)]
    np.testing.assert_allclose(samples.X, expected)
    assert samples.feature_names[:3] == ("x, frame 0", "y, frame 0", "x, frame 1")
    assert samples.target.tolist() == [0, 1, 0, 1, 0]


@pytest.mark.parametrize(("numbered", "said"), [(4, True), (3, False)])
def test_a_text_column_that_mostly_begins_with_numbers_may_hide_a_measurement(numbered, said):
    """Four of five texts."""
    scan = _Scan()
    for row in range(5):
        scan.add(row, f"{row} kg" if row < numbered else "none of it")
    assert (scan.hint == "'0 kg' is no plain number: write such to use it as a feature") is said
    assert said or not scan.hint


def test_names_that_repeat_are_told(tmp_path):
    text = "name,a,b\n" + "".join(f"{name},{row}.5,{row * row}.25\n" for row, name in enumerate("xyzx"))
    path = tmp_path / "table.csv"
    for content, told in ((text, True), (text.replace("x,3", "w,3"), False)):
        path.write_text(content)
        samples = read_samples(path, name_column="name")
        assert samples.names[1:3] == ("y", "z")
        assert any("some names repeat" in note for note in samples.notes) is told


def test_an_image_whose_tag_of_orientation_cannot_be_read_is_upright():
    class Damaged:
        def getexif(self):
            raise SyntaxError("not a tag")

    assert _orientation(Damaged()) == 1
