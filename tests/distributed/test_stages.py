"""Every stage of a distributed fit against the same stage in one process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from in_process import WORKERS, in_blocks, subspaces
from scipy.sparse import csr_array, vstack
from sklearn.metrics import adjusted_rand_score

from masked_subspace._common.rows import leading_eigenpairs
from masked_subspace.distributed import candidates
from masked_subspace.distributed.candidates import find_candidates
from masked_subspace.distributed.eigen import leading_eigenvectors
from masked_subspace.distributed.graph import BlockGraph, build_graph, normalized
from masked_subspace.distributed.pieces import placed_samples
from masked_subspace.distributed.shuffle import Parts, ids_of, rows_of, shuffle_by_list
from masked_subspace.distributed.solve import decide_settings, solve_parts
from masked_subspace.distributed.spectral import cluster_blocks
from masked_subspace.distributed.tasks import task
from masked_subspace.label.graph import affinity_matrix, large_pieces, normalized_graph
from masked_subspace.masks import NeighborMask
from masked_subspace.represent.neighbors.lists import nearest_by_lists
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.represent.sparse.solve import solve_sparse

da = pytest.importorskip("dask.array")

M = 24
REPRESENTER: dict[str, Any] = {"mask_weight": 0.0, "tol": 1e-5}


def shuffled(X: np.ndarray, n_parts: int, block: int = 1000) -> Parts:
    lazy = da.from_array(X, chunks=(block, X.shape[1]))
    options = {"center": False, "normalize": True, "seed": 5, "n_parts": n_parts}
    blocks = lazy.to_delayed().ravel().tolist()
    return shuffle_by_list(WORKERS, blocks, list(lazy.chunks[0]), X.shape[1], M, options)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = subspaces(4200)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    return X, unit, y


@pytest.fixture(scope="module")
def parts(data: Any) -> Parts:
    return shuffled(data[0], 3)


def ids(parts: Parts) -> np.ndarray:
    return np.concatenate(WORKERS.fetch([task(ids_of)(pile) for pile in parts.piles]))


def whole(graph: BlockGraph) -> csr_array:
    """The blocks put together again."""
    bounds = np.concatenate([[0], np.cumsum(graph.sizes)])
    rows = []
    for p, block in enumerate(WORKERS.fetch(graph.blocks)):
        columns = np.concatenate(
            [np.arange(bounds[p], bounds[p + 1]), *(h + bounds[q] for q, h in enumerate(block.halo))]
        )
        links = block.links
        rows.append(csr_array((links.data, columns[links.indices], links.indptr), shape=(block.n_own, bounds[-1])))
    return csr_array(vstack(rows))


def random_graph(n: int, seed: int, alone: int = 0) -> csr_array:
    """Four groups of samples with a few links each, some of them across; the last `alone` samples have none."""
    rng = np.random.default_rng(seed)
    source = np.repeat(np.arange(n - alone), 6)
    group = np.arange(n) % 4
    target = 4 * rng.integers(0, (n - alone) // 4, len(source)) + group[source]
    across = rng.random(len(source)) < 0.02
    target[across] = rng.integers(0, n - alone, across.sum())
    kept = (source != target) & (target < n - alone)
    A = csr_array((rng.random(kept.sum(), dtype=np.float32) + 0.1, (source[kept], target[kept])), shape=(n, n))
    return csr_array((A + A.T) / 2)


def test_parts_hold_every_sample_once_list_by_list(data: Any, parts: Parts) -> None:
    X, unit, _ = data
    names = ids(parts)
    np.testing.assert_array_equal(np.sort(names), np.arange(len(X)))
    rows = np.concatenate(WORKERS.fetch([task(rows_of)(pile) for pile in parts.piles]))
    np.testing.assert_allclose(rows, unit[names], atol=1e-6)
    home = np.concatenate([pile.probes[:, 0] for pile in WORKERS.fetch(parts.piles)])
    for number, (start, count) in enumerate(zip(parts.plan.starts, parts.plan.counts, strict=True)):
        assert (home[start : start + count] == number).all()
        assert (np.diff(names[start : start + count]) > 0).all()
    sizes = np.diff(parts.plan.offsets)
    assert len(sizes) == 3
    assert sizes.min() > 0


def test_the_order_does_not_depend_on_the_blocks_of_the_input(data: Any, parts: Parts) -> None:
    other = shuffled(data[0], 3, block=330)
    np.testing.assert_array_equal(ids(other), ids(parts))


def test_candidates_are_those_of_one_process(data: Any, parts: Parts) -> None:
    _, unit, _ = data
    names = ids(parts)
    found = np.concatenate(WORKERS.fetch(find_candidates(parts, M)))
    assert found.min() >= 0
    mine = np.empty_like(found)
    mine[names] = names[found]
    expected = nearest_by_lists(unit, M, random_state=5)
    # Products of other shapes round differently, so the last places may be taken by others equally far.
    agree = [len(np.intersect1d(a, b)) for a, b in zip(mine, expected, strict=True)]
    assert np.mean(agree) > 0.999 * M
    near = np.abs(np.einsum("ij,ikj->ik", unit[:200], unit[mine[:200]]))
    assert (np.diff(near, axis=1) <= 1e-6).all()


def test_tasks_of_fewer_samples_find_the_same_candidates(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    whole_parts = np.concatenate(WORKERS.fetch(find_candidates(parts, M)))
    monkeypatch.setattr(candidates, "_ROWS_AT_ONCE", 333)
    np.testing.assert_array_equal(np.concatenate(WORKERS.fetch(find_candidates(parts, M))), whole_parts)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")
def test_a_part_may_be_empty() -> None:
    """Of nine lists three have samples where only three rows differ, so that most of eight parts have none."""
    rng = np.random.default_rng(0)
    found = shuffled(rng.standard_normal((3, 12))[rng.integers(0, 3, 5000)].astype(np.float32), 8)
    sizes = [found.plan.size(p) for p in range(8)]
    assert 0 in sizes
    near = WORKERS.keep(find_candidates(found, M))
    assert [one.shape for one in WORKERS.fetch(near)] == [(size, M) for size in sizes]
    (settings,) = WORKERS.keep([decide_settings(found, near, REPRESENTER, 5)])
    links = solve_parts(found, near, settings, 5)
    assert [one.shape for one in WORKERS.fetch(links)] == [(size, 5000) for size in sizes]
    assert build_graph(WORKERS, found, links).sizes == sizes


def test_the_graph_and_lambda_are_those_of_one_process(data: Any, parts: Parts) -> None:
    _, unit, _ = data
    names = ids(parts)
    candidates = WORKERS.keep(find_candidates(parts, M))
    (settings,) = WORKERS.keep([decide_settings(parts, candidates, REPRESENTER, 5)])
    mine = whole(build_graph(WORKERS, parts, solve_parts(parts, candidates, settings, 5)))
    assert abs(mine - mine.T).max() < 1e-6

    expected_candidates = nearest_by_lists(unit, M, random_state=5)
    recipe = MaskedRepresenter(**REPRESENTER, solver="sparse", hard_mask=NeighborMask(M, "approximate"), n_jobs=1)
    expected_settings = recipe.prepare(unit, seed=5).settings
    assert WORKERS.fetch([settings])[0].sparsity == pytest.approx(expected_settings.sparsity, rel=1e-3)
    Z = solve_sparse(unit, expected_settings, candidates=expected_candidates).representation
    expected = affinity_matrix(Z, "top-k", n_links=5)[names][:, names]
    differing = abs(mine - expected) > 1e-3
    assert differing.nnz <= 0.002 * expected.nnz


def test_eigenvectors_are_those_of_one_process() -> None:
    W = random_graph(3000, 1)
    graph = in_blocks(W, [0, 900, 2100, 3000])
    S = normalized(graph)
    placed = [task(np.ones)(size, dtype=bool) for size in graph.sizes]
    values, vectors = leading_eigenvectors(WORKERS, S, placed, 4, seed=0, tol=1e-4)
    expected, vectors_expected = leading_eigenpairs(normalized_graph(W), 4, tol=1e-4)
    np.testing.assert_allclose(WORKERS.fetch([values])[0], expected, atol=1e-5)
    V = np.concatenate(WORKERS.fetch(vectors)).astype(np.float64)
    np.testing.assert_allclose(V.T @ V, np.eye(4), atol=1e-5)
    # The same space: a rotation of one is the other.
    np.testing.assert_allclose(V @ (V.T @ vectors_expected), vectors_expected, atol=1e-3)


def test_small_pieces_are_found_across_blocks() -> None:
    n = 1200
    chain = csr_array((np.ones(n - 1, dtype=np.float32), (np.arange(n - 1), np.arange(1, n))), shape=(n, n)).tolil()
    for cut in (400, 800, 810, 1199):  # pieces of 400, 400, 10, 389 and 1
        chain[cut - 1, cut] = 0
    W = csr_array(chain.tocsr())
    W.eliminate_zeros()
    W = csr_array(W + W.T)
    for n_clusters, most in ((2, 8), (2, 2), (3, 3), (4, 1), (5, 5)):
        flags = np.concatenate(WORKERS.fetch(placed_samples(in_blocks(W, [0, 250, 805, 1200]), n_clusters, most)))
        np.testing.assert_array_equal(flags, large_pieces(W, n_clusters, most))


def test_k_means_in_blocks() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 3000)
    rows = (6 * np.eye(3)[y] + rng.standard_normal((3000, 3))).astype(np.float32)
    blocks = WORKERS.keep([task(lambda part=part: part)() for part in np.array_split(rows, 4)])
    sizes = [750] * 4
    placed = [task(np.ones)(size, dtype=bool) for size in sizes]
    labels = np.concatenate(WORKERS.fetch(cluster_blocks(WORKERS, blocks, placed, sizes, 3, seed=0)))
    assert adjusted_rand_score(y, labels) > 0.99
    one = np.concatenate(WORKERS.fetch(cluster_blocks(WORKERS, blocks, placed, sizes, 1, seed=0)))
    assert (one == 0).all()
