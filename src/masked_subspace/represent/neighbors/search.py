"""Which samples may rebuild which: the neighbourhood that makes the hard mask Mʰ of `eq:bmsc` sparse.

Exact nearest samples by |cosine| are products of blocks (BLAS), each followed at once by a top-m scan of the tile.
"""

from __future__ import annotations

import math
from contextlib import ExitStack
from threading import Lock, local
from typing import Literal

import numpy as np
import numpy.typing as npt

from masked_subspace._common.rows import block_ranges
from masked_subspace._common.sparse.implicit import ImplicitRows
from masked_subspace._common.types import Array, IndexArray, IntArray, KeyArray, RandomSeed
from masked_subspace.parallel.engine import Engine, check_rows, is_dask_array, ordered_map, read_rows, rows_in_file
from masked_subspace.represent.neighbors.kernels import (
    Bits,
    bits_of,
    finish_keys,
    finish_rows,
    guess_thresholds,
    scan_columns,
    scan_rows,
)
from masked_subspace.represent.neighbors.links import with_links
from masked_subspace.represent.neighbors.list_sizes import EXACT_UP_TO

_TILE_ROWS = 1024
_SAMPLE_ROWS = 512
_GUESS_MARGIN = 3.0
# Of one tile with all products: one column in six is a larger share than 512 of many rows.
_EVERY, _MARGIN_OF_A_TILE, _LEAST_OF_A_TILE = 6, 1.7, 256
Search = Literal["auto", "exact", "approximate"]


def read_unit_rows(X: Array, start: int, stop: int) -> npt.NDArray[np.float32]:
    """Rows start..stop at unit length in float32; a zero row stays zero."""
    own = read_rows(X, start, stop)
    if own.dtype == np.float64:
        # float32 ends at 3e38, and its squares sooner: rows far from 1 are brought near it first.
        own = own / _power_of_two(np.abs(own).max(axis=1, keepdims=True))
    rows: npt.NDArray[np.float32] = own.astype(np.float32, copy=False)
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    if np.all(np.abs(norms - 1) < 1e-6):
        return rows
    scaled: npt.NDArray[np.float32] = np.divide(rows, np.where(norms > 0, norms, 1)[:, None], dtype=np.float32)
    return scaled


