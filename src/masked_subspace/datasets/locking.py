"""A lock between processes that the system releases when its holder dies."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from masked_subspace.datasets.errors import DatasetError

_POLL_SECONDS = 0.1


@contextmanager
def exclusive(path: Path, patience: float) -> Iterator[None]:
    """Hold the lock file ``path``; wait at most ``patience`` seconds for another holder.

    The empty file stays behind: removing it would let two processes lock two different files.
    """
    deadline = time.monotonic() + patience
    with _open(path) as stream:
        while not _try_lock(stream):
            if time.monotonic() > deadline:
                raise DatasetError(
                    f"another process has held {path} for more than {patience:.0f} s; "
                    "wait for its download to end, or stop it"
                )
            time.sleep(_POLL_SECONDS)
        try:
            yield
        finally:
            _unlock(stream)


def _open(path: Path) -> IO[bytes]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a+b")
    except OSError as error:
        raise DatasetError(
            f"cannot write to {path.parent} ({error.strerror}); let MASKED_SUBSPACE_CACHE name a folder of yours"
        ) from error


if sys.platform == "win32":
    import msvcrt

    def _try_lock(stream: IO[bytes]) -> bool:
        stream.seek(0)
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(stream: IO[bytes]) -> None:
        stream.seek(0)
        msvcrt.locking(stream.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(stream: IO[bytes]) -> bool:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(stream: IO[bytes]) -> None:
        fcntl.flock(stream, fcntl.LOCK_UN)
