"""``<name>.npz`` files: where they lie, reading them with suspicion, writing them atomically."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

from masked_subspace._common.files import write_with
from masked_subspace._common.types import Array
from masked_subspace.datasets.errors import InvalidDataError
from masked_subspace.datasets.spec import ImageSet
from masked_subspace.inputs.samples import InputError
from masked_subspace.inputs.zipped import ZippedArrays

DATA_VARIABLE = "MASKED_SUBSPACE_DATA"
CACHE_VARIABLE = "MASKED_SUBSPACE_CACHE"


def data_folder(data_home: str | os.PathLike[str] | None) -> Path | None:
    """The user's own folder of ``<name>.npz``: the argument, else ``MASKED_SUBSPACE_DATA``."""
    chosen = data_home if data_home is not None else os.environ.get(DATA_VARIABLE)
    return Path(chosen).expanduser() if chosen else None


def cache_folder(cache_home: str | os.PathLike[str] | None) -> Path:
    """Where downloads live: the argument, else ``MASKED_SUBSPACE_CACHE``, else the system's place."""
    chosen = cache_home if cache_home is not None else os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "masked-subspace"


def read_npz(path: Path, origin: str) -> ImageSet:
    """Read ``X``, ``y`` and ``shape``; pickled objects are refused."""
    try:
        with ZippedArrays(path, str(path)) as archive:
            missing = {"X", "y", "shape"} - set(archive.keys)
            if missing:
                raise InvalidDataError(
                    f"{path} lacks the array(s) {', '.join(sorted(missing))}: "
                    "a set is stored with np.savez(path, X=…, y=…, shape=(height, width))"
                )
            X, y, shape = (archive.read(key) for key in ("X", "y", "shape"))
            if "digest" in archive and str(archive.read("digest")) != digest_of(X, y, shape):
                raise InvalidDataError(
                    f"{path} does not hold what was written to it: its pixels or labels were changed since. Remove "
                    "it to have it made again."
                )
            if "origin" in archive:
                origin = f"{origin}, made from {archive.read('origin')}"
    except (InputError, OSError) as error:
        raise InvalidDataError(f"{path} is not a readable .npz file ({error}); replace or remove it") from error
    return checked(X, y, shape, origin, str(path))


def checked(X: Array, y: Array, shape: npt.ArrayLike, origin: str, place: str) -> ImageSet:
    """Make sure that the three arrays fit together."""
    height_width = np.asarray(shape)
    complaint = None
    if X.ndim != 2 or X.dtype.kind not in "uif":
        complaint = f"X must be a numeric n × d array, not {X.dtype} of shape {X.shape}"
    elif y.shape != (len(X),) or y.dtype.kind not in "ui":
        complaint = f"y must hold {len(X)} integer labels, not {y.dtype} of shape {y.shape}"
    elif height_width.shape != (2,) or height_width.dtype.kind not in "ui" or height_width.prod() != X.shape[1]:
        complaint = f"shape={height_width.tolist()} must be (height, width) with product {X.shape[1]}"
    elif X.dtype.kind == "f" and not np.isfinite(X).all():
        complaint = "X holds NaN or infinite values"
    elif len(y) == 0 or int(y.min()) != 0:
        complaint = "y must be labels from 0"
    if complaint:
        raise InvalidDataError(f"{place}: {complaint}")
    height, width = (int(side) for side in height_width)
    return ImageSet(X, y.astype(np.int64), (height, width), origin)


def write_npz(path: Path, images: ImageSet) -> None:
    """Write atomically: no reader ever sees half a file."""
    origin, shape = np.array(images.origin), np.array(images.shape)
    digest = np.array(digest_of(images.X, images.y, shape))
    write_with(
        path,
        lambda stream: np.savez_compressed(stream, X=images.X, y=images.y, shape=shape, origin=origin, digest=digest),
    )


def digest_of(X: Array, y: Array, shape: Array) -> str:
    """A checksum of what the cache holds, stored beside it: a cached set is taken as it was made or not at all."""
    digest = hashlib.sha256()
    for array in (X, y, shape):
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
