"""Rows in memory, in a file or in a dask array: how every stage that scales reads them by blocks.

An array that lives in a file (`MappedArray`) is not sent to other processes: they open the file. Rows that are too many
for memory go to a temporary file, which disappears with the last array that looks at it.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from masked_subspace._common.rows import block_ranges, rows_of_a_block
from masked_subspace._common.sparse.implicit import ImplicitRows
from masked_subspace._common.types import Array, DType


def read_rows(X: Array, start: int, stop: int, dtype: npt.DTypeLike | None = None) -> Array:
    """Some rows of an array, a memmap or a dask array; only they are read.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Anything that can be sliced by rows.
    start : int
        The first row.
    stop : int
        The row behind the last.
    dtype : dtype or None, default=None
        Of the result; None: that of X.

    Returns
    -------
    rows : ndarray of shape (stop − start, n_features)
        In memory and contiguous.

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.parallel import read_rows
    >>> read_rows(np.arange(6).reshape(3, 2), 1, 3, np.float32).tolist()
    [[2.0, 3.0], [4.0, 5.0]]
    """
    return np.ascontiguousarray(np.asarray(X[start:stop]), dtype=dtype)


def float_dtype(X: Array | ImplicitRows) -> DType:
    """float32 stays float32; everything else is computed in float64."""
    return np.dtype(np.float32) if X.dtype == np.float32 else np.dtype(np.float64)


def check_rows(X: Array, name: str = "X") -> None:
    """Refuse what cannot be read by rows."""
    if getattr(X, "ndim", None) != 2:
        raise ValueError(
            f"{name} has {getattr(X, 'ndim', 'no')} dimensions; give a 2-D array, memmap or dask array "
            "with one sample for each row."
        )


@dataclass(frozen=True)
class MappedArray:
    """Where a C-contiguous `np.memmap` is found."""

    path: str
    offset: int
    shape: tuple[int, ...]
    dtype: str

    @classmethod
    def of(cls, array: Array) -> MappedArray | None:
        """The file behind an array, or None if it has none of its own (or is only a part of one)."""
        base = array if isinstance(array, np.memmap) else getattr(array, "base", None)
        if not isinstance(base, np.memmap) or base.filename is None or base.offset is None:
            return None
        same = base.shape == array.shape and base.ctypes.data == array.ctypes.data and base.dtype == array.dtype
        if not same or not array.flags.c_contiguous or _is_part(base):
            return None
        return cls(str(base.filename), int(base.offset), array.shape, array.dtype.str)

    def open(self) -> Array:
        """The array again, read-only."""
        try:
            mapped = np.memmap(self.path, mode="r", dtype=np.dtype(self.dtype), shape=self.shape, offset=self.offset)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"{self.path} is not there on this worker; put memory-mapped data on a file system that every worker "
                "sees, or pass an array."
            ) from error
        return np.asarray(mapped)


def _is_part(mapped: np.memmap) -> bool:
    """A slice of a memmap keeps the offset of the whole file, so it cannot be opened by it."""
    return isinstance(mapped.base, np.memmap)


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
