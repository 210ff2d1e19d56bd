"""The modularity cut of a graph in blocks against that of the same graph in one process."""

from __future__ import annotations

import numpy as np
import pytest
from in_process import WORKERS, in_blocks, subspaces
from scipy.sparse import block_diag, csr_array
from sklearn.metrics import adjusted_rand_score

from masked_subspace.distributed import modularity
from masked_subspace.distributed.graph import GraphBlock
from masked_subspace.distributed.modularity import groups_for, groups_of_block, largest_groups, modularity_cut_blocks
from masked_subspace.distributed.tasks import Result, task
from masked_subspace.label.graph import affinity_matrix
from masked_subspace.label.modularity import modularity_cut
from masked_subspace.masks import NeighborMask
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.represent.representer import MaskedRepresenter

pytest.importorskip("dask.array")

N, K = 4000, 8


@pytest.fixture(scope="module")
def hard_graph() -> tuple[csr_array, np.ndarray, np.ndarray]:
    """Subspaces that nearly meet, so that parts and clusters are not the same; parts are ranges of one coordinate."""
    X, y = subspaces(N, K, dim=4, ambient=10, noise=0.3)
    order = np.argsort(np.abs(X[:, 0]), kind="stable")
    X, y = X[order] / np.linalg.norm(X[order], axis=1, keepdims=True), y[order]
    recipe = MaskedRepresenter(mask_weight=0.0, solver="sparse", hard_mask=NeighborMask(32, "exact"), n_jobs=1)
    Z = recipe.prepare(X, seed=0).represent(None).representation
    return affinity_matrix(Z, "top-k", n_links=5), X, y


def cut(W: csr_array, X: np.ndarray, bounds: list[int], n_clusters: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    rows: list[Result] = [task(np.array)(part.tolist(), dtype=np.float32) for part in np.split(X, bounds[1:-1])]
    labels, placed = modularity_cut_blocks(WORKERS, in_blocks(W, bounds), rows, n_clusters, "auto", seed)
    return np.concatenate(WORKERS.fetch(labels)), np.concatenate(WORKERS.fetch(placed))


@pytest.mark.parametrize("bounds", [[0, N], [0, 900, 2100, N]])
def test_accuracy_is_that_of_one_process(
    hard_graph: tuple[csr_array, np.ndarray, np.ndarray], bounds: list[int]
) -> None:
    W, X, y = hard_graph
    one = clustering_accuracy(y, modularity_cut(W, K, 0))
    labels, placed = cut(W, X, bounds, K)
    assert placed.all()
    assert one < 0.995, "too easy to tell cuts apart"
    assert clustering_accuracy(y, labels) >= one - 0.01
    np.testing.assert_array_equal(cut(W, X, bounds, K)[0], labels)


def test_moves_across_the_borders_of_parts_are_needed(
    hard_graph: tuple[csr_array, np.ndarray, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    W, X, y = hard_graph
    bounds = [0, 900, 2100, N]
    with_moves = clustering_accuracy(y, cut(W, X, bounds, K)[0])
    monkeypatch.setattr(modularity, "_ROUNDS", 0)
    assert clustering_accuracy(y, cut(W, X, bounds, K)[0]) < with_moves - 0.01


def cliques(sizes: list[int]) -> csr_array:
    return csr_array(block_diag([np.ones((size, size)) - np.eye(size) for size in sizes], format="csr", dtype="f4"))


def test_isolated_samples_have_no_label_and_pieces_cut_by_a_border_stay_whole() -> None:
    W = cliques([300, 300, 300, *[1] * 40])
    X = np.random.default_rng(0).standard_normal((940, 5)).astype(np.float32)
    labels, placed = cut(W, X, [0, 250, 620, 940], 3)
    np.testing.assert_array_equal(placed, np.arange(940) < 900)
    assert adjusted_rand_score(np.repeat([0, 1, 2], 300), labels[:900]) == 1
    assert (labels[900:] == -1).all()


def test_one_cluster_holds_everybody() -> None:
    labels, placed = cut(cliques([30, 30]), np.eye(60), [0, 20, 60], 1)
    assert placed.all()
    assert (labels == 0).all()


def test_where_most_samples_are_isolated_their_rows_decide() -> None:
    y = np.arange(400) % 2
    X = (4 * np.eye(2)[y] + 0.1 * np.random.default_rng(0).standard_normal((400, 2))).astype(np.float32)
    labels, placed = cut(cliques([40, 40, *[1] * 320]), X, [0, 150, 400], 2)
    assert placed.all()
    assert adjusted_rand_score(y, labels) == 1


def test_a_graph_with_fewer_communities_than_clusters_goes_to_the_spectral_cut() -> None:
    X = np.random.default_rng(0).standard_normal((8, 3)).astype(np.float32)
    for n_clusters in (3, 5, 8):
        labels, _ = cut(cliques([4, 4]), X, [0, 4, 8], n_clusters)
        assert len(np.unique(labels)) == n_clusters


@pytest.mark.parametrize("most", [20, 150])
def test_a_part_has_as_many_groups_as_it_may_and_each_lies_in_one_cluster_so_far(
    hard_graph: tuple[csr_array, np.ndarray, np.ndarray], most: int
) -> None:
    W, _, y = hard_graph
    groups = groups_of_block(GraphBlock(W, []), y.astype(np.int32), most, 0)
    count = int(groups.max()) + 1
    assert most / 2 <= count <= most
    assert all(len(np.unique(y[groups == g])) == 1 for g in range(count))


def test_of_too_many_pieces_the_largest_are_groups() -> None:
    found = np.array([5, 5, 2, 2, 2, 7, -1, 9, 9])
    np.testing.assert_array_equal(largest_groups(found, 2), [1, 1, 0, 0, 0, -1, -1, -1, -1])
    W = cliques([3] * 50)
    groups = groups_of_block(GraphBlock(W, []), np.full(150, -1, dtype=np.int32), 10, 0)
    assert int(groups.max()) + 1 == 10


def test_the_graph_of_all_groups_is_bounded_whatever_the_number_of_samples() -> None:
    assert groups_for(1_000, 4) == 250
    assert groups_for(3, 4) == 1
    for n_parts in (4, 64, 512):
        assert n_parts * groups_for(2_000_000, n_parts) <= 100_000
