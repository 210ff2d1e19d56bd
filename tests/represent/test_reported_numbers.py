"""What a solve says of itself, iteration by iteration: the objective, the residuals, whether it has converged."""

from dataclasses import replace

import numpy as np
import pytest

from masked_subspace.bench.plain import plain_iterations
from masked_subspace.masks.soft import ConstantMask, LabelMask
from masked_subspace.represent.dense.solve import solve_dense
from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.sparse.solve import solve_sparse

N = 30
OTHERS = np.array([[j for j in range(N) if j != i] for i in range(N)], dtype=np.int32)
LABELS = np.arange(N) % 3
MASKS = {"none": None, "constant": ConstantMask(N, 0.7), "labels": LabelMask(LABELS, 1.5)}
SETTINGS = AdmmSettings(2e-3, mask_weight=0.4, penalty=0.3, penalty_growth=1.3, tol=1e-7, max_iter=60)


@pytest.fixture(scope="module")
def X():
    rows = np.random.default_rng(0).standard_normal((N, 8))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def solved(X, settings, mask, path):
    if path == "sparse":
        return solve_sparse(X, settings, candidates=OTHERS, soft_mask=mask)
    return solve_dense(X, settings, soft_mask=mask, path=path)


def objectives(X, settings, prices, *, diagonal):
    """½‖X − ZX − ε − O‖² + λ₁‖ε‖² + λ₂‖O‖₀ + ½Σ wQ² + λ‖Q‖₀ after each iteration; `diagonal`: whether an entry of Q
    that is still there counts among the nonzeros, as it does in the dense solvers."""
    off = ~np.eye(N, dtype=bool)
    weights = settings.mask_weight * np.asarray(prices) ** 2 * off
    values = []
    for one in plain_iterations(X, settings, prices):
        left = X - one.Z @ X - one.noise - one.outliers
        value = 0.5 * (left**2).sum() + 0.5 * (weights * one.Q**2).sum()
        value += settings.sparsity * np.count_nonzero(one.Q if diagonal else one.Q * off)
        value += (settings.noise or 0) * (one.noise**2).sum() + (settings.outliers or 0) * np.count_nonzero(
            one.outliers
        )
        values.append(value)
    return np.array(values)


@pytest.mark.parametrize("path", ["blocked", "lazy", "sparse"])
@pytest.mark.parametrize("name", MASKS)
def test_the_objective_of_every_iteration_is_that_of_the_problem(X, name, path):
    mask = MASKS[name]
    prices = 0.0 if mask is None else mask.block(0, N)
    expected = objectives(X, SETTINGS, prices, diagonal=path != "sparse")
    found = solved(X, SETTINGS, mask, path)
    assert found.n_iter == len(expected) < 60
    np.testing.assert_allclose(found.objective, expected, rtol=1e-8)


@pytest.mark.parametrize("path", ["blocked", "sparse"])
@pytest.mark.parametrize(("noise", "outliers"), [(0.4, None), (None, 0.01), (2.0, 0.004)])
def test_noise_and_outliers_are_paid_for_in_every_iteration(X, noise, outliers, path):
    settings = replace(SETTINGS, noise=noise, outliers=outliers)
    expected = objectives(X, settings, MASKS["labels"].block(0, N), diagonal=path != "sparse")
    found = solved(X, settings, MASKS["labels"], path)
    np.testing.assert_allclose(found.objective, expected, rtol=1e-7)
    last = list(plain_iterations(X, settings, MASKS["labels"].block(0, N)))[-1]
    if noise is not None:
        np.testing.assert_allclose(found.noise, last.noise, atol=1e-7)
    if outliers is not None:
        np.testing.assert_allclose(found.outliers.toarray(), last.outliers, atol=1e-7)
        assert found.outliers.nnz > 0


