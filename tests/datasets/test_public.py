"""From a server on loopback to a Bunch, through the cache."""

import hashlib
from dataclasses import replace

import numpy as np
import public_formats
import pytest

from masked_subspace.datasets import DatasetNotAvailableError, InvalidDataError, fetch, list_datasets, load
from masked_subspace.datasets.coil import COIL20
from masked_subspace.datasets.download import Limits
from masked_subspace.datasets.public import fetch_public
from masked_subspace.datasets.registry import DATASETS
from masked_subspace.datasets.usps import USPS

pytestmark = pytest.mark.network

LABELS = np.arange(20) % 10
VALUES = np.random.default_rng(0).integers(-1000, 1001, (20, 256)) / 1000


def served(spec, files, server, manner="good", verified=True):
    """The same set, twenty samples small, at the server's address."""
    remote = []
    for file in spec.files:
        content = files[file.name]
        checksum = f"md5:{hashlib.md5(content).hexdigest()}" if verified else None
        remote.append(replace(file, urls=(server.offer(f"/{file.name}", content, manner),), checksum=checksum))
    return replace(spec, n_samples=20, files=tuple(remote))


@pytest.fixture
def small_usps(server, monkeypatch):
    spec = served(USPS, public_formats.usps_files(VALUES, LABELS, 12), server)
    monkeypatch.setitem(DATASETS, "usps", spec)
    return spec


def test_load_downloads_once_and_then_reads_the_cache(small_usps, server, cache):
    first = load("usps")
    assert first.origin.startswith(f"public address {small_usps.files[0].urls[0]}")
    assert "different from the copy" in first.origin
    np.testing.assert_array_equal(first.data, (VALUES.astype(np.float32) + 1) / 2)
    again = load("usps")
    assert again.origin.startswith(f"cache {cache}, made from public address")
    np.testing.assert_array_equal(again.data, first.data)
    assert len(server.requests["/usps.bz2"]) == len(server.requests["/usps.t.bz2"]) == 1


def test_known_pixels_are_recognised(small_usps, cache):
    pixels = (VALUES.astype(np.float32) + 1) / 2
    known = replace(small_usps, pixels_sha256=hashlib.sha256(pixels.tobytes()).hexdigest())
    assert "identical to the copy" in fetch_public(known, cache).origin


def test_fetch_reports_where_the_set_is_and_force_decodes_again(small_usps, server, cache):
    status = fetch("usps")
    assert status.source == "cache"
    assert status.location == cache / "usps.npz"
    assert status.size_bytes == status.location.stat().st_size
    status.location.write_bytes(b"damaged")
    assert fetch("usps").location.read_bytes() == b"damaged"
    fetch("usps", force=True)
    assert len(load("usps").data) == 20
    assert len(server.requests["/usps.bz2"]) == 1


def test_fetch_wants_the_whole_set_and_not_a_package(server, monkeypatch):
    images = np.random.default_rng(0).integers(0, 256, (20, 28, 28), dtype=np.uint8)
    files = public_formats.mnist_files(images, LABELS, 15)
    monkeypatch.setitem(DATASETS, "mnist", served(DATASETS["mnist"], files, server))
    assert fetch("mnist").source == "cache"
    np.testing.assert_array_equal(load("mnist", dtype=None).data, images.reshape(20, -1))


def test_downloading_can_be_switched_off(small_usps, server):
    with pytest.raises(DatasetNotAvailableError, match="download=False"):
        load("usps", download=False)
    assert not server.requests


def test_offline_the_message_says_which_file_goes_where(server, monkeypatch, cache, tmp_path):
    spec = served(USPS, public_formats.usps_files(VALUES, LABELS, 12), server, manner="missing")
    monkeypatch.setitem(DATASETS, "usps", spec)
    for action in (load, fetch):
        with pytest.raises(DatasetNotAvailableError) as caught:
            action("usps", data_home=tmp_path / "mine")
        message = str(caught.value)
        for part in (
            "usps.npz",
            str(tmp_path / "mine"),
            *[file.urls[0] for file in spec.files],
            str(cache / "downloads"),
        ):
            assert part in message
    assert {status.name: status.available for status in list_datasets()}["usps"] is False


def test_following_the_advice_works(server, monkeypatch, cache):
    files = public_formats.usps_files(VALUES, LABELS, 12)
    monkeypatch.setitem(DATASETS, "usps", served(USPS, files, server, manner="missing"))
    (cache / "downloads").mkdir(parents=True)
    for name, content in files.items():
        (cache / "downloads" / name).write_bytes(content)
    assert len(load("usps").data) == 20
    assert not server.requests


def test_a_slow_server_does_not_hold_the_set_for_ever(server, cache):
    spec = served(USPS, public_formats.usps_files(VALUES, LABELS, 12), server, manner="silent")
    with pytest.raises(RuntimeError, match="timed out"):
        fetch_public(spec, cache, limits=Limits(stall_seconds=0.3, total_seconds=1))


def test_too_few_samples_are_refused(small_usps, cache):
    with pytest.raises(InvalidDataError, match="20 images"):
        fetch_public(replace(small_usps, n_samples=21), cache)
    assert not (cache / "usps.npz").exists()


def test_an_unverifiable_file_that_does_not_decode_is_set_aside(server, cache):
    spec = served(COIL20, {"coil-20-proc.zip": b"not a zip archive"}, server, verified=False)
    with pytest.raises(InvalidDataError, match="next try fetches anew"):
        fetch_public(spec, cache)
    assert (cache / "downloads" / "coil-20-proc.zip.rejected").exists()
    with pytest.raises(InvalidDataError):
        fetch_public(spec, cache)
    assert len(server.requests["/coil-20-proc.zip"]) == 2
