"""Single steps of a distributed fit by value, on a handful of numbers: easy samples would absorb an error in them."""

from __future__ import annotations

import numpy as np
import pytest
from in_process import WORKERS, in_blocks
from scipy.sparse import csr_array

from masked_subspace.distributed import labels as distributed_labels
from masked_subspace.distributed import modularity as distributed_modularity
from masked_subspace.distributed import spectral as distributed_spectral
from masked_subspace.distributed.eigen import (
    cross_sums,
    inverse_factor,
    product_block,
    progress,
    ritz_pairs,
    rotated_rows,
    squared_errors,
    times,
)
from masked_subspace.distributed.graph import (
    GraphBlock,
    scaled_block,
    summarized,
    symmetric_block,
    transposed_links,
)
from masked_subspace.distributed.labels import (
    attached,
    block_labels,
    cut_by_block,
    draw_anchors,
    first_seen,
    named_anchors,
    names_by_appearance,
)
from masked_subspace.distributed.lloyd import centre_sums, moved_centres, nearest_centre
from masked_subspace.distributed.modularity import (
    cluster_degrees,
    cluster_sizes,
    group_sizes,
    groups_for,
    inside_clusters,
    labels_by_group,
    largest_groups,
    moved_labels,
    numbered_groups,
)
from masked_subspace.distributed.plan import Plan, _bisect
from masked_subspace.distributed.shuffle import default_parts
from masked_subspace.distributed.spectral import (
    _shares,
    cluster_blocks,
    cluster_counts,
    embedding_rows,
    given_away,
    placed_sums,
    relative_move,
    sampled_places,
    vectors_wanted,
)
from masked_subspace.distributed.tasks import task
from masked_subspace.label.graph import diffusion_weights


def block_of(dense: list[list[float]], halo: list[list[int]]) -> GraphBlock:
    return GraphBlock(csr_array(np.array(dense, dtype=np.float32)), [np.array(one, dtype=np.int64) for one in halo])


