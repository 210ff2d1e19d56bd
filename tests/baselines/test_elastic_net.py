"""The solver behind SSC, EnSC and Soft S³C: optimality, an independent solver, and its promises about memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.linear_model import ElasticNet, Lasso

from masked_subspace.baselines.elastic_net import ElasticNetProblem, solve_elastic_net
from masked_subspace.baselines.elastic_net_kernels import _restricted_violation
from masked_subspace.baselines.ensc import largest_correlations, represent_ensc
from masked_subspace.baselines.ssc import PreparedSsc, SscSettings


def kkt_residual(X, Z, l1, l2):
    """Largest violation of the optimality conditions, over l₁, off the diagonal."""
    Z = Z.toarray()
    slope = (X - Z @ X) @ X.T - l2[:, None] * Z
    violation = np.where(Z != 0, np.abs(slope - l1[:, None] * np.sign(Z)), np.maximum(np.abs(slope) - l1[:, None], 0))
    np.fill_diagonal(violation, 0)
    return (violation / l1[:, None]).max()


@pytest.mark.parametrize("gamma", [2.0, 50.0, 500.0])
@pytest.mark.parametrize("tau", [0.5, 0.9])
def test_ensc_is_optimal(noisy_rows, gamma, tau):
    found = represent_ensc(noisy_rows, gamma=gamma, tau=tau)
    l1 = largest_correlations(noisy_rows, len(noisy_rows)) / gamma
    assert found.converged
    assert kkt_residual(noisy_rows, found.matrix, l1, l1 * (1 - tau) / tau) < 1e-4
    assert np.all(found.matrix.diagonal() == 0)


def test_ensc_agrees_with_coordinate_descent(noisy_rows):
    gamma, tau = 20.0, 0.8
    Z = represent_ensc(noisy_rows, gamma=gamma, tau=tau, tol=1e-9).matrix.toarray()
    l1 = largest_correlations(noisy_rows, len(noisy_rows)) / gamma
    n_features = noisy_rows.shape[1]
    for i in (0, 17, 60):
        others = np.delete(np.arange(len(noisy_rows)), i)
        l2 = l1[i] * (1 - tau) / tau
        peer = ElasticNet(
            alpha=(l1[i] + l2) / n_features,
            l1_ratio=l1[i] / (l1[i] + l2),
            fit_intercept=False,
            tol=1e-13,
            max_iter=100_000,
        )
        peer.fit(noisy_rows[others].T, noisy_rows[i])
        np.testing.assert_allclose(Z[i, others], peer.coef_, atol=1e-7)


@pytest.mark.parametrize("alpha", [3.0, 20.0, 800.0])
def test_ssc_is_optimal(noisy_rows, alpha):
    problem = PreparedSsc(noisy_rows, SscSettings(alpha=alpha, solver="active-set"))
    found = problem.solve()
    n = len(noisy_rows)
    assert kkt_residual(noisy_rows, found.matrix, np.full(n, 1 / problem.data_weight), np.zeros(n)) < 1e-4


def test_ssc_agrees_with_coordinate_descent(noisy_rows):
    problem = PreparedSsc(noisy_rows, SscSettings(alpha=10.0, tol=1e-9))
    Z = problem.solve().matrix.toarray()
    for i in (3, 41):
        others = np.delete(np.arange(len(noisy_rows)), i)
        price = 1 / problem.data_weight / noisy_rows.shape[1]
        peer = Lasso(alpha=price, fit_intercept=False, tol=1e-13, max_iter=100_000)
        peer.fit(noisy_rows[others].T, noisy_rows[i])
        np.testing.assert_allclose(Z[i, others], peer.coef_, atol=1e-6)


def problem_of(X, l1=0.02, weights=None):
    n = len(X)
    return ElasticNetProblem(X, X, np.full(n, l1), np.full(n, 0.01), np.arange(n), weights)


def test_a_warm_start_ends_at_the_same_place(noisy_rows):
    cold = solve_elastic_net(problem_of(noisy_rows), tol=1e-9)
    warm = solve_elastic_net(
        problem_of(noisy_rows), start=solve_elastic_net(problem_of(noisy_rows, 0.03)).coefficients, tol=1e-9
    )
    again = solve_elastic_net(problem_of(noisy_rows), start=cold.coefficients, tol=1e-9)
    np.testing.assert_allclose(warm.coefficients.toarray(), cold.coefficients.toarray(), atol=1e-8)
    assert again.n_rounds == 1
    in_blocks = solve_elastic_net(problem_of(noisy_rows), start=cold.coefficients, tol=1e-9, block_size=7)
    assert in_blocks.n_rounds == 1  # every block starts from its own rows


def test_blocks_threads_and_a_missing_gram_change_nothing(noisy_rows, monkeypatch):
    whole = solve_elastic_net(problem_of(noisy_rows), tol=1e-9).coefficients.toarray()
    monkeypatch.setattr("masked_subspace.baselines.elastic_net._GRAM_BYTES", 0)
    pieces = solve_elastic_net(problem_of(noisy_rows), tol=1e-9, block_size=7, n_threads=2).coefficients.toarray()
    np.testing.assert_allclose(pieces, whole, atol=1e-9)


def test_weights_are_prices(noisy_rows):
    def dear(start, stop):
        weights = np.ones((stop - start, len(noisy_rows)))
        weights[:, :45] = 1000.0
        return weights

    Z = solve_elastic_net(problem_of(noisy_rows, weights=dear)).coefficients
    assert Z[:, :45].nnz == 0
    assert Z[:, 45:].nnz > 0


def test_dependent_atoms_are_no_trouble(noisy_rows):
    doubled = np.vstack([noisy_rows, noisy_rows])
    n = len(doubled)
    l1 = np.full(n, 0.01)
    found = solve_elastic_net(ElasticNetProblem(doubled, doubled, l1, np.zeros(n), np.arange(n)))
    assert found.converged
    assert kkt_residual(doubled, found.coefficients, l1, np.zeros(n)) < 1e-4


def test_a_price_of_zero_is_refused(noisy_rows):
    with pytest.raises(ValueError, match="must be positive"):
        problem_of(noisy_rows, l1=0.0)


def test_memory_grows_with_blocks_not_with_n_squared():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((4000, 12)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    represent_ensc(rows[:50])
    tracemalloc.start()
    represent_ensc(rows, gamma=5.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # A dense n × n of float64 would be 128 MB; the float32 Gram that is kept at this size is 64 MB.
    assert peak < 64e6 + 60e6


def test_products_of_all_atoms_are_kept_only_where_they_fit(monkeypatch):
    """Those of 2,000 atoms take 32 MB. One byte less, and a block of codes has them only for its active sets."""
    rows = np.random.default_rng(0).standard_normal((2000, 8))
    few = ElasticNetProblem(rows, rows[:5], np.full(5, 10.0), np.full(5, 1.0), np.full(5, -1))
    peaks = []
    for limit in (8 * 2000**2, 8 * 2000**2 - 1):
        monkeypatch.setattr("masked_subspace.baselines.elastic_net._GRAM_BYTES", limit)
        solve_elastic_net(few)
        tracemalloc.start()
        solve_elastic_net(few)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[0] > 32e6 > 4 * peaks[1]


def test_the_violation_is_a_share_of_each_samples_own_price(noisy_rows):
    """After one round atoms are listed and none is used yet: the residual is the sample itself."""
    n = len(noisy_rows)
    prices = np.linspace(0.05, 0.3, n)
    found = solve_elastic_net(
        ElasticNetProblem(noisy_rows, noisy_rows, prices, np.zeros(n), np.arange(n)), max_rounds=1
    )
    excess = np.abs(noisy_rows @ noisy_rows.T) - prices[:, None]
    np.fill_diagonal(excess, 0)
    assert found.coefficients.nnz == 0
    assert not found.converged
    assert found.violation == pytest.approx((excess / prices[:, None]).max(), rel=1e-6)


def test_ensc_stops_after_so_many_rounds(noisy_rows):
    whole = represent_ensc(noisy_rows, gamma=500.0)
    assert whole.n_iter > 2
    short = represent_ensc(noisy_rows, gamma=500.0, max_iter=2)
    assert short.n_iter == 2
    assert not short.converged


@pytest.mark.parametrize("gamma", [1e5, 1e6])
def test_at_large_gamma_the_tolerance_is_not_below_rounding(gamma):
    """The price is 1/γ of the largest correlation, which single precision knows to 1.2e-7."""
    X = np.random.default_rng(0).normal(size=(60, 8))
    rows = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    found = represent_ensc(rows, gamma=gamma, max_iter=60)
    assert found.converged
    assert found.stopping_value <= 4 * gamma * 1.2e-7


@pytest.mark.parametrize(
    ("gradient", "coef", "expected"),
    [
        ([3.0, -0.5, 2.0], [0, 0, 1.0], 2.0),  # an atom at 0 whose slope is beyond its price
        ([-3.5, -0.5, 2.0], [0, 0, 1.0], 2.5),
        ([0.9, -0.5, 2.0], [0, 0, 1.0], 0.5),  # an atom in use whose slope is not its price
        ([0.9, -0.5, -1.0], [0, 0, -1.0], 0.5),
        ([0.9, -0.5, 1.5], [0, 0, 1.0], 0.0),
    ],
)
def test_the_violation_is_the_largest_of_all_atoms(gradient, coef, expected):
    """Prices of 1 and a ridge of ½; at the optimum |slope| ≤ 1 at zero and slope = ±1 elsewhere."""
    found = _restricted_violation.py_func(np.array(gradient), np.ones(3), 0.5, np.array(coef))
    assert found == pytest.approx(expected)