def _power_of_two(size: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """1 for sizes of an ordinary range, else the power of two below them: dividing by it rounds nothing."""
    far = (size > 1e15) | ((size < 1e-15) & (size > 0))
    return np.where(far, 2.0 ** np.floor(np.log2(np.where(far, size, 1))), 1.0)


class Buffers:
    """One buffer of keys for each row; see `kernels.py`."""

    def __init__(self, n_rows: int, m: int) -> None:
        self.m = m
        self.keys = np.empty((n_rows, 2 * m + 32), dtype=np.uint64)
        self.counts = np.zeros(n_rows, dtype=np.int64)
        self.thresholds = bits_of(np.zeros(n_rows, dtype=np.float32))

    def of(self, start: int, stop: int) -> tuple[KeyArray, IntArray, Bits]:
        rows = slice(start, stop)
        return self.keys[rows], self.counts[rows], self.thresholds[rows]

    @classmethod
    def resumed(cls, known: KeyArray) -> Buffers:
        """Buffers that go on from the keys which another search ended with."""
        buffers = cls(*known.shape)
        buffers.keys[:, : known.shape[1]] = known
        buffers.counts[:] = (known > 0).sum(axis=1)
        buffers.thresholds[:] = (known[:, -1] >> np.uint64(32)).astype(np.int32)
        return buffers

    def best_keys(self) -> KeyArray:
        """The m largest keys of each row, largest first, 0 where there are fewer."""
        out = np.empty((len(self.keys), self.m), dtype=np.uint64)
        finish_keys(self.m, self.keys, self.counts, out)
        return out

    def indices(self) -> IndexArray:
        out = np.empty((len(self.keys), self.m), dtype=np.int32)
        finish_rows(self.m, self.keys, self.counts, out)
        return out


def nearest_of_all(X: Array, m: int, *, n_threads: int = 1, block_size: int | None = None) -> IndexArray:
    """The m samples nearest to each sample. Every tile is computed once and read in both directions."""
    n = int(X.shape[0])
    step = block_size or _TILE_ROWS
    ranges = list(block_ranges(n, step))
    blocks = [read_unit_rows(X, *ends) for ends in ranges] if isinstance(X, np.ndarray) else None
    buffers, locks, scratch = Buffers(n, m), [Lock() for _ in ranges], local()
    sample = _column_sample(X, m)

    def block(number: int) -> npt.NDArray[np.float32]:
        return blocks[number] if blocks is not None else read_unit_rows(X, *ranges[number])

    def visit(pair: tuple[int, int]) -> None:
        p, q = pair
        left = block(p)
        right = left if p == q else block(q)
        if not hasattr(scratch, "tile"):
            scratch.tile = np.empty(step * step, dtype=np.float32)
        tile = scratch.tile[: len(left) * len(right)].reshape(len(left), len(right))
        np.matmul(left, right.T, out=tile)
        if len(ranges) == 1:
            _guess_from_own_tile(tile, m, buffers.thresholds)
        with ExitStack() as held:
            for number in sorted({p, q}):
                held.enter_context(locks[number])
            bits = bits_of(tile)
            scan_rows(bits, np.arange(*ranges[p]), ranges[q][0], m, *buffers.of(*ranges[p]))
            if p != q:
                scan_columns(bits, ranges[p][0], m, *buffers.of(*ranges[q]))

    if sample is not None:
        columns, rank = sample.T, math.ceil(_GUESS_MARGIN * m / n * len(sample)) + 4

        def guess(number: int) -> None:
            _guess(block(number) @ columns, rank, buffers.thresholds[slice(*ranges[number])])

        with ordered_map(n_threads) as apply:
            apply(guess, range(len(ranges)))
    # Diagonals of the grid of tiles, so that threads at work at one time rarely want the same rows.
    grid = [(p, p + shift) for shift in range(len(ranges)) for p in range(len(ranges) - shift)]
    with ordered_map(n_threads) as apply:
        apply(visit, grid)
    return complete(buffers.indices(), X, n_threads=n_threads, block_size=block_size)


def complete(found: IndexArray, X: Array, *, n_threads: int = 1, block_size: int | None = None) -> IndexArray:
    """Search all samples for the rows of `found` that a shortcut left short (a guess too high, lists too small)."""
    short = np.flatnonzero(found[:, -1] < 0)
    if len(short):
        rows = np.concatenate([read_rows(X, i, i + 1, np.float32) for i in short.tolist()])
        found[short] = nearest_in(X, rows, found.shape[1], own=short, n_threads=n_threads, block_size=block_size)
    return found


def _guess(some: npt.NDArray[np.float32], rank: int, thresholds: Bits) -> None:
    guess_thresholds(bits_of(some), rank, np.empty(some.shape[1], dtype=np.uint64), thresholds)


def _guess_from_own_tile(tile: npt.NDArray[np.float32], m: int, thresholds: Bits) -> None:
    """The products of all samples are there: thresholds are guessed from every sixth column."""
    n = len(tile)
    if n >= _LEAST_OF_A_TILE and m <= n // 8:
        some = np.ascontiguousarray(tile[:, ::_EVERY])
        _guess(some, math.ceil(_MARGIN_OF_A_TILE * m / n * some.shape[1]) + 4, thresholds)


def _column_sample(X: Array, m: int) -> npt.NDArray[np.float32] | None:
    """Rows spread evenly over X, or None where guessing thresholds from them would not pay."""
    n = int(X.shape[0])
    if n < 4 * _SAMPLE_ROWS or m > n // 16:
        return None
    places = np.linspace(0, n - 1, _SAMPLE_ROWS).astype(np.int64)
    return np.concatenate([read_unit_rows(X, i, i + 1) for i in places.tolist()])


def nearest_in(
    dictionary: Array,
    queries: Array,
    m: int,
    *,
    own: npt.NDArray[np.int64] | None = None,
    n_threads: int = 1,
    block_size: int | None = None,
) -> IndexArray:
    """The m rows of `dictionary` nearest to each query; `own[i]` is the row that query i must not find (itself)."""
    step = block_size or _TILE_ROWS
    out = np.empty((int(queries.shape[0]), m), dtype=np.int32)
    forbidden = np.full(len(out), -1, dtype=np.int64) if own is None else own

    def visit(ends: tuple[int, int]) -> None:
        rows = read_unit_rows(queries, *ends)
        buffers = Buffers(len(rows), m)
        for start, stop in block_ranges(int(dictionary.shape[0]), step):
            tile = rows @ read_unit_rows(dictionary, start, stop).T
            scan_rows(bits_of(tile), forbidden[slice(*ends)], start, m, *buffers.of(0, len(rows)))
        out[slice(*ends)] = buffers.indices()

    with ordered_map(n_threads) as apply:
        apply(visit, block_ranges(len(out), step))
    return out


def find_candidates(
    X: Array,
    m: int,
    *,
    search: Search = "auto",
    must_link: npt.ArrayLike | None = None,
    n_threads: int = 1,
    block_size: int | None = None,
    random_state: RandomSeed = 0,
    engine: Engine | None = None,
) -> IndexArray:
    """For each sample the m others with the largest |cosine|, nearest first; samples of `must_link` pairs come before.

    `search="exact"` compares all pairs; `"approximate"` asks an inverted file, whose outcome depends on the seed and on
    nothing else; `"auto"` is exact up to 20,000 samples. Cosines are computed in float32. The inverted file's work runs
    on `engine` (default: what joblib's `parallel_config` says); the exact search stays on threads of this process,
    where every tile serves both its rows and its columns. Rows of sparse samples are compared exactly at any size.
    """
    check_rows(X)
    if is_dask_array(X):
        X = rows_in_file(X)
    n = int(X.shape[0])
    if isinstance(m, bool) or not isinstance(m, (int, np.integer)) or not 1 <= m <= n - 1:
        raise ValueError(f"m is {m!r}; with {n} samples it must be a whole number from 1 to {n - 1}.")
    if search not in ("auto", "exact", "approximate"):
        raise ValueError(f'search is {search!r}; choose "auto", "exact" or "approximate".')
    if isinstance(X, ImplicitRows):
        from masked_subspace.represent.neighbors.implicit import nearest_implicit

        found = nearest_implicit(X, X, int(m), own=np.arange(n), n_threads=n_threads)
    elif search == "approximate" or (search == "auto" and n > EXACT_UP_TO):
        from masked_subspace.represent.neighbors.lists import nearest_by_lists

        found = nearest_by_lists(X, int(m), n_threads=n_threads, random_state=random_state, engine=engine)
    else:
        found = nearest_of_all(X, int(m), n_threads=n_threads, block_size=block_size)
    return found if must_link is None else with_links(found, must_link)
