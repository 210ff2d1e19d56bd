"""Writing files so that a reader sees the old one or the new one, never half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


class FileError(OSError):
    """A file or folder that cannot be read or written; the text says which, why and what to do."""


def ensure_folder(folder: Path) -> Path:
    """Make `folder` and its parents."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise FileError(f"cannot use {folder} as a folder: a file of that name exists; choose another --out") from error
    except OSError as error:
        raise FileError(f"cannot make the folder {folder}: {error.strerror or error}; choose another --out") from error
    return folder


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A binary stream whose contents become `path` at the end, and only if nothing went wrong."""
    ensure_folder(path.parent)
    temporary: str | None = None
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".part", dir=path.parent)
        with os.fdopen(descriptor, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
        temporary = None
    except FileError:
        raise
    except OSError as error:
        raise FileError(
            f"cannot write {path}: {error.strerror or error}; free some space or choose another --out"
        ) from error
    finally:
        if temporary is not None and os.path.exists(temporary):
            os.unlink(temporary)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def write_bytes(path: Path, content: bytes) -> Path:
    """Replace `path` by `content`."""
    with replacing(path) as stream:
        stream.write(content)
    return path


def write_text(path: Path, content: str) -> Path:
    """Replace `path` by `content` in UTF-8."""
    return write_bytes(path, content.encode("utf-8"))


def write_with(path: Path, save: Callable[[BinaryIO], object]) -> Path:
    """Replace `path` by what `save(stream)` writes (`numpy.save`, `Figure.savefig`, …)."""
    with replacing(path) as stream:
        save(stream)
    return path
