"""Cuts of a graph in blocks: when rounds end, what steps are asked for, who is placed and who gives samples away."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from in_process import WORKERS, in_blocks
from numpy.polynomial import chebyshev
from scipy.linalg import block_diag
from scipy.sparse import csr_array

from masked_subspace._common import rows as common_rows
from masked_subspace.distributed import eigen, modularity, spectral
from masked_subspace.distributed.eigen import leading_eigenvectors
from masked_subspace.distributed.graph import normalized
from masked_subspace.distributed.modularity import modularity_cut_blocks
from masked_subspace.distributed.spectral import cluster_blocks, spectral_cut
from masked_subspace.distributed.tasks import Result, task

pytest.importorskip("dask.array")


class EnoughError(Exception):
    """Raised where a test has seen enough."""


def kept(parts: list[Any]) -> list[Any]:
    return WORKERS.keep([task(lambda part=part: part)() for part in parts])


def fetched(results: list[Result]) -> np.ndarray:
    return np.concatenate(WORKERS.fetch(results))


def random_graph(n: int, alone: int = 0) -> csr_array:
    """The last `alone` samples have no link."""
    A = np.random.default_rng(0).random((n - alone, n - alone)) ** 4
    return csr_array(np.pad((A + A.T) / 2, (0, alone)).astype(np.float32))


@pytest.mark.parametrize("cut", [0.3, -0.5, 0.95])
def test_the_filter_is_a_polynomial_of_chebyshev_on_what_is_to_be_damped(cut: float) -> None:
    """T₁₄ of the line that takes [−1, cut] to [−1, 1], in the eigenvectors of the graph."""
    W = random_graph(30).astype(np.float64)
    S = normalized(in_blocks(W, [0, 12, 30]))
    degree = np.asarray(W.sum(axis=1))
    values, vectors = np.linalg.eigh(W.toarray() / np.sqrt(np.outer(degree, degree)))
    Y = np.random.default_rng(1).standard_normal((30, 4))
    found = fetched(eigen._filtered(S, kept(np.split(Y, [12])), cut))
    grown = chebyshev.chebval((values - (cut - 1) / 2) / ((cut + 1) / 2), [0] * 14 + [1])
    np.testing.assert_allclose(found, (vectors * grown) @ (vectors.T @ Y), rtol=1e-6, atol=1e-6 * np.abs(grown).max())


def test_eigenvectors_are_found_with_the_numbers_of_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (eigen._DEGREE, eigen._ROUNDS) == (common_rows._DEGREE, common_rows._ROUNDS)
    widths, cuts = [], []
    monkeypatch.setattr(
        eigen, "random_rows", lambda flags, width, *_: widths.append(width) or np.zeros((len(flags), 1))
    )
    monkeypatch.setattr(eigen, "_filtered", lambda _S, Y, cut: (cuts.append(cut), WORKERS.keep(Y), enough()))
    graph = in_blocks(random_graph(6), [0, 6])
    for k in (1, 40, 100, 119, 200):
        with pytest.raises(EnoughError):
            leading_eigenvectors(WORKERS, graph, kept([np.ones(6, dtype=bool)]), k, seed=0, tol=1.0)
    # Ten more than asked for, a tenth more of many; first all below .3 is damped.
    assert widths == [11, 50, 110, 130, 220]
    assert set(cuts) == {0.3}


def enough(*_given: Any, **_named: Any) -> Any:
    raise EnoughError


@pytest.mark.parametrize(("errors", "rounds"), [([3.0, 0.9, 0.1], 2), ([3.0, 1.0, 0.1], 3), ([9.0] * 99, 30)])
def test_rounds_end_below_the_tolerance_and_after_thirty(
    monkeypatch: pytest.MonkeyPatch, errors: list[float], rounds: int
) -> None:
    cuts, filtered, left = [], eigen._filtered, iter(errors)
    monkeypatch.setattr(eigen, "_filtered", lambda S, Y, cut: cuts.append(cut) or filtered(S, Y, cut))
    monkeypatch.setattr(eigen, "progress", lambda *_: (next(left), 0.1 + 0.01 * len(cuts)))
    graph = in_blocks(random_graph(24), [0, 10, 24])
    placed = kept([np.ones(10, dtype=bool), np.ones(14, dtype=bool)])
    values, vectors = leading_eigenvectors(WORKERS, graph, placed, 2, seed=0, tol=1.0)
    assert len(cuts) == rounds
    np.testing.assert_allclose(cuts, [0.3, *(0.1 + 0.01 * np.arange(1, rounds))])  # each round has a better cut
    assert WORKERS.fetch([values])[0].shape == (2,)
    assert [one.shape for one in WORKERS.fetch(vectors)] == [(10, 2), (14, 2)]


def test_one_cluster_holds_also_who_has_no_link() -> None:
    graph, rows = in_blocks(random_graph(9, alone=2), [0, 4, 9]), kept([np.zeros((4, 2)), np.zeros((5, 2))])
    found, placed = modularity_cut_blocks(WORKERS, graph, rows, 1, "auto", 0)
    assert fetched(placed).all()
    assert not fetched(found).any()


@pytest.mark.parametrize(("left", "taken"), [(5, True), (4, False)])
def test_a_round_that_leaves_less_than_half_of_a_cluster_is_not_taken(
    monkeypatch: pytest.MonkeyPatch, left: int, taken: bool
) -> None:
    start = np.repeat(np.arange(2, dtype=np.int32), 10)
    monkeypatch.setattr(modularity, "moved_labels", lambda *_: (np.arange(20) >= 20 - left).astype(np.int32))
    graph = in_blocks(random_graph(20), [0, 20])
    cut = task(lambda: (np.zeros(0, dtype=np.int32), 1.0))()
    found = fetched(modularity._settled(WORKERS, graph, kept([start]), cut, 2))
    np.testing.assert_array_equal(found, np.arange(20) >= 20 - left if taken else start)


@pytest.mark.parametrize(("alone", "by_rows"), [(20, False), (21, True)])
def test_rows_decide_where_more_than_half_of_the_samples_are_isolated(
    monkeypatch: pytest.MonkeyPatch, alone: int, by_rows: bool
) -> None:
    """In both cuts; which samples these are does not matter."""
    asked: list[Any] = []

    def clustered(_workers: Any, rows: Any, placed: list[Result], *_: Any) -> list[Result]:
        asked.append((rows, fetched(placed)))
        return placed

    n = 40
    half = (n - alone) // 2
    cliques = [np.ones((size, size)) - np.eye(size) for size in (half, n - alone - half)]
    W = csr_array(np.pad(block_diag(*cliques), (0, alone)).astype(np.float32))
    graph, rows = in_blocks(W, [0, 25, n]), kept([np.zeros((25, 2)), np.zeros((15, 2))])
    for module, function, arguments in (
        (spectral, spectral_cut, (2, None, 0)),
        (modularity, modularity_cut_blocks, (2, None, 0)),
    ):
        monkeypatch.setattr(module, "cluster_blocks", clustered)
        asked.clear()
        _, placed = function(WORKERS, graph, rows, *arguments)
        found = fetched(placed)
        np.testing.assert_array_equal(found, np.ones(n, bool) if by_rows else np.arange(n) < n - alone)
        if by_rows:
            assert asked[0][0] is rows
            assert asked[0][1].all()


@pytest.mark.parametrize(("n_components", "vectors", "soft"), [(None, 3, None), (5, 5, None), ("auto", 12, 3)])
def test_the_spectral_cut_asks_for_vectors_as_one_process_does(
    monkeypatch: pytest.MonkeyPatch, n_components: Any, vectors: int, soft: int | None
) -> None:
    asked: list[Any] = []

    def noted(_workers: Any, _S: Any, placed: list[Result], k: int, **how: Any) -> Any:
        asked.append((k, how, fetched(placed)))
        raise EnoughError

    monkeypatch.setattr(spectral, "leading_eigenvectors", noted)
    graph = in_blocks(random_graph(100, alone=4), [0, 25, 100])
    for large, tol in ((96, 1e-4), (95, 1e-3)):
        monkeypatch.setattr(spectral, "_LARGE", large)
        with pytest.raises(EnoughError):
            spectral_cut(WORKERS, graph, [], 3, n_components, 8)
        k, how, placed = asked.pop()
        assert (k, how) == (vectors, {"seed": 8, "tol": tol, "weigh_for": soft})
        np.testing.assert_array_equal(placed, np.arange(100) < 96)
    # No more than there are samples.
    few = in_blocks(csr_array(np.pad(np.ones((4, 4), dtype=np.float32), (0, 1))), [0, 5])
    with pytest.raises(EnoughError):
        spectral_cut(WORKERS, few, [], 3, 9, 8)
    assert asked.pop()[0] == 5


@pytest.mark.parametrize(("moves", "steps"), [([1.0, 1e-4], 2), ([1.0, 1.1e-4, 0.0], 3), ([1.0] * 99, 30)])
def test_centres_rest_at_a_ten_thousandth_or_after_thirty_steps(
    monkeypatch: pytest.MonkeyPatch, moves: list[float], steps: int
) -> None:
    left, made = iter(moves), []
    move = spectral.moved_centres
    monkeypatch.setattr(spectral, "relative_move", lambda *_: next(left))
    monkeypatch.setattr(spectral, "moved_centres", lambda sums, old: made.append(1) or move(sums, old))
    rows = np.random.default_rng(0).standard_normal((40, 2))
    placed = kept([np.ones(25, dtype=bool), np.ones(15, dtype=bool)])
    cluster_blocks(WORKERS, kept(np.split(rows, [25])), placed, [25, 15], 2, seed=0)
    assert len(made) == steps


def test_centres_start_from_a_sample_of_twenty_thousand_and_of_500_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(spectral, "_shares", lambda _rows, _placed, _sizes, wanted: asked.append(wanted) or enough())
    for n_clusters in (2, 40, 41):
        with pytest.raises(EnoughError):
            cluster_blocks(WORKERS, [], [], [50_000], n_clusters, 0)
    assert asked == [20_000, 20_000, 20_500]


def test_empty_clusters_take_one_sample_each_of_the_part_that_has_most() -> None:
    """Seven rows of one cluster in parts of 2 and 5, three empty clusters; the last sample of a giver stays."""
    parts = kept([np.zeros(2, np.int32), np.zeros(5, np.int32)])
    placed = kept([np.ones(2, dtype=bool), np.ones(5, dtype=bool)])
    found = WORKERS.fetch(spectral._none_empty(WORKERS, parts, placed, 4))
    assert found[0].tolist() == [0, 0]
    assert sorted(found[1].tolist()) == [0, 0, 1, 2, 3]
    assert spectral._none_empty(WORKERS, parts, placed, 1) is parts
    small = kept([np.zeros(1, np.int32), np.zeros(1, np.int32)])
    flags = kept([np.ones(1, dtype=bool), np.ones(1, dtype=bool)])
    found = WORKERS.fetch(spectral._none_empty(WORKERS, small, flags, 4))
    assert sorted(np.concatenate(found).tolist()) == [0, 1]  # two samples, and no more clusters than that


def test_communities_are_found_where_no_resolution_gives_a_number_between_the_limits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of counts below the most the largest is taken, and one above it only where all are."""
    from masked_subspace.label import modularity_kernels

    block = SimpleNamespace(links=csr_array(np.ones((40, 40), dtype=np.float32)), n_own=40)
    for counts, expected in (([40, 2, 30, 4, 25, 3], 4), ([40, 30, 38], 10), ([3, 2, 1], 3)):
        asked: list[float] = []

        def found(_inner: Any, resolution: float, _order: Any, asked: Any = asked, counts: Any = counts) -> Any:
            asked.append(resolution)
            return np.arange(40) % counts[(len(asked) - 1) % len(counts)]

        monkeypatch.setattr(modularity_kernels, "find_communities", found)
        groups = modularity.groups_of_block(block, np.zeros(40, np.int32), 10, 0)  # type: ignore[arg-type]
        assert int(groups.max()) + 1 == expected
        assert len(asked) == 12
        assert asked[0] == 10.0


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([30, 30, 30, 7], [10, 10 / 8, 10 / 64, 10 / 512]),
        ([3, 3, 3, 7], [10, 80, 640, 5120]),
        ([30, 3, 30, 7], [10, 10 / 8, np.sqrt(10 * 10 / 8), (10 * 10 / 8) ** 0.25 * np.sqrt(10 / 8)]),
        ([5], [10]),
        ([10], [10]),
        ([11, 4, 10], [10, 10 / 8, np.sqrt(10 * 10 / 8)]),
    ],
)
def test_the_resolution_is_searched_by_eighths_and_then_between_two_bounds(
    monkeypatch: pytest.MonkeyPatch, counts: list[int], expected: list[float]
) -> None:
    from masked_subspace.label import modularity_kernels

    asked: list[float] = []
    monkeypatch.setattr(
        modularity_kernels,
        "find_communities",
        lambda _inner, resolution, _order: asked.append(resolution) or np.arange(40) % counts[len(asked) - 1],
    )
    block = SimpleNamespace(links=csr_array(np.ones((40, 40), dtype=np.float32)), n_own=40)
    modularity.groups_of_block(block, np.zeros(40, np.int32), 10, 0)  # type: ignore[arg-type]
    np.testing.assert_allclose(asked, expected)