@pytest.mark.parametrize("penalty", [0.01, 0.3, 5.0], ids=["factored", "both", "conjugate gradients"])
def test_small_problems_end_alike_whichever_way_they_are_solved(X, penalty):
    """Below a quarter of the mean squared row by eigenvectors, above by conjugate gradients."""
    settings = replace(SETTINGS, penalty=penalty, max_iter=80)
    expected = objectives(X, settings, 0.0, diagonal=False)
    found = solved(X, settings, None, "sparse")
    np.testing.assert_allclose(found.objective, expected, rtol=1e-7)
    last = list(plain_iterations(X, settings))[-1]
    np.testing.assert_allclose(found.representation.toarray(), last.Q * ~np.eye(N, dtype=bool), atol=1e-7)


@pytest.mark.parametrize("path", ["blocked", "lazy", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_converged_is_who_moved_by_less_than_the_tolerance(X, path, dtype):
    """Twenty iterations, then asked again with a tolerance just above and just below their last change."""
    rows = X.astype(dtype)
    short = replace(SETTINGS, max_iter=20, tol=0.0)
    moved = solved(rows, short, MASKS["labels"], path)
    assert (moved.n_iter, moved.converged) == (20, False)
    above = solved(rows, replace(short, tol=1.05 * moved.stopping_value), MASKS["labels"], path)
    below = solved(rows, replace(short, tol=0.95 * moved.stopping_value), MASKS["labels"], path)
    assert above.converged
    assert not below.converged
    assert below.n_iter == 20


@pytest.mark.parametrize("path", ["blocked", "lazy", "sparse"])
def test_residuals_are_the_largest_of_all_samples_also_before_convergence(X, path):
    prices = MASKS["labels"].block(0, N)
    for max_iter in (3, 8):
        settings = replace(SETTINGS, max_iter=max_iter)
        last = list(plain_iterations(X, settings, prices))[-1]
        found = solved(X, settings, MASKS["labels"], path)
        apart = np.abs(last.Z - last.C * ~np.eye(N, dtype=bool))
        assert found.mask_residual == pytest.approx(apart.max(), rel=1e-7)
        assert found.sparsity_residual == pytest.approx(np.abs(last.Q - last.Z).max(), rel=1e-7)
        assert found.stopping_value == pytest.approx(last.change, rel=1e-7)
        assert apart.max() > 1.1 * apart.max(axis=1).mean()


@pytest.mark.parametrize("path", ["blocked", "sparse"])
@pytest.mark.parametrize("name", MASKS)
def test_the_objective_of_affine_codes_ends_at_that_of_the_solution(X, name, path):
    """Once Z, C and Q are the same, ½‖X − QX‖² + ½Σ wQ² + λ‖Q‖₀ is all there is, and rows of Q sum to 1."""
    settings = replace(SETTINGS, affine=True, max_iter=300, tol=1e-9)
    found = solved(X, settings, MASKS[name], path)
    Q = found.representation.toarray()
    np.testing.assert_allclose(Q.sum(axis=1), 1, atol=1e-6)
    prices = 0.0 if MASKS[name] is None else MASKS[name].block(0, N)
    expected = 0.5 * ((X - Q @ X) ** 2).sum() + 0.5 * settings.mask_weight * ((prices * Q) ** 2).sum()
    assert found.objective[-1] == pytest.approx(expected + settings.sparsity * np.count_nonzero(Q), rel=1e-6)


@pytest.mark.parametrize("path", ["blocked", "lazy", "sparse"])
@pytest.mark.parametrize("name", MASKS)
def test_the_objective_of_affine_codes_is_that_of_every_iteration(X, name, path):
    settings = replace(SETTINGS, affine=True, max_iter=25, tol=0.0)
    prices = 0.0 if MASKS[name] is None else MASKS[name].block(0, N)
    expected = objectives(X, settings, prices, diagonal=path != "sparse")
    np.testing.assert_allclose(solved(X, settings, MASKS[name], path).objective, expected, rtol=1e-7)
