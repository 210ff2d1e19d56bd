"""The inverted file of `lists` for rows that come later: made once for a large dictionary, asked by every new row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masked_subspace._common.rows import block_ranges
from masked_subspace._common.types import Array, IndexArray, RandomSeed
from masked_subspace.parallel.engine import ordered_map
from masked_subspace.represent.neighbors.list_sizes import list_numbers
from masked_subspace.represent.neighbors.lists import Residents, trained_centres
from masked_subspace.represent.neighbors.search import nearest_in, read_unit_rows

_QUERIES_AT_ONCE = 1 << 12
# More lists than in a fit, where a sample that misses a neighbour may still be found by it. Of 10,000 held-out images
# of MNIST, 12 lists label .9933 as all 60,000 rows do, 20 .9958 and 32 .9974, in 6.2, 6.7 and 8.8 CPU s (all rows: 18).
_PROBES = 20


@dataclass(frozen=True, eq=False)
class ListedRows:
    """Rows that live in the list of their nearest centre."""

    centres: npt.NDArray[np.float32]
    residents: Residents

    @classmethod
    def of(cls, rows: Array, *, random_state: RandomSeed = 0, n_threads: int = 1) -> ListedRows:
        centres = trained_centres(rows, list_numbers(int(rows.shape[0]), 1)[0], random_state)
        home = nearest_in(centres, rows, 1, n_threads=n_threads)[:, 0]
        return cls(centres, Residents.of(rows, home, len(centres)))

    def nearest(self, new_rows: Array, m: int, *, n_threads: int = 1) -> IndexArray:
        """About the m rows with the largest |cosine| to each new row, nearest first."""
        rows = self.residents.X
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
