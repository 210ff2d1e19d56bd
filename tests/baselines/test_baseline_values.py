"""Published constants and second code paths of the baselines, against the formula written out."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.baselines import BDR, EDSC, LRR, LSR, SSC, SSCOMP, EnSC, NeighborGraph, SoftS3C
from masked_subspace.baselines.bdr import BdrSettings, represent_bdr
from masked_subspace.baselines.edsc import EdscSettings, represent_edsc
from masked_subspace.baselines.ensc import largest_correlations, represent_ensc
from masked_subspace.baselines.labeler import keep_mass, skinny_graph
from masked_subspace.baselines.lrr import LrrSettings, represent_lrr, shrink_singular_values
from masked_subspace.baselines.lsr import represent_lsr
from masked_subspace.baselines.omp import represent_omp
from masked_subspace.baselines.ssc import PreparedSsc, SscSettings, outlier_dictionary, represent_ssc
from masked_subspace.label.graph import affinity_matrix


@pytest.fixture(params=[(12, 30), (12, 12), (30, 12)], ids=lambda shape: f"{shape[0]}x{shape[1]}")
def rows(request):
    """Fewer samples than features, as many, and more: closed forms take the smaller Gram matrix."""
    return np.random.default_rng(0).standard_normal(request.param)


def test_lsr_is_the_ridge_projection(rows):
    G = rows @ rows.T
    for ridge in (0.1, 3.0):
        expected = G @ np.linalg.inv(G + ridge * np.eye(len(G)))
        np.testing.assert_allclose(represent_lsr(rows, ridge).matrix, expected, atol=1e-10)
        P = np.linalg.inv(G + ridge * np.eye(len(G)))
        expected = -P / np.diagonal(P)[:, None]
        np.fill_diagonal(expected, 0)
        np.testing.assert_allclose(represent_lsr(rows, ridge, zero_diagonal=True).matrix, expected, atol=1e-9)


def test_edsc_is_its_closed_form(rows):
    G = rows @ rows.T
    expected = np.linalg.inv(np.eye(len(G)) + 0.7 * G) @ (0.7 * G)
    np.testing.assert_allclose(represent_edsc(rows, EdscSettings(0.7)).matrix, expected, atol=1e-10)


def test_edsc_with_outliers_is_the_alm_written_out(rows):
    """Five iterations of X = D + E with the inverse taken explicitly."""
    lam, price, mu, growth = 2.0, 0.3, 0.5, 1.5
    n, eye = len(rows), np.eye(len(rows))
    D, E, Y = rows.copy(), np.zeros_like(rows), np.zeros_like(rows)
    for _ in range(5):
        rest = eye - np.linalg.inv(eye + lam * D @ D.T) @ (lam * D @ D.T)  # I − C
        D = np.linalg.inv(mu * np.eye(n) + lam * rest @ rest) @ (mu * (rows - E) + Y)
        left = rows - D + Y / mu
        E = np.sign(left) * np.maximum(np.abs(left) - price / mu, 0)
        Y = Y + mu * (rows - D - E)
        mu *= growth
    found = represent_edsc(rows, EdscSettings(lam, price, 0.5, growth, tol=1e-12, max_iter=5))
    np.testing.assert_allclose(found.details["clean"], D, atol=1e-8)
    np.testing.assert_allclose(found.outliers.toarray(), E, atol=1e-8)
    np.testing.assert_allclose(found.matrix, np.linalg.inv(eye + lam * D @ D.T) @ (lam * D @ D.T), atol=1e-8)


def test_edsc_cuts_the_graph_of_d_k_plus_one_directions():
    X = np.random.default_rng(0).standard_normal((40, 20))
    model = EDSC(3, subspace_dim=2, affinity_power=3.0, random_state=0).fit(X)
    C = model.representation_matrix_
    expected = affinity_matrix(C, "shape-interaction", rank=2 * 3 + 1, power=3.0)
    other = affinity_matrix(C, "shape-interaction", rank=2 * 3, power=3.0)
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), expected.toarray(), atol=1e-12)
    assert abs(expected - other).max() > 1e-3


@pytest.mark.parametrize("cap", [1e10, 0.7])
def test_lrr_is_the_inexact_alm_written_out(rows, cap):
    weight, mu, growth = 0.4, 0.2, 1.3
    A = rows.T  # samples as columns, as published
    n = A.shape[1]
    Z, J, Y2 = (np.zeros((n, n)) for _ in range(3))
    E, Y1 = np.zeros_like(A), np.zeros_like(A)
    for _ in range(12):
        U, sigma, Vt = np.linalg.svd(Z + Y2 / mu, full_matrices=False)
        J = (U * np.maximum(sigma - 1 / mu, 0)) @ Vt
        Z = np.linalg.inv(np.eye(n) + A.T @ A) @ (A.T @ (A - E) + J + (A.T @ Y1 - Y2) / mu)
        rest = A - A @ Z + Y1 / mu
        norms = np.linalg.norm(rest, axis=0)
        E = rest * np.maximum(norms - weight / mu, 0) / norms
        Y1 = Y1 + mu * (A - A @ Z - E)
        Y2 = Y2 + mu * (Z - J)
        mu = min(growth * mu, cap)
    found = represent_lrr(rows, LrrSettings(weight, 0.2, growth, cap, tol=1e-14, max_iter=12))
    nuclear = np.linalg.svd(J, compute_uv=False).sum()
    assert found.objective[-1] == pytest.approx(nuclear + weight * np.linalg.norm(E, axis=0).sum())
    np.testing.assert_allclose(found.matrix, Z.T, atol=1e-7)
    np.testing.assert_allclose(found.noise, E.T, atol=1e-7)


def test_lrr_cuts_the_graph_with_the_power_that_was_asked_for():
    X = np.random.default_rng(0).standard_normal((30, 12))
    for power in (2.0, 4.0):
        model = LRR(3, affinity_power=power, random_state=0).fit(X)
        expected = skinny_graph(model.representation_matrix_.toarray(), power)
        np.testing.assert_allclose(model.affinity_matrix_.toarray(), expected.toarray(), atol=1e-6)


def test_edsc_ends_at_the_objective_that_it_states():
    X, lam, price = np.random.default_rng(0).standard_normal((12, 20)), 2.0, 0.02
    found = represent_edsc(X, EdscSettings(lam, price, 0.5, 1.2, tol=1e-8))
    assert found.converged
    C, D, E = found.matrix, found.details["clean"], found.outliers.toarray()
    value = 0.5 * (C**2).sum() + lam / 2 * ((D - C @ D) ** 2).sum() + price * np.abs(E).sum()
    assert found.objective[-1] == pytest.approx(value, rel=1e-3)
    assert np.abs(E).sum() > 0


def test_the_neighbour_graph_links_each_sample_to_its_k_nearest_others():
    X = np.random.default_rng(0).standard_normal((20, 5))
    unit = (X - X.mean(axis=0)) / np.linalg.norm(X - X.mean(axis=0), axis=1, keepdims=True)
    apart = np.linalg.norm(unit[:, None] - unit, axis=2)
    np.fill_diagonal(apart, np.inf)
    nearest = np.argsort(apart, axis=1)
    for asked, k in ((3, 3), (50, 19)):
        expected = np.zeros((20, 20))
        np.put_along_axis(expected, nearest[:, :k], 1, axis=1)
        found = NeighborGraph(2, n_neighbors=asked, random_state=0).fit(X)
        np.testing.assert_array_equal(found.representation_matrix_.toarray(), expected)
        np.testing.assert_array_equal(found.affinity_matrix_.toarray(), (expected + expected.T) / 2)


def test_bdr_is_the_alternation_written_out(rows):
    lam, gamma, blocks = 3.0, 0.5, 3
    G, n = rows @ rows.T, len(rows)
    B, W = np.zeros((n, n)), np.zeros((n, n))
    for _ in range(4):
        Z = np.linalg.inv(G + lam * np.eye(n)) @ (G + lam * B)
        A = Z - gamma / lam * (np.diagonal(W)[:, None] - W)
        A = A - np.diag(np.diagonal(A))
        B = np.maximum((A + A.T) / 2, 0)
        V = np.linalg.eigh(np.diag(B.sum(axis=1)) - B)[1][:, :blocks]
        W = V @ V.T
    found = represent_bdr(rows, BdrSettings(blocks, lam, gamma, tol=1e-14, max_iter=4))
    np.testing.assert_allclose(found.matrix, B, atol=1e-9)
    np.testing.assert_allclose(found.details["Z"], Z.T, atol=1e-9)


def test_bdr_cuts_the_matrix_that_was_asked_for():
    X = np.random.default_rng(0).standard_normal((30, 8))
    b, z = (BDR(3, output=output, random_state=0).fit(X) for output in "BZ")
    np.testing.assert_array_equal(b.representation_matrix_.toarray(), b.block_matrix_)
    np.testing.assert_array_equal(z.representation_matrix_.toarray(), z.coefficient_matrix_)
    np.testing.assert_array_equal(b.coefficient_matrix_, z.coefficient_matrix_)
    assert np.abs(z.coefficient_matrix_ - z.block_matrix_).max() > 1e-3


def test_ssc_weights_follow_their_formulas(rows):
    G = np.abs(rows @ rows.T)
    np.fill_diagonal(G, 0)
    np.testing.assert_allclose(largest_correlations(rows, len(rows)), G.max(axis=1))
    problem = PreparedSsc(rows, SscSettings(alpha=7.0))
    assert problem.data_weight == pytest.approx(7.0 / G.max(axis=1).min())
    sizes = np.abs(rows).sum(axis=1)
    others = [np.delete(sizes, i).max() for i in range(len(rows))]
    dictionary, weight = outlier_dictionary(rows, 5.0)
    assert weight == pytest.approx(5.0 / min(others))
    np.testing.assert_allclose(dictionary[len(rows) :], np.eye(rows.shape[1]) / weight)
    assert outlier_dictionary(rows, None)[1] is None


@pytest.mark.parametrize("solver", ["active-set", "admm"])
def test_ssc_with_outliers_minimises_what_it_states(solver):
    """‖c‖₁ + λ_e‖e‖₁ + λ_z/2‖x − cX − e‖²: its optimality conditions, with λ_e and λ_z from the published formulas."""
    X = np.random.default_rng(0).standard_normal((25, 8))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    found = represent_ssc(X, SscSettings(alpha=20.0, outliers=3.0, solver=solver, tol=1e-9, max_iter=50_000))
    C, E = found.matrix.toarray(), found.outliers.toarray()
    sizes = np.sort(np.abs(X).sum(axis=1))
    price = 3.0 / sizes[-2]
    dictionary = np.vstack([X, np.eye(8) / price])
    correlation = np.abs(X @ dictionary.T)
    correlation[np.arange(25), np.arange(25)] = 0
    weight = 20.0 / correlation.max(axis=1).min()
    rest = X - C @ X - E
    slope_c, slope_e = weight * rest @ X.T, weight * rest
    np.fill_diagonal(slope_c, 0)
    assert np.abs(slope_c).max() <= 1 + 1e-3
    assert np.abs(slope_e).max() <= price * (1 + 1e-3)
    np.testing.assert_allclose(slope_c[C != 0], np.sign(C[C != 0]), atol=1e-2)
    np.testing.assert_allclose(slope_e[np.abs(E) > 1e-6], price * np.sign(E[np.abs(E) > 1e-6]), atol=1e-2)
    assert (np.abs(E) > 1e-6).any()


def test_ensc_scales_its_data_weight_to_each_sample(rows):
    """γ_i is `gamma` times the value at which the code of sample i stops being empty."""
    assert represent_ensc(rows, gamma=0.999).matrix.nnz == 0
    counts = np.diff(represent_ensc(rows, gamma=1.01, tol=1e-9).matrix.indptr)
    assert (counts >= 1).all()
    tau, gamma = 0.6, 20.0
    C = represent_ensc(rows, gamma=gamma, tau=tau, tol=1e-10).matrix.toarray()
    lasso = largest_correlations(rows, len(rows)) / gamma
    slope = (rows - C @ rows) @ rows.T - (lasso * (1 - tau) / tau)[:, None] * C
    np.testing.assert_allclose(slope[C != 0], (lasso[:, None] * np.sign(C))[C != 0], atol=1e-7)


def test_omp_stops_at_the_squared_residual():
    X = np.eye(6)
    X[0] = [1.0, 0.5, 0.1, 0.0, 0.0, 0.0]
    X[5] = [1.0, 0.5, 0.1, 0.0, 0.0, 0.0]
    X[5, 5] = 0.2  # an almost perfect copy leaves a squared residual of about .04
    assert np.diff(represent_omp(X, n_nonzero=5, tol=0.05).matrix.indptr)[0] == 1
    assert np.diff(represent_omp(X, n_nonzero=5, tol=0.01).matrix.indptr)[0] > 1


def test_thr_stops_where_the_share_is_reached_exactly():
    """.5 + .25 of 1 is three quarters: the third entry is not needed."""
    Z = csr_array(np.array([[0.0, 0.5, -0.25, 0.125, 0.125]]))
    np.testing.assert_array_equal(keep_mass(Z, 0.75).toarray(), [[0, 0.5, -0.25, 0, 0]])
    np.testing.assert_array_equal(keep_mass(Z, 0.75 + 1e-9).toarray(), [[0, 0.5, -0.25, 0.125, 0]])


def test_skinny_graph_drops_directions_below_a_ten_thousandth():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((9, 9)))[0]
    for sigma, kept in ((2e-4, 3), (0.5e-4, 2)):
        Z = (Q[:, :3] * [1.0, 0.5, sigma]) @ Q[:, 3:6].T
        U, S = Q[:, 3:6][:, :kept], np.array([1.0, 0.5, sigma])[:kept]
        M = U * np.sqrt(S)
        M /= np.linalg.norm(M, axis=1, keepdims=True)
        expected = np.abs(M @ M.T) ** 4.0
        np.fill_diagonal(expected, 0)
        # A common factor moves no cut: the graph is scaled to a largest weight of 1.
        expected /= expected.max()
        np.testing.assert_allclose(skinny_graph(Z, 4.0).toarray(), np.where(expected < 1e-8, 0, expected), atol=1e-6)


@pytest.mark.parametrize(
    ("estimator", "published"),
    [
        (LRR, {"noise_weight": 0.18, "penalty": 1e-6, "penalty_growth": 1.1, "tol": 1e-8, "affinity_power": 4.0}),
        (SSC, {"alpha": 20.0, "affine": False, "outliers": None, "threshold": 1.0, "affinity": "normalized"}),
        (SSCOMP, {"n_nonzero": 10, "tol": 1e-6, "affinity": "symmetric"}),
        (EnSC, {"gamma": 50.0, "tau": 0.9, "affinity": "symmetric"}),
        (LSR, {"ridge": 0.1, "zero_diagonal": True, "affinity": "symmetric"}),
        (BDR, {"coupling": 50.0, "block_weight": 1.0, "tol": 1e-3, "output": "B", "affinity": "normalized"}),
        (EDSC, {"data_weight": 1.0, "subspace_dim": 4, "affinity_power": 4.0, "affinity": "shape-interaction"}),
        (SoftS3C, {"alpha": 20.0, "structure_weight": 0.1, "affinity": "normalized"}),
    ],
)
def test_defaults_are_the_documented_ones(estimator, published):
    parameters = estimator().get_params()
    assert {name: parameters[name] for name in published} == published


def test_parameters_of_the_class_reach_the_solver():
    """The estimator gives what the pure function gives with the same numbers on the same rows."""
    X = np.random.default_rng(0).standard_normal((24, 9))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    common = {"random_state": 0, "n_jobs": 1}
    pairs = [
        (LSR(3, ridge=0.7, zero_diagonal=False, **common), represent_lsr(unit, 0.7)),
        (EDSC(3, data_weight=3.0, outliers=0.2, **common), represent_edsc(unit, EdscSettings(3.0, 0.2))),
        (
            LRR(3, noise_weight=0.5, penalty=0.1, penalty_growth=1.5, tol=1e-6, **common),
            represent_lrr(unit, LrrSettings(0.5, 0.1, 1.5, tol=1e-6)),
        ),
        (
            BDR(3, coupling=7.0, block_weight=0.3, tol=1e-5, **common),
            represent_bdr(unit, BdrSettings(3, 7.0, 0.3, 1e-5)),
        ),
        (EnSC(3, gamma=9.0, tau=0.5, tol=1e-7, **common), represent_ensc(unit, gamma=9.0, tau=0.5, tol=1e-7)),
        (SSCOMP(3, n_nonzero=4, tol=1e-3, **common), represent_omp(unit, n_nonzero=4, tol=1e-3)),
        (SSC(3, alpha=5.0, affine=True, tol=1e-6, **common), represent_ssc(unit, SscSettings(5.0, True, tol=1e-6))),
    ]
    for model, expected in pairs:
        matrix = csr_array(expected.matrix).toarray()
        found = model.fit(X).representation_matrix_.toarray()
        np.testing.assert_allclose(found, matrix, atol=1e-10, err_msg=str(model))


@pytest.mark.parametrize("threshold", [0.2, 1e-7], ids=["by squares", "by an SVD"])
def test_every_singular_value_is_lowered_and_none_below_zero(threshold):
    """Late in the continuation, where squares would lose the small values, the second path is taken."""
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.standard_normal((7, 3)))[0] for _ in range(2))
    left = np.maximum(np.array([1.0, 0.5, 1e-9]) - threshold, 0)
    found, nuclear = shrink_singular_values((U * [1.0, 0.5, 1e-9]) @ V.T, threshold)
    np.testing.assert_allclose(found, (U * left) @ V.T, rtol=0, atol=1e-13)
    assert nuclear == pytest.approx(left.sum(), abs=1e-13)


def test_lrr_has_converged_when_its_own_tolerance_is_met(rows):
    found = represent_lrr(rows, LrrSettings(noise_weight=0.2, tol=1e-3))
    assert 1e-8 < found.stopping_value < 1e-3
    assert found.converged
    assert not represent_lrr(rows, LrrSettings(noise_weight=0.2, tol=1e-3, max_iter=3)).converged
