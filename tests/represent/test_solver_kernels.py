"""Steps of Algorithm 1 as both solvers take them, each against the formula in the variables of the problem."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.represent.dense import kernels as dense
from masked_subspace.represent.sparse import kernels as sparse

MU, GROWTH, SPARSITY = 0.8, 1.5, 0.05


def threshold(mu: float) -> float:
    return float(np.sqrt(2 * SPARSITY / mu))


def masked_step(z, C, U1, Q, U2, w, allowed):
    """C, both multipliers and Q after z, as printed."""
    C = np.where(allowed, (U1 + MU * z) / (w + MU), 0)
    U1 = U1 + MU * (z - C)
    t = z - U2 / MU
    Q = np.where(np.abs(t) > threshold(MU), t, 0)
    return C, U1, Q, U2 + MU * (Q - z)


@pytest.fixture(params=["Z", "C", "Q"])
def start(request):
    """A state in which the part that is named makes the largest change; what is forbidden has a large multiplier."""
    rng = np.random.default_rng(0)
    z, z_last, C, Q, U1, U2 = rng.standard_normal((6, 5, 9)) * 0.4
    allowed, w = rng.random((5, 9)) < 0.7, rng.uniform(0.1, 3, (5, 9))
    {"Z": z_last, "C": C, "Q": Q}[request.param][np.arange(5), allowed.argmax(axis=1)] = 9.0
    C[~allowed] = 0
    kept = np.abs(Q) > threshold(MU / GROWTH)
    Q, U2 = np.where(kept, Q, 0), np.where(kept, 0, np.clip(U2, -0.2, 0.2))
    U1 = np.where(allowed, w * C, 20 * U1)
    return request.param, z, z_last, C, Q, U1, U2, w, allowed


def changes(z, z_last, C, C_last, Q, Q_last):
    return [np.abs(one).max(axis=1) for one in (z - z_last, C - C_last, Q - Q_last)]


def test_the_blocked_step_is_the_printed_one(start):
    name, z, z_last, C_last, Q_last, U1, U2, w, allowed = start
    mu_last, mu_next = MU / GROWTH, MU * GROWTH
    step = dense.Iteration(1 / MU, 1 / mu_next, threshold(MU), threshold(mu_last), mu_last / MU, MU / mu_next, 0.5)
    R = np.random.default_rng(1).standard_normal(z.shape)
    state = dense.State(
        R - z,
        z_last,
        R.copy(),
        np.where(allowed, C_last, U1 / MU),
        np.where(Q_last != 0, Q_last, -U2 / mu_last),
        np.where(allowed, w, -1.0),
    )
    report = dense.RowReport(*np.full((4, 5), 99.0), np.full(5, 99))
    C, U1, Q, U2 = masked_step(z, C_last, U1, Q_last, U2, w, allowed)
    dense.masked_step(step, state, report)
    np.testing.assert_allclose(state.Z, z)
    np.testing.assert_allclose(state.A, np.where(allowed, C, U1 / mu_next))
    np.testing.assert_allclose(state.T, np.where(Q != 0, Q, -U2 / MU), atol=1e-12)
    np.testing.assert_allclose(state.R, (mu_next * (C + Q) - U1 + U2) / (2 * mu_next), atol=1e-12)
    largest = changes(z, z_last, C, C_last, Q, Q_last)
    assert (np.argmax(largest, axis=0) == "ZCQ".index(name)).all()
    np.testing.assert_allclose(report.change, np.max(largest, axis=0))
    np.testing.assert_allclose(report.mask_residual, np.abs(z - C).max(axis=1))
    np.testing.assert_allclose(report.sparsity_residual, np.abs(Q - z).max(axis=1))
    np.testing.assert_allclose(report.price, (np.where(allowed, w, 0) * Q**2).sum(axis=1))
    np.testing.assert_array_equal(report.n_nonzero, np.count_nonzero(Q, axis=1))


def test_a_multiplier_that_puts_no_entry_over_the_threshold_is_no_change():
    step = dense.Iteration(
        1 / MU, 1 / (MU * GROWTH), threshold(MU), threshold(MU / GROWTH), 1 / GROWTH, 1 / GROWTH, 0.5
    )
    state = dense.State(*np.zeros((4, 1, 3)), np.array([[0.4, -0.4, 0.1]]), np.ones((1, 3)))
    report = dense.RowReport(*np.full((4, 1), 99.0), np.full(1, 99))
    assert threshold(MU / GROWTH) > 0.4
    dense.masked_step(step, state, report)
    assert [one.tolist() for one in report] == [[0], [0], [0], [0], [0]]
    np.testing.assert_allclose(state.T, [[0.4 / GROWTH, -0.4 / GROWTH, 0.1 / GROWTH]])


def test_the_step_of_a_small_problem_is_the_printed_one(start):
    name, z, z_last, C_last, Q_last, U1_last, U2_last, w, allowed = start
    C, U1, Q, U2 = masked_step(z, C_last, U1_last, Q_last, U2_last, w, allowed)
    largest = changes(z, z_last, C, C_last, Q, Q_last)
    assert (np.argmax(largest, axis=0) == "ZCQ".index(name)).all()
    for s in range(5):
        state = np.stack([z[s], C_last[s], Q_last[s], U1_last[s], U2_last[s], 0 * z[s]])
        change, off_mask, off_sparse, price, count = sparse._masked_step(
            state, z_last[s], w[s], allowed[s], MU, threshold(MU)
        )
        np.testing.assert_allclose(state[1:5], [C[s], Q[s], U1[s], U2[s]], atol=1e-12)
        assert change == pytest.approx(np.max(largest, axis=0)[s])
        assert off_mask == pytest.approx(np.abs(z - C)[s].max())
        assert off_sparse == pytest.approx(np.abs(Q - z)[s].max())
        paid = Q[s][allowed[s]]
        assert price == pytest.approx((w[s][allowed[s]] * paid**2).sum())
        assert count == np.count_nonzero(paid)


@pytest.mark.parametrize(("noise", "outliers"), [(0.7, 0.02), (0.7, None), (None, 0.02)])
def test_what_is_left_of_a_sample_is_noise_and_outliers(noise, outliers):
    rng = np.random.default_rng(0)
    R, before = rng.standard_normal((4, 6)) * 0.4, rng.standard_normal((4, 6)) * (0 if outliers is None else 0.3)
    shrink = 0.0 if noise is None else 1 / (1 + 2 * noise)
    limit = np.inf if outliers is None else np.sqrt(2 * outliers)
    E = (R - before) * shrink
    O = np.where(np.abs(R - E) > limit, R - E, 0)  # noqa: E741
    parts = dense.Residuals(np.zeros((4, 6)), before.copy(), *np.full((2, 4), 9.0), np.full(4, 9))
    dense.residual_step(R, parts, shrink, limit)
    np.testing.assert_allclose(parts.noise, E)
    np.testing.assert_allclose(parts.outliers, O)
    np.testing.assert_allclose(parts.left, ((R - E - O) ** 2).sum(axis=1))
    np.testing.assert_allclose(parts.noise_square, (E**2).sum(axis=1))
    np.testing.assert_array_equal(parts.n_outliers, np.count_nonzero(O, axis=1))
    rows, z, target = rng.standard_normal((3, 6)), np.array([0.5, 0.0, -1.0]), R[0] + 0.0
    target += z @ rows
    e, o, g = np.zeros(6), before[0].copy(), np.zeros(3)
    prices = np.array([-1.0 if noise is None else noise, -1.0 if outliers is None else outliers])
    with np.errstate(invalid="ignore"):
        cost = sparse._residual_step(rows, target, z, prices, e, o, np.zeros(6), g)
    np.testing.assert_allclose(e, E[0], atol=1e-12)
    np.testing.assert_allclose(o, O[0], atol=1e-12)
    np.testing.assert_allclose(g, rows @ (target - E[0] - O[0]))
    expected = 0.5 * ((R - E - O)[0] ** 2).sum() + (noise or 0) * (E[0] ** 2).sum()
    assert cost == pytest.approx(expected + (outliers or 0) * np.count_nonzero(O[0]))


def products(v: int = 7, d: int = 5) -> np.ndarray:
    X = np.random.default_rng(1).standard_normal((v, d))
    return X @ X.T


def test_conjugate_gradients_end_at_the_solution_and_carry_its_product():
    H, rng, shift = products(), np.random.default_rng(2), 0.3
    z, rhs = rng.standard_normal((2, 7))
    Hz, work = H @ z, np.zeros((3, 7))
    sparse._solve_shifted(H, shift, rhs, 1e-12, z, Hz, *work)
    np.testing.assert_allclose(z, np.linalg.solve(H + shift * np.eye(7), rhs), rtol=1e-8)
    np.testing.assert_allclose(Hz, H @ z, atol=1e-10)
    sparse._solve_shifted(H, 2.0, rhs, 1e-12, z, Hz, *work)  # the next one, with another shift
    np.testing.assert_allclose(z, np.linalg.solve(H + 2.0 * np.eye(7), rhs), rtol=1e-8)
    before = z.copy()
    sparse._solve_shifted(H, 2.0, rhs, 1e-6, z, Hz, *work)  # near enough from the start
    np.testing.assert_array_equal(z, before)
    nothing = np.zeros(7)
    sparse._solve_shifted(H, shift, nothing.copy(), 1e-12, nothing, nothing.copy(), *work)
    assert not nothing.any()


@pytest.mark.parametrize("tol", [0.5, 1e-2])
def test_conjugate_gradients_stop_at_their_share_of_the_right_side(tol):
    H, rhs = products(18, 20), np.random.default_rng(2).standard_normal(18)
    z, Hz = np.zeros(18), np.zeros(18)
    sparse._solve_shifted(H, 0.1, 1e3 * rhs, tol, z, Hz, *np.zeros((3, 18)))
    left = np.linalg.norm(1e3 * rhs - H @ z - 0.1 * z) / np.linalg.norm(1e3 * rhs)
    assert 1e-6 < left <= tol


def test_eigenvectors_give_the_solution_and_the_affine_one():
    H, rhs, shift = products(), np.random.default_rng(2).standard_normal(7), 0.3
    values, vectors = np.linalg.eigh(H)
    member = np.array([1.0, 1, 1, 0, 1, 1, 1])  # one place holds no sample
    A = np.linalg.inv(H + shift * np.eye(7))
    free = A @ rhs
    bound = free + (1 - member @ free) / (member @ A @ member) * (A @ member)
    for ones, expected in (
        (np.zeros((0, 7)), free),
        ((vectors.T @ member)[None], bound),
        (np.zeros((1, 7)), free),
    ):
        z, factors = np.full(7, 9.0), sparse.Factors(vectors.T[None].copy(), values[None], ones)
        square = sparse._solve_factored(factors, 0, shift, rhs, z, np.zeros(7))
        np.testing.assert_allclose(z, expected, atol=1e-10)
        assert square == pytest.approx(expected @ H @ expected)
    assert member @ bound == pytest.approx(1)


def run(which: list[int], *, in_step: bool, first_stop: int = 1, tol: float = 1e-3) -> sparse.Solutions:
    """Problems of which the later ones are harder."""
    X = np.random.default_rng(3).standard_normal((4, 6, 5)) * np.array([0.2, 1, 1, 2])[:, None, None]
    X = X[which]
    b, v = len(which), 5
    rows, target = X[:, 1:], X[:, 0]
    H, g = np.ascontiguousarray(rows @ rows.transpose(0, 2, 1)), np.einsum("bvd,bd->bv", rows, target)
    problems = sparse.Problems(H, g, (target**2).sum(axis=1), np.full((b, v), 0.2), np.ones((b, v), bool))
    numbers = sparse.Numbers(0.01, 0.5, 1.3, tol, 1e-10, first_stop, 40, in_step)
    space = sparse.Workspace(np.zeros((b, 6, v)), np.full(b, 0.5), np.zeros(b), g.copy(), np.zeros((5, v)))
    out = sparse.Solutions(np.zeros(b, np.int64), np.zeros((b, 3)), np.zeros(40))
    sparse.admm_rows(problems, None, None, numbers, space, out)
    return out


def test_samples_of_a_block_stop_by_themselves_and_keep_their_last_value():
    alone = [run([s], in_step=False) for s in range(4)]
    together = run([0, 1, 2, 3], in_step=False)
    counts = [int(one.n_iter[0]) for one in alone]
    assert together.n_iter.tolist() == counts
    assert len(set(counts)) > 1
    np.testing.assert_allclose(together.residuals, np.concatenate([one.residuals for one in alone]), rtol=1e-7)
    np.testing.assert_allclose(together.objective, sum(one.objective for one in alone))
    for one, count in zip(alone, counts, strict=True):
        assert one.residuals[0, 0] < 1e-3
        assert (one.objective[count:] == one.objective[count - 1]).all()
        assert run([0], in_step=False, first_stop=count + 3).n_iter[0] >= count + 3 or count < counts[0]


def test_samples_in_step_make_as_many_iterations_as_the_slowest():
    counts = run([0, 1, 2, 3], in_step=False).n_iter
    assert (run([0, 1, 2, 3], in_step=True).n_iter >= counts.max()).all()
    assert len(set(run([0, 1, 2, 3], in_step=True).n_iter.tolist())) == 1
    assert counts.max() < 37
    assert (run([0, 1, 2, 3], in_step=False, first_stop=37).n_iter == 37).all()
    assert (run([0, 1, 2, 3], in_step=False, tol=0.0).n_iter == 40).all()


def test_permitted_entries_are_in_the_order_of_their_columns():
    Q = np.array([[0.5, 0.0, -2.0, 3.0], [0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0]])
    columns = np.array([[7, 1, 4, 2], [0, 1, 2, 3], [9, 3, 5, 0]])
    allowed = np.ones((3, 4), bool)
    allowed[2, 1] = False
    counts, indices, data = np.full(3, 9), np.full(9, -1), np.zeros(9)
    assert sparse.compress_rows(Q, columns, allowed, counts, indices, data) == 6
    assert counts.tolist() == [3, 0, 3]
    assert indices[:6].tolist() == [2, 4, 7, 0, 5, 9]
    assert data[:6].tolist() == [3.0, -2.0, 0.5, 4.0, 3.0, 1.0]


def test_a_place_without_a_row_holds_zeros():
    X, out = np.arange(1.0, 7.0).reshape(3, 2), np.full((2, 2, 2), 9.0)
    sparse.gather_rows(X, np.array([[2, -1], [0, 1]]), out)
    np.testing.assert_array_equal(out, [[[5, 6], [0, 0]], [[1, 2], [3, 4]]])
