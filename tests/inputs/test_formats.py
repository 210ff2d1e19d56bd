"""Formats beside text and .npy: sparse matrices, MATLAB, cells, trajectories, images of every depth."""

from __future__ import annotations

import gzip
import os
import re

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmread, mmwrite, savemat
from scipy.sparse import csr_array, issparse

from masked_subspace.inputs import InputError, read_samples
from masked_subspace.inputs.registry import FORMATS, by_content, by_ending

RNG = np.random.default_rng(0)
COUNTS = sparse.random_array((12, 7), density=0.4, rng=RNG, format="csr")


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_what_save_npz_writes_is_read_as_sparse(tmp_path, form):
    sparse.save_npz(tmp_path / "a.npz", COUNTS.asformat(form))
    samples = read_samples(tmp_path / "a.npz")
    assert sparse.issparse(samples.X)
    assert np.allclose(samples.X.toarray(), COUNTS.toarray())


@pytest.mark.parametrize(
    "lie",
    [
        {"indices": np.array([0, 90])}, {"indptr": np.array([0, 5, 1])}, {"shape": np.array([2, -3])},
        {"shape": np.array([-2, 3])},
        {"shape": np.array([2.5, 3])}, {"shape": np.array([10**15, 10**15])}, {"format": np.array("xyz")},
        {"data": np.array(["a", "b"])}, {"indices": np.array([0.5, 1.0])},
    ],
)  # fmt: skip
def test_sparse_lies_are_refused(tmp_path, lie):
    honest = {"format": np.array(b"csr"), "shape": np.array([2, 3]), "data": np.ones(2), "indices": np.array([0, 1]),
              "indptr": np.array([0, 1, 2])}  # fmt: skip
    np.savez(tmp_path / "a.npz", **{**honest, **lie})
    with pytest.raises(InputError, match=r"a\.npz"):
        read_samples(tmp_path / "a.npz")
    np.savez(tmp_path / "a.npz", **honest)
    assert read_samples(tmp_path / "a.npz").X.shape == (2, 3)


def test_matrix_market(tmp_path):
    mmwrite(tmp_path / "a.mtx", COUNTS)
    assert np.allclose(read_samples(tmp_path / "a.mtx").X.toarray(), COUNTS.toarray())
    mmwrite(tmp_path / "b.mtx", COUNTS.toarray())
    assert np.allclose(read_samples(tmp_path / "b.mtx").X, COUNTS.toarray())
    for lie in ("1000000000000 3 5", "3 3 1000000000000", "-1 3 1"):
        (tmp_path / "c.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n{lie}\n1 1 1.0\n")
        with pytest.raises(InputError, match=r"c\.mtx"):
            read_samples(tmp_path / "c.mtx")


SQUARE = np.arange(16.0).reshape(4, 4) + np.eye(4)


@pytest.mark.parametrize("matrix", [SQUARE, SQUARE + SQUARE.T, SQUARE - SQUARE.T, COUNTS[:6] != 0, COUNTS.astype(int)])
@pytest.mark.parametrize("form", ["array", "coordinate"])
def test_matrix_market_is_read_as_scipy_reads_it(tmp_path, matrix, form):
    """Which symmetry a file has, scipy's writer finds itself."""
    written = csr_array(matrix) if form == "coordinate" else csr_array(matrix).toarray()
    if form == "coordinate" and matrix.dtype == bool:
        mmwrite(tmp_path / "a.mtx", written, field="pattern")
    else:
        mmwrite(tmp_path / "a.mtx", written * 1.0 if matrix.dtype == bool else written)
    found, expected = read_samples(tmp_path / "a.mtx").X, mmread(tmp_path / "a.mtx")
    assert issparse(found) == (form == "coordinate")
    np.testing.assert_array_equal(*(csr_array(one).toarray() for one in (found, expected)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        # scipy 1.17 ends the process on the first of these
        ("coordinate real general\n3 3 3\n1 1 7\n2 1 5Ma 2 8\n3 3 4\n", "string or file could not be read"),
        ("coordinate real general\n3 3 3\n1 1 7\n2 1 5\n", "claims 3 entries but has 6 numbers"),
        ("coordinate real general\n3 3 1\n0 1 7\n", "outside of 3 × 3"),
        ("coordinate real general\n3 3 1\n1 4 7\n", "outside of 3 × 3"),
        ("coordinate real general\n3 3 1\n1.5 2 7\n", "outside of 3 × 3"),
        ("coordinate complex general\n3 3 1\n1 1 7 0\n", "real numbers"),
        ("coordinate real symmetric\n3 2 1\n1 1 7\n", "symmetric but 3 × 2"),
        ("array real general\n3 3\n1 2 3\n", "claims 3 × 3 numbers but has 3"),
        ("array real symmetric\n2 2\n1 2 3 4\n", "claims 3 numbers but has 4"),
        ("array real general\n3\n1 2 3\n", "line of sizes"),
        ("array real general\n-3 3\n1 2 3\n", "line of sizes"),
        ("", "line of sizes|first line"),
    ],
)
def test_matrix_market_that_lies_is_one_line(tmp_path, text, said):
    (tmp_path / "a.mtx").write_text(f"%%MatrixMarket matrix {text}")
    with pytest.raises(InputError, match=said) as caught:
        read_samples(tmp_path / "a.mtx")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("compressed", [False, True])
