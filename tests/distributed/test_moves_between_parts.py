"""What travels between parts, by value: whose rows are asked for, who looks where, which links arrive."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.distributed.candidates import export_lists, numbers_of
from masked_subspace.distributed.centres import first_centres, train_in_one, training_rows
from masked_subspace.distributed.graph import symmetric_block, transposed_links
from masked_subspace.distributed.pieces import first_numbers, inner_pieces, large_groups, numbered
from masked_subspace.distributed.plan import Plan
from masked_subspace.distributed.preparation import block_facts, learn_preparation, prepared
from masked_subspace.distributed.shuffle import Pile, default_parts, gather_part, home_counts, looked_into, split_block
from masked_subspace.distributed.solve import (
    Stretch,
    draw_rule_sample,
    foreign_numbers,
    local_numbers,
    sampled_candidates,
    solve_links,
    wanted_rows,
)
from masked_subspace.represent.model import AdmmSettings

PLAN = Plan.of(np.array([0, 1, 0], dtype=np.int32), np.array([2, 3, 1]))  # samples 0, 1, 2 in part 0, 3, 4, 5 in part 1


def pile(probes: list[list[int]], first: int = 0) -> Pile:
    count = len(probes)
    rows = np.arange(2 * count, dtype=np.float32).reshape(count, 2) + 1
    return Pile(rows, np.array(probes, dtype=np.int32), np.arange(first, first + count))


def test_rows_are_centred_by_the_mean_of_all_blocks_and_bad_ones_named() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 3)).astype(np.float32) + 5
    facts = [block_facts(X[:4]), block_facts(X[4:])]
    unit = learn_preparation(facts, center=True, normalize=True)
    centred = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    np.testing.assert_allclose(prepared(X, unit), centred / np.linalg.norm(centred, axis=1)[:, None], atol=1e-5)
    plain = learn_preparation(facts, center=False, normalize=False)
    np.testing.assert_array_equal(prepared(X, plain), X)
    bad = X.copy()
    bad[2] = np.nan
    with pytest.raises(ValueError, match="first at row 6"):
        learn_preparation([block_facts(X[:4]), block_facts(bad)], center=True, normalize=True)
    bad[2] = 0
    with pytest.raises(ValueError, match="row of zeros, row 6"):
        learn_preparation([block_facts(X[:4]), block_facts(bad)], center=False, normalize=True)
    with pytest.raises(ValueError, match="constant"):
        learn_preparation([block_facts(np.ones((3, 2))), block_facts(np.ones((1, 2)))], center=True, normalize=True)


def test_training_samples_are_those_drawn_of_the_whole_input() -> None:
    X = np.arange(20, dtype=np.float32).reshape(10, 2) + 1
    drawn = (np.array([1, 4, 5, 8]), np.random.RandomState(0))
    plain = learn_preparation([block_facts(X)], center=False, normalize=False)
    np.testing.assert_array_equal(training_rows(X[:5], plain, drawn, 0), X[[1, 4]])
    np.testing.assert_array_equal(training_rows(X[5:], plain, drawn, 5), X[[5, 8]])
    centres = first_centres([X[:3], X[3:]], 4, seed=1)
    places = np.sort(np.random.default_rng(1).choice(10, 4, replace=False))
    np.testing.assert_array_equal(centres, X[places])


def test_a_task_that_runs_again_trains_the_same_centres() -> None:
    """The generator belongs to another task's result and stays as it was."""
    X = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    drawn = (np.arange(60), np.random.RandomState(0))
    once, again = (train_in_one([X[:30].copy(), X[30:].copy()], 4, drawn) for _ in range(2))
    np.testing.assert_array_equal(once, again)
    assert drawn[1].randint(1000) == np.random.RandomState(0).randint(1000)


def test_a_part_has_64_mb_of_rows() -> None:
    assert default_parts(1_000_000, 160, 1_953) == 10  # 640 MB
    assert default_parts(1_000, 10, 100) == 4
    assert default_parts(1_000, 10, 2) == 2
    assert default_parts(10**9, 1_000, 1 << 14) == 512


def test_samples_go_to_the_part_of_their_home_and_stand_there_list_by_list() -> None:
    first, second = pile([[2, 1], [0, 1], [1, 2]]), pile([[1, 0], [0, 2], [1, 2]], first=3)
    assert home_counts(first, 3).tolist() == [1, 1, 1]
    flags = looked_into(first, PLAN)
    np.testing.assert_array_equal(flags, [[True, True, True], [False, True, True]])
    split = [split_block(one, PLAN) for one in (first, second)]
    assert split[0][0].ids.tolist() == [0, 1]
    part = gather_part([one[0] for one in split], PLAN)
    assert part.ids.tolist() == [1, 4, 0]  # list 0 before list 2, inside a list as given
    assert part.probes[:, 0].tolist() == [0, 0, 2]
    np.testing.assert_array_equal(part.rows, [first.rows[1], second.rows[1], first.rows[0]])
    assert gather_part([one[1] for one in split], PLAN).ids.tolist() == [2, 3, 5]


def test_lists_travel_at_unit_length_one_after_the_other() -> None:
    part = pile([[0, 1], [0, 1], [2, 1]])
    sent = export_lists(part, PLAN, 0, np.array([2, 0]))
    expected = part.rows[[2, 0, 1]]
    np.testing.assert_allclose(sent.rows, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)
    assert sent.part == 0


