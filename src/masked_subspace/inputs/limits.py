"""What is checked before a file is opened or unpacked, so that none can fill the memory or block the program."""

from __future__ import annotations

import gzip
import io
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from masked_subspace.inputs.samples import InputError
from masked_subspace.inputs.text import clean_text, one_line, sized

TEXT_BYTES = 1_000_000_000  # a text table takes several times its size while it is read
ARRAY_BYTES = 4_000_000_000  # what compressed or claimed numbers may come to


def regular_file(path: Path, option: str = "") -> int:
    """The size of a plain file; anything else (a folder, a pipe, a device, nothing) is refused by name."""
    shown = clean_text(str(path)) + (f" ({option})" if option else "")
    try:
        found = path.stat()
    except FileNotFoundError as error:
        raise InputError(f"there is no file or folder {shown}") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{shown} may not be read: {reason}") from error
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"{shown} is a folder; a file is needed")
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"{shown} is a pipe or a device; copy it to a file, or give it to standard input as -")
    return found.st_size


def check_size(n_bytes: int, shown: str, limit: int) -> None:
    """Refuse what would take more memory than allowed, before any of it is taken."""
    if n_bytes > limit:
        raise InputError(
            f"{shown} would take {sized(n_bytes)}; at most {sized(limit)} are read. Raise --max-gb if it fits"
        )


@contextmanager
def decoding(shown: str, kind: str) -> Iterator[None]:
    """Around the decoder of another library: whatever it raises is about the file, and is said in one line."""
    try:
        yield
    except InputError:
        raise
    except MemoryError as error:
        raise InputError(f"{shown} needs more memory than there is") from error
    except ImportError:
        raise
    except Exception as error:
        reason = one_line(str(error)) or type(error).__name__
        # numpy's own words advise to unpickle what it does not know.
        reason = "it holds no plain array; Python objects are never loaded" if "pickle" in reason else reason
        raise InputError(f"{shown} cannot be read as {kind}: {reason[:300]}") from error


def bounded_gzip(path: Path, shown: str, limit: int) -> bytes:
    """All of a .gz file, unpacked, or an error as soon as it comes to more than `limit` bytes."""
    try:
        with gzip.open(path, "rb") as stream:
            return read_at_most(stream, shown, limit)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{shown} is damaged or cut short: {one_line(str(error))}") from error


def read_at_most(stream: IO[bytes] | gzip.GzipFile, shown: str, limit: int) -> bytes:
    """All of a stream of unknown length, up to a limit."""
    content = io.BytesIO()
    while chunk := stream.read(1 << 20):
        content.write(chunk)
        if content.tell() > limit:
            raise InputError(f"{shown} unpacks to more than {sized(limit)}; raise --max-gb if that is right")
    return content.getvalue()
