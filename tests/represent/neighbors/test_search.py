"""Neighbour lists: exact ones against sorting, approximate ones by recall, known pairs and enrichment by content."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.parallel.engine import SerialEngine
from masked_subspace.represent.neighbors.links import with_links
from masked_subspace.represent.neighbors.lists import nearest_by_lists
from masked_subspace.represent.neighbors.search import find_candidates, nearest_in, read_unit_rows


def subspace_rows(
    n_clusters: int, n_each: int, dim: int, ambient: int, seed: int = 0, noise: float = 0.05
) -> np.ndarray:
    rng = np.random.default_rng(seed)
    parts = [rng.standard_normal((n_each, dim)) @ rng.standard_normal((dim, ambient)) for _ in range(n_clusters)]
    X = np.concatenate([part / np.linalg.norm(part, axis=1, keepdims=True) for part in parts])
    X += noise * rng.standard_normal(X.shape) / np.sqrt(ambient)
    return (X / np.linalg.norm(X, axis=1, keepdims=True))[rng.permutation(len(X))]


def by_sorting(X: np.ndarray, m: int) -> np.ndarray:
    U = X.astype(np.float64) / np.linalg.norm(X, axis=1, keepdims=True)
    similarity = np.abs(U @ U.T)
    np.fill_diagonal(similarity, -1)
    return np.argsort(-similarity, axis=1, kind="stable")[:, :m]


@pytest.mark.parametrize("block_size", [None, 37, 500])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_exact_lists_are_those_of_sorting(block_size: int | None, n_threads: int) -> None:
    X = np.random.default_rng(1).standard_normal((611, 12))
    found = find_candidates(X, 20, search="exact", block_size=block_size, n_threads=n_threads)
    assert found.dtype == np.int32
    assert np.mean(found == by_sorting(X, 20)) > 0.999  # float32 may exchange near-ties


def test_guessed_thresholds_do_not_change_the_lists() -> None:
    # From 2048 rows on thresholds are guessed from a sample; clustered data make some guesses wrong.
    rng = np.random.default_rng(2)
    assert_lists_are_those_of_sorting(
        np.concatenate([rng.standard_normal((2500, 8)), 5 + 0.01 * rng.standard_normal((200, 8))])
    )


def test_thresholds_guessed_from_columns_that_are_near_each_other_do_not_change_the_lists() -> None:
    # Up to 1024 rows every sixth column is looked at: twenty of them are all that is near each other.
    rng = np.random.default_rng(2)
    X = rng.standard_normal((760, 8))
    X[: 20 * 6 : 6] = 5 + 0.01 * rng.standard_normal((20, 8))
    assert_lists_are_those_of_sorting(X)


def assert_lists_are_those_of_sorting(X: np.ndarray) -> None:
    found = find_candidates(X, 30, search="exact")
    expected = by_sorting(X, 30)
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    got = np.abs(np.einsum("id,ijd->ij", U, U[found]))
    best = np.abs(np.einsum("id,ijd->ij", U, U[expected]))
    np.testing.assert_allclose(got, best, atol=1e-6)


def test_the_largest_list_has_everyone_else_once() -> None:
    X = np.random.default_rng(3).standard_normal((50, 5)).astype(np.float32)
    found = find_candidates(X, 49)
    expected = np.array([np.delete(np.arange(50), i) for i in range(50)])
    np.testing.assert_array_equal(np.sort(found, axis=1), expected)


def test_ties_and_zero_rows_go_to_the_smaller_number() -> None:
    X = np.zeros((6, 3))
    X[:4] = [1.0, 0.0, 0.0]
    found = find_candidates(X, 3)
    np.testing.assert_array_equal(found[0], [1, 2, 3])
    np.testing.assert_array_equal(found[3], [0, 1, 2])
    np.testing.assert_array_equal(found[5], [0, 1, 2])


def test_memmap_gives_the_same_lists(tmp_path) -> None:
    X = np.random.default_rng(4).standard_normal((700, 9)).astype(np.float32)
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    for search in ("exact", "approximate"):
        np.testing.assert_array_equal(find_candidates(mapped, 10, search=search), find_candidates(X, 10, search=search))


def test_queries_find_themselves_unless_forbidden() -> None:
    X = np.random.default_rng(5).standard_normal((300, 7))
    free = nearest_in(X, X[40:60], 5)
    np.testing.assert_array_equal(free[:, 0], np.arange(40, 60))
    barred = nearest_in(X, X[40:60], 5, own=np.arange(40, 60))
    np.testing.assert_array_equal(barred[:, :4], free[:, 1:])


def test_approximate_lists_depend_on_the_seed_alone() -> None:
    X = subspace_rows(6, 700, 4, 30).astype(np.float32)
    first = find_candidates(X, 16, search="approximate", random_state=3)
    again = find_candidates(X, 16, search="approximate", random_state=3, n_threads=2)
    np.testing.assert_array_equal(first, again)
    assert (first >= 0).all()
    assert (first != np.arange(len(X))[:, None]).all()
    assert all(len(set(row)) == 16 for row in first.tolist())


def test_approximate_recall() -> None:
    X = subspace_rows(8, 1000, 4, 40, seed=1).astype(np.float32)
    exact = find_candidates(X, 16, search="exact")
    approximate = nearest_by_lists(X, 16, list_size=256)
    recall = np.mean([len(np.intersect1d(a, b)) / 16 for a, b in zip(exact, approximate, strict=True)])
    assert recall > 0.9
    # With every list probed the search is exact.
    everything = nearest_by_lists(X, 16, list_size=1000, n_probes=8)
    assert np.mean(everything == exact) > 0.999


def test_known_pairs_come_first() -> None:
    X = np.random.default_rng(6).standard_normal((40, 6))
    plain = find_candidates(X, 5)
    far = by_sorting(X, 39)[:, -1]
    linked = find_candidates(X, 5, must_link=np.array([[0, far[0]], [7, far[7]]]))
    assert linked.shape == plain.shape
    assert linked[0, 0] == far[0]
    assert 0 in linked[far[0]]
    np.testing.assert_array_equal(linked[7, 1:], plain[7, :4])


def test_more_partners_than_places_widen_the_lists() -> None:
    X = np.random.default_rng(7).standard_normal((20, 6))
    pairs = np.array([[3, j] for j in range(20) if j != 3])
    linked = with_links(find_candidates(X, 4), pairs)
    assert linked.shape == (20, 19)
    np.testing.assert_array_equal(np.sort(linked[3]), np.delete(np.arange(20), 3))
    assert linked[0, 0] == 3
    assert (linked[0, 5:] == -1).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"m": 10}, "from 1 to 9"),
        ({"m": 0}, "from 1 to 9"),
        ({"m": 2.5}, "whole number"),
        ({"m": 3, "search": "fast"}, "search is 'fast'"),
        ({"m": 3, "must_link": [[0, 10]]}, "names sample 10"),
        ({"m": 3, "must_link": [[0.5, 1.0]]}, "whole numbers"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        find_candidates(np.random.default_rng(0).standard_normal((10, 3)), **arguments)


def test_a_vector_is_refused() -> None:
    with pytest.raises(ValueError, match="X has 1 dimensions"):
        find_candidates(np.ones(10), 3)


def test_a_pair_of_a_sample_with_itself_adds_nothing() -> None:
    lists = np.array([[1, 2], [2, 0], [0, 1]], dtype=np.int32)
    np.testing.assert_array_equal(with_links(lists, [[0, 0], [2, 2]]), lists)
    np.testing.assert_array_equal(with_links(lists, [[0, 0], [0, 2]]), [[2, 1], [2, 0], [0, 1]])


@pytest.mark.parametrize("exponent", [-1000, -300, -100, -66, -62, -49, -40, 40, 49, 62, 100, 1000, 1022])
def test_unit_rows_do_not_depend_on_the_unit(exponent: int) -> None:
    """A power of two rounds nothing; float32 and its squares end at 2⁻¹²⁶ and 2¹²⁸."""
    X = np.random.default_rng(0).standard_normal((20, 6))
    X[3] = 0
    X[:, 5] *= 2.0**-10
    unit = read_unit_rows(X, 0, 20)
    np.testing.assert_allclose(np.delete(np.linalg.norm(unit, axis=1), 3), 1, rtol=1e-6)
    np.testing.assert_array_equal(read_unit_rows(X * 2.0**exponent, 0, 20), unit)
    assert not unit[3].any()


def test_the_inverted_file_works_on_the_engine_that_it_is_given() -> None:
    asked = []

    class Noted(SerialEngine):
        def run(self, *given, **how):
            asked.append(given[0].__name__)
            return super().run(*given, **how)

    X = np.random.default_rng(5).standard_normal((300, 7))
    found = find_candidates(X, 5, search="approximate", engine=Noted())
    assert len(asked) > 0
    np.testing.assert_array_equal(found, find_candidates(X, 5, search="approximate"))
