"""Locks between processes that the system releases when their holder dies."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

_POLL_SECONDS = 0.02


@contextmanager
def exclusive(path: Path, patience: float) -> Iterator[None]:
    """Hold the lock file ``path``; TimeoutError if another holder keeps it for more than ``patience`` seconds.

    The empty file stays behind: removing it would let two processes lock two different files.
    """
    with path.open("a+b") as stream:
        _wait(stream, path, patience)
        try:
            yield
        finally:
            _unlock(stream)


def _wait(stream: IO[bytes] | int, path: Path, patience: float) -> None:
    deadline = time.monotonic() + patience
    while not _try_lock(stream):
        if time.monotonic() > deadline:
            raise TimeoutError(f"another process has held {path} for more than {patience:.0f} s")
        time.sleep(_POLL_SECONDS)


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

    @contextmanager
    def folder_lock(folder: Path, patience: float) -> Iterator[bool]:
        """Hold a folder; here by a file in it, since folders themselves cannot be locked."""
        with ExitStack() as stack:
            try:
                stack.enter_context(exclusive(folder / ".lock", patience))
            except TimeoutError:
                yield False
                return
            yield True

else:
    import fcntl

    def _try_lock(stream: IO[bytes] | int) -> bool:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(stream: IO[bytes] | int) -> None:
        fcntl.flock(stream, fcntl.LOCK_UN)

    @contextmanager
    def folder_lock(folder: Path, patience: float) -> Iterator[bool]:
        """Hold a folder itself, so that no lock file stays beside a person's files; False if somebody else does."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)  # a pipe of that name would wait for ever
        try:
            _wait(descriptor, folder, patience)
        except TimeoutError:
            os.close(descriptor)
            yield False
            return
        try:
            yield True
        finally:
            os.close(descriptor)
