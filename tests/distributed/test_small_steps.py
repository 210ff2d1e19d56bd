"""Steps of a distributed fit that many easy samples do not notice: tolerances, blocks, graphs of lists, files."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from in_process import WORKERS
from scipy.sparse import csr_array

from masked_subspace.distributed import centres, lloyd, spectral, warm_up
from masked_subspace.distributed.centres import first_centres, trained_centres
from masked_subspace.distributed.eigen import _orthonormal, random_rows
from masked_subspace.distributed.graph import GraphBlock, scaled_block
from masked_subspace.distributed.lloyd import centre_sums, moved_centres, nearest_centre
from masked_subspace.distributed.plan import _bisect, make_plan
from masked_subspace.distributed.preparation import block_facts, learn_preparation
from masked_subspace.distributed.spectral import cluster_blocks
from masked_subspace.distributed.tasks import Workers, task
from masked_subspace.represent.neighbors.lists import list_centres, training_places

da = pytest.importorskip("dask.array")


def kept(parts: list[Any]) -> list[Any]:
    return WORKERS.keep([task(lambda part=part: part)() for part in parts])


def test_centres_move_until_they_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """From two bad centres of one cloud Lloyd needs several steps; a step moves them by less than the variance."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(400, 2)) * [3.0, 0.5]
    start = np.array([[4.0, 0.0], [7.0, 0.0]])
    expected, moved, steps = start, np.inf, 0
    while moved > 1e-4 * rows.var(axis=0).mean():
        sums = centre_sums(rows, expected)
        new = moved_centres([sums], expected)
        expected, moved, steps = new, ((new - expected) ** 2).sum(), steps + 1
    assert steps > 4
    monkeypatch.setattr(spectral, "best_centres", lambda *_: start)
    placed = [task(np.ones)(size, dtype=bool) for size in (150, 250)]
    labels = WORKERS.fetch(cluster_blocks(WORKERS, kept(np.split(rows, [150])), placed, [150, 250], 2, seed=0))
    np.testing.assert_array_equal(np.concatenate(labels), nearest_centre(rows, expected)[0])


def test_sums_do_not_depend_on_how_many_rows_are_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows, some = rng.normal(size=(50, 3)), rng.normal(size=(4, 3))
    whole = centre_sums(rows, some)
    monkeypatch.setattr(lloyd, "_PIECE", 7)
    monkeypatch.setattr(lloyd, "_TILE", 8)
    for mine, theirs in zip(centre_sums(rows, some), whole, strict=True):
        np.testing.assert_allclose(mine, theirs)


def test_columns_that_are_nearly_the_same_become_orthonormal() -> None:
    """One pass of Cholesky leaves what rounding to single precision makes of them; the second mends it."""
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(300, 3))
    Y = np.column_stack([Y, Y[:, 0] + 3e-4 * rng.normal(size=300)]).astype(np.float32)
    Q = np.concatenate(WORKERS.fetch(_orthonormal(kept(np.split(Y, [120]))))).astype(np.float64)
    np.testing.assert_allclose(Q.T @ Q, np.eye(4), atol=2e-6)
    np.testing.assert_allclose(Q @ (Q.T @ Y), Y, atol=1e-4)


def test_few_lists_are_trained_as_one_process_does_and_many_by_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6)).astype(np.float32)
    preparation = learn_preparation([block_facts(X)], center=False, normalize=True)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    blocks = [lambda part=part: part for part in np.split(X, [250])]
    blocks = [task(block)() for block in blocks]
    known = kept([preparation])[0]
    places, random = training_places(600, 12, 5)
    (found,) = WORKERS.fetch([trained_centres(blocks, [0, 250, 600], known, 12, 5)])
    np.testing.assert_allclose(found, list_centres(unit[places], 12, random), atol=1e-6)
    monkeypatch.setattr(centres, "_ONE_TASK", 11)
    (found,) = WORKERS.fetch([trained_centres(blocks, [0, 250, 600], known, 12, 5)])
    samples = [unit[places[places < 250]], unit[places[places >= 250]]]
    expected = first_centres(samples, 12, 5)
    assert len(np.unique(expected, axis=0)) == 12
    for _ in range(6):
        expected = moved_centres([centre_sums(sample, expected) for sample in samples], expected)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_lists_are_linked_to_enough_others_to_hang_together() -> None:
    """Centres in pairs along an arc: with the nearest alone each pair would be a piece of its own."""
    angle = np.sort(np.concatenate([np.linspace(0, 1.2, 12), np.linspace(0, 1.2, 12) + 0.004]))
    some = np.column_stack([np.cos(angle), np.sin(angle)]).astype(np.float32)
    for n_parts in (2, 3):
        plan = make_plan(some, [np.full(24, 100)], n_parts)
        assert np.count_nonzero(np.diff(plan.part_of)) == n_parts - 1


