"""Baselines where a tolerance is met exactly, where one block has not converged, and with several threads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.baselines import SSC, SSCOMP, EnSC, SoftS3C, elastic_net, ensc, omp, ssc_admm
from masked_subspace.baselines.base import Work
from masked_subspace.baselines.bdr import BdrSettings, represent_bdr, smallest_eigenvectors
from masked_subspace.baselines.edsc import EdscSettings, represent_edsc
from masked_subspace.baselines.elastic_net import ElasticNetProblem, ElasticNetSolution, solve_elastic_net
from masked_subspace.baselines.lrr import LrrSettings, represent_lrr, shrink_rows
from masked_subspace.baselines.omp import represent_omp
from masked_subspace.baselines.ssc_admm import AdmmProblem, SharedFactor, solve_ssc_admm


class EnoughError(Exception):
    """Raised where a test has seen enough."""


def first_code(rows, tol, most):
    """The published iteration of SSC for one sample, so that no other one leaves the work meanwhile."""
    factor = SharedFactor.of(rows, 20.0, 20.0, False)
    return solve_ssc_admm(AdmmProblem(factor, len(rows), 20.0, tol, most), 1)


RUNS = {
    "BDR": lambda rows, tol, most: represent_bdr(rows, BdrSettings(3, 5.0, 0.2, tol, most)),
    "LRR": lambda rows, tol, most: represent_lrr(rows, LrrSettings(0.4, 0.2, 1.3, tol=tol, max_iter=most)),
    "EDSC": lambda rows, tol, most: represent_edsc(rows, EdscSettings(2.0, 0.3, 0.5, 1.5, tol, most)),
    "SSC": lambda rows, tol, most: first_code(rows, tol, most),
}


@pytest.mark.parametrize("method", RUNS)
def test_a_change_of_the_tolerance_itself_is_not_below_it(noisy_rows, method):
    """The step of the smallest change so far, at that change and at the next larger number."""
    rows, run = noisy_rows[:12], RUNS[method]
    changes = [run(rows, 1e-5, most).stopping_value for most in range(1, 9)]
    step = next(n for n in range(2, 8) if changes[n] < min(changes[:n]))
    limit = changes[step]
    at, above = run(rows, limit, step + 1), run(rows, np.nextafter(limit, 1), step + 1)
    assert (at.n_iter, above.n_iter) == (step + 1, step + 1)
    assert (at.converged, above.converged) == (False, True)
    assert run(rows, limit, step + 2).n_iter == step + 2
    assert run(rows, np.nextafter(limit, 1), step + 2).n_iter == step + 1


@pytest.mark.parametrize(("tol", "atoms"), [(0.25, 2), (np.nextafter(0.25, 1), 1)])
def test_a_pursuit_goes_on_at_a_residual_of_the_tolerance_itself(tol, atoms):
    """The first sample is half an atom and (0, ½, 0), whose square is a quarter."""
    X = np.array([[1.0, 0.5, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    found = represent_omp(X, n_nonzero=3, tol=tol).matrix.toarray()[0]
    np.testing.assert_allclose(found, [0, 0.5, 0.5 * (atoms == 2), 0])


def test_a_row_as_long_as_the_threshold_is_shortened_to_nothing():
    rows = np.array([[3.0, 4.0], [6.0, 8.0], [0.0, 0.0], [0.3, 0.4]])
    np.testing.assert_allclose(shrink_rows(rows, 5.0), [[0, 0], [3, 4], [0, 0], [0, 0]])


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_from_the_vectors_of_the_last_step_whatever_the_unit_of_the_graph(scale, monkeypatch):
    rng = np.random.default_rng(0)
    own = np.arange(304) % 38
    B = scale * rng.random((304, 304)) * np.where(own[:, None] == own, 1.0, 0.002)
    B = (B + B.T) / 2
    np.fill_diagonal(B, 0)
    exact = np.linalg.eigh(np.diag(B.sum(axis=1)) - B)[1][:, :38]
    asked = []
    monkeypatch.setattr(
        "masked_subspace.baselines.bdr.smallest_eigenpairs", lambda *_: asked.append(1) or (None, exact)
    )
    start = np.linalg.qr(exact + 0.005 * rng.standard_normal(exact.shape))[0]
    found = smallest_eigenvectors(B, 38, start)  # one vector for eight samples, just not too many
    assert asked == []
    np.testing.assert_allclose(found @ found.T, exact @ exact.T, atol=5e-2)
    smallest_eigenvectors(np.zeros((304, 304)), 38, start)
    assert asked == [1]


def test_all_blocks_must_have_converged(monkeypatch):
    """What is said of the whole: the most rounds, the largest violation, and convergence of every block."""
    blocks = iter([(3, 0.1, True), (7, 0.4, False), (5, 0.2, True)])

    def solved(_shared, block):
        rounds, violation, converged = next(blocks)
        return ElasticNetSolution(csr_array(np.full((block[1] - block[0], 6), rounds)), rounds, violation, converged)

    monkeypatch.setattr(elastic_net, "_solve_block", solved)
    rows = np.eye(6)
    problem = ElasticNetProblem(rows, rows, np.ones(6), np.zeros(6), np.arange(6))
    found = solve_elastic_net(problem, block_size=2)
    assert (found.n_rounds, found.violation, found.converged) == (7, 0.4, False)
    assert found.coefficients.toarray()[:, 0].tolist() == [3, 3, 7, 7, 5, 5]
    monkeypatch.setattr(
        elastic_net, "_solve_block", lambda _, block: ElasticNetSolution(csr_array((2, 6)), 1, 0.0, block[0] < 9)
    )
    assert solve_elastic_net(problem, block_size=2).converged


def test_prices_of_nothing_are_refused():
    rows = np.eye(3)
    with pytest.raises(ValueError, match="every ℓ₁ price must be positive"):
        ElasticNetProblem(rows, rows, np.array([1.0, 0.0, 1.0]), np.zeros(3), np.arange(3))


@pytest.mark.parametrize(
    ("model", "module"),
    [
        (SSC(3, alpha=20.0), elastic_net),
        (SSC(3, solver="admm"), ssc_admm),
        (EnSC(3), elastic_net),
        (SSCOMP(3), omp),
        (SoftS3C(3, n_jobs=3), elastic_net),
        (SoftS3C(3, n_jobs=3, affine=True), ssc_admm),
    ],
    ids=lambda one: type(one).__name__,
)
def test_blocks_are_solved_by_as_many_threads_as_there_are(monkeypatch, noisy_rows, model, module):
    asked = []

    def engine(n_threads):
        asked.append(n_threads)
        raise EnoughError

    monkeypatch.setattr(module, "local_engine", engine)
    model.n_clusters_ = 3
    solve = model.fit if isinstance(model, SoftS3C) else lambda rows: model._solve(rows, Work(0, 3, None))
    with pytest.raises(EnoughError):
        solve(noisy_rows)
    assert asked == [3]


def test_blocks_of_any_length_give_the_same_codes(noisy_rows):
    """Also those in which a warm start lies beside samples without one."""
    n = len(noisy_rows)
    problem = ElasticNetProblem(noisy_rows, noisy_rows, np.full(n, 0.02), np.full(n, 0.01), np.arange(n))
    whole = solve_elastic_net(problem, tol=1e-8)
    again = solve_elastic_net(problem, tol=1e-8, block_size=7, start=whole.coefficients)
    assert again.converged
    assert abs(whole.coefficients - again.coefficients).max() < 1e-6
    one, other = (represent_omp(noisy_rows, n_nonzero=4, block_size=size) for size in (None, 7))
    assert abs(one.matrix - other.matrix).max() < 1e-12
    left = ((noisy_rows - one.matrix @ noisy_rows) ** 2).sum(axis=1).max()
    assert one.stopping_value == pytest.approx(left) == pytest.approx(other.stopping_value)


@pytest.mark.parametrize("start", [0.1, -3.0, 0.55])
def test_a_warm_start_is_improved_where_no_atom_is_missing(start):
    """One atom for each of two samples: c = (aᵀx − l₁) / (aᵀa + l₂)."""
    rows, lasso, ridge = np.array([[1.0, 0.0], [0.8, 0.6]]), 0.2, 0.1
    problem = ElasticNetProblem(rows, rows, np.full(2, lasso), np.full(2, ridge), np.arange(2))
    codes = csr_array(np.array([[0.0, start], [start, 0.0]]))
    found = solve_elastic_net(problem, start=codes, tol=1e-9)
    np.testing.assert_allclose(found.coefficients.toarray(), (0.8 - lasso) / (1 + ridge) * (1 - np.eye(2)))
    assert found.converged


def test_correlations_do_not_depend_on_how_many_samples_are_taken_at_once(noisy_rows, monkeypatch):
    expected = np.abs(noisy_rows @ noisy_rows.T)
    np.fill_diagonal(expected, 0)
    monkeypatch.setattr(ensc, "block_length", lambda _: 32)
    np.testing.assert_allclose(ensc.largest_correlations(noisy_rows, 90), expected.max(axis=1))
    np.testing.assert_allclose(ensc.largest_correlations(noisy_rows, 50), expected[:50].max(axis=1))


def pursued(X, i, n_atoms, n_passes):
    """The mean of so many pursuits of sample i, none of which uses an atom of an earlier one."""
    total, banned = np.zeros(len(X)), {i}
    for _ in range(n_passes):
        chosen, rest, fit = [], X[i], []
        while len(chosen) < n_atoms and rest @ rest >= 1e-6:
            size = [0 if j in banned or j in chosen else abs(X[j] @ rest) for j in range(len(X))]
            chosen.append(int(np.argmax(size)))
            fit = np.linalg.lstsq(X[chosen].T, X[i], rcond=None)[0]
            rest = X[i] - fit @ X[chosen]
        total[chosen] += np.asarray(fit) / n_passes
        banned |= set(chosen)
    return total


def test_a_pass_that_ends_early_bans_only_what_it_used():
    """In two features a multiple of a sample rebuilds it alone; four passes of eight atoms for nine samples."""
    X = np.random.default_rng(0).standard_normal((9, 2))
    X[[4, 8]] = 2 * X[[0, 3]]
    found = represent_omp(X, n_nonzero=8, tol=1e-6).matrix.toarray()
    for i in range(9):
        np.testing.assert_allclose(found[i], pursued(X, i, 2, 4), atol=1e-9)
