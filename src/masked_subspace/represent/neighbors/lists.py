"""Approximate nearest samples by |cosine|: an inverted file.

scikit-learn's k-means on a sample gives the centres of the lists; each sample lives in the list of its nearest centre
and looks into the few lists nearest to it. Who looks into one list is gathered, so that the search is again products of
blocks with the scan of `kernels.py` behind them. docs: scaling compares it with faiss and pynndescent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state

from masked_subspace._common.rows import block_ranges, to_unit_length
from masked_subspace._common.types import Array, IndexArray, IntArray, RandomSeed
from masked_subspace.parallel.engine import Engine, active_engine, limited_threads
from masked_subspace.represent.neighbors.kernels import bits_of, scan_listed
from masked_subspace.represent.neighbors.list_sizes import LIST_SIZE, N_PROBES, list_numbers
from masked_subspace.represent.neighbors.search import Buffers, complete, nearest_in

_TRAINING_ROWS_A_LIST = 64
_QUERIES_AT_ONCE = 1 << 14
_NORM_BLOCK = 1 << 14


def nearest_by_lists(
    X: Array,
    m: int,
    *,
    n_probes: int = N_PROBES,
    list_size: int = LIST_SIZE,
    n_threads: int = 1,
    random_state: RandomSeed = 0,
    engine: Engine | None = None,
) -> IndexArray:
    """About the m samples nearest to each sample: the best m among the lists it looks into."""
    n = int(X.shape[0])
    n_lists, n_probes = list_numbers(n, m, list_size, n_probes)
    engine = engine or active_engine(n_threads)
    blocks = list(block_ranges(n, _QUERIES_AT_ONCE))
    probing = _Probing(X, trained_centres(X, n_lists, random_state), n_probes)
    probes = np.concatenate(list(engine.run(_probe, probing, blocks)))
    lists = _Lists(Residents.of(X, probes[:, 0], n_lists), probes, m)
    out = np.full((n, m), -1, dtype=np.int32)
    for ends, found in zip(blocks, engine.run(_search, lists, blocks), strict=True):
        out[lists.residents.order[slice(*ends)]] = found
    return complete(out, X, n_threads=n_threads)


@dataclass(frozen=True)
class _Probing:
    X: Array
    centres: npt.NDArray[np.float32]
    n_probes: int


def _probe(probing: _Probing, ends: tuple[int, int]) -> IndexArray:
    return nearest_in(probing.centres, probing.X[slice(*ends)], probing.n_probes)


@dataclass(frozen=True)
class Residents:
    """Rows by the list in which they live."""

    X: Array
    order: npt.NDArray[np.intp]  # rows by home list
    starts: npt.NDArray[np.intp]  # where each list begins in `order`
    scale: npt.NDArray[np.float32] | None  # 1/‖x‖, None if all rows have unit length

    @classmethod
    def of(cls, X: Array, home: IndexArray, n_lists: int) -> Residents:
        order = np.argsort(home, kind="stable")
        starts = np.searchsorted(home[order], np.arange(n_lists + 1))
        return cls(X, order, starts, _inverse_norms(X))

    def _members(self, number: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float32]]:
        numbers = self.order[self.starts[number] : self.starts[number + 1]]
        return numbers, _picked(self.X, numbers, self.scale)

    def nearest(self, rows: npt.NDArray[np.float32], own: IntArray, probes: IndexArray, m: int) -> IndexArray:
        """The best m for rows at unit length in the lists of `probes`, the home list first; `own` is not found."""
        buffers = Buffers(len(rows), m)
        # The home lists hold most neighbours, and a tight threshold makes the other scans short.
        for part in (probes[:, :1], probes[:, 1:]):
            scan_lists(buffers, rows, own, part, self._members)
        return buffers.indices()


@dataclass(frozen=True)
class _Lists:
    """Which lists each sample looks into (its home first), and who lives in each list."""

    residents: Residents
    probes: IndexArray
    m: int


def _search(lists: _Lists, ends: tuple[int, int]) -> IndexArray:
    """Candidates of the samples order[start:stop]: neighbours in space, so that many look into the same lists."""
    home = lists.residents
    queries = home.order[slice(*ends)]
    return home.nearest(_picked(home.X, queries, home.scale), queries, lists.probes[queries], lists.m)


def scan_lists(
    buffers: Buffers,
    rows: npt.NDArray[np.float32],
    own: IntArray,
    probes: IndexArray,
    members: Callable[[int], tuple[IntArray, npt.NDArray[np.float32]] | None],
) -> None:
    """Offer every list to the queries that look into it.

    `rows` are the queries at unit length, `own` their numbers and `probes` the lists each looks into; `members(list)`
    gives the numbers and unit rows of who lives in a list, or None for a list that is to be passed over.
    """
    wanted = probes.ravel()
    by_list = np.argsort(wanted, kind="stable")
    bounds = np.searchsorted(wanted[by_list], np.arange(int(wanted.max(initial=-1)) + 2))
    for number in np.flatnonzero(np.diff(bounds)).tolist():
        found = members(number)
        if found is None or len(found[0]) == 0:
            continue
        slots = by_list[bounds[number] : bounds[number + 1]] // probes.shape[1]
        tile = bits_of(rows[slots] @ found[1].T)
        scan_listed(tile, slots, own[slots], found[0], buffers.m, buffers.keys, buffers.counts, buffers.thresholds)


def trained_centres(X: Array, n_lists: int, random_state: RandomSeed) -> npt.NDArray[np.float32]:
    places, random = training_places(int(X.shape[0]), n_lists, random_state)
    return list_centres(_picked(X, places, None), n_lists, random)


def training_places(
    n: int, n_lists: int, random_state: RandomSeed
) -> tuple[npt.NDArray[np.int64], np.random.RandomState]:
    """Which samples train the centres, and the generator that goes on from there."""
    random = check_random_state(random_state)
    return np.sort(random.choice(n, min(n, _TRAINING_ROWS_A_LIST * n_lists), replace=False)), random


def list_centres(
    sample: npt.NDArray[np.float32], n_lists: int, random: np.random.RandomState
) -> npt.NDArray[np.float32]:
    """Centres of the lists by k-means on a sample of the rows, which is scaled to unit length in place."""
    from sklearn.cluster import KMeans

    to_unit_length(sample)
    # One thread: with more, sums in another order could move a centre and with it a label.
    with limited_threads(limits=1):
        means = KMeans(n_lists, init="random", n_init=1, max_iter=10, random_state=random).fit(sample)
    return np.asarray(means.cluster_centers_, dtype=np.float32)


def _picked(X: Array, places: IntArray, scale: npt.NDArray[np.float32] | None) -> npt.NDArray[np.float32]:
    rows = np.asarray(X[places], dtype=np.float32)
    return rows if scale is None else rows * scale[places, None]


def _inverse_norms(X: Array) -> npt.NDArray[np.float32] | None:
    """1/‖x‖ of each row, or None if all rows have unit length already."""
    n = int(X.shape[0])
    norms = np.empty(n, dtype=np.float32)
    for start, stop in block_ranges(n, _NORM_BLOCK):
        rows = np.asarray(X[start:stop], dtype=np.float32)
        norms[start:stop] = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    if np.all(np.abs(norms - 1) < 1e-6):
        return None
    return np.where(norms > 0, 1 / np.maximum(norms, np.finfo(np.float32).tiny), 0).astype(np.float32)
