"""Top-m scan of similarity tiles (numba).

A nonnegative float32 orders like its bits, so kernels see integers only: a tile and the thresholds of its rows by their
bits (`bits_of`). A similarity and its column are packed into one 64-bit key, |s| above the complement of the column.
Keys order by |s|, ties by the smaller column, so the outcome does not depend on the order in which tiles arrive. Each
row owns a buffer of keys; when it is full, the m largest stay and the smallest of them becomes the row's threshold.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from masked_subspace._common.types import IndexArray, IntArray, KeyArray, Rows32

Bits = npt.NDArray[np.int32]

_MAGNITUDE = np.int32(0x7FFFFFFF)
_COLUMN = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_CHUNK = 32


def bits_of(similarities: Rows32) -> Bits:
    """A float32 array as the kernels read it; a change of one is a change of the other."""
    bits: Bits = similarities.view(np.int32)
    return bits


@njit(cache=True, nogil=True, forceinline=True)
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


@njit(cache=True, nogil=True, forceinline=True)
def _smallest_of(keys: KeyArray, m: int) -> np.int32:
    """The bits of the smallest |s| among the first m keys."""
    smallest = keys[0]
    for t in range(1, m):
        smallest = min(smallest, keys[t])
    return np.int32(smallest >> _SHIFT)


@njit(cache=True, nogil=True, forceinline=True)
def _push(
    keys: KeyArray, count: int, magnitude: np.int32, column: int, m: int, threshold: np.int32
) -> tuple[int, np.int32]:
    keys[count] = (np.uint64(magnitude) << _SHIFT) | (_COLUMN - np.uint64(column))
    count += 1
    if count == keys.shape[0]:
        _keep_largest(keys, count, m)
        return m, _smallest_of(keys, m)
    return count, threshold


@njit(cache=True, nogil=True, forceinline=True)
def _largest(row: Bits) -> np.int32:
    largest = np.int32(0)
    for b in range(row.shape[0]):
        largest = max(largest, np.int32(row[b] & _MAGNITUDE))
    return largest


@njit(cache=True, nogil=True, forceinline=True)
def _largest_excess(row: Bits, thresholds: Bits) -> np.int32:
    largest = np.int32(-1)
    for b in range(row.shape[0]):
        largest = max(largest, np.int32(np.int32(row[b] & _MAGNITUDE) - thresholds[b]))
    return largest


@njit(cache=True, nogil=True)
def scan_rows(
    tile: Bits, own: IntArray, first_column: int, m: int, keys: KeyArray, counts: IntArray, thresholds: Bits
) -> None:
    """Offer every entry of a tile to the buffer of its row.

    `own[a]` is the column that row a must not take, itself (−1: none). Chunks without a hit are passed at full speed.
    """
    n_columns = tile.shape[1]
    for a in range(tile.shape[0]):
        row, count, threshold = tile[a], counts[a], thresholds[a]
        for begin in range(0, n_columns, _CHUNK):
            end = min(begin + _CHUNK, n_columns)
            if _largest(row[begin:end]) < threshold:
                continue
            for b in range(begin, end):
                magnitude = np.int32(row[b] & _MAGNITUDE)
                if magnitude >= threshold and first_column + b != own[a]:
                    count, threshold = _push(keys[a], count, magnitude, first_column + b, m, threshold)
        counts[a], thresholds[a] = count, threshold


@njit(cache=True, nogil=True)
def scan_listed(
    tile: Bits,
    slots: IntArray,
    own: IntArray,
    columns: IntArray,
    m: int,
    keys: KeyArray,
    counts: IntArray,
    thresholds: Bits,
) -> None:
    """`scan_rows` for picked rows and columns: row a has the buffer slots[a], column b is sample columns[b]."""
    for a in range(tile.shape[0]):
        row, slot = tile[a], slots[a]
        count, threshold = counts[slot], thresholds[slot]
        for begin in range(0, tile.shape[1], _CHUNK):
            end = min(begin + _CHUNK, tile.shape[1])
            if _largest(row[begin:end]) < threshold:
                continue
            for b in range(begin, end):
                magnitude = np.int32(row[b] & _MAGNITUDE)
                if magnitude >= threshold and columns[b] != own[a]:
                    count, threshold = _push(keys[slot], count, magnitude, columns[b], m, threshold)
        counts[slot], thresholds[slot] = count, threshold


@njit(cache=True, nogil=True)
def scan_columns(tile: Bits, first_row: int, m: int, keys: KeyArray, counts: IntArray, thresholds: Bits) -> None:
    """The same tile read the other way: similarity is symmetric, so every entry is offered to its column's buffer."""
    n_columns = tile.shape[1]
    for a in range(tile.shape[0]):
        row = tile[a]
        for begin in range(0, n_columns, _CHUNK):
            end = min(begin + _CHUNK, n_columns)
            if _largest_excess(row[begin:end], thresholds[begin:end]) < 0:
                continue
            for b in range(begin, end):
                magnitude = np.int32(row[b] & _MAGNITUDE)
                if magnitude >= thresholds[b]:
                    counts[b], thresholds[b] = _push(keys[b], counts[b], magnitude, first_row + a, m, thresholds[b])


@njit(cache=True, nogil=True)
def guess_thresholds(tile: Bits, rank: int, work: KeyArray, thresholds: Bits) -> None:
    """Start each row at the rank-th largest entry of a sample of its columns, so that few entries are ever stored.

    `work` is as wide as the tile.
    """
    for a in range(tile.shape[0]):
        for b in range(tile.shape[1]):
            work[b] = np.uint64(np.int32(tile[a, b] & _MAGNITUDE)) << _SHIFT
        _keep_largest(work, tile.shape[1], rank)
        thresholds[a] = _smallest_of(work, rank)


@njit(cache=True, nogil=True)
def _largest_first(row: KeyArray, count: int, m: int) -> int:
    """The m largest keys of a row, largest first, in its first places; returns how many they are."""
    if count > m:
        _keep_largest(row, count, m)
        count = m
    for t in range(1, count):  # insertion sort: rows are short, and np.sort is slow to compile
        key, at = row[t], t
        while at > 0 and row[at - 1] < key:
            row[at] = row[at - 1]
            at -= 1
        row[at] = key
    return count


@njit(cache=True, nogil=True)
def finish_keys(m: int, keys: KeyArray, counts: IntArray, out: KeyArray) -> None:
    """The m largest keys of each row, largest first; unused places become 0. A search can go on from them."""
    for a in range(keys.shape[0]):
        row = keys[a]
        count = _largest_first(row, counts[a], m)
        for t in range(m):
            out[a, t] = row[t] if t < count else np.uint64(0)


@njit(cache=True, nogil=True)
def finish_rows(m: int, keys: KeyArray, counts: IntArray, out: IndexArray) -> None:
    """The columns of the m largest keys of each row, largest first; unused places become −1."""
    for a in range(keys.shape[0]):
        row = keys[a]
        count = _largest_first(row, counts[a], m)
        for t in range(m):
            out[a, t] = np.int32(_COLUMN - (row[t] & _COLUMN)) if t < count else np.int32(-1)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def take_squared_distances(X, candidates, squared):  # type: ignore[no-untyped-def]
    """Differences, not products: copies are at 0."""
    for i in range(candidates.shape[0]):
        row = X[i]
        for t in range(candidates.shape[1]):
            j = candidates[i, t]
            if j < 0:
                squared[i, t] = np.inf
                continue
            other = X[j]
            total = X.dtype.type(0)
            for k in range(X.shape[1]):
                apart = other[k] - row[k]
                total += apart * apart
            squared[i, t] = total
