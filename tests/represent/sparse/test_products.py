"""Products kept between rounds: the same bits, no second multiplication, and no store where it cannot help."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from masked_subspace import RMSC
from masked_subspace.masks.soft import LabelMask
from masked_subspace.parallel.engine import SerialEngine
from masked_subspace.represent.model import AdmmSettings, SolverResult
from masked_subspace.represent.neighbors.search import find_candidates
from masked_subspace.represent.sparse import block as sparse_block
from masked_subspace.represent.sparse.block import Gram, ProductStore
from masked_subspace.represent.sparse.solve import solve_sparse_many

QUICK = AdmmSettings(sparsity=5.5e-4, mask_weight=0.3, penalty=15.0, penalty_growth=2.0)


def problem(dtype: type = np.float32) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.standard_normal((30, 3)) @ rng.standard_normal((3, 40)) for _ in range(3)]).astype(dtype)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, find_candidates(X, 12), np.repeat(np.arange(3), 30)


# A store knows its samples by number, without their columns.
NONE = np.empty((0, 0), dtype=np.int32)


def no_more_gathering(*_: object) -> None:
    raise AssertionError("rows were gathered although their products are known")


def assert_same(one: SolverResult, other: SolverResult) -> None:
    np.testing.assert_array_equal(one.representation.indices, other.representation.indices)
    np.testing.assert_array_equal(one.representation.data, other.representation.data)
    np.testing.assert_array_equal(one.objective, other.objective)


@pytest.mark.parametrize("n_threads", [1, 2])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_later_round_multiplies_nothing_and_gives_the_same_bits(dtype, n_threads, monkeypatch) -> None:
    X, candidates, y = problem(dtype)
    store = ProductStore(len(X), 13, dtype)
    options = {"candidates": candidates, "n_threads": n_threads, "block_size": 16}
    solve_sparse_many(X, [QUICK], products=store, **options)
    expected = solve_sparse_many(X, [QUICK], soft_masks=LabelMask(y), **options)
    monkeypatch.setattr(sparse_block, "gather_rows", no_more_gathering)
    again = solve_sparse_many(X, [QUICK], soft_masks=LabelMask(y), products=store, **options)
    assert_same(expected[0], again[0])


def test_an_unknown_block_is_computed() -> None:
    store = ProductStore(90, 13, np.float32)
    assert store.read(NONE, 0, 5) is None
    store.write(2, np.zeros((3, 13, 13), dtype=np.float32))
    assert store.read(NONE, 2, 5) is not None
    assert store.read(NONE, 0, 5) is None


def test_noise_needs_the_rows_and_another_process_cannot_share() -> None:
    class FarEngine(SerialEngine):
        shares_memory = False

    X, candidates, _ = problem()
    store = ProductStore(len(X), 13, np.float32)
    solve_sparse_many(X, [replace(QUICK, noise=1.0)], candidates=candidates, products=store)
    solve_sparse_many(X, [QUICK], candidates=candidates, products=store, engine=FarEngine())
    assert store.read(NONE, 0, 1) is None


def test_a_store_for_other_candidates_is_refused() -> None:
    X, candidates, _ = problem()
    with pytest.raises(ValueError, match="products has shape"):
        solve_sparse_many(X, [QUICK], candidates=candidates, products=ProductStore(len(X), 9, np.float32))


def test_a_store_is_made_where_it_pays_and_fits(monkeypatch) -> None:
    wide, narrow = np.zeros((100, 40), dtype=np.float32), np.zeros((100, 20), dtype=np.float32)
    assert ProductStore.if_worthwhile(wide, 12) is not None
    assert ProductStore.if_worthwhile(narrow, 12) is None
    monkeypatch.setattr(sparse_block, "_MOST_BYTES", 100 * 13 * 7 * 4 - 1)
    assert ProductStore.if_worthwhile(wide, 12) is None


def test_the_rounds_of_a_fit_multiply_once(monkeypatch) -> None:
    X, _, _ = problem()
    written: list[int] = []
    write = ProductStore.write
    monkeypatch.setattr(ProductStore, "write", lambda store, start, H: (written.append(len(H)), write(store, start, H)))
    model = RMSC(3, members=1, solver="sparse", n_candidates=8, max_rounds=3, mask_tol=0, random_state=0)
    labels = model.fit(X).labels_
    assert sum(written) == len(X)
    monkeypatch.setattr(sparse_block, "_MOST_BYTES", 0)
    np.testing.assert_array_equal(model.fit(X).labels_, labels)
    assert sum(written) == len(X)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_all_products_at_once_give_the_solution_of_products_sample_by_sample(n_threads, monkeypatch) -> None:
    X, candidates, y = problem(np.float64)
    candidates[3, -2:] = -1
    gram = Gram.if_worthwhile(X, candidates.shape[1])
    options = {"candidates": candidates, "n_threads": n_threads, "soft_masks": LabelMask(y)}
    expected = solve_sparse_many(X, [QUICK], **options)[0].representation
    monkeypatch.setattr(sparse_block, "gather_rows", no_more_gathering)
    found = solve_sparse_many(X, [QUICK], products=gram, **options)[0].representation
    np.testing.assert_allclose(found.toarray(), expected.toarray(), atol=1e-12)


def test_products_of_all_pairs_are_for_few_samples() -> None:
    assert Gram.if_worthwhile(np.ones((169, 5)), 12) is not None
    assert Gram.if_worthwhile(np.ones((170, 5)), 12) is None