def test_keys_stand_for_the_complement_of_their_column() -> None:
    low = np.uint64(0xFFFFFFFF)
    keys = np.array([[(np.uint64(9) << np.uint64(32)) | (low - np.uint64(7)), 0]], dtype=np.uint64)
    assert numbers_of(keys).tolist() == [[7, -1]]


def test_candidates_elsewhere_are_asked_for_by_part() -> None:
    candidates = np.array([[1, 4], [5, -1], [0, 1]], dtype=np.int32)
    foreign = foreign_numbers(candidates, PLAN, Stretch(0, 0, 2))
    assert foreign.tolist() == [4, 5]
    assert foreign_numbers(candidates, PLAN, Stretch(0, 2, 3)).tolist() == []
    assert local_numbers(foreign, PLAN, 1).tolist() == [1, 2]
    assert local_numbers(foreign, PLAN, 0).tolist() == []


def test_the_rule_s_samples_and_all_their_candidates_are_fetched() -> None:
    places, found = sampled_candidates(
        np.array([[3, -1], [4, 0], [1, 1]]), np.array([10, 11, 12]), np.array([10, 12, 99])
    )
    assert (places.tolist(), found.tolist()) == ([0, 2], [[3, -1], [1, 1]])
    other = (np.array([2]), np.array([[0, 5]]))
    assert wanted_rows([(places, found), other], PLAN).tolist() == [0, 1, 2, 3, 5]


def test_the_rule_looks_at_the_samples_that_one_process_would_draw() -> None:
    keys = np.random.default_rng(0).normal(size=300)
    ids = np.arange(300)
    parts = [(ids[::2], keys[::2]), (ids[1::2], keys[1::2])]
    expected = np.sort(np.argsort(keys)[np.random.default_rng(3).choice(300, 128, replace=False)])
    np.testing.assert_array_equal(draw_rule_sample(parts, 3), expected)
    assert draw_rule_sample([(np.arange(5), keys[:5])], 3).tolist() == [0, 1, 2, 3, 4]


def test_links_into_a_part_arrive_turned_round_and_are_halved() -> None:
    """L over six samples, three a part: each block is its rows of (L + Lᵀ)/2, its own samples first, then the halo."""
    rng = np.random.default_rng(0)
    L = np.where(rng.random((6, 6)) < 0.5, rng.random((6, 6)), 0)
    np.fill_diagonal(L, 0)
    rows = [csr_array(L[:3]), csr_array(L[3:])]
    W = (L + L.T) / 2
    for part, own, other in ((0, [0, 1, 2], [3, 4, 5]), (1, [3, 4, 5], [0, 1, 2])):
        arriving = [transposed_links(rows[source], PLAN, source, part) for source in (0, 1)]
        block = symmetric_block(rows[part], arriving, PLAN, part)
        linked = [j for j in other if W[own][:, j].any()]
        np.testing.assert_allclose(block.links.toarray(), W[np.ix_(own, own + linked)])
        assert block.halo[1 - part].tolist() == [j - other[0] for j in linked]
        assert block.halo[part].tolist() == []


def test_pieces_of_parts_are_joined_by_the_links_between_them() -> None:
    """Pieces of 3 + 2, 2 and 1 samples: with two clusters the last, below a tenth of the mean, does not count."""
    L = np.zeros((6, 6))
    L[0, 1] = L[1, 3] = L[3, 4] = 1.0
    block = symmetric_block(csr_array(L[:3]), [transposed_links(csr_array(L[:3]), PLAN, 0, 0)], PLAN, 0)
    assert inner_pieces(block).tolist() == [0, 0, 1]
    sizes = [np.array([30, 2]), np.array([28])]
    assert first_numbers(sizes) == [0, 2, 3]
    assert numbered(np.array([0, 1, 0]), [0, 2, 3], 1).tolist() == [2, 3, 2]
    apart = [(np.array([0, 1, 2]), np.array([0, 1, 2]), np.ones(3))]
    assert large_groups(sizes, apart, 2, 3).tolist() == [True, False, True]
    assert large_groups(sizes, apart, 3, 3).all()
    joined = [*apart, (np.array([1, 2]), np.array([2, 1]), np.ones(2))]
    assert large_groups(sizes, joined, 2, 3).all()


def test_links_of_some_samples_are_those_of_all_rows_in_one_place() -> None:
    from masked_subspace.label.graph import keep_largest, rows_by_maximum
    from masked_subspace.represent.sparse.solve import solve_sparse

    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 4)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    candidates = np.array([[j for j in range(6) if j != i] for i in range(6)], dtype=np.int32)
    candidates[1, 4] = -1
    settings = AdmmSettings(1e-3, penalty=1.0, penalty_growth=1.5)
    whole = solve_sparse(X, settings, candidates=candidates).representation
    expected = keep_largest(rows_by_maximum(csr_array(abs(whole))), 2)
    for start, stop in ((0, 2), (2, 3)):
        mine = Stretch(0, start, stop)
        foreign = foreign_numbers(candidates[:3], PLAN, mine)
        theirs = [X[foreign]]
        found = solve_links(X[:3], candidates[:3], PLAN, mine, foreign, theirs, settings, 2)
        np.testing.assert_allclose(found.toarray(), expected[start:stop].toarray(), atol=1e-4)
