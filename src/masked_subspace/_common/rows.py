"""Rows of numbers as every room handles them: in blocks that fit memory, wherever they live, at unit length, and in an
order of their own.

Rows may be in memory, in a file or in a dask array; every stage that scales reads them by blocks. An array that lives
in a file (`MappedArray`) is not sent to other processes: they open the file. Rows that are too many for memory go to a
temporary file, which disappears with the last array that looks at it.

Whoever draws samples (seeds of k-means, a subsample, the halves of a split) draws from an order that depends on what
they are and not on where they stand: with the rows permuted, the same samples are drawn. It is that of the rows' places
along one fixed random direction. A hash would do for rows that are the same to the last bit; prepared rows are not,
because the mean of permuted rows rounds differently, and along a direction rounding can do no more than exchange two
neighbours. Rows that are equal keep their order: it does not matter which of them is drawn.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import Array, DType, FloatArray

if TYPE_CHECKING:
    from masked_subspace._common.sparse.implicit import ImplicitRows, Rows
    from masked_subspace._common.sparse.samples import SparseSamples

# What can be put in order: samples or prepared rows, sparse or not.
Content: TypeAlias = "FloatArray | ImplicitRows | SparseSamples"
Positions = npt.NDArray[np.intp]

_DIRECTION_SEED = 0
# What a dense block of rows may take: large enough for BLAS, small enough for any machine.
BLOCK_BYTES = 1 << 25


def rows_of_a_block(row_bytes: int) -> int:
    """How many rows of so many bytes each stay near 32 MB; one at least."""
    return max(1, BLOCK_BYTES // max(1, row_bytes))


def block_ranges(n_rows: int, block_size: int) -> Iterator[tuple[int, int]]:
    """Consecutive ranges that cover all rows.

    Parameters
    ----------
    n_rows : int
        How many rows there are.
    block_size : int
        Rows of a block; the last may have fewer.

    Yields
    ------
    start : int
        The first row of a block.
    stop : int
        The row behind its last.

    Examples
    --------
    >>> from masked_subspace.parallel import block_ranges
    >>> list(block_ranges(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, n_rows, block_size):
        yield start, min(n_rows, start + block_size)


def row_blocks(n_samples: int, n_columns: int | None = None) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose dense blocks, of `n_columns` or `n_samples` columns, stay near 32 MB."""
    return block_ranges(n_samples, rows_of_a_block(8 * (n_samples if n_columns is None else n_columns)))


def on_one_scale(rows: FloatArray) -> FloatArray:
    """Rows whose features have mean 0 and variance 1, in float64; constant features are 0."""
    scaled = np.array(rows, dtype=np.float64)
    scaled -= scaled.mean(axis=0)
    deviation = scaled.std(axis=0)
    scaled /= np.where(deviation > 0, deviation, 1)
    return scaled


def unit_rows(rows: FloatArray) -> FloatArray:
    """Rows scaled to unit length; zero rows stay zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: FloatArray = rows / np.where(norms > 0, norms, 1)
    return scaled


def to_unit_length(rows: FloatArray, floor: float = 0.0) -> None:
    """The same in place; rows no longer than `floor` become zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(norms > floor, norms, 1).astype(rows.dtype)
    rows[norms[:, 0] <= floor] = 0


def products_of(left: Rows, right: Rows) -> FloatArray:
    """left @ rightᵀ, of arrays or of sparse samples."""
    if isinstance(left, np.ndarray):
        assert isinstance(right, np.ndarray)
        return np.asarray(left @ right.T)
    assert not isinstance(right, np.ndarray)
    return left.products(right)


def content_direction(n_features: int) -> npt.NDArray[np.float64]:
    """The direction of rows with so many features; one feature more adds an entry and changes none."""
    return np.random.default_rng(_DIRECTION_SEED).standard_normal(n_features)


def content_keys(rows: Content) -> npt.NDArray[np.float64]:
    """Where each row lies along the direction."""
    direction = content_direction(rows.shape[1])
    if not isinstance(rows, np.ndarray):
        return rows.times(direction).astype(np.float64)
    # A matrix product would round a row differently in another place.
    keys: npt.NDArray[np.float64] = np.einsum("ij,j->i", rows, direction, dtype=np.float64)
    return keys


def content_order(rows: Content) -> Positions:
    """Positions of the rows, sorted by content."""
    order: Positions = np.argsort(content_keys(rows), kind="stable")
    return order


def drawn_by_content(rows: Content, count: int, rng: np.random.Generator) -> Positions:
    """Ascending positions of `count` different rows (all, if there are no more), drawn whatever their order."""
    if count >= len(rows):
        return np.arange(len(rows))
    return np.sort(content_order(rows)[rng.choice(len(rows), count, replace=False)])


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
