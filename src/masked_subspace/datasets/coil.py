"""COIL-20 and COIL-100: objects on a turntable, 72 views of each, 32×32 gray."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from masked_subspace.datasets.archives import matching_members
from masked_subspace.datasets.errors import InvalidDataError
from masked_subspace.datasets.images import decode_gray, shrink
from masked_subspace.datasets.spec import DatasetSpec, ImageSet, RemoteFile

_HOST_PATH = "www.cs.columbia.edu/CAVE/databases/SLAM_coil-20_coil-100/"
_NAME = re.compile(r"obj(\d{1,3})__(\d{1,3})\.png")
_VIEWS, _SIZE, _SHAPE = 72, (128, 128), (32, 32)
_MAX_PICTURE = 1_000_000


def _addresses(tail: str) -> tuple[str, str]:
    return f"https://{_HOST_PATH}{tail}", f"http://{_HOST_PATH}{tail}"


def _decode(files: Mapping[str, Path], archive: str, n_objects: int, degrees_per_step: int) -> ImageSet:
    """Member ``obj<k>__<step>.png`` is view step/degrees_per_step of object k."""
    path = files[archive]
    pictures = np.empty((n_objects, _VIEWS, *_SIZE), dtype=np.uint8)
    seen = np.zeros((n_objects, _VIEWS), dtype=bool)
    for match, content in matching_members(path, _NAME, _MAX_PICTURE):
        number, (view, rest) = int(match[1]) - 1, divmod(int(match[2]), degrees_per_step)
        if rest or not (0 <= number < n_objects and view < _VIEWS):
            raise InvalidDataError(f"{path} holds {match[0]}, which is not a view of one of {n_objects} objects")
        pictures[number, view] = decode_gray(content, _SIZE, f"{match[0]} in {path}")
        seen[number, view] = True
    if not seen.all():
        raise InvalidDataError(f"{path} holds {seen.sum()} of the {seen.size} pictures")
    small = shrink(pictures.reshape(-1, *_SIZE), _SHAPE)
    labels = np.repeat(np.arange(n_objects), _VIEWS)
    return ImageSet(small.reshape(len(small), -1), labels, _SHAPE, "128×128 pictures as gray, 4×4 block means")


_REFERENCE = "S. A. Nene, S. K. Nayar and H. Murase, Columbia Object Image Library, CUCS-005-96 and CUCS-006-96, 1996"

COIL20 = DatasetSpec(
    name="coil20",
    title="1,440 pictures of 20 objects on a turntable, 32×32 gray, values 0..255: 72 views of each",
    reference=_REFERENCE,
    n_samples=20 * _VIEWS,
    n_classes=20,
    shape=_SHAPE,
    pixels_sha256="9235524f006ad4c42694eae751e4ab82ebb76aea7ce2612ee566e16fc58b52a1",
    # No checksum is published for this archive; the number, names and sizes of the pictures are checked instead.
    files=(RemoteFile("coil-20-proc.zip", _addresses("coil-20/coil-20-proc.zip"), None, 30_000_000),),
    decode=partial(_decode, archive="coil-20-proc.zip", n_objects=20, degrees_per_step=1),
)

COIL100 = DatasetSpec(
    name="coil100",
    title="7,200 pictures of 100 objects on a turntable, 32×32 gray, values 0..255: 72 views of each",
    reference=_REFERENCE,
    n_samples=100 * _VIEWS,
    n_classes=100,
    shape=_SHAPE,
    pixels_sha256="c3a4700e9cd4c7418e0345b3a26e743c9f17f17da9921edc5528bcb607865be7",
    files=(
        RemoteFile(
            "coil-100.zip",
            _addresses("coil-100/coil-100.zip"),
            "sha256:fcb4b8b01c0778f416d8d7a09f45082c4f7075cc74743dcddd5c44307bd4afe7",
            140_000_000,
        ),
    ),
    decode=partial(_decode, archive="coil-100.zip", n_objects=100, degrees_per_step=5),
)
