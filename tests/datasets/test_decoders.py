"""Each set's public files decode to the pixels they were made from, and damaged ones are refused."""

import bz2
import gzip
import zipfile

import numpy as np
import public_formats
import pytest

from masked_subspace.datasets import coil, mnist, orl, usps
from masked_subspace.datasets.errors import InvalidDataError


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def on_disk(folder, files):
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return {name: folder / name for name in files}


def test_mnist_is_training_then_test(tmp_path, rng):
    images = rng.integers(0, 256, (12, 28, 28), dtype=np.uint8)
    labels = np.arange(12) % 10
    decoded = mnist.MNIST.decode(on_disk(tmp_path, public_formats.mnist_files(images, labels, 9)))
    np.testing.assert_array_equal(decoded.X, images.reshape(12, -1))
    np.testing.assert_array_equal(decoded.y, labels)
    assert decoded.shape == (28, 28)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"no gzip", "not a readable gzip"),
        (public_formats.idx(np.zeros((5, 4)))[:-9], "not a readable gzip"),
        (public_formats.idx(np.zeros(5)), "with 2 dimensions"),
        (gzip.compress(b"", mtime=0), "with 2 dimensions"),
        (gzip.compress(gzip.decompress(public_formats.idx(np.zeros((5, 4)))) + b"x", mtime=0), "declares"),
        (gzip.compress(b"\0\0\x08\x02" + b"\xff" * 8 + b"\0" * 10, mtime=0), "declares"),
        (public_formats.idx(np.zeros((100, 100))), "declares"),
    ],
)
def test_damaged_idx_files_are_refused(tmp_path, content, complaint):
    (tmp_path / "file.gz").write_bytes(content)
    with pytest.raises(InvalidDataError, match=complaint):
        mnist.read_idx(tmp_path / "file.gz", ndim=2, max_bytes=1000)


def test_a_usps_file_that_unpacks_to_more_than_it_may_is_refused(tmp_path, rng, monkeypatch):
    values = rng.uniform(-1, 1, (15, 256)).round(3)
    files = on_disk(tmp_path, public_formats.usps_files(values, np.arange(15) % 10 + 1, 10))
    monkeypatch.setattr(usps, "_MAX_TEXT", 20_000)
    with pytest.raises(InvalidDataError, match="unpacks to more than 20,000 bytes"):
        usps.USPS.decode(files)


def test_usps_values_and_labels_are_shifted(tmp_path, rng):
    values = rng.integers(-1000, 1001, (15, 256)) / 1000
    labels = np.arange(15) % 10
    decoded = usps.USPS.decode(on_disk(tmp_path, public_formats.usps_files(values, labels, 10)))
    np.testing.assert_array_equal(decoded.X, (values.astype(np.float32) + 1) / 2)
    np.testing.assert_array_equal(decoded.y, labels)
    assert decoded.X.dtype == np.float32
    assert decoded.shape == (16, 16)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"no bz2", "not a readable bz2"),
        (public_formats.libsvm(np.ones((3, 256)), np.arange(3))[:-20], "not a readable bz2"),
        (bz2.compress(b"1 300:0.5\n"), "LIBSVM"),
        (bz2.compress(b"hello world\n"), "LIBSVM"),
    ],
)
def test_damaged_usps_files_are_refused(tmp_path, content, complaint):
    files = on_disk(tmp_path, {"usps.bz2": content, "usps.t.bz2": content})
    with pytest.raises(InvalidDataError, match=complaint):
        usps.USPS.decode(files)


def test_orl_is_upright_and_halved(tmp_path, rng):
    small = rng.integers(0, 256, (400, 32, 32), dtype=np.uint8)
    files = on_disk(
        tmp_path, {"olivettifaces.mat": public_formats.olivetti_file(np.kron(small, np.ones((1, 2, 2), np.uint8)))}
    )
    decoded = orl.ORL.decode(files)
    np.testing.assert_array_equal(decoded.X, small.reshape(400, -1))
    np.testing.assert_array_equal(np.bincount(decoded.y), [10] * 40)


@pytest.mark.parametrize("pictures", [np.zeros((3, 64, 64), np.uint8), np.zeros((400, 64, 64))])
def test_orl_of_another_size_or_type_is_refused(tmp_path, pictures):
    files = on_disk(tmp_path, {"olivettifaces.mat": public_formats.olivetti_file(pictures)})
    with pytest.raises(InvalidDataError, match="not uint8 of"):
        orl.ORL.decode(files)
    files["olivettifaces.mat"].write_bytes(b"no MATLAB file at all")
    with pytest.raises(InvalidDataError, match="not a MATLAB file"):
        orl.ORL.decode(files)


@pytest.mark.parametrize("degrees_per_step", [1, 5])
def test_coil_views_are_ordered_by_object_and_angle(tmp_path, rng, degrees_per_step):
    small = rng.integers(0, 256, (2, 72, 32, 32), dtype=np.uint8)
    large = np.kron(small, np.ones((1, 1, 4, 4), np.uint8))
    files = on_disk(tmp_path, {"a.zip": public_formats.coil_archive(large, degrees_per_step)})
    decoded = coil._decode(files, "a.zip", 2, degrees_per_step)
    np.testing.assert_array_equal(decoded.X, small.reshape(144, -1))
    np.testing.assert_array_equal(decoded.y, np.repeat([0, 1], 72))


def test_coil_with_missing_or_foreign_pictures_is_refused(tmp_path):
    pictures = np.zeros((1, 72, 128, 128), np.uint8)
    files = on_disk(tmp_path, {"a.zip": public_formats.coil_archive(pictures, 5)})
    with pytest.raises(InvalidDataError, match="72 of the 144 pictures"):
        coil._decode(files, "a.zip", 2, 5)
    with pytest.raises(InvalidDataError, match="not a view"):
        coil._decode(files, "a.zip", 1, 10)
    files = on_disk(tmp_path, {"a.zip": public_formats.coil_archive(np.zeros((1, 72, 64, 64), np.uint8), 1)})
    with pytest.raises(InvalidDataError, match="64×64 pixels where 128×128"):
        coil._decode(files, "a.zip", 1, 1)


def test_a_picture_of_coil_may_have_a_million_bytes(tmp_path):
    for size, said in ((1_000_000, "not a readable picture"), (1_000_001, "larger than 1,000,000 bytes")):
        with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("obj1__0.png", b"\0" * size)
        with pytest.raises(InvalidDataError, match=said):
            coil._decode({"a.zip": tmp_path / "a.zip"}, "a.zip", 1, 1)