def test_centres_move_to_the_means_of_the_placed_rows_of_all_parts() -> None:
    rng = np.random.default_rng(0)
    rows = [rng.normal(size=(n, 3)) + 4 for n in (30, 20)]
    placed = [np.arange(30) % 5 > 0, np.ones(20, dtype=bool)]
    centres = np.array([[3.0, 4, 4], [5.0, 4, 4], [90.0, 90, 90]])
    inside = np.vstack([one[flags] for one, flags in zip(rows, placed, strict=True)])
    labels = ((inside[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    sums = [placed_sums(one, flags, centres) for one, flags in zip(rows, placed, strict=True)]
    moved = moved_centres(sums, centres)
    means = [inside[labels == 0].mean(axis=0), inside[labels == 1].mean(axis=0), centres[2]]
    np.testing.assert_allclose(moved, means)  # nothing is near to the third: it stays
    assert sum(one[2] for one in sums) == pytest.approx(((inside - centres[labels]) ** 2).sum())
    # In units of the mean variance of a column, about the mean of the rows and not about 0.
    expected = ((moved - centres) ** 2).sum() / inside.var(axis=0).mean()
    assert relative_move(moved, centres, sums) == pytest.approx(expected)


def test_the_nearest_centre_and_how_far_it_is() -> None:
    rows, centres = np.array([[1.0, 1.0], [4.0, 0.0]]), np.array([[0.0, 0.0], [3.0, 0.0]])
    labels, squared = nearest_centre(rows, centres)
    assert labels.tolist() == [0, 1]
    np.testing.assert_allclose(squared, [2, 1])
    total, counts, inertia = centre_sums(rows, centres)
    np.testing.assert_allclose(total, rows)
    assert (counts.tolist(), inertia) == ([1, 1], 3.0)


def test_who_is_alone_asks_the_nearest_anchor_of_either_sign_whatever_its_length() -> None:
    rows = np.array([[1.0, 0.2], [-1.0, 0.1], [0.1, -2.0]], dtype=np.float32)
    anchors = np.array([[0.01, 0.0], [0.0, 5.0]], dtype=np.float32), np.array([7, 9], dtype=np.int32)
    labels, placed = np.array([3, 3, 3], dtype=np.int32), np.array([True, False, False])
    assert attached(labels, placed, rows, anchors).tolist() == [3, 7, 9]
    assert labels.tolist() == [3, 3, 3]


def test_clusters_are_named_in_the_order_of_the_input() -> None:
    firsts = [
        first_seen(np.array([2, 0, 2]), np.array([9, 4, 6]), 3),
        first_seen(np.array([1, 0]), np.array([5, 8]), 3),
    ]
    names = names_by_appearance(firsts)
    assert names.tolist() == [0, 1, 2]  # first samples 4, 5 and 6
    assert names_by_appearance([firsts[0][[2, 1, 0]], firsts[1][[2, 1, 0]]]).tolist() == [2, 1, 0]
    anchors = np.zeros((2, 1), dtype=np.float32), np.array([2, 1])
    assert named_anchors(anchors, np.array([5, 6, 7]))[1].tolist() == [7, 6]


def test_labels_return_to_the_blocks_of_the_input() -> None:
    """Blocks of 3 and 2 samples; one part holds samples 4, 0 and 2, the other 3 and 1."""
    pieces = [
        cut_by_block(np.array([10, 11, 12]), np.array([4, 0, 2]), [0, 3, 5]),
        cut_by_block(np.array([20, 21]), np.array([3, 1]), [0, 3, 5]),
    ]
    assert block_labels([one[0] for one in pieces], 3).tolist() == [11, 21, 12]
    assert block_labels([one[1] for one in pieces], 2).tolist() == [20, 10]


def test_an_empty_cluster_gets_the_first_placed_sample_of_its_giver() -> None:
    labels, placed = np.array([0, 0, 1, 0]), np.array([False, True, True, True])
    assert cluster_counts(labels, placed, 4).tolist() == [2, 1, 0, 0]
    assert given_away(labels, placed, np.array([[0, 2], [0, 3]])).tolist() == [0, 2, 1, 3]
    assert labels.tolist() == [0, 0, 1, 0]


def test_with_fewer_places_than_clusters_the_largest_give_samples_away() -> None:
    """Three rows in one place, one in another: four clusters have a sample each, two are the places."""
    rows = [np.ones((3, 2), dtype=np.float32), np.array([[9.0, 9.0]], dtype=np.float32)]
    blocks = WORKERS.keep([task(lambda part=part: part)() for part in rows])
    placed = [task(np.ones)(size, dtype=bool) for size in (3, 1)]
    labels = np.concatenate(WORKERS.fetch(cluster_blocks(WORKERS, blocks, placed, [3, 1], 4, seed=0)))
    assert sorted(labels) == [0, 1, 2, 3]
    labels = np.concatenate(WORKERS.fetch(cluster_blocks(WORKERS, blocks, placed, [3, 1], 2, seed=0)))
    assert labels[0] == labels[1] == labels[2] != labels[3]


def test_placed_samples_are_drawn_with_the_seed_and_part_by_part() -> None:
    placed = np.arange(40) % 2 == 0
    one, again, other, seed = (sampled_places(placed, 7, *key) for key in ((1, 0), (1, 0), (1, 1), (2, 0)))
    np.testing.assert_array_equal(one, again)
    assert len(set(one)) == 7
    assert (one % 2 == 0).all()
    assert (np.diff(one) > 0).all()
    assert not np.array_equal(one, other)
    assert not np.array_equal(one, seed)
    assert sampled_places(placed, 99, 1, 0).tolist() == list(range(0, 40, 2))


def test_as_many_vectors_as_in_one_process() -> None:
    assert [vectors_wanted(asked, 6) for asked in (None, 4, "auto")] == [6, 4, 24]
    vectors, values = np.random.default_rng(0).normal(size=(5, 4)), np.array([1.0, 0.9, 0.8, 0.1])
    plain = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(embedding_rows(vectors, values, None), plain)
    weights = diffusion_weights(values, 2)
    soft = vectors * weights
    soft = soft[:, weights > 0.01] / np.linalg.norm(soft[:, weights > 0.01], axis=1, keepdims=True)
    np.testing.assert_allclose(embedding_rows(vectors, values, 2), soft)


def test_a_part_has_a_group_for_four_samples_and_all_of_them_fit_into_one_task() -> None:
    assert [groups_for(size, 2) for size in (3, 4, 4_000, 40_000)] == [1, 1, 1_000, 8_000]
    assert groups_for(40_000, 50) == 2_000


def test_groups_are_numbered_by_their_first_sample_and_the_smallest_left_out() -> None:
    found = np.array([5, 2, 2, -1, 5, 2, 8, 9, 9])
    assert largest_groups(found, 9).tolist() == [1, 0, 0, -1, 1, 0, 2, 3, 3]
    assert largest_groups(found, 3).tolist() == [1, 0, 0, -1, 1, 0, -1, 2, 2]
    groups = largest_groups(found, 3)
    assert group_sizes(groups).tolist() == [3, 2, 2]
    assert numbered_groups(groups, [0, 40], 1).tolist() == [41, 40, 40, -1, 41, 40, -1, 42, 42]
    cut = (np.arange(43, dtype=np.int32)[::-1], 1.0)
    assert labels_by_group(numbered_groups(groups, [0, 40], 1), cut).tolist() == [1, 2, 2, -1, 1, 2, -1, 0, 0]


def test_links_between_clusters_are_no_links_of_groups() -> None:
    W = csr_array(np.array([[0, 1.0, 2.0], [1.0, 0, 3.0], [2.0, 3.0, 0]]))
    kept = inside_clusters(W, np.array([0, 1, 1])).toarray()
    np.testing.assert_array_equal(kept, [[0, 0, 0], [0, 0, 3], [0, 3, 0]])


def test_degrees_of_clusters_count_links_to_other_parts() -> None:
    block = block_of([[0, 1, 4], [1, 0, 0], [0, 0, 0.5]], [[], [3]])
    block = GraphBlock(csr_array(block.links[:2]), block.halo)
    assert cluster_degrees(block, np.array([1, -1]), 2).tolist() == [0, 5, 1]
    assert cluster_sizes(np.array([1, -1, 1]), 3).tolist() == [0, 2, 0]


def test_samples_move_at_the_resolution_of_the_cut() -> None:
    """Links of weight 1 to cluster 0 and .9 to cluster 1, whose degrees are 30 and 10: γ decides what that costs."""
    block = block_of([[0, 1.0, 0.9]], [[], [0, 1]])
    halo, totals = [np.array([0, 1])], np.array([30.0, 10.0, 0.0])
    for resolution, expected in ((0.01, 0), (1.0, 1)):
        cut = (np.zeros(0, dtype=np.int32), resolution)
        assert moved_labels(block, np.array([-1]), halo, totals, cut).tolist() == [expected]


def test_the_small_graph_sums_links_between_groups_and_leaves_out_samples_of_none() -> None:
    block = block_of([[0, 1, 2, 5], [1, 0, 3, 0], [2, 3, 0, 7]], [[], [0]])
    rows, columns, data = summarized(block, np.array([4, 4, -1]), [np.array([6])])
    found = {(int(a), int(b)): float(w) for a, b, w in zip(rows, columns, data, strict=True)}
    assert found == {(4, 4): 2.0, (4, 6): 5.0}


def test_rows_and_columns_are_divided_by_the_roots_of_their_degrees() -> None:
    block = block_of([[0, 2, 1], [2, 0, 0], [0, 0, 0]], [[], [0]])
    scaled = scaled_block(block, np.array([4.0, 9.0, 0.0]), [np.array([], dtype=float)]).links.toarray()
    np.testing.assert_allclose(scaled, [[0, 2 / 6, 1 / 2], [2 / 6, 0, 0], [0, 0, 0]], rtol=1e-6)


def test_a_product_takes_the_halo_in_its_order() -> None:
    block = block_of([[0, 2, 1], [2, 0, 0]], [[], [0]])
    Y, halo, less = (np.array(one, dtype=np.float32) for one in ([[1, 2], [3, 4]], [[5, 6]], [[1, 1], [2, 2]]))
    everyone = np.vstack([Y, halo])
    expected = 3 * block.links.toarray() @ everyone + 0.5 * Y
    np.testing.assert_allclose(product_block(block, Y, None, [halo], 3.0, 0.5), expected)
    np.testing.assert_allclose(product_block(block, Y, less, [halo], 3.0, 0.5), expected - less)
    np.testing.assert_array_equal(less, [[1, 1], [2, 2]])


def test_vectors_of_all_parts_become_orthonormal_and_turn_to_eigenvectors() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(40, 40))
    A = (A + A.T) / 2
    parts = np.split(rng.normal(size=(40, 5)), [15])
    factor = inverse_factor([cross_sums(one, one) for one in parts])
    Q = [times(one, factor) for one in parts]
    np.testing.assert_allclose(sum(one.T @ one for one in Q), np.eye(5), atol=1e-8)
    SQ = np.split(A @ np.vstack(Q), [15])
    values, rotation = ritz = ritz_pairs([cross_sums(y, sy) for y, sy in zip(Q, SQ, strict=True)])
    assert (np.diff(values) < 0).all()
    turned = [rotated_rows(one, ritz) for one in Q]
    whole = np.vstack(turned)
    np.testing.assert_allclose(whole.T @ A @ whole, np.diag(values), atol=1e-8)
    errors = [squared_errors(y, sy, ritz, 3) for y, sy in zip(turned, SQ, strict=True)]
    expected = np.linalg.norm(A @ whole[:, :3] - whole[:, :3] * values[:3], axis=0)
    np.testing.assert_allclose(np.sqrt(np.sum(errors, axis=0)), expected)
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(5), atol=1e-10)


def test_a_round_says_its_largest_error_and_the_next_cut() -> None:
    values = np.array([0.99, 0.9, 0.5, 0.3, 0.1])
    errors = [np.array([1e-4, 4e-4]), np.array([0.0, 5e-4])]
    worst, cut = progress((values, np.eye(5)), errors, 2, None)
    assert worst == pytest.approx(0.03)
    assert cut == 0.3  # half way between the vectors wanted and all of them
    weighted = np.sqrt([1e-4, 9e-4]) * diffusion_weights(values[:2], 1)
    assert progress((values, np.eye(5)), errors, 2, 1)[0] == pytest.approx(weighted.max())
    assert progress((np.full(5, 1.0), np.eye(5)), errors, 2, None)[1] == 0.999


def test_samples_are_numbered_part_by_part_and_list_by_list() -> None:
    plan = Plan.of(np.array([1, 0, 1, 0], dtype=np.int32), np.array([3, 4, 5, 6]))
    assert plan.starts.tolist() == [10, 0, 13, 4]
    assert plan.offsets.tolist() == [0, 10, 18]
    assert (plan.n_parts, plan.size(1)) == (2, 8)
    assert [one.tolist() for one in plan.cut(np.array([1, 9, 10, 17]))] == [[1, 9], [10, 17]]


def test_every_part_gives_its_share_of_a_sample() -> None:
    rows, placed = ["a", "b"], ["x", "y"]
    assert list(_shares(rows, placed, [30, 10], 20)) == [(0, ("a", "x", 15)), (1, ("b", "y", 5))]
    assert list(_shares(rows, placed, [31, 10], 20)) == [(0, ("a", "x", 16)), (1, ("b", "y", 5))]
    assert list(_shares(rows, placed, [30, 10], 400)) == [(0, ("a", "x", 30)), (1, ("b", "y", 10))]


def test_anchors_are_some_placed_samples_of_every_part(monkeypatch) -> None:
    monkeypatch.setattr(distributed_labels, "_ANCHORS", 6)
    monkeypatch.setattr(distributed_labels, "_ANCHORS_A_CLUSTER", 4)
    rows = [np.arange(20.0, dtype=np.float32)[:, None], np.arange(20.0, 30.0, dtype=np.float32)[:, None]]
    labels = [np.arange(20, dtype=np.int32) % 2, np.arange(10, dtype=np.int32) % 2]
    placed = [np.arange(20) < 18, np.ones(10, dtype=bool)]
    kept = [WORKERS.keep([task(lambda part=part: part)() for part in parts]) for parts in (rows, labels, placed)]
    for n_clusters, expected in ((1, (4, 2)), (2, (6, 3))):  # six of thirty; four for each of two clusters
        (found,) = WORKERS.fetch([draw_anchors(*kept, [20, 10], n_clusters, 3)])
        theirs, known = found
        first = theirs[:, 0] < 20
        assert (int(first.sum()), int((~first).sum())) == expected
        assert theirs[first].max() < 18
        np.testing.assert_array_equal(known, theirs[:, 0].astype(int) % 2)


def test_a_part_has_64_megabytes_of_rows_between_four_parts_and_512() -> None:
    assert default_parts(1_000, 10, 1_000) == 4
    assert default_parts(1 << 20, 64 * 4, 1_000) == 16
    assert default_parts((1 << 20) + 1, 64 * 4, 1_000) == 17
    assert default_parts(1 << 30, 64 * 4, 10_000) == 512
    assert default_parts(1 << 20, 64 * 4, 9) == 9


def test_constants_of_a_distributed_fit_are_those_of_one_process() -> None:
    assert (distributed_labels._ANCHORS, distributed_labels._ANCHORS_A_CLUSTER) == (20_000, 500)
    assert (distributed_spectral._SAMPLE, distributed_spectral._SAMPLE_A_CLUSTER) == (20_000, 500)
    assert (distributed_spectral._TOLERANCE, distributed_spectral._TOLERANCE_LARGE) == (1e-4, 1e-3)


@pytest.mark.parametrize(
    ("counts", "n_parts", "expected"),
    [
        ([1, 1, 1, 1, 1, 1], 2, {(0, 1, 2), (3, 4, 5)}),
        ([1, 1, 1, 1, 1, 5], 2, {(0, 1, 2, 3, 4), (5,)}),
        ([1, 1, 1, 1, 1, 1], 3, {(0, 1), (2, 3), (4, 5)}),
        ([9, 1, 1, 1, 1, 1], 6, {(0,), (1,), (2,), (3,), (4,), (5,)}),
    ],
)
def test_lists_are_parted_along_their_graph_by_the_samples_they_hold(counts, n_parts, expected) -> None:
    chain = np.diag(np.ones(5), 1) + np.diag(np.ones(5), -1)
    part_of = np.full(6, -1, dtype=np.int32)
    _bisect(csr_array(chain), np.array(counts), np.arange(6), 0, n_parts, part_of)
    found = {tuple(np.flatnonzero(part_of == part).tolist()) for part in range(n_parts)}
    assert found == expected


@pytest.mark.parametrize(("moves", "rounds"), [(2, 1), (3, 10)])
def test_rounds_of_moves_end_where_a_ten_thousandth_of_the_samples_moves(monkeypatch, moves, rounds) -> None:
    """Of 20,000 samples; after ten rounds in any case."""
    played = []

    def moved(_block, labels, *_):
        played.append(1)
        labels = labels.copy()
        labels[len(played) * 10 : len(played) * 10 + moves] = 1
        return labels

    monkeypatch.setattr(distributed_modularity, "moved_labels", moved)
    graph = in_blocks(csr_array((20_000, 20_000), dtype=np.float32), [0, 20_000])
    start = np.repeat([0, 1], 10_000)
    labels = WORKERS.keep([task(lambda: start)()])
    cut = task(lambda: (np.zeros(0, dtype=np.int32), 1.0))()
    (found,) = WORKERS.fetch(distributed_modularity._settled(WORKERS, graph, labels, cut, 2))
    assert len(played) == rounds
    assert int((found != start).sum()) == moves * rounds


def test_a_block_has_its_own_samples_first_and_those_of_other_parts_behind_them() -> None:
    """Two parts of three samples; links of the whole are made symmetric, and the last sample of each has none."""
    L = np.zeros((6, 6), dtype=np.float32)
    L[0, 1], L[1, 0], L[0, 4], L[3, 1], L[4, 3] = 2, 4, 6, 8, 10
    plan = Plan.of(np.array([0, 1], dtype=np.int32), np.array([3, 3]))
    links = [csr_array(L[:3]), csr_array(L[3:])]
    W = (L + L.T) / 2
    for part in range(2):
        arriving = [transposed_links(links[source], plan, source, part) for source in range(2)]
        block = symmetric_block(links[part], arriving, plan, part)
        foreign = [3, 4] if part == 0 else [0, 1]
        own = slice(3 * part, 3 * part + 3)
        np.testing.assert_array_equal(block.links.toarray(), np.hstack([W[own, own], W[own][:, foreign]]))
        assert [one.tolist() for one in block.halo] == ([[], [0, 1]] if part == 0 else [[0, 1], []])
    alone = symmetric_block(csr_array((3, 6), dtype=np.float32), [], plan, 0)
    assert alone.links.shape == (3, 3)