def test_matlab_with_samples_as_rows_or_columns(tmp_path, compressed):
    X, gnd = RNG.random((9, 4)), np.arange(9) % 3 + 1
    savemat(tmp_path / "a.mat", {"fea": X, "gnd": gnd[:, None]}, do_compression=compressed)
    savemat(tmp_path / "b.mat", {"X": X.T, "y": gnd, "extra": np.ones((2, 2))}, do_compression=compressed)
    for name in ("a", "b"):
        samples = read_samples(tmp_path / f"{name}.mat")
        assert np.array_equal(samples.X, X)
        assert samples.class_names == ("1", "2", "3")
    assert any("not used of the file: extra" in note for note in samples.notes)
    assert any("its columns are the samples: 'y' has 9 values" in note for note in samples.notes)
    savemat(tmp_path / "d.mat", {"X": X}, do_compression=compressed)
    assert np.array_equal(read_samples(tmp_path / "d.mat").X, X)
    savemat(tmp_path / "c.mat", {"one": X, "two": X})
    with pytest.raises(InputError, match="name the matrix X"):
        read_samples(tmp_path / "c.mat")
    (tmp_path / "d.mat").write_bytes(b"\x89HDF\r\n\x1a\n" + b"\0" * 600)
    with pytest.raises(InputError, match=r"v7\.3"):
        read_samples(tmp_path / "d.mat")


def test_trajectories_of_the_hopkins_kind(tmp_path):
    tracks = RNG.random((2, 11, 6))  # coordinate, point, frame
    x = np.concatenate([tracks, np.ones((1, 11, 6))])
    for name in ("cars1", "cars2"):
        (tmp_path / name).mkdir()
        savemat(tmp_path / name / f"{name}_truth.mat", {"x": x, "s": np.arange(11)[:, None] % 2 + 1, "frames": 6})
    samples = read_samples(tmp_path / "cars1")
    assert samples.X.shape == (11, 12)
    assert samples.X[3, :4].tolist() == [tracks[0, 3, 0], tracks[1, 3, 0], tracks[0, 3, 1], tracks[1, 3, 1]]
    assert samples.target.tolist() == [i % 2 for i in range(11)]
    assert samples.feature_names[:3] == ("x, frame 0", "y, frame 0", "x, frame 1")  # what a report calls them
    assert len(samples.feature_names) == 12
    with pytest.raises(InputError, match=r"2 sequences \(cars1, cars2\); cluster one at a time"):
        read_samples(tmp_path)


def test_cells(tmp_path):
    anndata = pytest.importorskip("anndata", reason="the extra `cells` is not installed")
    import pandas as pd

    obs = pd.DataFrame({"label": ["t", "b"] * 6, "batch": ["1"] * 12}, index=[f"cell{i}" for i in range(12)])
    cells = anndata.AnnData(COUNTS.copy(), obs=obs, var=pd.DataFrame(index=[f"g{j}" for j in range(7)]))
    cells.write_h5ad(tmp_path / "a.h5ad")
    samples = read_samples(tmp_path / "a.h5ad")
    assert np.allclose(samples.X.toarray(), COUNTS.toarray())
    assert samples.names[2] == "cell2"
    assert samples.class_names == ("b", "t")
    assert samples.feature_names == tuple(f"g{j}" for j in range(7))
    assert any("obs columns not used: batch" in note for note in samples.notes)


def test_without_anndata_the_extra_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "anndata", None)
    (tmp_path / "a.h5ad").write_bytes(b"\x89HDF\r\n\x1a\n")
    with pytest.raises(InputError, match=r"pip install 'masked-subspace\[cells\]'"):
        read_samples(tmp_path / "a.h5ad")


def save(path, pixels, **more):
    Image = pytest.importorskip("PIL.Image")
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **more)


