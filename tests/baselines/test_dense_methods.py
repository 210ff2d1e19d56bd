"""LSR, EDSC, LRR and BDR against their normal equations, closed forms and objectives."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.baselines import LRR
from masked_subspace.baselines.bdr import BdrSettings, represent_bdr, smallest_eigenvectors
from masked_subspace.baselines.edsc import EdscSettings, represent_edsc
from masked_subspace.baselines.lrr import LrrSettings, represent_lrr, shrink_rows, shrink_singular_values
from masked_subspace.baselines.lsr import represent_lsr
from masked_subspace.datasets import make_subspaces


@pytest.mark.parametrize("n_features", [30, 12])
def test_lsr_solves_the_normal_equations(noisy_rows, n_features):
    X = noisy_rows[:, :n_features]
    G = X @ X.T
    Z = represent_lsr(X, 0.3).matrix
    np.testing.assert_allclose(Z @ (G + 0.3 * np.eye(len(G))), G, atol=1e-10)


def test_lsr_without_diagonal_is_optimal_for_each_sample(noisy_rows):
    Z = represent_lsr(noisy_rows, 0.3, zero_diagonal=True).matrix
    for i in (0, 40):
        others = np.delete(np.arange(len(Z)), i)
        A = noisy_rows[others]
        direct = np.linalg.solve(A @ A.T + 0.3 * np.eye(len(A)), A @ noisy_rows[i])
        np.testing.assert_allclose(Z[i, others], direct, atol=1e-10)
        assert Z[i, i] == 0


@pytest.mark.parametrize("n_features", [30, 12])
def test_edsc_solves_the_normal_equations(noisy_rows, n_features):
    X = noisy_rows[:, :n_features]
    G = X @ X.T
    C = represent_edsc(X, EdscSettings(data_weight=2.0)).matrix
    np.testing.assert_allclose((np.eye(len(G)) + 2.0 * G) @ C, 2.0 * G, atol=1e-10)


def test_edsc_separates_outliers():
    data = make_subspaces(n_subspaces=3, per_subspace=30, dim=2, ambient=40, outliers=0.02, random_state=0)
    found = represent_edsc(data.data, EdscSettings(data_weight=20.0, outliers=0.3))
    assert found.converged
    E = found.outliers.toarray()
    np.testing.assert_allclose(found.details["clean"] + E, data.data, atol=1e-5)
    hit = data.outlier_mask
    assert np.abs(E[hit]).mean() > 10 * np.abs(E[~hit]).mean()


def test_edsc_with_dear_outliers_is_the_closed_form(noisy_rows):
    plain = represent_edsc(noisy_rows, EdscSettings()).matrix
    dear = represent_edsc(noisy_rows, EdscSettings(outliers=1e6, tol=1e-9)).matrix
    np.testing.assert_allclose(dear, plain, atol=1e-6)


def test_lrr_without_noise_is_the_projection(subspaces):
    X = subspaces.data
    V = np.linalg.svd(X, full_matrices=False)[0][:, :12]
    closed = represent_lrr(X, LrrSettings(noise_weight=None)).matrix
    np.testing.assert_allclose(closed, V @ V.T, atol=1e-10)
    # A price that no noise is worth gives the same through the iteration.
    iterated = represent_lrr(X, LrrSettings(noise_weight=100.0))
    assert iterated.converged
    np.testing.assert_allclose(iterated.matrix, V @ V.T, atol=1e-6)


def test_lrr_is_feasible_and_not_beaten_nearby(noisy_rows):
    X, lam = noisy_rows[:40], 0.2
    found = represent_lrr(X, LrrSettings(noise_weight=lam))
    Z = found.matrix
    np.testing.assert_allclose(Z @ X + found.noise, X, atol=1e-6)

    def value(Z):
        return np.linalg.svd(Z, compute_uv=False).sum() + lam * np.linalg.norm(X - Z @ X, axis=1).sum()

    best = value(Z)
    rng = np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(5):
            direction = rng.standard_normal(Z.shape)
            assert value(Z + size * direction / np.linalg.norm(direction)) > best - 1e-6
    assert value(0.99 * Z) > best - 1e-6
    assert value(1.01 * Z) > best - 1e-6


def test_what_low_rank_codes_leave_of_the_samples_is_kept(noisy_rows):
    X = noisy_rows[:40]
    model = LRR(3, noise_weight=0.2, normalize=False).fit(X)
    np.testing.assert_allclose(model.noise_, represent_lrr(X, LrrSettings(noise_weight=0.2)).noise, atol=1e-6)
    assert np.linalg.norm(model.noise_) > 0.01 * np.linalg.norm(X)


@pytest.mark.parametrize("threshold", [1e-9, 0.5, 5.0, 1e3])
def test_singular_values_are_shrunk(threshold):
    M = np.random.default_rng(0).standard_normal((30, 12))
    U, sigma, Vt = np.linalg.svd(M, full_matrices=False)
    expected = (U * np.maximum(sigma - threshold, 0)) @ Vt
    shrunk, nuclear = shrink_singular_values(M, threshold)
    np.testing.assert_allclose(shrunk, expected, atol=1e-9)
    assert nuclear == pytest.approx(np.maximum(sigma - threshold, 0).sum())


def test_rows_are_shrunk():
    M = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]])
    np.testing.assert_allclose(shrink_rows(M, 1.0), [[2.4, 3.2], [0, 0], [0, 0]])


def test_bdr_descends_and_keeps_its_constraints(noisy_rows):
    found = represent_bdr(noisy_rows, BdrSettings(n_blocks=4, coupling=5.0, block_weight=0.2, tol=1e-4))
    assert found.converged
    trace = found.objective
    assert np.diff(trace).max() <= 1e-9 * trace[0]
    B, Z = found.matrix, found.details["Z"]
    assert B.min() >= 0
    np.testing.assert_allclose(B, B.T)
    assert not np.diagonal(B).any()
    # Stationary in Z: (G + λI) Z = G + λB, with the published columns
    G = noisy_rows @ noisy_rows.T
    np.testing.assert_allclose((G + 5 * np.eye(90)) @ Z.T, G + 5 * B, atol=2e-2)


def test_bdr_objective_is_the_one_it_states(noisy_rows):
    settings = BdrSettings(n_blocks=3, coupling=5.0, block_weight=0.2)
    found = represent_bdr(noisy_rows, settings)
    B, Z = found.matrix, found.details["Z"]
    laplacian = np.diag(B.sum(axis=1)) - B
    smallest = np.linalg.eigvalsh(laplacian)[:3].sum()
    value = 0.5 * np.linalg.norm(noisy_rows - Z @ noisy_rows) ** 2 + 2.5 * np.linalg.norm(Z.T - B) ** 2 + 0.2 * smallest
    assert found.objective[-1] == pytest.approx(value, rel=1e-8)


def test_only_k_eigenvectors_are_computed_and_they_are_right():
    rng = np.random.default_rng(0)
    B = np.abs(rng.standard_normal((400, 400))) * (rng.random((400, 400)) < 0.1)
    B = B + B.T
    exact = smallest_eigenvectors(B, 4, None)
    warm = smallest_eigenvectors(B, 4, np.linalg.qr(exact + 0.1 * rng.standard_normal(exact.shape))[0])
    np.testing.assert_allclose(warm.T @ warm, np.eye(4), atol=1e-10)
    np.testing.assert_allclose(warm @ warm.T, exact @ exact.T, atol=5e-2)
    laplacian = np.diag(B.sum(axis=1)) - B
    assert np.vdot(warm, laplacian @ warm) == pytest.approx(np.vdot(exact, laplacian @ exact), rel=1e-3)
