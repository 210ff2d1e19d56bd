"""Stepwise moves: the end is a fixed point of every move, near the best of all supports, below ADMM's value."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from masked_subspace.masks.hard import PatternMask
from masked_subspace.masks.soft import LabelMask
from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.neighbors.search import find_candidates
from masked_subspace.represent.sparse.solve import solve_sparse

SETTINGS = AdmmSettings(sparsity=2e-3, mask_weight=0.05, penalty=15.0, penalty_growth=2.0)


def rows(n: int = 60, d: int = 12, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.standard_normal((n // 3, 3)) @ rng.standard_normal((3, d)) for _ in range(3)])
    X += 0.1 * rng.standard_normal(X.shape)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def value_on(x: np.ndarray, rows: np.ndarray, weights: np.ndarray, lam: float) -> float:
    """The objective of the best coefficients on one support, by a linear solve."""
    if not len(rows):
        return float(x @ x) / 2
    g = rows @ x
    z = np.linalg.solve(rows @ rows.T + np.diag(weights), g)
    return float(x @ x) / 2 - g @ z / 2 + lam * len(rows)


def total(X: np.ndarray, Z: np.ndarray, prices: np.ndarray, settings: AdmmSettings) -> float:
    fit = 0.5 * ((X - Z @ X) ** 2).sum()
    return float(fit + settings.sparsity * np.count_nonzero(Z) + 0.5 * settings.mask_weight * (prices**2 * Z**2).sum())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_add_drop_or_swap_improves_the_end(dtype: type) -> None:
    X = rows().astype(dtype)
    labels = np.repeat([0, 1, 2], 20)
    mask, candidates = LabelMask(labels, 1.5), find_candidates(X, 10)
    Z = solve_sparse(X, SETTINGS, candidates=candidates, soft_mask=mask, method="stepwise").representation.toarray()
    X = X.astype(np.float64)
    for i in range(0, len(X), 5):
        weights = SETTINGS.mask_weight * mask.at(np.full(10, i), candidates[i]) ** 2
        inside = [j for j in range(10) if Z[i, candidates[i, j]] != 0]
        outside = [j for j in range(10) if j not in inside]
        moves = [[*inside, j] for j in outside]
        moves += [[j for j in inside if j != a] for a in inside]
        moves += [[*(j for j in inside if j != a), b] for a in inside for b in outside]
        reached = value_on(X[i], X[candidates[i, inside]], weights[inside], SETTINGS.sparsity)
        for move in moves:
            assert reached <= value_on(X[i], X[candidates[i, move]], weights[move], SETTINGS.sparsity) + 1e-6


def test_coefficients_are_the_best_on_their_support() -> None:
    X, candidates = rows(), find_candidates(rows(), 12)
    Z = solve_sparse(X, SETTINGS, candidates=candidates, method="stepwise").representation
    for i in range(len(X)):
        support = Z[[i]].indices
        expected = np.linalg.lstsq(X[support].T, X[i], rcond=None)[0]
        np.testing.assert_allclose(Z[[i]].data, expected, atol=1e-8)


def test_tiny_problems_are_near_the_best_of_all_supports() -> None:
    X, candidates = rows(n=30, d=6, seed=2), find_candidates(rows(n=30, d=6, seed=2), 7)
    result = solve_sparse(X, SETTINGS, candidates=candidates, method="stepwise")
    best = sum(
        min(
            value_on(X[i], X[candidates[i, list(support)]], np.zeros(size), SETTINGS.sparsity)
            for size in range(6)
            for support in combinations(range(7), size)
        )
        for i in range(len(X))
    )
    assert best - 1e-9 <= result.objective[-1] <= 1.25 * best


@pytest.mark.parametrize("penalty", [0.1, 1.0, 15.0])
def test_the_objective_is_not_above_algorithm_1_with_everyone_as_candidate(penalty: float) -> None:
    X = rows(seed=1)
    everyone = find_candidates(X, len(X) - 1)
    settings = AdmmSettings(sparsity=2e-3, mask_weight=0.05, penalty=penalty, penalty_growth=1.2, max_iter=400)
    mask = LabelMask(np.repeat([0, 1, 2], 20), 1.5)
    prices = mask.block(0, len(X))
    stepwise = solve_sparse(X, settings, candidates=everyone, soft_mask=mask, method="stepwise")
    admm = solve_sparse(X, settings, candidates=everyone, soft_mask=mask)
    ours = total(X, stepwise.representation.toarray(), prices, settings)
    assert stepwise.objective[-1] == pytest.approx(ours, rel=1e-9)
    assert ours <= total(X, admm.representation.toarray(), prices, settings)


def test_forbidden_pairs_stay_out_and_copies_are_no_trouble() -> None:
    X = rows()
    X[1], X[2] = X[0], -X[0]
    allowed = np.ones((60, 60), dtype=bool)
    allowed[:, ::2] = False
    settings = AdmmSettings(sparsity=1e-4)
    result = solve_sparse(
        X, settings, candidates=find_candidates(X, 20), hard_mask=PatternMask(allowed), method="stepwise"
    )
    Z = result.representation.toarray()
    assert np.isfinite(Z).all()
    assert np.count_nonzero(Z[:, ::2]) == 0
    assert result.converged
    np.testing.assert_allclose(Z[0, 1], 1.0, atol=1e-9)


def test_too_few_moves_are_reported() -> None:
    X = rows()
    settings = AdmmSettings(sparsity=1e-4, max_iter=2)
    assert not solve_sparse(X, settings, candidates=find_candidates(X, 20), method="stepwise").converged
