"""The dense solver against the plain transliteration of Algorithm 1, and the properties the model has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from masked_subspace.masks.hard import DiagonalMask, PatternMask
from masked_subspace.masks.soft import ArrayMask, ConstantMask, LabelMask
from masked_subspace.represent.dense import solve
from masked_subspace.represent.dense.solve import LAZY_FROM, solve_dense
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.represent.model import AdmmSettings, SolverResult
from reference import plain_admm

N_EACH, N_SUBSPACES, N_FEATURES = 25, 3, 20
N = N_EACH * N_SUBSPACES
LABELS = np.repeat(np.arange(N_SUBSPACES), N_EACH)


def unit_rows(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    rng = np.random.default_rng(0)
    parts = [
        rng.normal(size=(N_EACH, 3)) @ rng.normal(size=(3, N_FEATURES)) + 0.1 * rng.normal(size=(N_EACH, N_FEATURES))
        for _ in range(N_SUBSPACES)
    ]
    rows = unit_rows(np.vstack(parts))
    rows[rng.random(rows.shape) < 0.01] += 0.6  # gives O of GMSC-n something to find
    return rows


@pytest.fixture(scope="module")
def prices() -> np.ndarray:
    array = np.random.default_rng(1).uniform(0.5, 1.5, (N, N))
    return (array + array.T) / 2


@pytest.fixture(scope="module")
def pattern() -> np.ndarray:
    return np.random.default_rng(2).random((N, N)) < 0.7


def dense(result: SolverResult) -> np.ndarray:
    return np.asarray(result.representation.toarray())


MODELS = {
    "v1": {},
    "noise": {"noise": 0.7},
    "outliers": {"outliers": 0.01},
    "noise and outliers": {"noise": 0.7, "outliers": 0.01},
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("soft", [False, True], ids=["BMSC", "GMSC"])
@pytest.mark.parametrize("hard", [False, True], ids=["diagonal", "pattern"])
def test_agrees_with_plain_transliteration(X, prices, pattern, model, soft, hard):
    settings = AdmmSettings(sparsity=1e-3, mask_weight=0.3, **MODELS[model])
    plain = plain_admm(X, settings, prices=prices if soft else 0.0, allowed=pattern if hard else None)
    ours = solve_dense(
        X,
        settings,
        soft_mask=ArrayMask(prices) if soft else None,
        hard_mask=PatternMask(pattern) if hard else None,
        block_size=32,
    )
    permitted = ~np.eye(N, dtype=bool) & (pattern if hard else True)
    assert plain.converged
    assert ours.converged
    assert ours.n_iter == plain.n_iter
    np.testing.assert_allclose(dense(ours), plain.Q * permitted, atol=1e-8)
    np.testing.assert_allclose(ours.stopping_value, plain.stopping_value, rtol=1e-4)
    np.testing.assert_allclose(ours.sparsity_residual, np.abs(plain.Q - plain.Z).max(), atol=1e-8)
    np.testing.assert_allclose(ours.mask_residual, np.abs(plain.Z - plain.C * permitted).max(), atol=1e-8)
    if settings.noise is not None:
        np.testing.assert_allclose(ours.noise, plain.noise, atol=1e-8)
    if settings.outliers is not None:
        assert np.count_nonzero(plain.outliers) > 0
        np.testing.assert_allclose(ours.outliers.toarray(), plain.outliers, atol=1e-8)


REGIMES = [(0.1, 1.1), (0.1, 2.0), (1.0, 1.5), (15.0, 2.0)]


@pytest.mark.parametrize("path", ["lazy", "blocked"])
@pytest.mark.parametrize(("penalty", "growth"), REGIMES)
@pytest.mark.parametrize("mask", ["none", "constant", "labels"])
def test_both_passes_agree_with_plain_in_all_regimes(X, penalty, growth, mask, path):
    settings = AdmmSettings(sparsity=5e-4, mask_weight=0.5, penalty=penalty, penalty_growth=growth)
    labels = np.random.default_rng(3).integers(0, 4, N)
    soft = {"none": None, "constant": ConstantMask(N, 0.8), "labels": LabelMask(labels, 1.5)}[mask]
    plain = plain_admm(X, settings, prices=0.0 if soft is None else soft.block(0, N))
    ours = solve_dense(X, settings, soft_mask=soft, path=path)
    assert ours.details["path"] == path
    assert ours.n_iter == plain.n_iter
    np.testing.assert_allclose(dense(ours), plain.Q, atol=1e-8)
    np.testing.assert_allclose(ours.sparsity_residual, np.abs(plain.Q - plain.Z).max(), atol=1e-8)
    off_diagonal = ~np.eye(N, dtype=bool)
    np.testing.assert_allclose(ours.mask_residual, np.abs(plain.Z - plain.C * off_diagonal).max(), atol=1e-8)


def test_label_mask_with_many_and_few_samples_a_cluster(X):
    """Both ways to go through V_cᵀV_c: a cluster larger and one much smaller than the rank."""
    labels = np.r_[np.zeros(N - 3, int), 1, 1, 2]
    settings = AdmmSettings(sparsity=1e-3)
    mask = LabelMask(labels, 1.5)
    plain = plain_admm(X, settings, prices=mask.block(0, N))
    np.testing.assert_allclose(dense(solve_dense(X, settings, soft_mask=mask, path="lazy")), plain.Q, atol=1e-8)


def test_short_samples_may_be_rebuilt_by_long_ones_of_another_cluster(X):
    """The lazy pass bounds products with other clusters by the lengths of all samples, not by those of its own."""
    labels = np.arange(N) % 2
    rows = X * np.where(labels == 0, 0.05, 1.0)[:, None]
    settings, mask = AdmmSettings(sparsity=1e-5), LabelMask(labels, 1.1)
    plain = plain_admm(rows, settings, prices=mask.block(0, N))
    ours = solve_dense(rows, settings, soft_mask=mask, path="lazy")
    assert np.count_nonzero(plain.Q[np.ix_(labels == 0, labels == 1)]) > 0
    np.testing.assert_allclose(dense(ours), plain.Q, atol=1e-8)


def test_the_sample_that_stops_last_makes_as_many_iterations_as_there_are(X):
    """In float32 each sample stops by itself; a sample that stops after k makes k iterations, and not one less."""
    settings = AdmmSettings(sparsity=1e-3)
    result = solve_dense(X.astype(np.float32), settings, path="blocked")
    counts = result.details["n_iter_per_sample"]
    assert counts.max() == result.n_iter == len(result.objective)
    assert counts.min() < counts.max()
    few = solve_dense(X.astype(np.float32), replace(settings, max_iter=7), path="blocked")
    assert (few.details["n_iter_per_sample"] == 7).all()


@pytest.mark.parametrize("mask", ["none", "labels"])
def test_the_passes_agree_on_more_samples(mask):
    """Lists that grow, shrink and are pruned, and rows that freeze one by one."""
    rng = np.random.default_rng(7)
    parts = [rng.normal(size=(80, 5)) @ rng.normal(size=(5, 40)) + 0.3 * rng.normal(size=(80, 40)) for _ in range(4)]
    rows = unit_rows(np.vstack(parts))
    labels = np.repeat(np.arange(4), 80)
    rng.shuffle(labels)
    soft = LabelMask(labels) if mask == "labels" else None
    settings = AdmmSettings(sparsity=2e-3)
    lazy, blocked = (solve_dense(rows, settings, soft_mask=soft, path=path) for path in ("lazy", "blocked"))
    assert lazy.n_iter == blocked.n_iter
    np.testing.assert_allclose(dense(lazy), dense(blocked), atol=1e-9)
    np.testing.assert_allclose(lazy.objective, blocked.objective, rtol=1e-8)
    single = solve_dense(rows.astype(np.float32), settings, soft_mask=soft, path="lazy", block_size=50)
    differs = (dense(single) != 0) != (dense(lazy) != 0)
    assert differs.sum() <= 1e-3 * lazy.representation.nnz
    assert len(set(single.details["n_iter_per_sample"].tolist())) > 1


def test_the_pass_is_chosen_by_the_length_of_the_lists():
    rows = unit_rows(np.random.default_rng(8).normal(size=(LAZY_FROM, 30)))
    assert solve_dense(rows, AdmmSettings(0.05)).details["path"] == "lazy"
    assert solve_dense(rows, AdmmSettings(1e-7)).details["path"] == "blocked"
    assert solve_dense(rows[:-1], AdmmSettings(0.05)).details["path"] == "blocked"


def test_more_features_than_samples():
    rows = unit_rows(np.random.default_rng(4).normal(size=(20, 50)))
    settings = AdmmSettings(sparsity=1e-3)
    np.testing.assert_allclose(dense(solve_dense(rows, settings)), plain_admm(rows, settings).Q, atol=1e-8)


def test_objective_is_the_printed_one(X, prices):
    """At convergence the trace ends at `eq:gmsc-n` of the returned representation, noise and outliers."""
    settings = AdmmSettings(sparsity=1e-3, mask_weight=0.3, noise=0.7, outliers=0.01)
    result = solve_dense(X, settings, soft_mask=ArrayMask(prices))
    Z, O = dense(result), result.outliers.toarray()  # noqa: E741
    rest = X - Z @ X - result.noise - O
    expected = (
        0.5 * (rest**2).sum()
        + 1e-3 * np.count_nonzero(Z)
        + 0.5 * 0.3 * ((prices * Z) ** 2).sum()
        + 0.7 * (result.noise**2).sum()
        + 0.01 * np.count_nonzero(O)
    )
    assert len(result.objective) == result.n_iter
    np.testing.assert_allclose(result.objective[-1], expected, rtol=1e-4)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("mask", "path"), [("none", "lazy"), ("labels", "lazy"), ("array", "auto")])
def test_blocks_and_threads_do_not_change_the_result(X, prices, dtype, mask, path):
    soft = {"none": None, "labels": LabelMask(LABELS), "array": ArrayMask(prices)}[mask]
    settings = AdmmSettings(sparsity=1e-3, mask_weight=0.3)
    rows = X.astype(dtype)
    whole = solve_dense(rows, settings, soft_mask=soft, block_size=N, path=path)
    atol = 1e-10 if dtype == np.float64 else 2e-5
    for options in ({"block_size": 7}, {"n_threads": 2}, {"n_threads": 2, "block_size": 10}):
        other = solve_dense(rows, settings, soft_mask=soft, path=path, **options)
        np.testing.assert_allclose(dense(other), dense(whole), atol=atol)
        np.testing.assert_allclose(other.objective[-1], whole.objective[-1], rtol=1e-4)


@pytest.mark.parametrize("soft", [False, True])
def test_float32_ends_near_float64(X, soft):
    settings = AdmmSettings(sparsity=1e-3, mask_weight=0.3)
    mask = LabelMask(LABELS) if soft else None
    single = solve_dense(X.astype(np.float32), settings, soft_mask=mask)
    double = solve_dense(X, settings, soft_mask=mask)
    assert single.representation.dtype == np.float32
    assert single.converged
    assert single.stopping_value < settings.tol
    np.testing.assert_allclose(dense(single), dense(double), atol=1e-4)
    np.testing.assert_allclose(single.objective[-1], double.objective[-1], rtol=1e-4)


def test_zero_mask_is_no_mask(X):
    settings = AdmmSettings(sparsity=1e-3)
    masked = solve_dense(X, settings, soft_mask=ConstantMask(N, 0.0))
    np.testing.assert_allclose(dense(masked), dense(solve_dense(X, settings)), atol=1e-12)


def test_diagonal_mask_is_no_hard_mask(X):
    settings = AdmmSettings(sparsity=1e-3)
    masked = solve_dense(X, settings, hard_mask=DiagonalMask(N))
    np.testing.assert_array_equal(dense(masked), dense(solve_dense(X, settings)))


def test_permuting_samples_permutes_the_result(X):
    settings = AdmmSettings(sparsity=1e-3, mask_weight=0.3)
    order = np.random.default_rng(5).permutation(N)
    straight = dense(solve_dense(X, settings, soft_mask=LabelMask(LABELS)))
    permuted = dense(solve_dense(X[order], settings, soft_mask=LabelMask(LABELS[order])))
    np.testing.assert_allclose(permuted, straight[np.ix_(order, order)], atol=1e-9)


def test_scaling_the_data_scales_the_prices(X):
    scale = 3.0
    small = solve_dense(X, AdmmSettings(1e-3, mask_weight=0.3, penalty=0.1), soft_mask=LabelMask(LABELS))
    large = solve_dense(
        scale * X,
        AdmmSettings(1e-3 * scale**2, mask_weight=0.3 * scale**2, penalty=0.1 * scale**2),
        soft_mask=LabelMask(LABELS),
    )
    np.testing.assert_allclose(dense(large), dense(small), atol=1e-9)


@pytest.mark.parametrize("path", ["lazy", "blocked"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_running_out_of_iterations_is_reported(X, dtype, path):
    result = solve_dense(X.astype(dtype), AdmmSettings(1e-3, max_iter=5), path=path)
    assert not result.converged
    assert result.n_iter == 5
    assert result.stopping_value > 1e-6
    assert result.sparsity_residual > 0


@pytest.mark.parametrize("path", ["lazy", "blocked"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_penalty_may_grow_without_overflow(X, dtype, path):
    settings = AdmmSettings(1e-3, penalty_growth=10.0, max_iter=400, tol=0.0)
    result = solve_dense(X.astype(dtype), settings, soft_mask=LabelMask(LABELS), path=path)
    assert np.isfinite(dense(result)).all()
    assert np.isfinite(result.objective).all()


def test_a_spectrum_serves_again(X):
    settings = AdmmSettings(sparsity=1e-3)
    again = solve_dense(X, settings, spectrum=Spectrum.of(X))
    np.testing.assert_array_equal(dense(again), dense(solve_dense(X, settings)))


def test_progress_is_told_every_iteration(X):
    seen: list[tuple[int, float]] = []
    result = solve_dense(X, AdmmSettings(1e-3), progress=lambda k, value: seen.append((k, value)))
    assert [k for k, _ in seen] == list(range(1, result.n_iter + 1))
    assert seen[-1][1] == result.stopping_value


def test_too_little_memory_is_refused_before_work(X, prices, monkeypatch):
    monkeypatch.setattr(solve, "available_bytes", lambda: 1000)
    with pytest.raises(ValueError, match=r"needs about .* but only 0 MB .*solver='sparse'"):
        solve_dense(X, AdmmSettings(1e-3), soft_mask=ArrayMask(prices))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_of_zeros_represent_nothing(dtype):
    result = solve_dense(np.zeros((LAZY_FROM, 3), dtype), AdmmSettings(1e-3))
    assert result.converged
    assert result.representation.nnz == 0


def test_block_size_is_checked(X):
    with pytest.raises(ValueError, match="block_size is 0"):
        solve_dense(X, AdmmSettings(1e-3), block_size=0)
