"""Steps of a distributed fit where a limit is met exactly, a part is empty or lies between others, many are alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from in_process import WORKERS
from scipy.sparse import csr_array

from masked_subspace._common import rows as common_rows
from masked_subspace.distributed import candidates, labels, solve, sources
from masked_subspace.distributed.candidates import ForeignLists, export_lists, find_candidates, numbers_of, search_more
from masked_subspace.distributed.graph import symmetric_block, transposed_links
from masked_subspace.distributed.labels import attached
from masked_subspace.distributed.modularity import largest_groups
from masked_subspace.distributed.plan import Plan, _bisect
from masked_subspace.distributed.preparation import block_facts, learn_preparation
from masked_subspace.distributed.shuffle import Parts, Pile, any_of, gather_part, shuffle_by_list, split_block
from masked_subspace.distributed.solve import decide_settings, solve_parts
from masked_subspace.distributed.tasks import Result, task
from masked_subspace.represent.neighbors.list_sizes import list_numbers

pytest.importorskip("dask.array")


def kept(parts: list[Any]) -> list[Any]:
    return WORKERS.keep([task(lambda part=part: part)() for part in parts])


def shuffled(X: np.ndarray, n_parts: int | None, m: int = 24) -> Parts:
    options = {"center": False, "normalize": True, "seed": 5, "n_parts": n_parts}
    halves: list[Result] = [task(lambda part=part: part)() for part in np.array_split(X, 2)]
    sizes = [len(part) for part in np.array_split(X, 2)]
    return shuffle_by_list(WORKERS, halves, sizes, X.shape[1], m, options)


@pytest.fixture(scope="module")
def parts() -> Parts:
    return shuffled(np.random.default_rng(0).standard_normal((2100, 12)).astype(np.float32), 2)


def fetched(results: list[Result]) -> np.ndarray:
    return np.concatenate(WORKERS.fetch(results))


@pytest.mark.parametrize("at_once", ["_QUERIES_AT_ONCE", "_ROWS_AT_ONCE"])
def test_candidates_do_not_depend_on_how_many_samples_are_asked_at_once(
    parts: Parts, monkeypatch: pytest.MonkeyPatch, at_once: str
) -> None:
    expected = fetched(find_candidates(parts, 24))
    monkeypatch.setattr(candidates, at_once, 150)
    np.testing.assert_array_equal(fetched(find_candidates(parts, 24)), expected)


def test_links_do_not_depend_on_how_many_samples_are_solved_at_once(
    parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    near = WORKERS.keep(find_candidates(parts, 24))
    (settings,) = WORKERS.keep([decide_settings(parts, near, {"mask_weight": 0.0, "tol": 1e-4}, 5)])
    whole = WORKERS.fetch(solve_parts(parts, near, settings, 3))
    assert {int(np.diff(one.indptr).max()) for one in whole} == {3}
    monkeypatch.setattr(solve, "_ROWS_AT_ONCE", 400)
    for one, other in zip(WORKERS.fetch(solve_parts(parts, near, settings, 3)), whole, strict=True):
        assert one.has_sorted_indices
        differing = abs(one - other) > 1e-2
        assert differing.nnz <= 0.002 * other.nnz


def test_a_search_that_goes_on_leaves_the_keys_of_the_task_before_as_they_are(parts: Parts) -> None:
    """A task that runs again finds them so."""
    plan, (mine, theirs) = parts.plan, WORKERS.fetch(parts.piles)
    sent = export_lists(theirs, plan, 1, np.flatnonzero(plan.part_of == 1))
    keys = np.zeros((500, 24), dtype=np.uint64)
    found = search_more(keys, mine, plan, 0, (100, 600), sent)
    assert not keys.any()
    # Of the lists of part 1 into which they look, and of nobody else.
    numbers = numbers_of(found)
    assert ((numbers == -1) | (numbers >= plan.offsets[1])).all()
    looks = [plan.part_of[line] == 1 for line in mine.probes[100:600]]
    counts = [int(plan.counts[line[flags]].sum()) for line, flags in zip(mine.probes[100:600], looks, strict=True)]
    assert (numbers >= 0).sum(axis=1).tolist() == [min(24, count) for count in counts]


def test_who_looks_into_none_of_the_lists_that_came_keeps_its_candidates() -> None:
    plan = Plan.of(np.array([0, 1, 1], dtype=np.int32), np.array([2, 2, 2]))
    pile = Pile(np.ones((2, 3), np.float32), np.array([[0], [0]], dtype=np.int32), np.arange(2))
    keys = np.array([[7], [9]], dtype=np.uint64)
    came = ForeignLists(1, np.array([1]), np.ones((2, 3), np.float32))
    assert search_more(keys, pile, plan, 0, (0, 2), came) is keys
    # A list of that part into which somebody looks, but which did not come, offers nobody.
    looking = Pile(pile.rows, np.array([[0, 2], [0, 1]], dtype=np.int32), pile.ids)
    found = search_more(np.zeros((2, 2), dtype=np.uint64), looking, plan, 0, (0, 2), came)
    assert numbers_of(found).tolist() == [[-1, -1], [2, 3]]
    one = Pile(pile.rows, np.array([[0, 0], [0, 1]], dtype=np.int32), pile.ids)
    found = search_more(np.zeros((2, 2), dtype=np.uint64), one, plan, 0, (0, 2), came)
    assert numbers_of(found).tolist() == [[-1, -1], [2, 3]]


@pytest.mark.parametrize(
    ("value", "said"), [(np.nan, "first at row 4"), (np.inf, "first at row 4"), (0, "zeros, row 4")]
)
def test_a_bad_row_may_be_the_first_of_a_block(value: float, said: str) -> None:
    X = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)
    X[4] = value
    with pytest.raises(ValueError, match=said):
        learn_preparation([block_facts(X[:4]), block_facts(X[4:])], center=True, normalize=True)


def test_one_entry_is_enough_to_refuse_a_row_and_one_to_keep_it() -> None:
    X = np.ones((3, 2), dtype=np.float32)
    X[1, 0] = np.nan
    assert block_facts(X).infinite == 1
    X[1, 0] = 0
    assert (block_facts(X).infinite, block_facts(X).zero) == (-1, -1)
    X[1, 1] = 0
    assert block_facts(X).zero == 1
    assert block_facts(X.astype(np.int64)).zero == -1  # counts: a row without any is a sample


def test_rows_are_constant_only_if_no_feature_varies_and_they_are_centred() -> None:
    X = np.ones((4, 3), dtype=np.float32)
    learn_preparation([block_facts(X)], center=False, normalize=True)
    X[3, 1] = 2
    for cut in ([X], [X[:3], X[3:]]):
        learn_preparation([block_facts(block) for block in cut], center=True, normalize=True)


def test_a_row_at_the_mean_has_no_direction() -> None:
    """Twice the rounding of the length of the mean, of the features that vary."""
    X = np.array([[3.0, 4, 50], [5, 4, 50], [4, 3, 50], [4, 5, 50]], dtype=np.float32)
    found = learn_preparation([block_facts(X)], center=True, normalize=True)
    assert found.floor == pytest.approx(2 * np.finfo(np.float32).eps * np.hypot(4, 4))
    assert (found.view.name, found.normalize) == ("plain", True)
    plain = learn_preparation([block_facts(X)], center=False, normalize=False)
    assert (plain.view.name, plain.view.center, plain.normalize) == ("uncentered", False, False)


def test_a_part_between_others_has_samples_of_both_in_its_halo() -> None:
    """The first sample behind it and the last one before it are not its own."""
    rng = np.random.default_rng(0)
    L = (rng.random((9, 9)) * (rng.random((9, 9)) < 0.7)).astype(np.float32)
    L[3:6, [2, 6]] = 0.5
    plan = Plan.of(np.array([0, 1, 2], dtype=np.int32), np.array([3, 3, 3]))
    links, W = [csr_array(L[a : a + 3]) for a in (0, 3, 6)], (L + L.T) / 2
    for part in range(3):
        arriving = [transposed_links(links[q], plan, q, part) for q in range(3)]
        block = symmetric_block(links[part], arriving, plan, part)
        own = np.arange(3 * part, 3 * part + 3)
        foreign = [j for j in range(9) if j not in own and W[own, j].any()]
        np.testing.assert_allclose(block.links.toarray(), W[own][:, [*own, *foreign]])
        assert [(one + 3 * q).tolist() for q, one in enumerate(block.halo)] == [
            [j for j in foreign if j // 3 == q] for q in range(3)
        ]
        assert block.links.has_sorted_indices


def test_samples_of_a_part_stay_in_their_order_however_many_there_are() -> None:
    plan = Plan.of(np.array([0, 1, 0], dtype=np.int32), np.array([1000, 1000, 1000]))
    home = np.random.default_rng(0).integers(0, 3, 3000)
    pile = Pile(np.zeros((3000, 1), np.float32), home[:, None].astype(np.int32), np.arange(3000))
    for part, one in enumerate(split_block(pile, plan)):
        np.testing.assert_array_equal(one.ids, np.flatnonzero(plan.part_of[home] == part))
        expected = [np.flatnonzero(home == number) for number in range(3) if plan.part_of[number] == part]
        np.testing.assert_array_equal(gather_part([one], plan).ids, np.concatenate(expected))


def test_of_many_groups_of_one_size_the_first_are_taken() -> None:
    groups = largest_groups(np.repeat(np.arange(200), 2), 120)
    np.testing.assert_array_equal(groups, np.repeat(np.where(np.arange(200) < 120, np.arange(200), -1), 2))


def test_lists_that_lie_alike_are_parted_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five places for 400 lists; half of the samples lie before some of the third place."""
    place = np.random.default_rng(0).integers(0, 5, 400).astype(float)
    monkeypatch.setattr(
        common_rows, "leading_eigenpairs", lambda S, _: (None, np.column_stack([np.ones(S.shape[0]), place]))
    )
    part_of = np.full(400, -1, dtype=np.int32)
    _bisect(csr_array((400, 400)), np.ones(400, dtype=np.int64), np.arange(400), 0, 2, part_of)
    order = sorted(range(400), key=lambda one: (place[one], one))
    assert (np.diff(part_of[order]) >= 0).all()
    assert np.bincount(part_of).tolist() == [200, 200]


