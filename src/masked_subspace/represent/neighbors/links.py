"""Candidates that are not neighbours: the partners of known pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from masked_subspace._common.types import IndexArray, IntArray


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
    _fill(candidates, bounds, both[:, 1].copy(), out)
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
def _fill(old: IndexArray, indptr: IntArray, indices: IntArray, out: IndexArray) -> None:
    """Row i of `out`: indices[indptr[i]:indptr[i + 1]], then old[i], each once, as far as they fit."""
    for i in range(old.shape[0]):
        filled = 0
        for t in range(indptr[i], indptr[i + 1]):
            filled = _append(out[i], filled, indices[t])
        for t in range(old.shape[1]):
            filled = _append(out[i], filled, old[i, t])
