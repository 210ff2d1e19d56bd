"""The scan of similarity tiles against sorting, and squared distances against their definition."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.represent.neighbors.kernels import (
    bits_of,
    finish_keys,
    finish_rows,
    guess_thresholds,
    scan_columns,
    scan_listed,
    scan_rows,
    take_squared_distances,
)
from masked_subspace.represent.neighbors.links import with_links

M, ROOM = 4, 7  # the four largest, in buffers that are full after seven


def tile_of(n_rows: int, n_columns: int, seed: int = 0) -> np.ndarray:
    """Similarities of both signs, with ties."""
    values = np.random.default_rng(seed).integers(-40, 41, (n_rows, n_columns)) / 64
    return values.astype(np.float32)


def buffers(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.zeros((n, ROOM), np.uint64), np.zeros(n, np.int64), np.zeros(n, np.int32)


def largest(values: np.ndarray, columns: np.ndarray, own: int) -> list[int]:
    """The columns of the M largest magnitudes, of equal ones the smaller column."""
    pairs = sorted((-abs(float(value)), int(j)) for value, j in zip(values, columns, strict=True) if j != own)
    return [j for _, j in pairs[:M]]


def columns_of(keys: np.ndarray, counts: np.ndarray) -> np.ndarray:
    out = np.zeros((len(keys), M), np.int32)
    finish_rows(M, keys.copy(), counts, out)
    return out


@pytest.mark.parametrize("seed", range(4))
def test_rows_keep_the_largest_of_all_tiles_in_any_order(seed: int) -> None:
    """Seventy columns and two chunks in one tile, thirty in the other; the second column is that of sample 10."""
    whole, own = tile_of(6, 100, seed), np.array([10, -1, 45, 109, 60, 81])
    expected = [largest(row, np.arange(10, 110), i) for row, i in zip(whole, own, strict=True)]
    for tiles in ((0, 70), (70, 0)):
        keys, counts, thresholds = buffers(6)
        for start in tiles:
            stop = 70 if start == 0 else 100
            scan_rows(bits_of(whole[:, start:stop].copy()), own, 10 + start, M, keys, counts, thresholds)
        np.testing.assert_array_equal(columns_of(keys, counts), expected)
        fourth = np.sort(np.abs(whole), axis=1)[:, -M - 1]
        assert (thresholds.view(np.float32) >= np.minimum(fourth, 0.4)).all()  # full buffers let little in


@pytest.mark.parametrize("seed", range(4))
def test_picked_rows_and_columns_are_those_of_the_samples(seed: int) -> None:
    tile, rng = tile_of(3, 50, seed), np.random.default_rng(seed)
    slots, columns = np.array([4, 0, 2]), rng.permutation(200)[:50]
    own = np.array([columns[7], -1, columns[40]])
    keys, counts, thresholds = buffers(5)
    scan_listed(bits_of(tile), slots, own, columns, M, keys, counts, thresholds)
    found = columns_of(keys, counts)
    for a in range(3):
        assert found[slots[a]].tolist() == largest(tile[a], columns, own[a])
    assert counts[[1, 3]].tolist() == [0, 0]
    assert (found[[1, 3]] == -1).all()


@pytest.mark.parametrize("seed", range(4))
def test_columns_are_offered_every_row(seed: int) -> None:
    tile = tile_of(90, 40, seed)
    keys, counts, thresholds = buffers(40)
    for start in (50, 0):
        stop = 90 if start == 50 else 50
        scan_columns(bits_of(tile[start:stop].copy()), 5 + start, M, keys, counts, thresholds)
    expected = [largest(column, np.arange(5, 95), -1) for column in tile.T]
    np.testing.assert_array_equal(columns_of(keys, counts), expected)


def test_what_equals_the_threshold_is_taken_and_what_is_below_is_not() -> None:
    tile = np.zeros((1, 40), np.float32)
    tile[0, [0, 1, 2, 3, 35]] = 0.5, -0.25, 0.24, -0.5, 0.25  # the last one is the largest of its chunk
    limits, own = bits_of(np.array([0.25], np.float32)), np.array([-1])
    keys, counts, thresholds = buffers(1)
    scan_rows(bits_of(tile), own, 0, M, keys, counts, limits.copy())
    assert columns_of(keys, counts).tolist() == [[0, 3, 1, 35]]
    keys, counts, thresholds = buffers(1)
    scan_listed(bits_of(tile), np.array([0]), own, np.arange(40), M, keys, counts, limits.copy())
    assert columns_of(keys, counts).tolist() == [[0, 3, 1, 35]]
    tile = tile[:, :4].copy()
    keys, counts, thresholds = buffers(4)
    thresholds[:] = limits[0]
    scan_columns(bits_of(tile), 9, M, keys, counts, thresholds)
    assert counts.tolist() == [1, 1, 0, 1]
    assert columns_of(keys, counts)[:, 0].tolist() == [9, 9, -1, 9]


@pytest.mark.parametrize("rank", [1, 3, 8])
def test_rows_start_at_their_entry_of_the_rank_asked_for(rank: int) -> None:
    tile, thresholds = tile_of(5, 8), np.zeros(5, np.int32)
    guess_thresholds(bits_of(tile), rank, np.zeros(8, np.uint64), thresholds)
    np.testing.assert_array_equal(thresholds.view(np.float32), np.sort(np.abs(tile), axis=1)[:, -rank])


def test_keys_are_kept_largest_first_and_a_search_goes_on_from_them() -> None:
    tile = tile_of(3, 60)
    keys, counts, thresholds = buffers(3)
    scan_rows(bits_of(tile[:, :30].copy()), np.full(3, -1), 0, M, keys, counts, thresholds)
    kept = np.ones((3, M), np.uint64)
    finish_keys(M, keys, counts, kept)
    assert (kept[:, :-1] > kept[:, 1:]).all()
    again, counts, thresholds = buffers(3)
    again[:, :M], counts[:] = kept, M
    scan_rows(bits_of(tile[:, 30:].copy()), np.full(3, -1), 30, M, again, counts, thresholds)
    expected = [largest(row, np.arange(60), -1) for row in tile]
    np.testing.assert_array_equal(columns_of(again, counts), expected)
    finish_keys(M, keys, np.array([0, 1, 2]), kept)
    np.testing.assert_array_equal((kept > 0).sum(axis=1), [0, 1, 2])
    np.testing.assert_array_equal((columns_of(keys, np.array([0, 1, 2])) >= 0).sum(axis=1), [0, 1, 2])


def test_squared_distances_are_those_of_the_rows_and_a_missing_candidate_is_far() -> None:
    X = np.random.default_rng(0).standard_normal((6, 5)).astype(np.float32)
    candidates = np.array([[0, 3, -1], [5, -1, 4]], np.int32)
    squared = np.zeros((2, 3), np.float32)
    take_squared_distances(X, candidates, squared)
    expected = ((X[candidates] - X[:2, None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(squared, np.where(candidates < 0, np.inf, expected), rtol=1e-6)
    assert squared[0, 0] == 0


def test_partners_stand_first_once_each_and_missing_places_are_passed() -> None:
    lists = np.array([[3, -1, 1], [0, 2, 3], [-1, -1, 0], [0, 1, 2]], np.int32)
    expected = [[1, 3, -1], [0, 2, 3], [3, 0, -1], [2, 0, 1]]
    np.testing.assert_array_equal(with_links(lists, [[0, 1], [2, 3], [3, 2]]), expected)
