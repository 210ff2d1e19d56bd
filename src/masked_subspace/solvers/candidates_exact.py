"""Exact nearest samples by |cosine|: products of blocks (BLAS), each followed at once by a top-m scan of the tile."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Lock, local
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from masked_subspace.parallel.blocks import block_ranges, read_rows
from masked_subspace.solvers.candidates_kernels import finish_rows, scan_columns, scan_rows

IndexArray = npt.NDArray[np.int32]

_TILE_ROWS = 1024


def unit_rows(X: Any, start: int, stop: int) -> npt.NDArray[np.float32]:
    """Rows start..stop at unit length in float32; a zero row stays zero."""
    rows = read_rows(X, start, stop, np.float32)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    if np.all(np.abs(norms - 1) < 1e-6):
        return rows
    return rows / np.where(norms > 0, norms, 1)[:, None]


class _Buffers:
    """One buffer of keys for each row; see `candidates_kernels`."""

    def __init__(self, n_rows: int, m: int) -> None:
        self.m = m
        self.keys = np.empty((n_rows, 2 * m + 32), dtype=np.uint64)
        self.counts = np.zeros(n_rows, dtype=np.int64)
        self.thresholds = np.zeros(n_rows, dtype=np.uint32)

    def of(self, start: int, stop: int) -> tuple[Any, Any, Any]:
        rows = slice(start, stop)
        return self.keys[rows], self.counts[rows], self.thresholds[rows]

    def indices(self) -> IndexArray:
        out = np.empty((len(self.keys), self.m), dtype=np.int32)
        finish_rows(self.m, self.keys, self.counts, out)
        return out


def _for_each(work: Callable[[Any], None], items: list[Any], n_threads: int) -> None:
    # BLAS is kept to one thread: the threads here each run their own product.
    with threadpool_limits(limits=1, user_api="blas"):
        if n_threads == 1:
            for item in items:
                work(item)
            return
        with ThreadPoolExecutor(n_threads) as pool:
            for _ in pool.map(work, items):
                pass


def nearest_of_all(X: Any, m: int, *, n_threads: int = 1, block_size: int | None = None) -> IndexArray:
    """The m samples nearest to each sample. Every tile is computed once and read in both directions."""
    n = int(X.shape[0])
    step = block_size or _TILE_ROWS
    ranges = list(block_ranges(n, step))
    blocks = [unit_rows(X, *ends) for ends in ranges] if isinstance(X, np.ndarray) else None
    buffers, locks, scratch = _Buffers(n, m), [Lock() for _ in ranges], local()

    def visit(pair: tuple[int, int]) -> None:
        p, q = pair
        left = blocks[p] if blocks is not None else unit_rows(X, *ranges[p])
        right = left if p == q else blocks[q] if blocks is not None else unit_rows(X, *ranges[q])
        if not hasattr(scratch, "tile"):
            scratch.tile = np.empty(step * step, dtype=np.float32)
        tile = scratch.tile[: len(left) * len(right)].reshape(len(left), len(right))
        np.matmul(left, right.T, out=tile)
        bits = tile.view(np.uint32)
        with ExitStack() as held:
            for number in sorted({p, q}):
                held.enter_context(locks[number])
            scan_rows(bits, ranges[p][0], ranges[q][0], m, *buffers.of(*ranges[p]))
            if p != q:
                scan_columns(bits, ranges[p][0], m, *buffers.of(*ranges[q]))

    # Diagonals of the grid of tiles, so that threads at work at one time rarely want the same rows.
    grid = [(p, p + shift) for shift in range(len(ranges)) for p in range(len(ranges) - shift)]
    _for_each(visit, grid, n_threads)
    return buffers.indices()


def nearest_in(
    dictionary: Any,
    queries: Any,
    m: int,
    *,
    first_query: int = -1,
    n_threads: int = 1,
    block_size: int | None = None,
) -> IndexArray:
    """The m rows of `dictionary` nearest to each query.

    With `first_query` ≥ 0 the queries are rows first_query, first_query + 1, … of the dictionary itself, and none of
    them finds itself.
    """
    step = block_size or _TILE_ROWS
    out = np.empty((int(queries.shape[0]), m), dtype=np.int32)

    def visit(ends: tuple[int, int]) -> None:
        rows = unit_rows(queries, *ends)
        buffers = _Buffers(len(rows), m)
        for start, stop in block_ranges(int(dictionary.shape[0]), step):
            tile = rows @ unit_rows(dictionary, start, stop).T
            own = first_query + ends[0] if first_query >= 0 else -1
            scan_rows(tile.view(np.uint32), own, start, m, *buffers.of(0, len(rows)))
        out[ends[0] : ends[1]] = buffers.indices()

    _for_each(visit, list(block_ranges(len(out), step)), n_threads)
    return out