def test_sixteen_bits_and_floats_are_scaled_by_their_range(tmp_path):
    deep = [RNG.integers(1000, 5000, (8, 8)).astype(np.uint16) for _ in range(4)]
    deep[0][0, 0], deep[1][0, 0] = 1000, 5000
    for k, pixels in enumerate(deep):
        save(tmp_path / "png" / f"{k}.png", pixels)
        save(tmp_path / "tif" / f"{k}.tif", (pixels / 5000).astype(np.float32))
    for kind in ("png", "tif"):
        samples = read_samples(tmp_path / kind)
        expected = (np.stack(deep).reshape(4, -1).astype(float) - 1000) * 255 / 4000
        assert np.allclose(samples.X, expected, atol=0.01)
        assert any("of more than 8 bits, scaled" in note for note in samples.notes)


def test_colour_is_kept_when_asked(tmp_path):
    pictures = RNG.integers(0, 256, (3, 6, 5, 3)).astype(np.uint8)
    for k, pixels in enumerate(pictures):
        save(tmp_path / f"{k}.png", pixels)
    samples = read_samples(tmp_path, color=True)
    assert samples.images_shape == (6, 5, 3)
    assert np.array_equal(samples.X, pictures.reshape(3, -1))
    assert read_samples(tmp_path).X.shape == (3, 30)


def test_unreadable_images_are_skipped_when_asked_and_listed(tmp_path):
    for k in range(3):
        save(tmp_path / f"{k}.png", np.full((6, 6), k, np.uint8))
    (tmp_path / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    (tmp_path / "notes.txt").write_text("no image")
    with pytest.raises(InputError, match="--skip-unreadable"):
        read_samples(tmp_path)
    samples = read_samples(tmp_path, skip_unreadable=True)
    assert samples.n_samples == 3
    said = "\n".join(samples.notes)
    assert "1 image left out that cannot be read: bad.png" in said
    assert "1 file not used, being no image: notes.txt" in said


def test_the_camera_s_rotation_is_heeded(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    pixels = np.zeros((4, 8), np.uint8)
    pixels[0] = 255
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90° clockwise
    save(tmp_path / "a.png", pixels, exif=exif)
    save(tmp_path / "b.png", pixels.T.copy())
    samples = read_samples(tmp_path)
    assert samples.images_shape == (8, 4)
    assert samples.X[0].reshape(8, 4)[:, 3].tolist() == [255] * 8
    assert any("turned upright" in note for note in samples.notes)


def test_pipes_devices_and_folders_are_refused_by_name(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="pipe or a device"):
        read_samples(tmp_path / "pipe.csv")
    with pytest.raises(InputError, match="pipe or a device"):
        read_samples("/dev/zero")
    with pytest.raises(InputError, match=r"no possible file name|may not be read"):
        read_samples("a\0b.csv")


@pytest.mark.parametrize("shape", [(9999999999, 990), (10, 10)], ids=["terabytes", "more bytes, not more numbers"])
def test_headers_that_claim_more_than_there_is_take_no_memory(tmp_path, shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    claim = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode()
    (tmp_path / "a.npy").write_bytes(claim + b"\0" * 64)
    with pytest.raises(InputError, match=re.escape(f"claims shape {shape}")):
        read_samples(tmp_path / "a.npy")
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", claim + b"\0" * 64)
    with pytest.raises(InputError, match=re.escape(f"claims shape {shape}")):
        read_samples(tmp_path / "a.npz")


def test_an_archive_that_unpacks_to_more_than_allowed_is_refused(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", X=np.zeros((1000, 1000)))
    assert (tmp_path / "a.npz").stat().st_size < 20_000
    with pytest.raises(InputError, match=r"would take 0\.0 GB; at most 0\.0 GB are read\. Raise --max-gb"):
        read_samples(tmp_path / "a.npz", max_bytes=1_000_000)
    assert read_samples(tmp_path / "a.npz").X.shape == (1000, 1000)


@pytest.mark.parametrize("shape", [[0, 3], [-2, -3], [2.0, 3.0], [1 << 40, 1 << 40], ["a"], [[2, 3]], 6])
def test_a_shape_that_makes_no_sense_is_said_and_not_used(tmp_path, shape):
    np.savez(tmp_path / "a.npz", X=np.ones((4, 6)) * np.arange(4)[:, None], shape=shape)
    samples = read_samples(tmp_path / "a.npz")
    assert samples.images_shape is None
    (fault,) = samples.faults
    assert fault.endswith("of the file is no image of 6 values and is not used")


def test_every_format_is_found_by_its_ending_and_most_by_their_content(tmp_path):
    for one in FORMATS:
        for ending in one.endings:
            assert by_ending(tmp_path / f"A{ending.upper()}") is one
        assert all(by_content(begin + b"...") is one for begin in one.begins)
        assert callable(one.reader())


def test_a_compressed_matrix_is_known_in_a_stream():
    known = by_content(gzip.compress(b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n")[:1024])
    assert known.module == "matrix_market"
    assert by_content(gzip.compress(b"a,b\n1,2\n")).module == "delimited"
    assert by_content(b"\x1f\x8b broken").module == "delimited"
