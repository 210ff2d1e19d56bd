"""Limits and defaults of the data sets, each at the value where it changes something."""

from __future__ import annotations

import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

from masked_subspace.datasets import make_subspaces
from masked_subspace.datasets.archives import _read_bounded, _refuse_climbing, matching_members
from masked_subspace.datasets.download import Limits
from masked_subspace.datasets.errors import InvalidDataError
from masked_subspace.datasets.spec import DatasetSpec
from masked_subspace.datasets.storage import cache_folder


def test_an_archive_may_hold_every_view_of_a_hundred_objects(tmp_path):
    """COIL100 has 7,200 of them, and a few files beside."""
    import re

    path = tmp_path / "coil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(7_210):
            archive.writestr(f"obj{number}.png", b"")
    assert sum(1 for _ in matching_members(path, re.compile(r"obj(\d+)\.png"), 10)) == 7_210


def test_no_more_of_a_member_is_read_than_tells_that_it_is_too_large():
    """The size that an archive claims may lie: a member of a terabyte is never read as a whole."""
    asked = []

    class Stream:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def read(self, size=-1):
            asked.append(size)
            return b"x" * max(size, 0)

    archive = SimpleNamespace(open=lambda _: Stream())
    with pytest.raises(InvalidDataError, match="larger than 1,000 bytes"):
        _read_bounded(archive, SimpleNamespace(filename="a"), 1_000, "path")
    assert asked == [1_001]


@pytest.mark.parametrize(("name", "climbs"), [("C:evil", True), ("c:/evil", True), ("a/b:c", False), ("x", False)])
def test_a_drive_of_another_system_points_outside_too(name, climbs):
    if climbs:
        with pytest.raises(InvalidDataError, match="points outside"):
            _refuse_climbing(name, "archive.zip")
    else:
        _refuse_climbing(name, "archive.zip")


def test_a_download_may_stand_still_for_half_a_minute_and_take_an_hour():
    assert (Limits().stall_seconds, Limits().total_seconds) == (30, 3600)


def test_the_cache_is_where_the_system_says(monkeypatch, tmp_path):
    monkeypatch.delenv("MASKED_SUBSPACE_CACHE", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder(None) == tmp_path / "masked-subspace"
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_folder(None).parent.name == ".cache"


@pytest.mark.parametrize(("ambient", "fits"), [(5, True), (4, False)])
def test_subspaces_that_meet_need_room_for_what_they_do_not_share(ambient, fits):
    """Two of three dimensions with one in common span five."""
    if fits:
        bases = make_subspaces(2, 3, ambient, 4, arrangement="intersecting", overlap=1, random_state=0).bases
        assert np.linalg.matrix_rank(np.vstack(bases)) == 5
    else:
        with pytest.raises(ValueError, match="do not fit into ambient=4"):
            make_subspaces(2, 3, ambient, 4, arrangement="intersecting", overlap=1, random_state=0)


@pytest.mark.parametrize("kind", ["outliers", "missing"])
def test_a_stream_keeps_the_mask_of_what_was_asked_for_and_no_other(tmp_path, kind):
    whole = make_subspaces(2, 2, 10, 12, random_state=0, **{kind: 0.2})
    streamed = make_subspaces(2, 2, 10, 12, random_state=0, out=tmp_path / "rows.npy", **{kind: 0.2})
    asked, other = ("outlier_mask", "missing_mask") if kind == "outliers" else ("missing_mask", "outlier_mask")
    np.testing.assert_array_equal(np.asarray(streamed[asked]), whole[asked])
    assert whole[asked].any()
    assert streamed[other] is None
    assert not whole[other].any()
    names = {path.name for path in tmp_path.iterdir()}
    assert f"rows-{kind}.npy" in names
    assert not names & {"rows-outliers.npy", "rows-missing.npy"} - {f"rows-{kind}.npy"}


def test_offsets_of_affine_subspaces_have_half_of_the_squared_length():
    bunch = make_subspaces(3, 2, 9, 2_000, affine=True, random_state=0)
    np.testing.assert_allclose((bunch.offsets**2).sum(axis=1), 0.5)
    for k in range(3):
        inside = bunch.data[bunch.target == k] - bunch.offsets[k]
        assert (inside**2).sum(axis=1).mean() == pytest.approx(0.5, rel=0.1)


def test_a_set_has_as_many_features_as_its_images_have_pixels():
    assert DatasetSpec("a", "A", "nobody", 10, 2, shape=(4, 6)).n_features == 24
