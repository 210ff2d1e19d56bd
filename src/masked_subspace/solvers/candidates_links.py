"""Candidates that are not neighbours: known pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

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
    _merge(candidates, both[:, 1].copy(), bounds, out)
    return out


@njit(cache=True, nogil=True)
def _merge(old: IndexArray, partners: IndexArray, bounds: npt.NDArray[np.intp], out: IndexArray) -> None:
    for i in range(old.shape[0]):
        begin, end = bounds[i], bounds[i + 1]
        for t in range(begin, end):
            out[i, t - begin] = partners[t]
        filled = end - begin
        for t in range(old.shape[1]):
            if filled == out.shape[1]:
                break
            known = False
            for s in range(begin, end):
                known = known or partners[s] == old[i, t]
            if not known:
                out[i, filled] = old[i, t]
                filled += 1
