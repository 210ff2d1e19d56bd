"""What a data set is, and the places it can come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import Array


@dataclass(frozen=True)
class ImageSet:
    """Images as rows of ``X`` (row-major pixels, upright), labels from 0, and a picture's shape."""

    X: Array
    y: npt.NDArray[np.int64]
    shape: tuple[int, int]
    origin: str


@dataclass(frozen=True)
class RemoteFile:
    """One public file. ``checksum`` is ``"md5:…"`` or ``"sha256:…"``, or None if none is published."""

    name: str
    urls: tuple[str, ...]
    checksum: str | None
    max_bytes: int


@dataclass(frozen=True)
class PackageSource:
    """An installed package that carries the set, or a part of it."""

    package: str
    locate: Callable[[], Path | None]
    read: Callable[[Path], ImageSet]
    remark: str


@dataclass(frozen=True)
class DatasetSpec:
    """A set by name: its size, its public files and the function that decodes them.

    ``pixels_sha256`` is the digest of ``X`` in the copy behind the documented numbers. Other copies
    (another crop, another rounding) are served too, and ``origin`` says so.
    """

    name: str
    title: str
    reference: str
    n_samples: int
    n_classes: int
    shape: tuple[int, int]
    pixels_sha256: str | None = None
    package: PackageSource | None = None
    files: tuple[RemoteFile, ...] = ()
    decode: Callable[[Mapping[str, Path]], ImageSet] | None = None

    @property
    def n_features(self) -> int:
        return self.shape[0] * self.shape[1]
