"""The formats that can be read. A new one is one file with a function `read(source) -> Samples` and one line here."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from masked_subspace.inputs.samples import Samples, Source


@dataclass(frozen=True)
class Format:
    """How a format is recognised, by its file's ending or (standard input) by its first bytes, and who reads it."""

    name: str
    endings: tuple[str, ...]
    module: str  # its function `read`
    begins: tuple[bytes, ...] = ()

    def reader(self) -> Callable[[Source], Samples]:
        """The function that reads it."""
        read: Callable[[Source], Samples] = import_module(f"masked_subspace.inputs.{self.module}").read
        return read


FORMATS = (
    Format("NumPy array", (".npy",), "npy", (b"\x93NUMPY",)),
    Format("NumPy or scipy.sparse archive", (".npz",), "npz", (b"PK\x03\x04",)),
    Format("text table", (".csv", ".tsv", ".txt"), "delimited"),
    Format("compressed text table", (".csv.gz", ".tsv.gz", ".txt.gz"), "delimited", (b"\x1f\x8b",)),
    Format("Parquet", (".parquet", ".pq"), "parquet", (b"PAR1",)),
    Format("Matrix Market", (".mtx", ".mtx.gz"), "matrix_market", (b"%%MatrixMarket",)),
    Format("MATLAB up to v7", (".mat",), "matlab", (b"MATLAB 5.0",)),
    Format("AnnData", (".h5ad",), "annotated", (b"\x89HDF",)),
)
FOLDERS = ("trajectories", "images")  # asked in this order whether a folder is theirs; images take any


def by_ending(path: Path) -> Format | None:
    """The format of a file, by the longest ending that fits."""
    name = path.name.lower()
    fitting = [(len(ending), number) for number, one in enumerate(FORMATS) for ending in one.endings
               if name.endswith(ending)]  # fmt: skip
    return FORMATS[max(fitting)[1]] if fitting else None


def by_content(head: bytes) -> Format:
    """The format of a stream, by its first bytes; text if nothing else fits."""
    if head.startswith(b"\x1f\x8b") and _unpacked(head).startswith(b"%%MatrixMarket"):
        return next(one for one in FORMATS if ".mtx.gz" in one.endings)
    known = (one for one in FORMATS if one.begins and head.startswith(one.begins))
    return next(known, next(one for one in FORMATS if ".csv" in one.endings))


def _unpacked(head: bytes) -> bytes:
    """The first bytes inside a compressed stream; none where it is damaged."""
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(head, 64)
    except zlib.error:
        return b""


def kinds() -> str:
    """All endings, for a person."""
    return ", ".join(ending for one in FORMATS for ending in one.endings) + " or a folder of images or trajectories"
