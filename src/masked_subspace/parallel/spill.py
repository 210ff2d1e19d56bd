"""Rows that are too many for memory go to a temporary file, which disappears with the last array that looks at it."""

from __future__ import annotations

import shutil
import sys
import tempfile
import weakref
from pathlib import Path

import numpy as np
import numpy.typing as npt

from masked_subspace._common.rows import block_ranges, rows_of_a_block
from masked_subspace._common.types import Array
from masked_subspace.parallel.blocks import check_rows, float_dtype, read_rows


def is_dask_array(X: object) -> bool:
    """Whether X is a dask array; nobody who has none needs dask for the answer."""
    dask_array = sys.modules.get("dask.array")
    return dask_array is not None and isinstance(X, dask_array.Array)


def empty_in_file(shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.memmap:
    """An array in a temporary file. The file goes when the array is collected, at the latest with the interpreter."""
    folder = tempfile.mkdtemp(prefix="masked-subspace-")
    try:
        mapped = np.memmap(Path(folder) / "rows", mode="w+", dtype=dtype, shape=shape)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(mapped, shutil.rmtree, folder, ignore_errors=True)
    return mapped


def rows_in_file(X: Array) -> np.memmap:
    """A dask array (or anything that is read by rows) written to a temporary file, one block in memory at a time."""
    check_rows(X)
    shape = (int(X.shape[0]), int(X.shape[1]))
    small_numbers = X.dtype.kind in "ui" and X.dtype.itemsize <= 2
    out = empty_in_file(shape, np.float32 if small_numbers else float_dtype(X))
    for start, stop in _blocks_of(X):
        out[start:stop] = read_rows(X, start, stop, out.dtype)
    return out


def _blocks_of(X: Array) -> list[tuple[int, int]]:
    """The array's own chunks of rows if it has any: each is then computed once."""
    if is_dask_array(X):
        stops = np.cumsum(getattr(X, "chunks")[0]).tolist()  # noqa: B009 (numpy arrays have none)
        return list(zip([0, *stops[:-1]], stops, strict=True))
    return list(block_ranges(int(X.shape[0]), rows_of_a_block(int(X.shape[1]) * np.dtype(X.dtype).itemsize)))
