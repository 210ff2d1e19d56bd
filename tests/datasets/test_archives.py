"""Archives cannot write, climb or swell."""

import re
import zipfile

import pytest

from masked_subspace.datasets.archives import matching_members
from masked_subspace.datasets.errors import InvalidDataError

NAME = re.compile(r"obj(\d+)\.png")


def archive(path, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as stream:
        for name, content in members.items():
            stream.writestr(name, content)
    return path


def read(path, limit=1000):
    return [(match[1], content) for match, content in matching_members(path, NAME, limit)]


def test_only_matching_names_are_read(tmp_path):
    path = archive(
        tmp_path / "a.zip", **{"deep/obj7.png": b"seven", "obj8.txt": b"", "xobj9.png": b"", "obj3.png/": b""}
    )
    assert read(path) == [("7", b"seven")]


@pytest.mark.parametrize(
    "name",
    [
        "../obj1.png",
        "a/../../obj1.png",
        "/obj1.png",
        "..\\obj1.png",
        "C:\\obj1.png",
        "../other.txt",
        "\\\\host\\obj1.png",
    ],
)
def test_names_that_point_outside_are_refused_and_nothing_is_written(tmp_path, name):
    inner = tmp_path / "inner"
    inner.mkdir()
    path = archive(inner / "slip.zip", **{"obj1.png": b"innocent", name: b"evil"})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidDataError, match="points outside"):
        read(path)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_member_that_swells_is_refused(tmp_path):
    path = archive(tmp_path / "bomb.zip", **{"obj1.png": b"\0" * 10_000_000})
    assert path.stat().st_size < 50_000
    with pytest.raises(InvalidDataError, match="larger than 1,000 bytes"):
        read(path)


def test_too_many_members_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("masked_subspace.datasets.archives._MAX_MEMBERS", 10)
    path = archive(tmp_path / "many.zip", **{f"{i}": b"" for i in range(11)})
    with pytest.raises(InvalidDataError, match="11 members, more than 10"):
        read(path)


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped"])
def test_damaged_archives_are_refused(tmp_path, damage):
    path = archive(tmp_path / "a.zip", **{"obj1.png": bytes(range(256))})
    content = path.read_bytes()
    middle = 120
    flipped = content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]
    path.write_bytes({"empty": b"", "cut": content[:-30], "flipped": flipped}[damage])
    with pytest.raises(InvalidDataError, match="not a readable zip archive"):
        read(path)
