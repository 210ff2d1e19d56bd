"""Blocks of rows: how every stage that scales reads an array, a `np.memmap` or a dask array."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import Array


def block_ranges(n_rows: int, block_size: int) -> Iterator[tuple[int, int]]:
    """Consecutive (start, stop) pairs that cover 0..n_rows."""
    for start in range(0, n_rows, block_size):
        yield start, min(n_rows, start + block_size)


def read_rows(X: Any, start: int, stop: int, dtype: npt.DTypeLike | None = None) -> Array:
    """Rows start..stop of an array-like as a C-contiguous array in memory; only they are read."""
    return np.ascontiguousarray(np.asarray(X[start:stop]), dtype=dtype)


def float_dtype(X: Any) -> np.dtype[Any]:
    """float32 stays float32; everything else is computed in float64."""
    return np.dtype(np.float32) if X.dtype == np.float32 else np.dtype(np.float64)


def check_rows(X: Any, name: str = "X") -> None:
    """Refuse what cannot be read by rows."""
    if getattr(X, "ndim", None) != 2:
        raise ValueError(
            f"{name} has {getattr(X, 'ndim', 'no')} dimensions; give a 2-D array, memmap or dask array "
            "with one sample for each row."
        )
