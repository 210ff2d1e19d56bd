"""Approximate nearest samples by |cosine|: an inverted file.

scikit-learn's k-means on a sample gives the centres of the lists; each sample lives in the list of its nearest centre
and looks into the few lists nearest to it. Who looks into one list is gathered, so that the search is again products of
blocks with the scan of `candidates_kernels` behind them. docs/scaling.md compares it with faiss and pynndescent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from masked_subspace.parallel.blocks import block_ranges
from masked_subspace.solvers.candidates_exact import Buffers, IndexArray, complete, for_each, nearest_in
from masked_subspace.solvers.candidates_kernels import scan_listed

LIST_SIZE = 512
N_PROBES = 12

_TRAINING_ROWS_A_LIST = 64
_MOST_LISTS = 1 << 14
_QUERIES_AT_ONCE = 1 << 14
_NORM_BLOCK = 1 << 14


def nearest_by_lists(
    X: Any,
    m: int,
    *,
    n_probes: int = N_PROBES,
    list_size: int = LIST_SIZE,
    n_threads: int = 1,
    random_state: Any = 0,
) -> IndexArray:
    """About the m samples nearest to each sample: the best m among the lists it looks into."""
    n = int(X.shape[0])
    n_lists = int(np.clip(n // list_size, 1, _MOST_LISTS))
    # Every sample must see more than m others, whatever the list size.
    n_probes = min(n_lists, max(n_probes, 1 + 2 * m * n_lists // n))
    centres = _centres(X, n_lists, random_state)
    probes = nearest_in(centres, X, n_probes, n_threads=n_threads)
    lists = _Lists(X, probes)
    out = np.full((n, m), -1, dtype=np.int32)

    def visit(ends: tuple[int, int]) -> None:
        queries = lists.order[slice(*ends)]
        out[queries] = lists.search(queries, m)

    for_each(visit, list(block_ranges(n, _QUERIES_AT_ONCE)), n_threads)
    return complete(out, X, n_threads=n_threads)


def _centres(X: Any, n_lists: int, random_state: Any) -> npt.NDArray[np.float32]:
    n = int(X.shape[0])
    random = check_random_state(random_state)
    places = np.sort(random.choice(n, min(n, _TRAINING_ROWS_A_LIST * n_lists), replace=False))
    sample = _picked(X, places, None)
    sample /= np.maximum(np.linalg.norm(sample, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    # One thread: with more, sums in another order could move a centre and with it a label.
    with threadpool_limits(limits=1):
        means = KMeans(n_lists, init="random", n_init=1, max_iter=10, random_state=random).fit(sample)
    return np.asarray(means.cluster_centers_, dtype=np.float32)


def _picked(X: Any, places: npt.NDArray[np.integer], scale: Any) -> npt.NDArray[np.float32]:
    rows = np.asarray(X[places], dtype=np.float32)
    return rows if scale is None else rows * scale[places, None]


class _Lists:
    """Members of each list, and the search of some queries in the lists they probe."""

    def __init__(self, X: Any, probes: IndexArray) -> None:
        self.X, self.probes = X, probes
        home = probes[:, 0]
        self.order = np.argsort(home, kind="stable")
        self.starts = np.searchsorted(home[self.order], np.arange(int(probes.max()) + 2))
        self.scale = _inverse_norms(X)

    def search(self, queries: npt.NDArray[np.intp], m: int) -> IndexArray:
        buffers = Buffers(len(queries), m)
        rows = _picked(self.X, queries, self.scale)
        probes = self.probes[queries]
        # The home lists first: they hold most neighbours, and a tight threshold makes the other scans short.
        for part in (probes[:, :1], probes[:, 1:]):
            wanted = part.ravel()
            by_list = np.argsort(wanted, kind="stable")
            bounds = np.searchsorted(wanted[by_list], np.arange(len(self.starts)))
            for number in np.flatnonzero(np.diff(bounds)).tolist():
                slots = by_list[bounds[number] : bounds[number + 1]] // part.shape[1]
                members = self.order[self.starts[number] : self.starts[number + 1]]
                tile = rows[slots] @ _picked(self.X, members, self.scale).T
                scan_listed(tile, slots, queries[slots], members, m, buffers.keys, buffers.counts, buffers.thresholds)
        return buffers.indices()


def _inverse_norms(X: Any) -> npt.NDArray[np.float32] | None:
    """1/‖x‖ of each row, or None if all rows have unit length already."""
    n = int(X.shape[0])
    norms = np.empty(n, dtype=np.float32)
    for start, stop in block_ranges(n, _NORM_BLOCK):
        rows = np.asarray(X[start:stop], dtype=np.float32)
        norms[start:stop] = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    if np.all(np.abs(norms - 1) < 1e-6):
        return None
    return np.where(norms > 0, 1 / np.maximum(norms, np.finfo(np.float32).tiny), 0).astype(np.float32)
