"""Affine combinations: Z1 = 1 in the Z step, in both solvers, against a plain solver that does it differently."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from masked_subspace.masks.hard import PatternMask
from masked_subspace.masks.soft import ArrayMask, LabelMask
from masked_subspace.represent.affine import AffineStep, onto_affine
from masked_subspace.represent.dense.solve import LAZY_FROM, solve_dense
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.represent.model import AdmmSettings, FirstStep, SolverResult
from masked_subspace.represent.neighbors.search import find_candidates
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.represent.sparse.solve import represent_over, solve_sparse
from reference import plain_admm

N_EACH, N_FLATS, N_FEATURES = 20, 3, 15
N = N_EACH * N_FLATS
LABELS = np.repeat(np.arange(N_FLATS), N_EACH)
SLOW = AdmmSettings(sparsity=1e-3, mask_weight=0.3, affine=True)
QUICK = AdmmSettings(sparsity=5e-4, mask_weight=0.3, penalty=15.0, penalty_growth=2.0, affine=True)
REGIMES = {"slow": SLOW, "quick": QUICK}


def flats(n_each: int = N_EACH, seed: int = 0, noise: float = 0.02) -> np.ndarray:
    """Samples on planes that do not pass through the origin."""
    rng = np.random.default_rng(seed)
    parts = [
        rng.normal(size=N_FEATURES) + rng.normal(size=(n_each, 2)) @ rng.normal(size=(2, N_FEATURES))
        for _ in range(N_FLATS)
    ]
    X = np.vstack(parts) / np.sqrt(N_FEATURES)
    return X + noise * rng.normal(size=X.shape)


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    return flats()


def everyone(n: int) -> np.ndarray:
    return np.array([np.delete(np.arange(n), i) for i in range(n)], dtype=np.int32)


def solve(solver: str, X: np.ndarray, settings: AdmmSettings, **masks) -> SolverResult:
    if solver == "dense":
        return solve_dense(X, settings, **masks)
    return solve_sparse(X, settings, candidates=everyone(len(X)), **masks)


def sums(result: SolverResult) -> np.ndarray:
    return np.asarray(result.representation.sum(axis=1)).ravel()


@pytest.mark.parametrize("mu", [1e-3, 0.1, 10.0])
def test_the_z_step_is_optimal_under_its_constraint(X, mu):
    """KKT of ½zGzᵀ + μ|z|² − bz s.t. z1 = 1: the gradient is a multiple of 1, and moving along the plane costs."""
    spectrum = Spectrum.of(X)
    V, s = spectrum.vectors, spectrum.values
    R = np.random.default_rng(1).normal(size=(N, N))  # right side over 2μ, without G
    f = s / (s + 2 * mu)
    coefficients = (R @ V - V) * f
    step = AffineStep(V, s)
    sigma = step.shift(R, coefficients, mu)
    Z = R + sigma[:, None] - (coefficients + np.outer(sigma, step.ones) * f) @ V.T
    np.testing.assert_allclose(Z.sum(axis=1), 1, atol=1e-10)
    G = X @ X.T
    gradient = Z @ G + 2 * mu * Z - (G + 2 * mu * R)
    scale = np.abs(G).max() + 2 * mu * np.abs(R).max()
    np.testing.assert_allclose(gradient - gradient.mean(axis=1, keepdims=True), 0, atol=1e-10 * scale)


@pytest.mark.parametrize("solver", ["dense", "sparse"])
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("mask", ["none", "labels", "array", "pattern", "noise"])
def test_agrees_with_the_plain_solver(X, solver, regime, mask):
    settings, masks, plain_masks = REGIMES[regime], {}, {}
    if mask == "labels":
        masks = {"soft_mask": LabelMask(LABELS, 1.5)}
    elif mask == "array":
        prices = np.random.default_rng(2).uniform(0.5, 1.5, (N, N))
        masks = {"soft_mask": ArrayMask((prices + prices.T) / 2)}
    elif mask == "pattern":
        plain_masks["allowed"] = np.random.default_rng(3).random((N, N)) < 0.7
        masks = {"hard_mask": PatternMask(plain_masks["allowed"])}
    elif mask == "noise":
        settings = replace(settings, noise=0.7, outliers=0.01)
    if "soft_mask" in masks:
        plain_masks["prices"] = masks["soft_mask"].block(0, N)
    plain = plain_admm(X, settings, **plain_masks)
    ours = solve(solver, X, settings, **masks)
    permitted = ~np.eye(N, dtype=bool) & plain_masks.get("allowed", True)
    kept = plain.Q * permitted
    assert ours.converged
    assert ours.n_iter == plain.n_iter
    np.testing.assert_array_equal(ours.representation.toarray() != 0, kept != 0)
    missing = (1 - kept.sum(axis=1)) / np.count_nonzero(kept, axis=1)
    np.testing.assert_allclose(ours.representation.toarray(), kept + missing[:, None] * (kept != 0), atol=1e-7)
    # Z sums to 1 in every iteration; Q before the last move is off by at most v times its distance from Z.
    np.testing.assert_allclose(plain.Z.sum(axis=1), 1, atol=1e-9)
    left = np.abs(plain.Q * ~permitted).sum(axis=1).max()
    assert np.abs(1 - kept.sum(axis=1)).max() <= N * np.abs(plain.Q - plain.Z).max() + left + 1e-12


@pytest.mark.parametrize("solver", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("regime", REGIMES)
def test_rows_sum_to_one_in_their_dtype(X, solver, dtype, regime):
    result = solve(solver, X.astype(dtype), REGIMES[regime], soft_mask=LabelMask(LABELS))
    assert result.representation.dtype == dtype
    np.testing.assert_allclose(sums(result), 1, atol=2e-6 if dtype == np.float32 else 1e-13)


@pytest.mark.parametrize("solver", ["dense", "sparse"])
def test_float32_ends_near_float64(X, solver):
    single, double = (solve(solver, X.astype(dtype), QUICK) for dtype in (np.float32, np.float64))
    np.testing.assert_allclose(single.representation.toarray(), double.representation.toarray(), atol=1e-4)
    np.testing.assert_allclose(single.objective[-1], double.objective[-1], rtol=1e-3)


@pytest.mark.parametrize("solver", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_and_threads_do_not_change_the_result(X, solver, dtype):
    rows = X.astype(dtype)
    whole = solve(solver, rows, QUICK).representation.toarray()
    for options in ({"block_size": 7}, {"n_threads": 2, "block_size": 16}):
        other = solve(solver, rows, QUICK, **options).representation.toarray()
        np.testing.assert_allclose(other, whole, atol=1e-10 if dtype == np.float64 else 2e-5)


@pytest.mark.parametrize("solver", ["dense", "sparse"])
def test_the_objective_ends_at_that_of_the_result(X, solver):
    result = solve(solver, X, replace(QUICK, tol=1e-9), soft_mask=LabelMask(LABELS))
    Z = result.representation.toarray()
    prices = QUICK.mask_weight * LabelMask(LABELS).block(0, N) ** 2
    value = 0.5 * ((X - Z @ X) ** 2).sum() + QUICK.sparsity * np.count_nonzero(Z) + 0.5 * (prices * Z**2).sum()
    np.testing.assert_allclose(result.objective[-1], value, rtol=1e-5)


@pytest.mark.parametrize("solver", ["dense", "sparse"])
def test_moving_the_origin_changes_nothing_once_the_penalty_is_free_of_it(X, solver):
    """With Z1 = 1 a common shift of all samples cancels in X − ZX, hence in every step."""
    shifted = X + np.linspace(-1, 1, N_FEATURES)
    here, there = (solve(solver, rows, SLOW) for rows in (X, shifted))
    np.testing.assert_allclose(there.representation.toarray(), here.representation.toarray(), atol=1e-6)
    linear = [solve(solver, rows, replace(SLOW, affine=False)).representation.toarray() for rows in (X, shifted)]
    assert np.abs(linear[0] - linear[1]).max() > 0.01


def test_a_constant_feature_of_great_weight_is_the_same_constraint(X):
    """The homogeneous view (a constant feature) tends to Z1 = 1 as its weight grows."""
    settings = replace(SLOW, affine=False, sparsity=1e-4)
    heavy = np.hstack([X, np.full((N, 1), 1e3)])
    found = solve_dense(heavy, settings, path="blocked").representation.toarray()
    exact = solve_dense(X, replace(settings, affine=True)).representation.toarray()
    np.testing.assert_allclose(found, exact, atol=1e-4)


def test_the_lazy_pass_leaves_it_to_the_blocked_one():
    rows = flats(n_each=LAZY_FROM // N_FLATS + 1)
    assert solve_dense(rows, replace(SLOW, sparsity=0.05)).details["path"] == "blocked"
    assert solve_dense(rows, replace(SLOW, sparsity=0.05), path="lazy").details["path"] == "blocked"


def test_missing_candidates_take_no_part(X):
    candidates = find_candidates(X, 8)
    padded = np.concatenate([candidates, np.full((N, 4), -1, dtype=np.int32)], axis=1)
    plain, longer = (solve_sparse(X, QUICK, candidates=one).representation for one in (candidates, padded))
    np.testing.assert_allclose(longer.toarray(), plain.toarray(), atol=1e-10)


def test_a_sample_without_permitted_partners_stays_empty(X):
    allowed = np.ones((N, N), dtype=bool)
    allowed[4] = False
    for solver in ("dense", "sparse"):
        found = sums(solve(solver, X, QUICK, hard_mask=PatternMask(allowed)))
        assert found[4] == 0
        np.testing.assert_allclose(np.delete(found, 4), 1, atol=1e-12)


def test_rows_of_zeros_are_means_of_each_other():
    result = solve_dense(np.zeros((10, 3)), AdmmSettings(1e-6, affine=True))
    np.testing.assert_allclose(result.representation.toarray(), (1 - np.eye(10)) / 9, atol=1e-6)


def test_new_samples_are_affine_combinations_of_their_own_flat():
    X = flats(n_each=30, noise=0.005)
    y = np.repeat(np.arange(N_FLATS), 30)
    new, known = X[::5], np.delete(X, np.s_[::5], axis=0)
    for dtype in (np.float32, np.float64):
        Z = represent_over(known.astype(dtype), new.astype(dtype), SLOW, n_candidates=20)
        np.testing.assert_allclose(np.asarray(Z.sum(axis=1)).ravel(), 1, atol=2e-6)
    labels = np.delete(y, np.s_[::5])
    weight = np.stack([np.asarray(abs(Z[:, labels == k]).sum(axis=1)).ravel() for k in range(N_FLATS)], axis=1)
    assert np.mean(weight.argmax(axis=1) == y[::5]) > 0.9


def test_the_first_step_of_the_rule_is_affine(X):
    """λ of the dense rule comes from the first iteration as the solver makes it, with Z1 = 1."""
    G, penalty = X @ X.T, 15.0
    inverse = np.linalg.inv(G + 2 * penalty * np.eye(N))
    Z = G @ inverse
    Z += np.outer(1 - Z.sum(axis=1), inverse.sum(axis=0)) / inverse.sum()
    np.testing.assert_allclose(Z.sum(axis=1), 1, atol=1e-10)
    entries = np.sort(np.abs(Z[~np.eye(N, dtype=bool)]))
    kept = round(len(entries) * 6 / N)
    tau = entries[[-kept - 1, -kept]].mean()
    for rows in (X, np.hstack([X, np.zeros((N, 2 * N))])):  # both of its factorisations
        assert FirstStep(rows, 0, affine=True).sparsity(penalty) == pytest.approx(penalty * tau**2 / 2, rel=1e-8)


@pytest.mark.parametrize("solver", ["dense", "sparse"])
def test_the_representer_passes_it_on(X, solver):
    prepared = MaskedRepresenter(affine=True, solver=solver, n_candidates=12).prepare(X)
    assert prepared.settings.affine
    result = prepared.represent(None)
    np.testing.assert_allclose(sums(result), 1, atol=1e-12)
    assert not np.allclose(sums(MaskedRepresenter(solver=solver, n_candidates=12).prepare(X).represent(None)), 1)


def test_the_last_move_is_the_nearest_one():
    Q = solve_dense(flats(), replace(SLOW, affine=False)).representation
    moved = onto_affine(Q)
    assert (moved.indices == Q.indices).all()
    difference = (moved - Q).toarray()
    for row, kept in zip(difference, Q.toarray() != 0, strict=True):
        assert np.ptp(row[kept]) < 1e-14  # a multiple of 1 on the support: orthogonal to the plane of sums
