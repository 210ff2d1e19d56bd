"""The sparse solver: Algorithm 1 exactly when everyone is a candidate; blocks, threads and company change nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.masks.base import SoftMask
from masked_subspace.masks.hard import PatternMask
from masked_subspace.masks.soft import ArrayMask, ConsensusMask, ConstantMask, LabelMask
from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.neighbors.search import find_candidates
from masked_subspace.represent.sparse.solve import represent_over, solve_sparse, solve_sparse_many
from reference import plain_admm

PAPER = AdmmSettings(sparsity=1e-3, mask_weight=0.05, penalty=0.1, penalty_growth=1.1)
QUICK = AdmmSettings(sparsity=5.5e-4, mask_weight=0.3, penalty=15.0, penalty_growth=2.0)
SMALL_START = AdmmSettings(sparsity=1e-3, mask_weight=1.0, penalty=1e-3, penalty_growth=1.3)


def rows(n_clusters: int = 4, n_each: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    parts = [rng.standard_normal((n_each, 3)) @ rng.standard_normal((3, 20)) for _ in range(n_clusters)]
    X = np.concatenate(parts) + 0.1 * rng.standard_normal((n_clusters * n_each, 20))
    return X / np.linalg.norm(X, axis=1, keepdims=True), np.repeat(np.arange(n_clusters), n_each)


def everyone(n: int) -> np.ndarray:
    return np.array([np.delete(np.arange(n), i) for i in range(n)], dtype=np.int32)


def masks(y: np.ndarray) -> dict[str, SoftMask | None]:
    rng = np.random.default_rng(8)
    prices = rng.uniform(0.2, 2.0, (len(y), len(y)))
    return {
        "none": None,
        "labels": LabelMask(y, 2.0),
        "consensus": ConsensusMask([y, rng.integers(0, 3, len(y)), y // 2], 1.5),
        "array": ArrayMask((prices + prices.T) / 2),
    }


@pytest.mark.parametrize("settings", [PAPER, QUICK, SMALL_START], ids=["paper", "quick", "small start"])
@pytest.mark.parametrize("mask_name", ["none", "labels", "consensus", "array"])
def test_with_everyone_as_candidate_it_is_algorithm_1(settings: AdmmSettings, mask_name: str) -> None:
    X, y = rows()
    mask = masks(y)[mask_name]
    expected = plain_admm(X, settings, prices=0.0 if mask is None else mask.block(0, len(X)))
    result = solve_sparse(X, settings, candidates=everyone(len(X)), soft_mask=mask, block_size=33)
    np.testing.assert_allclose(result.representation.toarray(), expected.Q * (1 - np.eye(len(X))), atol=1e-10)
    assert result.n_iter == expected.n_iter
    assert result.converged == expected.converged
    assert result.stopping_value == pytest.approx(expected.stopping_value, rel=1e-4)
    off_mask = np.abs(expected.Z - (1 - np.eye(len(X))) * expected.C).max()
    assert result.mask_residual == pytest.approx(off_mask, rel=1e-2, abs=1e-12)
    assert result.sparsity_residual == pytest.approx(np.abs(expected.Q - expected.Z).max(), rel=1e-2, abs=1e-12)


def test_hard_mask_is_obeyed_as_in_algorithm_1() -> None:
    X, y = rows()
    allowed = np.random.default_rng(1).uniform(size=(len(X), len(X))) < 0.7
    expected = plain_admm(X, QUICK, prices=LabelMask(y).block(0, len(X)), allowed=allowed)
    mask = PatternMask(allowed)
    result = solve_sparse(X, QUICK, candidates=everyone(len(X)), hard_mask=mask, soft_mask=LabelMask(y))
    np.testing.assert_allclose(
        result.representation.toarray(), np.where(allowed & ~np.eye(len(X), dtype=bool), expected.Q, 0), atol=1e-10
    )


@pytest.mark.parametrize(("noise", "outliers"), [(0.5, 0.002), (None, 0.02), (0.7, None)])
@pytest.mark.parametrize("settings", [PAPER, QUICK], ids=["paper", "quick"])
def test_noise_and_outliers_as_in_algorithm_1(settings: AdmmSettings, noise: float, outliers: float) -> None:
    X, y = rows()
    rng = np.random.default_rng(2)
    X[rng.integers(0, len(X), 30), rng.integers(0, X.shape[1], 30)] += 0.6
    settings = replace(settings, noise=noise, outliers=outliers)
    expected = plain_admm(X, settings, prices=LabelMask(y).block(0, len(X)))
    result = solve_sparse(X, settings, candidates=everyone(len(X)), soft_mask=LabelMask(y), block_size=33)
    np.testing.assert_allclose(result.representation.toarray(), expected.Q * (1 - np.eye(len(X))), atol=1e-10)
    assert (result.noise is None) == (noise is None)
    if result.noise is not None:
        np.testing.assert_allclose(result.noise, expected.noise, atol=1e-10)
    if result.outliers is not None:
        np.testing.assert_allclose(result.outliers.toarray(), expected.outliers, atol=1e-10)
        assert result.outliers.nnz > 0


@pytest.mark.parametrize("mask_name", ["none", "labels"])
def test_objective_is_the_one_of_the_problem(mask_name: str) -> None:
    X, y = rows()
    mask = masks(y)[mask_name]
    result = solve_sparse(X, replace(QUICK, tol=1e-9), candidates=find_candidates(X, 15), soft_mask=mask)
    Z = result.representation.toarray()
    prices = 0 if mask is None else QUICK.mask_weight * mask.block(0, len(X)) ** 2
    value = 0.5 * ((X - Z @ X) ** 2).sum() + QUICK.sparsity * np.count_nonzero(Z) + 0.5 * (prices * Z**2).sum()
    assert result.objective[-1] == pytest.approx(value, rel=1e-6)
    assert len(result.objective) == result.n_iter


def test_only_candidates_are_used() -> None:
    X, y = rows()
    candidates = find_candidates(X, 9)
    Z = solve_sparse(X, QUICK, candidates=candidates, soft_mask=LabelMask(y)).representation
    assert isinstance(Z, csr_array)
    assert Z.has_canonical_format
    assert all(set(Z[[i]].indices) <= set(candidates[i]) for i in range(len(X)))


def test_missing_candidates_are_as_if_never_asked() -> None:
    X, _ = rows()
    candidates = find_candidates(X, 6)
    padded = np.concatenate([candidates, np.full((len(X), 5), -1, dtype=np.int32)], axis=1)
    plain = solve_sparse(X, QUICK, candidates=candidates).representation
    np.testing.assert_allclose(
        solve_sparse(X, QUICK, candidates=padded).representation.toarray(), plain.toarray(), atol=1e-12
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_threads_and_company_change_no_bit(dtype: type) -> None:
    X, y = rows(seed=3)
    X = X.astype(dtype)
    candidates = find_candidates(X, 12)
    settings = [QUICK, replace(QUICK, penalty=4.0, penalty_growth=1.4), replace(QUICK, sparsity=2e-3, mask_weight=1.0)]
    kept = [None, LabelMask(y), ConstantMask(len(X))]
    alone = [
        solve_sparse(X, one, candidates=candidates, soft_mask=mask) for one, mask in zip(settings, kept, strict=True)
    ]
    for n_threads, block_size in ((1, None), (1, 7), (2, 16)):
        together = solve_sparse_many(
            X, settings, candidates=candidates, soft_masks=kept, n_threads=n_threads, block_size=block_size
        )
        for one, other in zip(alone, together, strict=True):
            assert one.representation.dtype == dtype
            assert one.n_iter == other.n_iter
            np.testing.assert_array_equal(one.representation.indices, other.representation.indices)
            np.testing.assert_allclose(one.representation.data, other.representation.data, rtol=1e-5)


def test_in_float64_every_block_of_every_setting_runs_as_long_as_the_longest() -> None:
    X, _ = rows(seed=3)
    candidates = find_candidates(X, 12)
    settings = [AdmmSettings(1e-3), AdmmSettings(1e-2, penalty=0.3)]
    together = solve_sparse_many(X, settings, candidates=candidates, block_size=10)
    for one, other in zip(settings, together, strict=True):
        alone = solve_sparse(X, one, candidates=candidates, block_size=len(X))
        np.testing.assert_allclose(other.representation.toarray(), alone.representation.toarray(), atol=1e-13)


def test_float32_follows_float64() -> None:
    X, y = rows(seed=4)
    candidates = find_candidates(X, 12)
    exact = solve_sparse(X, QUICK, candidates=candidates, soft_mask=LabelMask(y)).representation
    single = solve_sparse(X.astype(np.float32), QUICK, candidates=candidates, soft_mask=LabelMask(y)).representation
    np.testing.assert_allclose(single.toarray(), exact.toarray(), atol=2e-5)


def test_progress_hears_of_every_block() -> None:
    X, _ = rows()
    heard: list[int] = []
    solve_sparse(
        X.astype(np.float32),
        QUICK,
        candidates=find_candidates(X, 5),
        block_size=30,
        progress=lambda k, _: heard.append(k),
    )
    assert heard == [30, 60, 80]


def test_new_samples_are_rebuilt_by_their_own_cluster() -> None:
    X, y = rows(n_each=40)
    new, truth = X[::4], y[::4]
    known = np.delete(X, np.s_[::4], axis=0)
    labels = np.delete(y, np.s_[::4])
    Z = represent_over(known, new, QUICK, n_candidates=20)
    assert Z.shape == (len(new), len(known))
    weight = np.stack([np.asarray(abs(Z[:, labels == k]).sum(axis=1)).ravel() for k in range(4)], axis=1)
    assert np.mean(weight.argmax(axis=1) == truth) > 0.95


def test_a_known_sample_finds_itself() -> None:
    X, _ = rows()
    Z = represent_over(X, X[5:8], replace(QUICK, sparsity=1e-3), n_candidates=10).toarray()
    np.testing.assert_array_equal(np.abs(Z).argmax(axis=1), [5, 6, 7])


def test_new_samples_solve_the_problem_without_a_diagonal() -> None:
    # With every row of the dictionary as candidate and no mask this is Algorithm 1 for X_new ≈ Z D, written out here.
    X, _ = rows()
    D, new, s = X[:50], X[50:60], QUICK
    Z = C = Q = U1 = U2 = np.zeros((10, 50))
    mu, change = s.penalty, np.inf
    while not change < s.tol:
        Z_new = (new @ D.T - U1 + mu * C + U2 + mu * Q) @ np.linalg.inv(D @ D.T + 2 * mu * np.eye(50))
        C_new = (U1 + mu * Z_new) / mu
        T = Z_new - U2 / mu
        Q_new = np.where(np.abs(T) > np.sqrt(2 * s.sparsity / mu), T, 0)
        change = max(np.abs(Z_new - Z).max(), np.abs(C_new - C).max(), np.abs(Q_new - Q).max())
        U1, U2 = U1 + mu * (Z_new - C_new), U2 + mu * (Q_new - Z_new)
        Z, C, Q, mu = Z_new, C_new, Q_new, mu * s.penalty_growth
    np.testing.assert_allclose(represent_over(D, new, s, n_candidates=50).toarray(), Q, atol=1e-5)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"candidates": np.zeros((3, 2), dtype=np.int32)}, "candidates has shape"),
        ({"candidates": np.full((80, 2), 80, dtype=np.int32)}, "names sample 80"),
        ({"n_threads": 0}, "n_threads is 0"),
    ],
)
def test_wrong_arguments_are_named(change: dict, words: str) -> None:
    X, _ = rows()
    with pytest.raises(ValueError, match=words):
        solve_sparse(X, QUICK, **{"candidates": find_candidates(X, 3)} | change)


def test_masks_and_settings_must_match() -> None:
    X, y = rows()
    candidates = find_candidates(X, 3)
    with pytest.raises(ValueError, match="2 entries for 1 settings"):
        solve_sparse_many(X, [QUICK], candidates=candidates, soft_masks=[LabelMask(y), None])
    with pytest.raises(ValueError, match="settings_list is empty"):
        solve_sparse_many(X, [], candidates=candidates)
    with pytest.raises(ValueError, match="X_new has 3 features"):
        represent_over(X, np.ones((2, 3)), QUICK)