@pytest.mark.parametrize("alone", [[], [4], [0, 2, 3, 4, 6]])
def test_samples_without_links_ask_the_anchors_some_at_a_time(
    monkeypatch: pytest.MonkeyPatch, alone: list[int]
) -> None:
    rng = np.random.default_rng(0)
    rows, anchors = rng.standard_normal((7, 3)), (rng.standard_normal((5, 3)), np.arange(5, dtype=np.int32))
    placed = ~np.isin(np.arange(7), alone)
    cosine = np.abs(rows @ anchors[0].T) / np.linalg.norm(anchors[0], axis=1)
    expected = np.where(placed, 9, cosine.argmax(axis=1))
    monkeypatch.setattr(labels, "_ROWS_AT_ONCE", 2)
    np.testing.assert_array_equal(attached(np.full(7, 9, dtype=np.int32), placed, rows, anchors), expected)


def test_a_row_that_is_wider_than_a_block_is_a_block(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    np.save(tmp_path / "wide.npy", np.zeros((3, 8), dtype=np.float32))
    for size, chunks in ((31, (1, 1, 1)), (64, (2, 1)), (95, (2, 1)), (96, (3,))):
        monkeypatch.setattr(sources, "BLOCK_BYTES", size)
        assert sources.open_rows(tmp_path / "wide.npy").chunks[0] == chunks


def test_no_more_parts_than_lists_and_as_many_lists_looked_into_as_in_one_process(parts: Parts) -> None:
    """Four lists of 2,100 samples: two parts were asked for, as many as fit into memory, and ninety-nine."""
    X = np.random.default_rng(0).standard_normal((2100, 12)).astype(np.float32)
    assert [found.plan.n_parts for found in (parts, shuffled(X, None), shuffled(X, 99))] == [2, 4, 4]
    n_lists, n_probes = list_numbers(2100, 24)
    assert len(parts.plan.counts) == n_lists == 4
    for pile in WORKERS.fetch(parts.piles):
        assert pile.probes.shape[1] == n_probes == 4
        assert (np.sort(pile.probes, axis=1) == np.arange(4)).all()  # each list once
    few = shuffled(X, 2, m=2)
    assert {pile.probes.shape[1] for pile in WORKERS.fetch(few.piles)} == {list_numbers(2100, 2)[1]}


def test_the_lists_into_which_a_part_looks_are_those_of_all_blocks(parts: Parts) -> None:
    for p, pile in enumerate(WORKERS.fetch(parts.piles)):
        expected = np.isin(np.arange(len(parts.plan.counts)), pile.probes)
        np.testing.assert_array_equal(parts.looks_into[p], expected)
        np.testing.assert_array_equal(parts.plan.part_of[pile.probes[:, 0]], p)
    both = any_of([np.array([[True, False], [False, False]]), np.array([[True, True], [False, False]])])
    np.testing.assert_array_equal(both, [[True, True], [False, False]])


def test_a_price_that_was_given_is_not_searched(parts: Parts) -> None:
    near = WORKERS.keep(find_candidates(parts, 24))
    given = {"mask_weight": 0.0, "sparsity": 0.03, "penalty": 2.0, "penalty_growth": 1.4, "max_iter": 17, "tol": 1e-3}
    (settings,) = WORKERS.fetch([decide_settings(parts, near, given, 5)])
    assert {name: getattr(settings, name) for name in given} == given
    (found,) = WORKERS.fetch([decide_settings(parts, near, given | {"sparsity": "auto", "penalty": "auto"}, 5)])
    assert found.sparsity > 0
    assert found.penalty == pytest.approx(15)  # of rows of unit length
    assert (found.penalty_growth, found.max_iter, found.tol) == (1.4, 17, 1e-3)


def test_files_of_tables_are_cut_into_the_blocks_that_were_asked_for(tmp_path: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X = np.arange(70, dtype=np.int64).reshape(10, 7)
    table = pa.table({f"c{j}": X[:, j] if j else X[:, j].astype(np.float64) for j in range(7)})
    (tmp_path / "folder").mkdir()
    for file in ("rows.pq", "rows.parquet", "folder/one.parquet"):
        parquet.write_table(table, tmp_path / file, row_group_size=4)
    for path in ("rows.pq", "rows.parquet", "folder"):
        found = sources.open_rows(tmp_path / path)
        assert (found.chunks, found.dtype) == (((4, 4, 2), (7,)), np.float64)
        again = sources.open_rows(str(tmp_path / path), rows_a_block=3)
        assert again.chunks == ((3, 3, 3, 1), (7,))
        np.testing.assert_array_equal(again.compute(scheduler="synchronous"), X)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"or a folder of \.parquet files"):
        sources.open_rows(tmp_path / "empty")


def test_some_rows_of_a_file_are_read_and_no_others(tmp_path: Any) -> None:
    X = np.arange(60, dtype=np.float64).reshape(12, 5)
    for order in "CF":
        np.save(tmp_path / "rows.npy", np.asarray(X, order=order))
        found = sources.read_npy_rows(str(tmp_path / "rows.npy"), 3, 7)
        np.testing.assert_array_equal(found, X[3:7])
        assert not isinstance(found, np.memmap)
        assert found.flags.c_contiguous
