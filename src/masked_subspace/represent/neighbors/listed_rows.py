"""The inverted file of `lists` for rows that come later: made once for a large dictionary, asked by every new row.

Long rows are compared by their leading principal directions where these hold nearly all of their energy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masked_subspace._common.rows import block_ranges, largest_eigenpairs
from masked_subspace._common.types import Array, IndexArray, RandomSeed
from masked_subspace.parallel.engine import ordered_map
from masked_subspace.represent.neighbors.list_sizes import list_numbers
from masked_subspace.represent.neighbors.lists import Residents, trained_centres
from masked_subspace.represent.neighbors.search import nearest_in, read_unit_rows

_QUERIES_AT_ONCE = 1 << 12
# More lists than in a fit, where a sample that misses a neighbour may still be found by it. Of 10,000 held-out images
# of MNIST, 12 lists label .9933 as all 60,000 rows do, 20 .9958 and 32 .9974, in 6.2, 6.7 and 8.8 CPU s (all rows: 18).
_PROBES = 20
# Principal directions in place of features, from twice as many features on (an eigendecomposition of more than 2,048
# would cost more than it saves), and the share of energy they must hold. On those images 128 hold .94.
_DIRECTIONS, _MOST_FEATURES, _ENERGY = 128, 2_048, 0.9
_SAMPLE_ROWS = 8_192
_ROWS_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class ListedRows:
    """Rows that live in the list of their nearest centre."""

    centres: npt.NDArray[np.float32]
    residents: Residents
    directions: npt.NDArray[np.float32] | None = None  # as columns; None: rows are compared as they are

    @classmethod
    def of(cls, rows: Array, *, random_state: RandomSeed = 0, n_threads: int = 1) -> ListedRows:
        directions = _leading_directions(rows)
        if directions is not None:
            rows = _along(rows, directions)
        centres = trained_centres(rows, list_numbers(int(rows.shape[0]), 1)[0], random_state)
        home = nearest_in(centres, rows, 1, n_threads=n_threads)[:, 0]
        return cls(centres, Residents.of(rows, home, len(centres)), directions)

    def along(self, new_rows: Array) -> Array:
        """New rows by the directions in which the listed ones are kept."""
        return new_rows if self.directions is None else _along(new_rows, self.directions)

    def nearest(self, new_rows: Array, m: int, *, n_threads: int = 1) -> IndexArray:
        """About the m rows with the largest |cosine| to each new row, nearest first."""
        rows = self.residents.X
        new_rows = self.along(new_rows)
        n_probes = list_numbers(int(rows.shape[0]), m, n_probes=_PROBES)[1]
        probes = nearest_in(self.centres, new_rows, n_probes, n_threads=n_threads)
        # New rows of one list after the other: those at work at one time look into the same lists.
        queries = np.argsort(probes[:, 0], kind="stable")
        out = np.empty((len(queries), m), dtype=np.int32)

        def search(ends: tuple[int, int]) -> None:
            some = queries[slice(*ends)]
            unit = read_unit_rows(np.asarray(new_rows)[some], 0, len(some))
            out[some] = self.residents.nearest(unit, np.full(len(some), -1), probes[some], m)

        with ordered_map(n_threads) as apply:
            apply(search, block_ranges(len(queries), _QUERIES_AT_ONCE))
        short = np.flatnonzero(out[:, -1] < 0)
        if len(short):
            out[short] = nearest_in(rows, np.asarray(new_rows)[short], m, n_threads=n_threads)
        return out


def _leading_directions(rows: Array) -> npt.NDArray[np.float32] | None:
    """Directions that stand for the features of long rows, or None where they would save little or lose much."""
    n, width = (int(size) for size in rows.shape)
    if not 2 * _DIRECTIONS <= width <= _MOST_FEATURES:
        return None
    some = np.asarray(rows[:: max(1, n // _SAMPLE_ROWS)], dtype=np.float32)
    products = some.T @ some
    values, directions = largest_eigenpairs(products, _DIRECTIONS)
    return directions if values.sum() >= _ENERGY * np.trace(products) else None


def _along(rows: Array, directions: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """What rows have of each direction."""
    out = np.empty((int(rows.shape[0]), directions.shape[1]), dtype=np.float32)
    for start, stop in block_ranges(len(out), _ROWS_AT_ONCE):
        out[start:stop] = np.asarray(rows[start:stop], dtype=np.float32) @ directions
    return out