def test_lists_are_ordered_by_the_walk_and_not_by_its_stationary_weight() -> None:
    """A chain of heavy and light links: the second eigenvector of D⁻¹W runs along it without turning."""
    weight = np.array([9.0, 9, 1, 1, 9, 9, 1, 1, 9.0])
    W = np.diag(weight, 1) + np.diag(weight, -1)
    degree = W.sum(axis=1)
    values, vectors = np.linalg.eigh(W / np.sqrt(np.outer(degree, degree)))
    walk = vectors[:, np.argsort(-values)[1]] / np.sqrt(degree)
    order = np.argsort(walk)
    assert (np.diff(order) == 1).all() or (np.diff(order) == -1).all()
    for n_parts in (2, 3, 5):
        part_of = np.zeros(10, dtype=np.int32)
        _bisect(csr_array(W), np.ones(10, dtype=np.int64), np.arange(10), 0, n_parts, part_of)
        assert np.count_nonzero(np.diff(part_of)) == n_parts - 1


def test_a_file_is_read_in_blocks_of_64_megabytes(tmp_path: Path) -> None:
    from masked_subspace.distributed import open_rows

    path = tmp_path / "rows.npy"
    np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(2_500_000, 8))  # no byte is written
    assert open_rows(path).chunks[0] == (1 << 21, 2_500_000 - (1 << 21))
    assert open_rows(path, rows_a_block=2_000_000).chunks[0] == (2_000_000, 500_000)


def test_one_block_of_unknown_size_is_enough_to_refuse() -> None:
    from masked_subspace.distributed.fit import _check

    X = da.ones((600, 3), chunks=(300, 3))
    _check(X, 3, "auto", None)
    with pytest.raises(ValueError, match="blocks of unknown size"):
        _check(da.concatenate([X, X[X[:, 0] > 0]]), 3, "auto", None)


def test_a_cluster_has_a_hundred_samples_at_least_and_there_is_a_part_at_least() -> None:
    from masked_subspace.distributed.fit import _check

    _check(da.ones((300, 3)), 3, "spectral", 1)
    for n_samples, n_clusters, n_parts, said in (
        (299, 3, 1, "needs 300 at least"),
        (300, 0, 1, "n_clusters=0"),
        (300, 3, 0, "n_parts is 0"),
    ):
        with pytest.raises(ValueError, match=said):
            _check(da.ones((n_samples, 3)), n_clusters, "spectral", n_parts)


def test_every_source_file_must_be_older_than_the_kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "package"
    package.mkdir()
    for number, name in enumerate(("old.py", "__init__.py", "new.py")):
        (package / name).touch()
        os.utime(package / name, (1000 + number, 1000 + number))
    monkeypatch.setattr(warm_up, "masked_subspace", SimpleNamespace(__file__=str(package / "__init__.py")))
    sign = tmp_path / "sign"
    sign.touch()
    monkeypatch.setattr(warm_up, "_sign", lambda: sign)
    for moment, there in ((1001, False), (1002, True)):
        os.utime(sign, (moment, moment))
        assert warm_up._are_there() is there


def test_an_error_on_a_worker_is_raised_where_results_are_waited_for() -> None:
    asked: list[str] = []

    def future(name: str, status: str) -> Any:
        looks = iter([False, True])
        return SimpleNamespace(status=status, done=lambda: next(looks, True), result=lambda: asked.append(name))

    states = ("finished", "error", "finished", "cancelled")
    results: list[Any] = [SimpleNamespace(future=future(str(n), state)) for n, state in enumerate(states)]
    Workers(None).wait([*results, SimpleNamespace(future=None)])  # type: ignore[arg-type, list-item]
    assert asked == ["1", "3"]


def test_the_iteration_starts_at_zero_where_nobody_is_placed() -> None:
    placed = np.array([True, False, True, False])
    rows, other = random_rows(placed, 3, 0, 1), random_rows(placed, 3, 0, 2)
    assert not rows[~placed].any()
    assert rows[placed].all()
    assert not np.array_equal(rows, other)
    assert (rows.shape, rows.dtype) == ((4, 3), np.float32)


def test_degrees_below_one_scale_as_others_do() -> None:
    links = csr_array(np.array([[0, 0.25], [0.25, 0]], dtype=np.float32))
    scaled = scaled_block(GraphBlock(links, []), np.array([0.25, 0.25]), []).links.toarray()
    np.testing.assert_allclose(scaled, [[0, 1], [1, 0]])
