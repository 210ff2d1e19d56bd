"""Top-m scan of similarity tiles (numba).

A similarity and its column are packed into one 64-bit key: the bits of |s| (a nonnegative float32 orders like its bits)
above the complement of the column. Keys order by |s|, ties by the smaller column, so the outcome does not depend on the
order in which tiles arrive. Each row owns a buffer of keys; when it is full, the m largest stay and the smallest of
them becomes the row's threshold.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from masked_subspace._common.types import IndexArray, IntArray, KeyArray, Rows32

_MAGNITUDE = np.uint32(0x7FFFFFFF)
_COLUMN = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_CHUNK = 32


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
def _smallest_value(keys: KeyArray, m: int) -> np.float32:
    smallest = keys[0]
    for t in range(1, m):
        smallest = min(smallest, keys[t])
    value = np.empty(1, dtype=np.uint32)
    value[0] = smallest >> _SHIFT
    smallest_value: np.float32 = value.view(np.float32)[0]
    return smallest_value


@njit(cache=True, nogil=True, forceinline=True)
def _push(
    keys: KeyArray, count: int, bits: np.uint32, column: int, m: int, threshold: np.float32
) -> tuple[int, np.float32]:
    keys[count] = (np.uint64(bits & _MAGNITUDE) << _SHIFT) | (_COLUMN - np.uint64(column))
    count += 1
    if count == keys.shape[0]:
        _keep_largest(keys, count, m)
        return m, _smallest_value(keys, m)
    return count, threshold


@njit(cache=True, nogil=True, fastmath=True, forceinline=True)
def _largest(row: Rows32) -> np.float32:
    largest = np.float32(0)
    for b in range(row.shape[0]):
        largest = max(largest, abs(row[b]))
    return largest


@njit(cache=True, nogil=True, fastmath=True, forceinline=True)
def _largest_excess(row: Rows32, thresholds: Rows32) -> np.float32:
    largest = np.float32(-1)
    for b in range(row.shape[0]):
        largest = max(largest, abs(row[b]) - thresholds[b])
    return largest


@njit(cache=True, nogil=True)
def scan_rows(
    tile: Rows32, own: IntArray, first_column: int, m: int, keys: KeyArray, counts: IntArray, thresholds: Rows32
) -> None:
    """Offer every entry of a float32 tile to the buffer of its row.

    `own[a]` is the column that row a must not take, itself (−1: none). Chunks without a hit are passed at full speed.
    """
    bits = tile.view(np.uint32)
    n_columns = tile.shape[1]
    for a in range(tile.shape[0]):
        row, count, threshold = tile[a], counts[a], thresholds[a]
        for begin in range(0, n_columns, _CHUNK):
            end = min(begin + _CHUNK, n_columns)
            if _largest(row[begin:end]) < threshold:
                continue
            for b in range(begin, end):
                if abs(row[b]) >= threshold and first_column + b != own[a]:
                    count, threshold = _push(keys[a], count, bits[a, b], first_column + b, m, threshold)
        counts[a], thresholds[a] = count, threshold


@njit(cache=True, nogil=True)
def scan_listed(
    tile: Rows32,
    slots: IntArray,
    own: IntArray,
    columns: IntArray,
    m: int,
    keys: KeyArray,
    counts: IntArray,
    thresholds: Rows32,
) -> None:
    """`scan_rows` for picked rows and columns: row a has the buffer slots[a], column b is sample columns[b]."""
    bits = tile.view(np.uint32)
    for a in range(tile.shape[0]):
        row, slot = tile[a], slots[a]
        count, threshold = counts[slot], thresholds[slot]
        for begin in range(0, tile.shape[1], _CHUNK):
            end = min(begin + _CHUNK, tile.shape[1])
            if _largest(row[begin:end]) < threshold:
                continue
            for b in range(begin, end):
                if abs(row[b]) >= threshold and columns[b] != own[a]:
                    count, threshold = _push(keys[slot], count, bits[a, b], columns[b], m, threshold)
        counts[slot], thresholds[slot] = count, threshold


@njit(cache=True, nogil=True)
def scan_columns(tile: Rows32, first_row: int, m: int, keys: KeyArray, counts: IntArray, thresholds: Rows32) -> None:
    """The same tile read the other way: similarity is symmetric, so every entry is offered to its column's buffer."""
    bits = tile.view(np.uint32)
    n_columns = tile.shape[1]
    for a in range(tile.shape[0]):
        row = tile[a]
        for begin in range(0, n_columns, _CHUNK):
            end = min(begin + _CHUNK, n_columns)
            if _largest_excess(row[begin:end], thresholds[begin:end]) < 0:
                continue
            for b in range(begin, end):
                if abs(row[b]) >= thresholds[b]:
                    counts[b], thresholds[b] = _push(keys[b], counts[b], bits[a, b], first_row + a, m, thresholds[b])


@njit(cache=True, nogil=True)
def guess_thresholds(tile: Rows32, rank: int, thresholds: Rows32) -> None:
    """Start each row at the rank-th largest entry of a sample of its columns, so that few entries are ever stored."""
    bits = tile.view(np.uint32)
    keys = np.empty(tile.shape[1], dtype=np.uint64)
    for a in range(tile.shape[0]):
        for b in range(tile.shape[1]):
            keys[b] = np.uint64(bits[a, b] & _MAGNITUDE) << _SHIFT
        _keep_largest(keys, tile.shape[1], rank)
        thresholds[a] = _smallest_value(keys, rank)


@njit(cache=True, nogil=True)
def finish_keys(m: int, keys: KeyArray, counts: IntArray, out: KeyArray) -> None:
    """The m largest keys of each row, largest first; unused places become 0. A search can go on from them."""
    for a in range(keys.shape[0]):
        count = counts[a]
        if count > m:
            _keep_largest(keys[a], count, m)
            count = m
        ordered = np.sort(keys[a, :count])
        for t in range(m):
            out[a, t] = ordered[count - 1 - t] if t < count else np.uint64(0)


@njit(cache=True, nogil=True)
def finish_rows(m: int, keys: KeyArray, counts: IntArray, out: IndexArray) -> None:
    """The columns of the m largest keys of each row, largest first; unused places become −1."""
    for a in range(keys.shape[0]):
        count = counts[a]
        if count > m:
            _keep_largest(keys[a], count, m)
            count = m
        row = keys[a]
        for t in range(1, count):  # insertion sort, largest first: rows are short, and np.sort is slow to compile
            key, at = row[t], t
            while at > 0 and row[at - 1] < key:
                row[at] = row[at - 1]
                at -= 1
            row[at] = key
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
