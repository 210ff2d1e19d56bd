"""USPS: 7,291 training and 2,007 test digits of zip codes, in LIBSVM's text format."""

from __future__ import annotations

import bz2
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file

from masked_subspace._common.types import Array
from masked_subspace.datasets.errors import InvalidDataError
from masked_subspace.datasets.spec import DatasetSpec, ImageSet, RemoteFile

_ADDRESS = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass/"
_MAX_TEXT = 200_000_000
_PIXELS = 256


def _read_part(path: Path) -> tuple[Array, Array]:
    """Lines ``label index:value …`` with labels 1..10 and values −1..1; an absent pixel is 0."""
    try:
        with bz2.open(path) as stream:
            content = stream.read(_MAX_TEXT + 1)
    except (OSError, EOFError, ValueError) as error:
        raise InvalidDataError(f"{path} is not a readable bz2 file ({error}); remove it to fetch it again") from error
    if len(content) > _MAX_TEXT:
        raise InvalidDataError(f"{path} unpacks to more than {_MAX_TEXT:,} bytes")
    try:
        sparse, labels = load_svmlight_file(BytesIO(content), n_features=_PIXELS, zero_based=False)
    except ValueError as error:
        raise InvalidDataError(f"{path} is not LIBSVM text with {_PIXELS} features ({error})") from error
    return sparse.toarray(), labels


def _decode(files: Mapping[str, Path]) -> ImageSet:
    parts = [_read_part(files[name]) for name in ("usps.bz2", "usps.t.bz2")]
    # Single precision first: (v + 1)/2 then gives the pixels of the copy behind the documented numbers bit by bit.
    values = np.concatenate([part[0] for part in parts]).astype(np.float32)
    labels = np.concatenate([part[1] for part in parts])
    return ImageSet((values + 1) / 2, labels.astype(np.int64) - 1, (16, 16), "LIBSVM text")


USPS = DatasetSpec(
    name="usps",
    title="9,298 handwritten digits of zip codes, 16×16, values 0..1: 7,291 training, then 2,007 test",
    reference="J. J. Hull, A database for handwritten text recognition research, 1994",
    n_samples=9298,
    n_classes=10,
    shape=(16, 16),
    pixels_sha256="5f0b9dd66439a84eafe33135fd9626680096e02648bee0b44891dd4723d2fcab",
    files=(
        RemoteFile("usps.bz2", (_ADDRESS + "usps.bz2",), "md5:ec16c51db3855ca6c91edd34d0e9b197", 50_000_000),
        RemoteFile("usps.t.bz2", (_ADDRESS + "usps.t.bz2",), "md5:8ea070ee2aca1ac39742fdd1ef5ed118", 20_000_000),
    ),
    decode=_decode,
)
