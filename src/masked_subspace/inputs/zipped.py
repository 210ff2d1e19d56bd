"""The arrays of an .npz file. Every claim of a header is compared with what the file holds before memory is taken.

Pickles are never loaded: they can run code.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy_format

from masked_subspace._common.types import Array, DType
from masked_subspace.inputs.limits import ARRAY_BYTES, check_size, decoding
from masked_subspace.inputs.samples import InputError
from masked_subspace.inputs.text import clean_text


class ZippedArrays:
    """An .npz file whose members are read one by one, each checked first."""

    def __init__(self, file: Path | IO[bytes], shown: str, limit: int = ARRAY_BYTES) -> None:
        self.shown, self.limit = shown, limit
        with decoding(shown, ".npz"):
            self._zip = zipfile.ZipFile(file)
            self._members = {one.filename.removesuffix(".npy"): one for one in self._zip.infolist()}

    def __enter__(self) -> ZippedArrays:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def __contains__(self, key: str) -> bool:
        return key in self._members

    @property
    def keys(self) -> Sequence[str]:
        """Names of the arrays."""
        return tuple(self._members)

    def shape(self, key: str) -> tuple[int, ...]:
        """An array's shape, from its header."""
        with decoding(self._name(key), ".npy"), self._zip.open(self._members[key]) as stream:
            return read_header(stream)[0]

    def read(self, key: str) -> Array:
        """One array."""
        member, shown = self._members[key], self._name(key)
        check_size(member.file_size, shown, self.limit)
        with decoding(shown, ".npy"), self._zip.open(member) as stream:
            array = read_array(stream, member.file_size, shown)
            if stream.read(1):  # reaching the end is what makes zipfile compare the check sum
                raise InputError(f"{shown} holds more than its header says")
            return array

    def _name(self, key: str) -> str:
        return f"{self.shown} [{clean_text(key)}]"


def read_header(stream: IO[bytes]) -> tuple[tuple[int, ...], bool, DType]:
    """Shape, order and type of the array that a stream in .npy format holds."""
    version = npy_format.read_magic(stream)
    if version == (1, 0):
        shape, fortran, dtype = npy_format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, fortran, dtype = npy_format.read_array_header_2_0(stream)
    else:
        raise ValueError(f"its format version is {version}; 1.0 and 2.0 are known")
    return tuple(int(side) for side in shape), bool(fortran), np.dtype(dtype)


def read_array(stream: IO[bytes], available: int, shown: str) -> Array:
    """An array in .npy format out of `available` bytes (header and all)."""
    shape, fortran, dtype = read_header(stream)
    if dtype.hasobject:
        raise InputError(f"{shown} holds no plain array; Python objects are never loaded")
    count = math.prod(shape)
    if min(shape, default=0) < 0 or count * dtype.itemsize > available:
        raise InputError(f"{shown} claims shape {shape} of {dtype}, which is more than the {available} bytes it has")
    if count == 0:
        return np.empty(shape, dtype)
    content = bytearray(count * dtype.itemsize)
    if _fill(stream, memoryview(content)) < len(content):
        raise InputError(f"{shown} is cut short: shape {shape} of {dtype} needs more than it has")
    array: Array = np.frombuffer(content, dtype=dtype, count=count)
    return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)


def _fill(stream: IO[bytes], target: memoryview) -> int:
    done = 0
    while done < len(target):
        chunk = stream.read(min(len(target) - done, 1 << 22))
        if not chunk:
            break
        target[done : done + len(chunk)] = chunk
        done += len(chunk)
    return done
