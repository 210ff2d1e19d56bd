"""One file over HTTP: bounded in size and time, resumed where it broke off, verified, moved atomically."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from masked_subspace._common.progress import events_for
from masked_subspace.datasets.errors import DatasetError, DownloadError
from masked_subspace.datasets.locking import exclusive
from masked_subspace.datasets.spec import RemoteFile

_CHUNK = 1 << 16
_RANGE_NOT_SATISFIABLE = 416


@dataclass(frozen=True)
class Limits:
    """``stall_seconds`` without a byte, or ``total_seconds`` for one file, end a download."""

    stall_seconds: float = 30.0
    total_seconds: float = 3600.0


def download(file: RemoteFile, folder: Path, limits: Limits) -> Path:
    """Return the path of the verified file in ``folder``, fetching it if it is not there yet.

    pooch looks for the file, checks the checksum and moves the finished file into place; the
    transfer itself is :class:`BoundedTransfer`.
    """
    try:
        import pooch
    except ImportError as error:
        raise DownloadError('downloading needs pooch: pip install "masked-subspace[data]"') from error
    part = folder / f"{file.name}.part"
    transfer = BoundedTransfer(file, part, limits)
    failures = []
    with exclusive(folder / f"{file.name}.lock", patience=limits.total_seconds), _quiet(pooch.get_logger()):
        # A part of a file that has changed since costs one more try.
        for url in (file.urls[:1] if part.exists() else ()) + file.urls:
            try:
                return Path(pooch.retrieve(url, file.checksum, fname=file.name, path=folder, downloader=transfer))
            except DatasetError as error:
                failures.append(f"{url}: {error}")
            except (OSError, HTTPException) as error:
                # urllib wraps the cause; some causes have no text of their own.
                cause = getattr(error, "reason", None) or error
                failures.append(f"{url}: {str(cause) or type(cause).__name__}")
            except ValueError as error:
                # pooch's word for a checksum that differs; it has removed its copy already.
                failures.append(f"{url}: the answer is not the expected file ({error})")
    raise DownloadError(f"{file.name} could not be fetched ({'; '.join(dict.fromkeys(failures))})")


@dataclass(frozen=True)
class BoundedTransfer:
    """A pooch downloader that keeps its progress in ``part``.

    Only a file with a checksum is resumed: if the server's file has changed in between, the
    checksum finds out, and the next try starts from nothing.
    """

    file: RemoteFile
    part: Path
    limits: Limits

    def __call__(self, url: str, output_file: str, pooch: object, check_only: bool = False) -> None:  # noqa: ARG002
        if self.file.checksum is None:
            self.part.unlink(missing_ok=True)
        deadline = time.monotonic() + self.limits.total_seconds
        have = self.part.stat().st_size if self.part.exists() else 0
        with self._open(url, have) as response:
            resumed = response.status == 206
            have = have if resumed else 0
            announced = response.headers.get("Content-Length")
            expected = have + int(announced) if announced and announced.isdigit() else None
            self._refuse_oversize(expected or 0)
            self._receive(response, have, expected, deadline)
        self.part.replace(output_file)

    def _open(self, url: str, have: int) -> HTTPResponse:
        headers = {"User-Agent": "masked-subspace", "Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
        try:
            response: HTTPResponse = urlopen(Request(url, headers=headers), timeout=self.limits.stall_seconds)
        except HTTPError as error:
            if error.code != _RANGE_NOT_SATISFIABLE or not have:
                raise
            self.part.unlink()
            return self._open(url, 0)
        return response

    def _receive(self, response: HTTPResponse, have: int, expected: int | None, deadline: float) -> None:
        events, label = events_for(), f"{self.file.name} (kB)"
        events.started(label, expected and expected // 1000)
        try:
            with self.part.open("ab" if have else "wb") as stream:
                # read1 returns after one packet: read would wait for a whole chunk from a dripping server.
                while chunk := response.read1(_CHUNK):
                    stream.write(chunk)
                    have += len(chunk)
                    self._refuse_oversize(have)
                    if time.monotonic() > deadline:
                        raise DownloadError(f"not complete after {self.limits.total_seconds:g} s, at {have:,} bytes")
                    events.advanced(label, have // 1000)
        finally:
            events.finished(label)
        if expected is not None and have < expected:
            raise DownloadError(f"the answer broke off after {have:,} of {expected:,} bytes")

    def _refuse_oversize(self, size: int) -> None:
        if size > self.file.max_bytes:
            self.part.unlink(missing_ok=True)
            raise DownloadError(
                f"the answer is larger than the {self.file.max_bytes:,} bytes {self.file.name} may have"
            )


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)
