"""Pixels: decoding one picture within limits, and making it smaller."""

from __future__ import annotations

import io
import re

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import Array
from masked_subspace.datasets.errors import DatasetError, InvalidDataError

_PGM_HEADER = re.compile(rb"P5\s+(\d{1,5})\s+(\d{1,5})\s+(\d{1,5})\s")


def decode_gray(content: bytes, size: tuple[int, int], place: str, formats: tuple[str, ...] = ("PNG",)) -> Array:
    """Decode to 8-bit gray. The declared size must be ``size`` (height, width) *before* pixels are unpacked."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError as error:
        raise DatasetError('pictures need Pillow: pip install "masked-subspace[data]"') from error
    height, width = size
    try:
        with Image.open(io.BytesIO(content), formats=list(formats)) as picture:
            if picture.size != (width, height):
                raise InvalidDataError(
                    f"{place} is {picture.size[1]}×{picture.size[0]} pixels where {height}×{width} are expected"
                )
            return np.asarray(picture.convert("L"))
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise InvalidDataError(f"{place} is not a readable picture ({error})") from error


def decode_pgm(content: bytes, size: tuple[int, int], place: str) -> npt.NDArray[np.uint8]:
    """Binary PGM, eight bits, exactly ``size`` (height, width)."""
    header = _PGM_HEADER.match(content)
    height, width = size
    if not header or tuple(map(int, header.groups())) != (width, height, 255):
        raise InvalidDataError(f"{place} is not an 8-bit binary PGM of {height}×{width} pixels")
    pixels = np.frombuffer(content, dtype=np.uint8, offset=header.end())
    if pixels.size != height * width:
        raise InvalidDataError(f"{place} holds {pixels.size} pixels where {height * width} are expected")
    return pixels.reshape(height, width)


def undo_line_ending_conversion(pgm: bytes, size: tuple[int, int]) -> bytes:
    r"""Give a binary PGM back the bytes it had before every ``\n`` was turned into ``\r\n``.

    A pair that was in the pixels before the conversion cannot be told from a converted one by its
    bytes; if one pixel is missing after the undoing, the pair whose keeping gives the smoothest
    picture is kept.
    """
    if not pgm.startswith(b"P5\r\n"):
        return pgm
    plain = pgm.replace(b"\r\n", b"\n")
    header = _PGM_HEADER.match(plain)
    if not header or len(plain) - header.end() != size[0] * size[1] - 1:
        return plain
    newlines = [at for at in range(header.end(), len(plain)) if plain[at : at + 1] == b"\n"]
    candidates = [plain[:at] + b"\r" + plain[at:] for at in newlines]
    return min(candidates, key=lambda content: _roughness(content[header.end() :], size), default=plain)


def _roughness(pixels: bytes, size: tuple[int, int]) -> int:
    picture = np.frombuffer(pixels, dtype=np.uint8).reshape(size).astype(np.int64)
    return int(np.abs(np.diff(picture, axis=0)).sum())


def shrink(pictures: Array, shape: tuple[int, int]) -> npt.NDArray[np.uint8]:
    """Area means: each new pixel is the mean of the old area it covers, rounded to 8 bits.

    For whole factors this is the block mean.
    """
    rows = _coverage(pictures.shape[1], shape[0])
    columns = _coverage(pictures.shape[2], shape[1])
    small = rows @ pictures.astype(np.float64) @ columns.T
    # A mean that is a half in exact arithmetic must not depend on the last bit of the product.
    return np.floor(small + (0.5 + 1e-9)).astype(np.uint8)


def _coverage(old: int, new: int) -> npt.NDArray[np.float64]:
    """Row i: the share of new pixel i that each old pixel covers."""
    edges = np.arange(new + 1) * (old / new)
    pixel = np.arange(old)
    overlap = np.minimum(edges[1:, None], pixel + 1) - np.maximum(edges[:-1, None], pixel)
    share: npt.NDArray[np.float64] = np.clip(overlap, 0, None) * (new / old)
    return share
