"""Nearest samples by |cosine| among implicit rows: sparse products of blocks, each followed by the top-m scan.

Every search here compares all pairs. A tile costs what the sparse product costs, and the scan reads it once; at 20,000
samples with 100 entries each both together take seconds.
"""

from __future__ import annotations

from threading import local

import numpy as np

from masked_subspace._common.rows import block_ranges
from masked_subspace._common.sparse.implicit import ImplicitRows, Tile
from masked_subspace._common.types import IndexArray, IntArray, Rows32
from masked_subspace.parallel.engine import ordered_map
from masked_subspace.represent.neighbors.kernels import bits_of, scan_rows
from masked_subspace.represent.neighbors.search import Buffers

_QUERIES, _WIDTH = 256, 4_096


def nearest_implicit(
    dictionary: ImplicitRows, queries: ImplicitRows, m: int, *, own: IntArray | None = None, n_threads: int = 1
) -> IndexArray:
    """The m rows of `dictionary` nearest to each query; `own[i]` is the row that query i must not find (itself)."""
    buffers = Buffers(len(queries), m)
    forbidden = np.full(len(queries), -1, dtype=np.int64) if own is None else own
    scratch = local()
    queries = queries.unit()
    for tile in queries.tiles(dictionary.unit(), _WIDTH):
        tile.prepare()

        def visit(ends: tuple[int, int], tile: Tile = tile) -> None:
            if not hasattr(scratch, "tile"):
                scratch.tile = np.empty(_QUERIES * _WIDTH, dtype=np.float32)
            start, stop = ends
            shape = (stop - start, len(tile.right))
            found: Rows32 = scratch.tile[: shape[0] * shape[1]].reshape(shape)
            tile.rows(start, stop, found)
            scan_rows(bits_of(found), forbidden[start:stop], tile.start, m, *buffers.of(start, stop))

        with ordered_map(n_threads) as apply:
            apply(visit, block_ranges(len(queries), _QUERIES))
    return buffers.indices()