def test_sums_and_products_do_not_depend_on_how_many_rows_are_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    Y, SY, factor = rng.standard_normal((25, 4)), rng.standard_normal((25, 4)), rng.standard_normal((4, 4))
    values = rng.standard_normal(4)
    monkeypatch.setattr(eigen, "_PIECE", 7)
    np.testing.assert_allclose(eigen.cross_sums(Y, SY), Y.T @ SY)
    np.testing.assert_allclose(eigen.times(Y, factor), Y @ factor)
    expected = ((SY @ factor[:, :3] - Y[:, :3] * values[:3]) ** 2).sum(axis=0)
    np.testing.assert_allclose(eigen.squared_errors(Y, SY, (values, factor), 3), expected)
    single = eigen.times(Y.astype(np.float32), factor)
    assert single.dtype == np.float32


def test_each_of_two_passes_starts_from_the_clusters_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[Any]] = []

    def cut_once(_workers: Any, _graph: Any, found: list[Result], n_clusters: int, seed: int) -> Any:
        started.append([*(one.tolist() for one in WORKERS.fetch(found)), n_clusters, seed])
        return kept([np.array([0, 1, 0], np.int32), np.array([1, 1], np.int32)]), "cut"

    def settled(_workers: Any, _graph: Any, found: list[Result], cut: Any, n_clusters: int) -> Any:
        assert (cut, n_clusters) == ("cut", 2)
        return kept([1 - one for one in WORKERS.fetch(found)])

    monkeypatch.setattr(modularity, "_cut_once", cut_once)
    monkeypatch.setattr(modularity, "_settled", settled)
    graph = in_blocks(random_graph(5), [0, 3, 5])
    found, placed = modularity_cut_blocks(WORKERS, graph, [], 2, None, 9)
    assert started == [[[-1, -1, -1], [-1, -1], 2, 9], [[1, 0, 1], [0, 0], 2, 9]]
    assert fetched(found).tolist() == [1, 0, 1, 0, 0]
    assert fetched(placed).all()
