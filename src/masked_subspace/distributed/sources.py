"""Files on a path that every worker sees, as dask arrays: the workers read their rows, the client reads a header."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from masked_subspace._common.rows import block_ranges
from masked_subspace._common.types import Array

if TYPE_CHECKING:
    from dask.array import Array as DaskArray

BLOCK_BYTES = 1 << 26


def open_rows(path: str | Path, *, rows_a_block: int | None = None) -> DaskArray:
    """A dask array of the samples in a `.npy` file, a Parquet file or folder, or a Zarr store.

    Parameters
    ----------
    path : str or Path
        A path that is the same on every worker.
    rows_a_block : int or None, default=None
        Rows of one block; None: 64 MB of them (`.npy`), the row groups (Parquet), the chunks (Zarr).

    Returns
    -------
    rows : dask array of shape (n_samples, n_features)
        Nothing is read yet but a header.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is of another kind, or does not hold rows of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.distributed import open_rows
    >>> np.save("rows.npy", np.zeros((100, 4), dtype=np.float32))
    >>> open_rows("rows.npy", rows_a_block=40).chunks
    ((40, 40, 20), (4,))
    """
    path = Path(path).absolute()
    if not path.exists():
        raise FileNotFoundError(f"path is {str(path)!r}, which does not exist; give a path that every worker sees.")
    if path.suffix == ".npy":
        return _open_npy(path, rows_a_block)
    if path.suffix == ".zarr":
        import dask.array as da

        array: DaskArray = da.from_zarr(str(path))
        return array if rows_a_block is None else array.rechunk((rows_a_block, -1))
    if path.suffix in (".parquet", ".pq") or (path.is_dir() and any(path.glob("*.parquet"))):
        array = _open_parquet(path)
        return array if rows_a_block is None else array.rechunk((rows_a_block, -1))
    raise ValueError(f"path is {str(path)!r}; give a .npy, .parquet or .zarr, or a folder of .parquet files.")


def _open_npy(path: Path, rows_a_block: int | None) -> DaskArray:
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    if mapped.ndim != 2:
        raise ValueError(f"{path} holds an array with {mapped.ndim} dimensions; give one with a sample for each row.")
    n, d = mapped.shape
    step = rows_a_block or max(1, BLOCK_BYTES // (d * mapped.itemsize))
    ranges = list(block_ranges(n, step))
    return _stacked(read_npy_rows, [(str(path), *ends) for ends in ranges], [b - a for a, b in ranges], d, mapped.dtype)


def read_npy_rows(path: str, start: int, stop: int) -> Array:
    """Rows start..stop of a `.npy` file, read and not mapped: pages of a map would count as this process's memory."""
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    width = mapped.shape[1]
    if not mapped.flags.c_contiguous:
        return np.ascontiguousarray(mapped[start:stop])
    offset = mapped.offset + start * width * mapped.itemsize
    rows = np.fromfile(path, dtype=mapped.dtype, count=(stop - start) * width, offset=offset)
    return rows.reshape(stop - start, width)


def _open_parquet(path: Path) -> DaskArray:
    from pyarrow import parquet

    places, sizes = [], []
    for file in sorted(path.glob("*.parquet")) if path.is_dir() else [path]:
        about = parquet.ParquetFile(file)
        for group in range(about.num_row_groups):
            places.append((str(file), group))
            sizes.append(about.metadata.row_group(group).num_rows)
    names = [field.name for field in about.schema_arrow]
    first = read_row_group(*places[0])
    if first.shape[1] != len(names):
        raise ValueError(f"{path} has columns that are not numbers; write the features alone to a Parquet file.")
    return _stacked(read_row_group, places, sizes, first.shape[1], first.dtype)


def read_row_group(path: str, group: int) -> Array:
    """One row group of a Parquet file as a matrix, all its columns in order."""
    from pyarrow import parquet, types

    table = parquet.ParquetFile(path).read_row_group(group)
    columns = [
        column.to_numpy() for column in table.columns if types.is_floating(column.type) or types.is_integer(column.type)
    ]
    return np.stack(columns, axis=1) if columns else np.empty((table.num_rows, 0))


def _stacked(
    read: Callable[..., Array], places: Sequence[tuple[object, ...]], sizes: list[int], width: int, dtype: npt.DTypeLike
) -> DaskArray:
    import dask.array as da
    from dask.delayed import delayed

    parts = [
        da.from_delayed(delayed(read)(*place), shape=(size, width), dtype=dtype)
        for place, size in zip(places, sizes, strict=True)
    ]
    stacked: DaskArray = da.concatenate(parts, axis=0)
    return stacked
