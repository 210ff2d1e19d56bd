"""Candidates that are not neighbours: known pairs, and what the residual asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.sparse import csr_array

from masked_subspace.parallel.blocks import block_ranges
from masked_subspace.represent.neighbors.exact import nearest_in

IndexArray = npt.NDArray[np.int32]


def with_links(candidates: IndexArray, must_link: npt.ArrayLike) -> IndexArray:
    """Put the partners of each sample's pairs in front of its list; the farthest neighbours make room.

    The list keeps its length unless some sample has more partners than places; then every list grows to hold them.
    """
    pairs = np.asarray(must_link)
    if pairs.size == 0:
        return candidates
    n = len(candidates)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(f"must_link has shape {pairs.shape} and dtype {pairs.dtype}; give whole numbers, m × 2.")
    if pairs.min() < 0 or pairs.max() >= n:
        raise ValueError(
            f"must_link names sample {pairs.max() if pairs.max() >= n else pairs.min()}; they are 0..{n - 1}."
        )
    both = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    both = both[both[:, 0] != both[:, 1]].astype(np.int32)
    bounds = np.searchsorted(both[:, 0], np.arange(n + 1))
    width = max(candidates.shape[1], int(np.diff(bounds).max(initial=0)))
    out = np.full((n, width), -1, dtype=np.int32)
    _fill(candidates, np.empty((n, 0), dtype=np.int32), bounds, both[:, 1].copy(), out)
    return out


def enrich_candidates(
    X: npt.NDArray[np.floating[Any]],
    candidates: IndexArray,
    representation: csr_array,
    n_new: int,
    *,
    n_threads: int = 1,
    block_size: int = 4096,
) -> IndexArray:
    """Lists of the same length that hold what Q uses, the `n_new` samples nearest to the residual X − QX, and old ones.

    A sample that a first solution cannot rebuild from its neighbours finds here what is missing. Every residual is
    compared with every sample: the cost is that of an exact search.
    """
    n, m = candidates.shape
    if not 1 <= n_new < m:
        raise ValueError(f"n_new is {n_new!r}; it must be from 1 to {m - 1}, below the number of candidates.")
    wanted = np.empty((n, n_new), dtype=np.int32)
    for start, stop in block_ranges(n, block_size):
        residual = X[start:stop] - representation[start:stop] @ X
        own = np.arange(start, stop)
        wanted[start:stop] = nearest_in(X, residual, n_new, own=own, n_threads=n_threads)
    out = np.full((n, m), -1, dtype=np.int32)
    _fill(candidates, wanted, representation.indptr, representation.indices, out)
    return out


@njit(cache=True, nogil=True)
def _append(out: IndexArray, filled: int, column: int) -> int:
    if column < 0 or filled == out.shape[0]:
        return filled
    for t in range(filled):
        if out[t] == column:
            return filled
    out[filled] = column
    return filled + 1


@njit(cache=True, nogil=True)
def _fill(old: IndexArray, wanted: IndexArray, indptr: Any, indices: Any, out: IndexArray) -> None:
    """Row i of `out`: indices[indptr[i]:indptr[i + 1]], then wanted[i], then old[i], each once, as far as they fit."""
    for i in range(old.shape[0]):
        filled = 0
        for t in range(indptr[i], indptr[i + 1]):
            filled = _append(out[i], filled, indices[t])
        for t in range(wanted.shape[1]):
            filled = _append(out[i], filled, wanted[i, t])
        for t in range(old.shape[1]):
            filled = _append(out[i], filled, old[i, t])
