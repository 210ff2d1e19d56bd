"""Rows of numbers as every room handles them: in blocks that fit memory, at unit length, and their inner products."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from masked_subspace._common.types import FloatArray

if TYPE_CHECKING:
    from masked_subspace._common.sparse.implicit import Rows

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
