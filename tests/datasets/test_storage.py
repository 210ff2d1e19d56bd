"""Files are read with suspicion and written whole."""

import numpy as np
import pytest

from masked_subspace.datasets.errors import InvalidDataError
from masked_subspace.datasets.spec import ImageSet
from masked_subspace.datasets.storage import cache_folder, data_folder, read_npz, write_npz


def arrays(**changes):
    return {"X": np.zeros((6, 4), np.uint8), "y": np.arange(6) % 2, "shape": np.array([2, 2])} | changes


def test_what_is_written_is_read_back_with_its_origin(tmp_path):
    images = ImageSet(np.arange(24, dtype=np.float32).reshape(6, 4), np.arange(6), (2, 2), "a server")
    write_npz(tmp_path / "deep" / "set.npz", images)
    again = read_npz(tmp_path / "deep" / "set.npz", "cache")
    np.testing.assert_array_equal(again.X, images.X)
    np.testing.assert_array_equal(again.y, images.y)
    assert again.X.dtype == np.float32
    assert again.shape == (2, 2)
    assert again.origin == "cache, made from a server"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["set.npz"]


@pytest.mark.parametrize("name", ["X", "y", "shape"])
def test_a_cached_set_that_was_changed_is_refused(tmp_path, name):
    """A file is whole and readable, but not what was written."""
    path = tmp_path / "set.npz"
    write_npz(path, ImageSet(np.arange(24.0).reshape(6, 4), np.arange(6) % 2, (4, 1), "a server"))
    with np.load(path) as archive:
        arrays = dict(archive)
    arrays[name] = arrays[name][::-1]
    np.savez(path, **arrays)
    with pytest.raises(InvalidDataError, match="changed since") as caught:
        read_npz(path, "cache")
    assert str(path) in str(caught.value)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    write_npz(tmp_path / "set.npz", ImageSet(np.zeros((2, 1)), np.arange(2), (1, 1), "first"))
    broken = ImageSet(np.array([[object()]]), np.arange(1), (1, 1), "second")
    broken.X[0, 0] = lambda: None
    with pytest.raises((AttributeError, TypeError, ValueError)):
        write_npz(tmp_path / "set.npz", broken)
    assert read_npz(tmp_path / "set.npz", "cache").origin == "cache, made from first"
    assert [path.name for path in tmp_path.iterdir()] == ["set.npz"]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"X": np.zeros((6, 2, 2))}, "X must be a numeric"),
        ({"X": np.full((6, 4), "a")}, "X must be a numeric"),
        ({"X": np.full((6, 4), np.nan)}, "NaN"),
        ({"y": np.arange(5)}, "6 integer labels"),
        ({"y": np.linspace(0, 1, 6)}, "6 integer labels"),
        ({"y": np.arange(1, 7)}, "labels from 0"),
        ({"shape": np.array([2, 3])}, "product 4"),
        ({"shape": np.array([4])}, "product 4"),
        ({"X": np.array([[object()]] * 6)}, "Python objects are never loaded"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_by_name(tmp_path, changes, complaint):
    path = tmp_path / "set.npz"
    np.savez(path, **arrays(**changes))
    with pytest.raises(InvalidDataError, match=complaint) as caught:
        read_npz(path, "folder")
    assert str(path) in str(caught.value)


def test_a_missing_array_is_named(tmp_path):
    path = tmp_path / "set.npz"
    np.savez(path, X=np.zeros((2, 1)), shape=(1, 1))
    with pytest.raises(InvalidDataError, match=r"lacks the array\(s\) y"):
        read_npz(path, "folder")


@pytest.mark.parametrize("content", [b"", b"no archive", None])
def test_unreadable_files_are_refused(tmp_path, content):
    path = tmp_path / "set.npz"
    if content is None:
        np.savez(path, **arrays())
        content = path.read_bytes()[:300]
    path.write_bytes(content)
    with pytest.raises(InvalidDataError, match="replace or remove it"):
        read_npz(path, "folder")


def test_an_argument_outranks_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("MASKED_SUBSPACE_DATA", "from-environment")
    monkeypatch.setenv("MASKED_SUBSPACE_CACHE", "cache-from-environment")
    assert str(data_folder(None)) == "from-environment"
    assert str(cache_folder(None)) == "cache-from-environment"
    assert data_folder(tmp_path) == cache_folder(tmp_path) == tmp_path
    monkeypatch.delenv("MASKED_SUBSPACE_DATA")
    assert data_folder(None) is None


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_without_a_choice_the_cache_is_in_the_system_place(monkeypatch, platform):
    monkeypatch.delenv("MASKED_SUBSPACE_CACHE")
    monkeypatch.setattr("sys.platform", platform)
    folder = cache_folder(None)
    assert folder.is_absolute()
    assert folder.name == "masked-subspace"
