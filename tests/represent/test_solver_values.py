"""Numbers of the solvers and their rules against their definitions."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.masks.hard import NeighborMask, PatternMask
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.masks.soft import ArrayMask, LabelMask
from masked_subspace.metrics import sparsity as mean_nonzeros
from masked_subspace.represent.dense import near_ties
from masked_subspace.represent.dense.lazy import LazyPass, LazyProblem
from masked_subspace.represent.dense.running import FinishedRow, Outcome, run_freezing
from masked_subspace.represent.dense.solve import solve_dense
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.represent.model import (
    AdmmSettings,
    CandidateStep,
    FirstStep,
    continuation,
    default_mask_weight,
    default_penalty,
    mean_square,
)
from masked_subspace.represent.neighbors.search import nearest_in, nearest_of_all
from masked_subspace.represent.representer import DenseRepresenter, MaskedRepresenter, SparseRepresenter
from masked_subspace.represent.sparse.solve import represent_over, solve_sparse
from reference import plain_admm


def rows(n=24, d=10, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def everybody(n):
    return np.array([[j for j in range(n) if j != i] for i in range(n)], dtype=np.int32)


@pytest.mark.parametrize("max_iter", [1, 2, 7])
@pytest.mark.parametrize("path", ["blocked", "sparse"])
def test_an_unconverged_solve_holds_only_permitted_entries(path, max_iter):
    """Long before convergence Q has entries that the mask forbids; the result has none, and the others as they are."""
    X = rows()
    allowed = np.random.default_rng(1).random((24, 24)) < 0.5
    allowed |= allowed.T
    settings = AdmmSettings(1e-4, penalty=0.3, max_iter=max_iter)
    mask = PatternMask(csr_array(allowed))
    expected = plain_admm(X, settings, allowed=allowed).Q * (allowed & ~np.eye(24, dtype=bool))
    if path == "sparse":
        found = solve_sparse(X, settings, candidates=everybody(24), hard_mask=mask)
    else:
        found = solve_dense(X, settings, hard_mask=mask)
    np.testing.assert_allclose(found.representation.toarray(), expected, atol=1e-7)
    assert not found.converged
    assert np.abs(plain_admm(X, settings, allowed=allowed).Q)[~allowed].max() > 0


@pytest.mark.parametrize("gamma", [0.3, 2.0])
def test_prices_enter_squared_and_times_their_weight(gamma):
    X, labels = rows(), np.arange(24) % 3
    settings = AdmmSettings(1e-3, mask_weight=gamma, penalty=0.5)
    prices = np.where(labels[:, None] == labels[None, :], 1 / 1.7, 1.7)
    expected = plain_admm(X, settings, prices=prices).Q
    for mask in (LabelMask(labels, 1.7), ArrayMask(prices)):
        for path in ("blocked", "lazy") if isinstance(mask, LabelMask) else ("blocked",):
            found = solve_dense(X, settings, soft_mask=mask, path=path).representation.toarray()
            np.testing.assert_allclose(found, expected, atol=1e-8)
        found = solve_sparse(X, settings, candidates=everybody(24), soft_mask=mask).representation.toarray()
        np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize(("noise", "outliers"), [(0.7, None), (None, 0.02), (0.7, 0.02)])
def test_the_residual_model_of_both_solvers(noise, outliers):
    X = rows()
    settings = AdmmSettings(1e-3, penalty=0.5, noise=noise, outliers=outliers)
    plain = plain_admm(X, settings)
    for found in (solve_dense(X, settings), solve_sparse(X, settings, candidates=everybody(24))):
        np.testing.assert_allclose(found.representation.toarray(), plain.Q, atol=1e-5)
        if noise is not None:
            np.testing.assert_allclose(found.noise, plain.noise, atol=1e-5)
        if outliers is not None:
            np.testing.assert_allclose(found.outliers.toarray(), plain.outliers, atol=1e-5)


def test_the_continuation_is_a_geometric_series():
    steps = list(continuation(AdmmSettings(0.08, penalty=0.25, penalty_growth=2.0, max_iter=3)))
    assert [step.mu for step in steps] == [0.25, 0.5, 1.0]
    assert [step.mu_next for step in steps] == [0.5, 1.0, 2.0]
    np.testing.assert_allclose([step.tau for step in steps], np.sqrt(2 * 0.08 / np.array([0.25, 0.5, 1.0])))
    assert [step.tau_last for step in steps[1:]] == [step.tau for step in steps[:-1]]


@pytest.mark.parametrize("shape", [(30, 9), (9, 30)])
def test_the_first_step_rule_is_a_quantile_of_the_first_z(shape):
    X = np.random.default_rng(0).standard_normal(shape)
    n, G = len(X), X @ X.T
    for penalty, links in ((0.5, 2.0), (4.0, 1.0)):
        Z = np.abs(G @ np.linalg.inv(G + 2 * penalty * np.eye(n)))[~np.eye(n, dtype=bool)]
        kept = round(Z.size * links / n)
        ordered = np.sort(Z)[::-1]
        tau = (ordered[kept - 1] + ordered[kept]) / 2
        assert FirstStep(X, 0).sparsity(penalty, links) == pytest.approx(penalty * tau**2 / 2)


def test_units_follow_the_rows():
    X = 3.0 * rows()
    assert mean_square(X) == pytest.approx(9.0)
    assert default_penalty(X) == pytest.approx(9 * default_penalty(rows()))
    assert default_mask_weight(X) == pytest.approx(9 * default_mask_weight(rows()))


def test_iteration_counts_of_samples_that_are_decided_again_are_their_own():
    X = rows(120, 12).astype(np.float32)
    settings = AdmmSettings(0.01, penalty=0.1)
    problem = LazyProblem.of(settings, Spectrum.of(X.astype(np.float64)), (0.0,), None, patient=True)
    right = run_freezing([(0, 120)], lambda a, b: LazyPass(problem, np.arange(a, b)), settings, 1, None)
    blank = FinishedRow(np.zeros(0, np.int32), np.zeros(0, np.float32), 0.0, 0.0)
    outcome = Outcome(rows=dict.fromkeys(range(120), blank), n_iter=dict.fromkeys(range(120), 1), objective=[1.0])
    near_ties.decide_again(outcome, [5, 60], problem, 1)
    assert outcome.n_iter[5] == right.n_iter[5] > 1
    assert outcome.n_iter[60] == right.n_iter[60] > 1
    assert outcome.n_iter[7] == 1
    assert len(outcome.objective) == max(right.n_iter[5], right.n_iter[60])


def test_neighbours_are_those_of_the_largest_cosines():
    X = np.random.default_rng(0).standard_normal((50, 6)) * np.random.default_rng(1).uniform(0.1, 10, (50, 1))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosines = np.abs(unit @ unit.T)
    np.fill_diagonal(cosines, -1)
    expected = np.sort(np.argsort(-cosines, axis=1)[:, :5], axis=1)
    np.testing.assert_array_equal(np.sort(nearest_of_all(X, 5), axis=1), expected)
    np.testing.assert_array_equal(np.sort(nearest_of_all(1e100 * X, 5), axis=1), expected)
    np.testing.assert_array_equal(np.sort(nearest_of_all(1e-100 * X, 5), axis=1), expected)
    assert (nearest_in(X, X[:4], 1)[:, 0] == np.arange(4)).all()


def test_new_samples_are_rebuilt_over_the_dictionary():
    """Algorithm 1 without a forbidden entry, written out for a dictionary that the samples are not part of."""
    X, new = rows(), rows(5, seed=9)
    settings = AdmmSettings(1e-3, penalty=0.1, penalty_growth=1.2, max_iter=40)
    C, Q, U1, U2 = (np.zeros((5, 24)) for _ in range(4))
    mu = settings.penalty
    for _ in range(40):
        right = new @ X.T - U1 + mu * C + U2 + mu * Q
        Z = right @ np.linalg.inv(X @ X.T + 2 * mu * np.eye(24))
        C = (U1 + mu * Z) / mu
        T = Z - U2 / mu
        Q = np.where(np.abs(T) > np.sqrt(2 * settings.sparsity / mu), T, 0)
        U1, U2, mu = U1 + mu * (Z - C), U2 + mu * (Q - Z), mu * settings.penalty_growth
    codes = represent_over(X, new, settings, n_candidates=24).toarray()
    np.testing.assert_allclose(codes, Q, atol=1e-6)
    assert (Q == 0).any()
    for scale in (2.0**-40, 2.0**40):  # other units: the same codes, also where sixth powers would overflow
        numbers = {name: getattr(settings, name) * scale**2 for name in ("sparsity", "penalty", "mask_weight")}
        far = represent_over(scale * X, scale * new, replace(settings, **numbers), n_candidates=24).toarray()
        np.testing.assert_allclose(far, codes, atol=1e-12)


@pytest.mark.parametrize("scale", [2.0**-30, 2.0**30])
def test_new_samples_in_any_unit_have_the_same_codes_in_float32(scale):
    """The sixth power of 2³⁰ is beyond float32."""
    X, new = (one.astype(np.float32) for one in (rows(), rows(5, seed=9)))
    settings = AdmmSettings(1e-3, penalty=0.1, penalty_growth=1.2, max_iter=40)
    numbers = {name: getattr(settings, name) * scale**2 for name in ("sparsity", "penalty")}
    far = represent_over(np.float32(scale) * X, np.float32(scale) * new, replace(settings, **numbers), n_candidates=24)
    np.testing.assert_array_equal(far.toarray(), represent_over(X, new, settings, n_candidates=24).toarray())


def test_stored_zeros_are_no_entries():
    Z = csr_array((np.array([1.0, 0.0, 2.0, 0.0]), np.array([1, 2, 0, 1]), np.array([0, 2, 3, 4])), shape=(3, 3))
    assert mean_nonzeros(Z) == pytest.approx(2 / 3)


@pytest.mark.parametrize("solver", ["dense", "sparse"])
def test_what_is_forbidden_stays_zero_in_either_solver(solver):
    """A pattern, neighbours, and neighbours without a pair that must be apart under hard constraints."""
    X = rows()
    free = MaskedRepresenter(solver=solver, n_candidates=20).prepare(X).represent(None).representation.toarray()
    pattern = np.random.default_rng(1).random((24, 24)) < 0.5
    assert free[~pattern].any()
    kept = MaskedRepresenter(solver=solver, n_candidates=20, hard_mask=pattern).prepare(X).represent(None)
    assert kept.representation.nnz > 0
    assert not kept.representation.toarray()[~pattern].any()

    cosines = np.abs(X @ X.T) / np.outer(*[np.linalg.norm(X, axis=1)] * 2)
    np.fill_diagonal(cosines, -1)
    near = np.argsort(-cosines, axis=1)[:, :5]
    representer = MaskedRepresenter(solver=solver, hard_mask=NeighborMask(5))
    found = representer.prepare(X).represent(None).representation.toarray()
    i, j = np.argwhere(found)[0]
    assert j in near[i]
    known = KnownPairs.of(24, None, [[i, j]])
    apart = representer.prepare(X, known=known, hard=True).represent(None).representation.toarray()
    assert apart.any()
    assert apart[i, j] == 0
    assert apart[j, i] == 0


def test_the_sparse_solver_is_taken_from_2001_samples_on():
    X = np.random.default_rng(0).normal(size=(2_001, 3))
    kinds = [type(MaskedRepresenter(n_candidates=3).prepare(rows)) for rows in (X[:2_000], X)]
    assert kinds == [DenseRepresenter, SparseRepresenter]


@pytest.mark.parametrize("solver", ["sparse", "dense"])
def test_partners_of_known_pairs_are_looked_at_though_they_are_no_neighbours(solver):
    X = rows()
    cosines = np.abs(X @ X.T)
    i, j = np.unravel_index(cosines.argmin(), cosines.shape)
    representer = MaskedRepresenter(solver=solver, n_candidates=3, hard_mask=NeighborMask(3))
    for known, expected in ((None, False), (KnownPairs.of(24, [[i, j]]), True)):
        prepared = representer.prepare(X, known=known)
        for a, b in ((i, j), (j, i)):
            if solver == "sparse":
                assert (b in prepared.candidates[a]) is expected
            else:
                assert bool(prepared.hard_mask.allowed(a, b)) is expected


def test_the_price_falls_until_no_more_than_one_sample_in_a_hundred_is_left_without_links():
    """At every price there are as many links as wanted, but above a limit half of the samples have none of them."""
    rule = CandidateStep(rows(), everybody(24))
    limit = 0.5 * 2.0**-23
    rule.kept = lambda sparsity, _penalty: (4 * 2.0, 0.5 if sparsity > limit else 0.01)
    assert 0.5 * 1e-7 < rule.sparsity(15.0, 2.0) <= limit
