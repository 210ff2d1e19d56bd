"""Gray pictures as PNG, and many small ones as one sheet. PNG is the page's container for bytes that compress well."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass

import numpy as np

from masked_subspace._common.types import Array
from masked_subspace.datasets.images import shrink


def gray_png(pixels: Array) -> bytes:
    """An 8-bit gray PNG of a height × width array of uint8."""
    pixels = np.ascontiguousarray(pixels, dtype=np.uint8)
    height, width = pixels.shape
    lines = np.zeros((height, width + 1), dtype=np.uint8)  # the first byte of each line names its filter: none
    lines[:, 1:] = pixels
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def data_uri(png: bytes) -> str:
    """A PNG as the text an `img` can show without a file."""
    return "data:image/png;base64," + base64.b64encode(png).decode("ascii")


@dataclass(frozen=True)
class SpriteSheet:
    """Thumbnails of some samples in one picture, row by row."""

    png: bytes
    height: int
    width: int
    columns: int
    samples: Array  # samples[s] is the sample that picture s shows


def sprite_sheet(images: Array, wanted: Array, max_pixels: int = 2_600_000) -> SpriteSheet:
    """Thumbnails of as many samples as `max_pixels` allow, the `wanted` ones first, at 14 to 48 pixels a side."""
    n, height, width = images.shape
    side = int(np.clip(np.sqrt(max_pixels / n), 14, 48))
    shrink = max(1.0, max(height, width) / side)
    new_height, new_width = max(1, round(height / shrink)), max(1, round(width / shrink))
    room = max(1, max_pixels // (new_height * new_width))
    samples = np.arange(n)
    if n > room:
        others = np.setdiff1d(np.linspace(0, n - 1, room).astype(int), wanted)
        samples = np.sort(np.concatenate([wanted[:room], others])[:room])
    columns = int(np.ceil(np.sqrt(len(samples) * new_height / new_width)))
    rows = -(-len(samples) // columns)
    sheet = np.zeros((rows * new_height, columns * new_width), dtype=np.uint8)
    small = shrunk(images[samples], new_height, new_width)
    for position, picture in enumerate(small):
        top, left = position // columns * new_height, position % columns * new_width
        sheet[top : top + new_height, left : left + new_width] = picture
    return SpriteSheet(gray_png(sheet), new_height, new_width, columns, samples)


def shrunk(images: Array, height: int, width: int) -> Array:
    """Area means of pictures with values 0 … 255."""
    return np.stack([shrink(image[None].clip(0, 255), (height, width))[0] for image in images])
