"""Whether the sizes that a .mat file claims are there: its decoder takes memory for every claim before it reads."""

from __future__ import annotations

import mmap
import struct
import zlib
from pathlib import Path

from masked_subspace.inputs.limits import check_size
from masked_subspace.inputs.samples import InputError

# Types of an element (MATLAB's MAT-file format, level 5): a matrix holds elements, a compressed one is a zlib stream.
_MATRIX, _COMPRESSED = 14, 15
_HEADER = 128
_PIECE = 1 << 16
# Level 4: type, rows, columns, imaginary part, length of the name; bytes of a number by the tens of the type.
_HEADER_4 = 20
_BYTES_OF_4 = (8, 4, 4, 2, 2, 1)


def check_claims(path: Path, shown: str, limit: int) -> None:
    """Refuse a file whose parts claim more bytes than it has, or unpack to more than the limit."""
    if path.stat().st_size < _HEADER_4:
        raise InputError(f"{shown} cannot be read as .mat: it ends after {path.stat().st_size} bytes")
    with path.open("rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if 0 in data[:4]:
            _check_level_4(data, shown)
        else:
            order = ">" if data[126:128] == b"MI" else "<"
            _check_elements(data, _HEADER, len(data), order, shown, limit)


def _check_level_4(data: mmap.mmap, shown: str) -> None:
    order = "<" if 0 <= int.from_bytes(data[:4], "little") < 5000 else ">"
    at = 0
    while at + _HEADER_4 <= len(data):
        kind, rows, columns, imaginary, name = struct.unpack_from(f"{order}5i", data, at)
        width = _BYTES_OF_4[kind // 10 % 10] if 0 <= kind // 10 % 10 < len(_BYTES_OF_4) else 8
        size = rows * columns * width * (2 if imaginary else 1)
        if min(rows, columns, name) < 0 or at + _HEADER_4 + name + size > len(data):
            raise InputError(f"{shown} cannot be read as .mat: a variable claims more bytes than the file has")
        at += _HEADER_4 + name + size


def _check_elements(
    data: mmap.mmap | bytes, start: int, stop: int, order: str, shown: str, limit: int, *, unpacked: bool = False
) -> None:
    """Every element between `start` and `stop` lies inside; what is packed is unpacked and looked at in turn."""
    at = start
    while at + 8 <= stop:
        kind, size = struct.unpack_from(f"{order}II", data, at)
        if kind >> 16:  # four bytes or fewer stand in the tag itself
            at += 8
            continue
        if at + 8 + size > stop:
            raise InputError(f"{shown} cannot be read as .mat: a part claims {size} bytes of {stop - at - 8}")
        if kind == _COMPRESSED and not unpacked:
            inside = _unpacked(data, at + 8, size, shown, limit)
            _check_elements(inside, 0, len(inside), order, shown, limit, unpacked=True)
        elif kind == _MATRIX:
            _check_elements(data, at + 8, at + 8 + size, order, shown, limit, unpacked=True)
        at += 8 + (size if kind == _COMPRESSED else -(-size // 8) * 8)


def _unpacked(data: mmap.mmap | bytes, start: int, size: int, shown: str, limit: int) -> bytes:
    stream, found = zlib.decompressobj(), bytearray()
    for at in range(start, start + size, _PIECE):
        piece = data[at : min(at + _PIECE, start + size)]
        while piece and not stream.eof:
            found += stream.decompress(piece, 1 << 20)
            check_size(len(found), shown, limit)
            piece = stream.unconsumed_tail
    return bytes(found)
