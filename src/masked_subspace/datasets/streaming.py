"""Blocks of rows on their way into arrays, or into ``.npy`` files larger than memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from masked_subspace._common.files import replacing
from masked_subspace._common.types import Array, BoolArray, DType

Arrays = dict[str, Array | None]
_MASK_FILES = {"outlier_mask": "-outliers", "missing_mask": "-missing"}


@dataclass(frozen=True)
class SampleBlock:
    """Consecutive rows from ``start`` on, before and after corruption."""

    start: int
    clean: npt.NDArray[np.float64]
    data: npt.NDArray[np.float64]
    outlier_mask: BoolArray
    missing_mask: BoolArray


def collect(blocks: Iterator[SampleBlock], shape: tuple[int, int], dtype: DType) -> Arrays:
    """All rows in memory."""
    types = {"data": dtype, "clean": dtype, "outlier_mask": np.dtype(bool), "missing_mask": np.dtype(bool)}
    arrays: Arrays = {name: np.empty(shape, kind) for name, kind in types.items()}
    for block in blocks:
        rows = slice(block.start, block.start + len(block.data))
        for name, array in arrays.items():
            assert array is not None
            array[rows] = getattr(block, name)
    return arrays


def stream_to_disk(
    path: Path, blocks: Iterator[SampleBlock], shape: tuple[int, int], dtype: DType, corrupted: Mapping[str, bool]
) -> Arrays:
    """Write ``data`` to ``path`` and the masks that are not empty beside it; return read-only memory maps.

    Plain writes and not a writable map: a map's pages would count as memory until the system
    writes them back. The files appear under their names when all rows are written.
    """
    files = {"data": (path.with_name(f"{path.stem}.npy"), dtype)}
    for name, wanted in corrupted.items():
        if wanted:
            files[name] = (path.with_name(f"{path.stem}{_MASK_FILES[name]}.npy"), np.dtype(bool))
    with ExitStack() as stack:
        streams = {name: stack.enter_context(replacing(file)) for name, (file, _) in files.items()}
        for name, (_, kind) in files.items():
            _write_header(streams[name], shape, kind)
        for block in blocks:
            for name, (_, kind) in files.items():
                streams[name].write(np.ascontiguousarray(getattr(block, name), dtype=kind).data)
    arrays: Arrays = {"clean": None, "outlier_mask": None, "missing_mask": None}
    return arrays | {name: np.load(file, mmap_mode="r") for name, (file, _) in files.items()}


def _write_header(stream: BinaryIO, shape: tuple[int, int], dtype: DType) -> None:
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_2_0(stream, header)
