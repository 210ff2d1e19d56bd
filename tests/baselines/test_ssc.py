from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.baselines import SSC
from masked_subspace.baselines.ssc import PreparedSsc, SscSettings, represent_ssc
from masked_subspace.datasets import make_subspaces
from masked_subspace.metrics import clustering_accuracy


def published_admm(X, alpha, affine, max_iter, tol):
    """The iteration as published (columns are samples), with an explicit inverse: the independent solution."""
    Y = X.T
    n = Y.shape[1]
    G = Y.T @ Y
    lam = alpha / np.abs(G - np.diag(np.diag(G))).max(axis=0).min()
    rho, ones = alpha, np.ones((n, 1))
    A = np.linalg.inv(lam * G + rho * np.eye(n) + (rho * np.ones((n, n)) if affine else 0))
    C, L, delta = np.zeros((n, n)), np.zeros((n, n)), np.zeros((1, n))
    for _ in range(max_iter):
        right = lam * G + rho * C - L
        if affine:
            right = right + rho * np.ones((n, n)) - ones @ delta
        Z = A @ right
        T = Z + L / rho
        C = np.sign(T) * np.maximum(np.abs(T) - 1 / rho, 0)
        np.fill_diagonal(C, 0)
        L = L + rho * (Z - C)
        if affine:
            delta = delta + rho * (ones.T @ Z - 1)
        if np.abs(Z - C).max() < tol:
            break
    return C.T


@pytest.mark.parametrize("alpha", [20.0, 2000.0])  # codes of 11 and of 49 atoms: the sparse and the dense product
@pytest.mark.parametrize("affine", [False, True])
def test_admm_is_the_published_iteration(noisy_rows, alpha, affine):
    settings = SscSettings(alpha=alpha, affine=affine, solver="admm", tol=1e-12, max_iter=40)
    ours = represent_ssc(noisy_rows, settings)
    assert not ours.converged
    np.testing.assert_allclose(ours.matrix.toarray(), published_admm(noisy_rows, alpha, affine, 40, 0.0), atol=1e-10)


@pytest.mark.parametrize("affine", [False, True])
def test_steps_in_float32_give_the_same_codes(noisy_rows, affine, monkeypatch):
    settings = SscSettings(affine=affine, solver="admm", tol=1e-5)
    rounded = represent_ssc(noisy_rows, settings)
    assert rounded.converged
    monkeypatch.setattr("masked_subspace.baselines.ssc_admm._ROUGH_TOL", 1.0)
    exact = represent_ssc(noisy_rows, settings)
    assert 0 < abs(rounded.matrix - exact.matrix).max() < 2e-5
    # The sample that takes every iteration, in the order that came in: samples stop one by one. What rounding leaves
    # differs between BLAS kernels (up to 1.06e-6); it must be far below the tolerance that permits it.
    published = published_admm(noisy_rows, 20.0, affine, rounded.n_iter, 0.0)
    assert np.abs(published - rounded.matrix.toarray()).max(axis=1).min() < settings.tol / 5
    np.testing.assert_allclose(
        np.abs(published - exact.matrix.toarray()).max(axis=1).min(), 0, atol=1e-9, err_msg="not rounded at all"
    )


def test_codes_do_not_depend_on_the_blocks(noisy_rows, monkeypatch):
    weights = np.random.default_rng(0).uniform(0.5, 2, (90, 90))
    problem = PreparedSsc(noisy_rows, SscSettings(solver="admm", tol=1e-5))
    whole = problem.solve(lambda start, stop: weights[start:stop]).matrix
    monkeypatch.setattr("masked_subspace.baselines.ssc_admm.block_length", lambda _: 89)  # the last block is one sample
    parts = problem.solve(lambda start, stop: weights[start:stop]).matrix
    assert abs(whole - parts).max() < 1e-6


def test_features_of_zeros_change_nothing(noisy_rows):
    wide = np.hstack([noisy_rows[:, :10], np.zeros((90, 200))])
    settings = SscSettings(solver="admm")
    np.testing.assert_allclose(
        represent_ssc(noisy_rows[:, :10], settings).matrix.toarray(),
        represent_ssc(wide, settings).matrix.toarray(),
        atol=1e-10,
    )


def test_both_solvers_end_at_the_same_codes(noisy_rows):
    exact = represent_ssc(noisy_rows, SscSettings(solver="active-set", tol=1e-8)).matrix
    iterated = represent_ssc(noisy_rows, SscSettings(solver="admm", tol=1e-8, max_iter=20_000))
    assert iterated.converged
    assert abs(exact - iterated.matrix).max() < 1e-5


def test_affine_codes_sum_to_one(noisy_rows):
    found = represent_ssc(noisy_rows, SscSettings(affine=True, tol=1e-7, max_iter=20_000))
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1, atol=1e-4)


def test_outliers_are_found_where_they_are():
    data = make_subspaces(n_subspaces=3, per_subspace=30, dim=2, ambient=40, random_state=1)
    X = data.data.copy()
    rng = np.random.default_rng(0)
    hit = rng.choice(len(X), 12, replace=False)
    where = rng.integers(0, X.shape[1], len(hit))
    X[hit, where] += 2.0
    model = SSC(3, outliers=5.0, normalize=False, random_state=0).fit(X)
    assert model.outliers_.shape == X.shape
    E = model.outliers_.toarray()
    assert np.all(np.abs(E[hit]).argmax(axis=1) == where)
    assert np.all(np.abs(E[hit, where]) > 1.0)
    assert clustering_accuracy(data.target, model.labels_) == 1.0


def test_active_sets_refuse_the_affine_constraint():
    with pytest.raises(ValueError, match=r'affine is True.*solver="admm"'):
        SscSettings(affine=True, solver="active-set")


def test_factor_is_made_once_and_serves_every_weighting(noisy_rows, monkeypatch):
    problem = PreparedSsc(noisy_rows, SscSettings(solver="admm", tol=1e-6, max_iter=5000))
    problem.solve()
    monkeypatch.setattr("masked_subspace.baselines.ssc.SharedFactor.of", None)
    doubled = problem.solve(lambda start, stop: np.full((stop - start, 90), 2.0))
    # Every price doubled is the data weight halved.
    expected = PreparedSsc(noisy_rows, SscSettings(alpha=10.0)).solve().matrix
    assert abs(doubled.matrix - expected).max() < 1e-3
