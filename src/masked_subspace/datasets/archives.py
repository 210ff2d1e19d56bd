"""Reading zip archives from strangers: nothing is unpacked to disk, nothing grows past a limit."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from masked_subspace.datasets.errors import InvalidDataError

_MAX_MEMBERS = 20_000


def matching_members(
    path: Path, pattern: re.Pattern[str], max_member_bytes: int
) -> Iterator[tuple[re.Match[str], bytes]]:
    """Yield (match of the file name, content) for every member whose file name matches ``pattern``.

    Members are read into memory one at a time, so a name can never become a path on disk; an
    archive with a name that tries to climb out is refused altogether.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > _MAX_MEMBERS:
                raise InvalidDataError(f"{path} has {len(members)} members, more than {_MAX_MEMBERS:,}")
            for member in members:
                _refuse_climbing(member.filename, path)
            for member in members:
                match = pattern.fullmatch(PurePosixPath(member.filename).name)
                if match and not member.is_dir():
                    yield match, _read_bounded(archive, member, max_member_bytes, path)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        if isinstance(error, InvalidDataError):
            raise
        raise InvalidDataError(f"{path} is not a readable zip archive ({error})") from error


def _refuse_climbing(name: str, path: Path) -> None:
    parts = name.replace("\\", "/").split("/")
    if ".." in parts or name.startswith(("/", "\\")) or (len(name) > 1 and name[1] == ":"):
        raise InvalidDataError(f"{path} holds a member named {name!r}, which points outside; the archive is refused")


def _read_bounded(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int, path: Path) -> bytes:
    # The declared size may lie, so the reading is bounded too.
    with archive.open(member) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise InvalidDataError(f"{path}: member {member.filename!r} is larger than {limit:,} bytes")
    return content
