"""Top-m scan of similarity tiles (numba).

A similarity and its column are packed into one 64-bit key: the bits of |s| (a nonnegative float32 orders like its bits)
above the complement of the column. Keys order by |s|, ties by the smaller column, so the outcome does not depend on the
order in which tiles arrive. Each row owns a buffer of keys; when it is full, the m largest stay and the smallest of them
becomes the row's threshold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

KeyArray = npt.NDArray[np.uint64]

_MAGNITUDE = np.uint32(0x7FFFFFFF)
_COLUMN = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_CHUNK = 32


@njit(cache=True, nogil=True)
def _keep_largest(keys: KeyArray, count: int, m: int) -> None:
    """Quickselect: afterwards the m largest of keys[:count] stand in keys[:m]."""
    low, high = 0, count - 1
    while low < high:
        pivot = keys[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while keys[left] > pivot:
                left += 1
            while keys[right] < pivot:
                right -= 1
            if left <= right:
                keys[left], keys[right] = keys[right], keys[left]
                left += 1
                right -= 1
        if m - 1 <= right:
            high = right
        elif m - 1 >= left:
            low = left
        else:
            return


@njit(cache=True, nogil=True)
def _push(keys: KeyArray, count: int, magnitude: Any, column: int, m: int, threshold: Any) -> tuple[int, Any]:
    keys[count] = (np.uint64(magnitude) << _SHIFT) | (_COLUMN - np.uint64(column))
    count += 1
    if count == keys.shape[0]:
        _keep_largest(keys, count, m)
        smallest = keys[0]
        for t in range(1, m):
            smallest = min(smallest, keys[t])
        return m, np.uint32(smallest >> _SHIFT)
    return count, threshold


@njit(cache=True, nogil=True)
def scan_rows(
    bits: npt.NDArray[np.uint32], own: int, first_column: int, m: int, keys: Any, counts: Any, thresholds: Any
) -> None:
    """Offer every entry of a tile to the buffer of its row.

    `bits` is the float32 tile seen as integers; `own` is the number of the sample in row 0 (its own column is never
    offered), or negative when rows and columns are different sets.
    """
    n_columns = bits.shape[1]
    for a in range(bits.shape[0]):
        count, threshold = counts[a], thresholds[a]
        for begin in range(0, n_columns, _CHUNK):
            end = min(begin + _CHUNK, n_columns)
            hits = 0
            for b in range(begin, end):
                hits += (bits[a, b] & _MAGNITUDE) >= threshold
            if hits == 0:
                continue
            for b in range(begin, end):
                magnitude = bits[a, b] & _MAGNITUDE
                if magnitude >= threshold and (own < 0 or first_column + b != own + a):
                    count, threshold = _push(keys[a], count, magnitude, first_column + b, m, threshold)
        counts[a], thresholds[a] = count, threshold


@njit(cache=True, nogil=True)
def scan_columns(bits: npt.NDArray[np.uint32], first_row: int, m: int, keys: Any, counts: Any, thresholds: Any) -> None:
    """The same tile read the other way: every entry is offered to the buffer of its column (similarity is symmetric)."""
    n_columns = bits.shape[1]
    for a in range(bits.shape[0]):
        for begin in range(0, n_columns, _CHUNK):
            end = min(begin + _CHUNK, n_columns)
            hits = 0
            for b in range(begin, end):
                hits += (bits[a, b] & _MAGNITUDE) >= thresholds[b]
            if hits == 0:
                continue
            for b in range(begin, end):
                magnitude = bits[a, b] & _MAGNITUDE
                if magnitude >= thresholds[b]:
                    counts[b], thresholds[b] = _push(keys[b], counts[b], magnitude, first_row + a, m, thresholds[b])


@njit(cache=True, nogil=True)
def finish_rows(m: int, keys: Any, counts: Any, out: npt.NDArray[np.int32]) -> None:
    """The columns of the m largest keys of each row, largest first; unused places become −1."""
    for a in range(keys.shape[0]):
        count = counts[a]
        if count > m:
            _keep_largest(keys[a], count, m)
            count = m
        ordered = np.sort(keys[a, :count])
        for t in range(m):
            out[a, t] = np.int32(_COLUMN - (ordered[count - 1 - t] & _COLUMN)) if t < count else np.int32(-1)
