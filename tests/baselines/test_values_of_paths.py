"""Single steps of the baselines, each against the formula written out: stops, second paths, sizes of lists."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.baselines import elastic_net, lrr, ssc_admm
from masked_subspace.baselines.bdr import BdrSettings, represent_bdr, update_blocks
from masked_subspace.baselines.elastic_net import ElasticNetProblem, _started, solve_elastic_net
from masked_subspace.baselines.elastic_net_kernels import _cholesky
from masked_subspace.baselines.ensc import largest_correlations
from masked_subspace.baselines.lrr import LrrSettings, represent_lrr, shrink_singular_values
from masked_subspace.baselines.lsr import represent_lsr
from masked_subspace.baselines.omp import represent_omp
from masked_subspace.baselines.ssc import PreparedSsc, SscSettings
from masked_subspace.baselines.ssc_admm import AdmmProblem, SharedFactor, _Block


@pytest.mark.parametrize("place", [(3, 1), (1, 3), (2, 2)])
def test_a_step_of_bdr_is_as_long_as_its_largest_move(place):
    """One entry of Z moves by 7, below, above or on the diagonal; A = Z has no price, and B is its symmetric part."""
    rng = np.random.default_rng(0)
    old = rng.random((5, 5))
    Z, zero, B = old.copy(), np.zeros((5, 5)), np.empty((5, 5))
    Z[place] += 7
    before = np.maximum((Z + Z.T) / 2, 0)
    np.fill_diagonal(before, 0)
    change, apart, fit = update_blocks.py_func(Z, old, zero, 1.0, before, B)
    np.testing.assert_allclose(B, before)
    assert change == pytest.approx(7)
    assert apart == pytest.approx(((Z - B) ** 2).sum())
    assert fit == pytest.approx(((np.eye(5) - Z) * (Z - before)).sum())
    moved = before - 3 * (1 - np.eye(5))
    assert update_blocks.py_func(old, old, zero, 1.0, moved, B)[0] >= 3 - 1e-12 or place != (2, 2)


def test_more_blocks_than_samples_are_one_for_each(noisy_rows):
    rows = noisy_rows[:6]
    most, many = (represent_bdr(rows, BdrSettings(n, 5.0, 0.2, max_iter=5)) for n in (6, 9))
    np.testing.assert_allclose(many.matrix, most.matrix)
    laplacian = np.diag(most.matrix.sum(axis=1)) - most.matrix
    Z, B = most.details["Z"], most.matrix
    value = 0.5 * np.linalg.norm(rows - Z @ rows) ** 2 + 2.5 * np.linalg.norm(Z.T - B) ** 2 + 0.2 * np.trace(laplacian)
    assert many.objective[-1] == pytest.approx(value)


@pytest.mark.parametrize("scale", [0.3, 3.0])
def test_the_first_step_of_lrr_is_measured_by_both_of_its_gaps(scale):
    """Of samples s·eᵢ: Z = s²/(1 + s²), J = 0 and E = 0, so that the gaps are s/(1 + s²) and s²/(1 + s²)."""
    size = np.array([1.0, 0.6, 0.2]) * scale
    found = represent_lrr(np.diag(size), LrrSettings(penalty=1e-3, max_iter=1))
    np.testing.assert_allclose(np.diagonal(found.matrix), size**2 / (1 + size**2))
    gaps = (size / (1 + size**2)).max(), (size**2 / (1 + size**2)).max()
    assert found.stopping_value == pytest.approx(max(gaps))
    assert np.argmax(gaps) == (scale > 1)


def test_nothing_is_factored_below_the_threshold(monkeypatch):
    asked = []
    monkeypatch.setattr(lrr, "eigenpairs", lambda gram: asked.append(gram) or np.linalg.eigh(gram))
    M = np.diag([3.0, 4.0])
    found, nuclear = shrink_singular_values(M, 5.0)
    assert not asked
    assert not found.any()
    assert nuclear == 0
    assert shrink_singular_values(M, 3.5)[1] == pytest.approx(0.5)
    assert len(asked) == 1
    # Squares keep what is a thousandth of the largest, and lose what is a ten millionth.
    for threshold, by_squares in ((5e-3, True), (5e-7, False)):
        asked.clear()
        assert shrink_singular_values(M, threshold)[1] == pytest.approx(7 - 2 * threshold)
        assert bool(asked) == by_squares


def test_samples_that_rebuild_themselves_leave_no_large_code():
    """Almost no ridge and as many features as samples: P is the identity but for rounding, and no code explodes."""
    X = np.random.default_rng(0).standard_normal((12, 12))
    Z = represent_lsr(X, 1e-30, zero_diagonal=True).matrix
    assert np.isfinite(Z).all()
    assert np.abs(Z).max() < 1e6


@pytest.mark.parametrize(("n_samples", "n_features", "asked", "steps"), [(5, 9, 10, 4), (20, 3, 10, 3), (20, 9, 4, 4)])
def test_a_pursuit_takes_no_more_atoms_than_there_are(n_samples, n_features, asked, steps):
    """Not itself, and in one pass no more than features."""
    X = np.random.default_rng(0).standard_normal((n_samples, n_features))
    found = represent_omp(X, n_nonzero=asked, tol=0.0)
    assert found.n_iter == steps
    assert np.diff(found.matrix.indptr).max() <= n_samples - 1


def test_as_many_passes_as_others_need():
    """In one feature a pass takes one atom: of three samples each is rebuilt by the mean of two."""
    X = np.array([[1.0], [2.0], [4.0]])
    Z = represent_omp(X, n_nonzero=10, tol=0.0).matrix.toarray()
    np.testing.assert_allclose(Z, [[0, 1 / 4, 1 / 8], [1, 0, 1 / 4], [2, 1, 0]])


def test_active_sets_are_solved_ten_times_finer_than_they_are_left(noisy_rows, monkeypatch):
    asked = []
    improve = elastic_net.improve_block
    monkeypatch.setattr(elastic_net, "improve_block", lambda *given: asked.append(given[3]) or improve(*given))
    n = len(noisy_rows)
    problem = ElasticNetProblem(noisy_rows, noisy_rows, np.full(n, 0.02), np.full(n, 0.01), np.arange(n))
    for tol in (1e-2, 1e-5):
        found = solve_elastic_net(problem, tol=tol)
        assert set(asked) == {0.1 * tol}
        assert found.converged
        assert found.violation <= tol
        asked.clear()


def test_a_warm_start_may_be_longer_than_two_rounds_of_atoms():
    codes = csr_array(np.vstack([np.arange(1, 101), np.eye(1, 100)[0]]).astype(float))
    started = _started(codes, 2)
    assert started.support.shape == (2, 100)
    assert started.size.tolist() == [100, 1]
    np.testing.assert_array_equal(started.coef[0], np.arange(1, 101))
    assert _started(None, 2).support.shape == (2, 64)
    assert _started(codes[[1]], 1).support.shape == (1, 64)


def test_a_factor_ends_where_a_row_is_a_copy_and_not_before():
    close = np.array([[1.0, 0.0], [0.9999, 1.0]])
    assert _cholesky.py_func(close, 2) == 2
    np.testing.assert_allclose(np.tril(close), np.linalg.cholesky([[1, 0.9999], [0.9999, 1]]))
    assert _cholesky.py_func(np.array([[1.0, 0.0], [1.0, 1.0]]), 2) == 1


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_products_that_are_no_numbers_are_refused(value):
    rows = np.eye(4)
    rows[1:3, 0] = value
    with (
        np.errstate(all="ignore"),
        pytest.raises(ValueError, match="NaN or infinite values, or entries whose"),
    ):
        largest_correlations(rows, 4)


def test_only_steps_of_few_entries_are_multiplied_one_by_one(noisy_rows, monkeypatch):
    """A step of more than one entry in sixteen is a product of arrays; the product is the same either way."""
    asked = []

    def noted(step, vectors, out):
        asked.append(np.count_nonzero(step) / step.size)
        np.matmul(step, vectors, out=out)

    monkeypatch.setattr(ssc_admm, "sparse_product", noted)
    factor = SharedFactor.of(noisy_rows, 20.0, 20.0, False)
    block = _Block(AdmmProblem(factor, 90, 20.0, 1e-7, 5), 0, 4)
    for entries, one_by_one in ((5, True), (6, False), (90, False)):
        block.step[:] = np.arange(90) < entries
        block.turn(np.zeros(1))
        np.testing.assert_allclose(block.product, block.step @ block.vectors, atol=1e-12)
        assert bool(asked) == one_by_one
        asked.clear()


def test_a_sum_that_is_not_one_is_a_change_too(noisy_rows, monkeypatch):
    factor = SharedFactor.of(noisy_rows, 20.0, 20.0, True)
    block = _Block(AdmmProblem(factor, 90, 20.0, 1e-3, 5), 0, 3)
    sums = np.array([1.0, 0.25, 3.0])
    monkeypatch.setattr(ssc_admm, "advance", lambda *_: (np.array([0.1, 0.2, 5.0]), sums))
    block.advance(AdmmProblem(factor, 90, 20.0, 1e-3, 5))
    np.testing.assert_allclose(block.change, [0.1, 0.75, 5.0])
    np.testing.assert_allclose(block.tilt, sums - 1)
    block.advance(AdmmProblem(factor, 90, 20.0, 1e-3, 5))
    np.testing.assert_allclose(block.last_tilt, sums - 1)


def test_samples_that_stop_early_take_their_prices_along(noisy_rows):
    """Every sample has prices of its own, and both solvers end at the same codes."""
    prices = np.random.default_rng(0).uniform(0.5, 2, (90, 90))
    iterated, exact = (
        PreparedSsc(noisy_rows, SscSettings(alpha=9.0, solver=solver, tol=1e-7, max_iter=20_000))
        .solve(lambda start, stop: prices[start:stop])
        .matrix
        for solver in ("admm", "active-set")
    )
    assert abs(iterated - exact).max() < 1e-4
