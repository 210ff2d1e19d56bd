"""The arithmetic of the lazy pass by value: bounds, right sides, listed entries, and more directions than a tile."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.masks.soft import LabelMask
from masked_subspace.represent.dense import lazy_kernels as kernels
from masked_subspace.represent.dense.solve import solve_dense
from masked_subspace.represent.model import AdmmSettings

ENDS = np.array([2, 5, 9])
RNG = np.random.default_rng(0)
V = np.linalg.qr(RNG.standard_normal((30, 9)))[0]
NORMS = np.array([np.linalg.norm(part, axis=1).max() for part in np.split(V, [2, 5], axis=1)])


def iteration(tau: float = 0.4, weights: tuple[float, ...] = (0.5, 2.0)) -> kernels.Iteration:
    """μ = .8, after .8/1.25 and before 1.6."""
    w = np.array(weights)
    return kernels.Iteration(
        V, np.linspace(0.1, 0.9, 9), np.ones(9), w, 0.8 * w, ENDS, NORMS[None], tau, 1 / 1.25, 0.5, 0.5, 1.0
    )


def test_the_bound_holds_and_is_attained_along_the_reference():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        reference = rng.standard_normal(9)
        g = rng.uniform(-2, 2) * reference + rng.standard_normal(9) * 10.0 ** rng.integers(-3, 1)
        largest = np.abs(V @ reference).max()
        bound = kernels._bound(g, reference, largest, ENDS, NORMS)
        assert np.abs(V @ g).max() <= bound * (1 + 1e-12)
        share = np.repeat(NORMS**2, [2, 3, 4])
        c = (share * g * reference).sum() / (share * reference**2).sum()
        rest = [np.linalg.norm(part) for part in np.split(g - c * reference, [2, 5])]
        assert bound == pytest.approx(abs(c) * largest + NORMS @ rest)
    assert kernels._bound(-3 * reference, reference, largest, ENDS, NORMS) == pytest.approx(3 * largest)
    lengths = [np.linalg.norm(part) for part in np.split(g, [2, 5])]
    assert kernels._bound(g, 0 * g, 0.0, ENDS, NORMS) == pytest.approx(NORMS @ lengths)


def test_sets_differ_by_their_weights_and_by_what_each_has_gathered():
    for kinds, own in ((6, kernels.KAPPA), (4, kernels.ALPHA)):
        x, out = np.random.default_rng(1).standard_normal((3, kinds, 2, 9)), np.zeros((3, 9))
        kernels.set_difference(iteration(), x, out)
        inside = 0.5 * (0.5 * x[:, own, 0] - 0.8 * x[:, kernels.G, 0])  # ½((1 − w/μ)κ − ratio·g)
        outside = 0.5 * (-1.0 * x[:, own, 1] - 0.8 * x[:, kernels.G, 1])
        np.testing.assert_allclose(out, inside - outside, atol=1e-12)


@pytest.mark.parametrize("largest", ["Z", "C", "Q"])
def test_listed_entries_make_the_steps_of_the_algorithm(largest):
    """Each entry in the variables of the problem, with multipliers over μ; the first is the sample itself."""
    rng, step = np.random.default_rng(2), iteration()
    fields, n = rng.standard_normal((kernels.N_FIELDS, 6)) * 0.3, 5
    sets, rho, dots = np.array([0, 1, 0, 1, 1]), rng.standard_normal(6) * 0.3, rng.standard_normal(6) * 0.3
    fields[{"Z": kernels.V_ALPHA, "C": kernels.V_KAPPA, "Q": kernels.Q}[largest], 3] = 9.0
    fields[kernels.V_BETA, 4] = rho[4] + dots[4] - fields[kernels.ETA, 4] + 0.41  # t = −.41: nobody is nearer to .4
    before = fields[:, :n].copy()
    zeta = rho[:n] + np.eye(n)[0]
    z, w = dots[:n] + zeta, step.weights[sets]
    v_kappa = (w * before[kernels.V_KAPPA] + dots[:n]) / (w + 1)
    c = (w * (before[kernels.V_KAPPA] + before[kernels.CHI]) + z) / (w + 1)
    c[0] = 0
    t = z - before[kernels.V_BETA] - before[kernels.ETA]
    kept = np.abs(t) > 0.4
    q = np.where(kept, t, 0)
    u2 = before[kernels.V_BETA] + before[kernels.ETA] + q - z  # U2/μ after the step
    moves = [
        z - before[kernels.V_ALPHA] - before[kernels.ZETA],
        c - before[kernels.V_KAPPA] - before[kernels.CHI],
        q - before[kernels.Q],
    ]
    assert kept.any()
    assert not kept.all()
    assert np.argmax([np.abs(one).max() for one in moves]) == "ZCQ".index(largest)
    work = kernels._Work(rho, dots, np.zeros(9), np.zeros(9))
    change, paid, count, multiplier, nearest = kernels._update_entries(step, sets, n, fields, work, 0.7)
    assert change == pytest.approx(max(np.abs(one).max() for one in moves))
    assert paid == pytest.approx((step.prices[sets] * q**2)[1:].sum())
    assert count == kept.sum()
    assert multiplier == pytest.approx((0.7 + z[0]) * 0.5)
    assert nearest == pytest.approx(0.01 / 0.4)
    assert np.abs(np.abs(t) - 0.4).min() == pytest.approx(0.01)
    after = fields[:, :n]
    np.testing.assert_allclose(after[kernels.ZETA], zeta)
    np.testing.assert_allclose(after[kernels.V_ALPHA], dots[:n])
    np.testing.assert_allclose(after[kernels.Q], q)
    np.testing.assert_allclose(after[kernels.Q_CHANGE], moves[2])
    np.testing.assert_allclose(after[kernels.V_KAPPA], v_kappa)
    np.testing.assert_allclose(after[kernels.V_KAPPA] + after[kernels.CHI], c, atol=1e-12)
    np.testing.assert_allclose(after[kernels.V_BETA] + after[kernels.ETA], 0.5 * u2, atol=1e-12)


@pytest.mark.parametrize("kinds", [4, 6])
def test_a_new_entry_starts_from_its_products_and_is_counted(kinds):
    x = np.random.default_rng(3).standard_normal((3, kinds, 2, 9))
    multipliers, margin = np.zeros(3), np.array([9.0, 9.0, 0.01])
    state = kernels.RowState(x, multipliers, np.zeros((3, 2)), margin, np.zeros(3, np.intp))
    columns, sets = np.zeros((3, 5), np.int32), np.zeros((3, 5), np.int8)
    lists = kernels.Lists(columns, sets, np.full((3, kernels.N_FIELDS, 5), 7.0), np.array([1, 1, 2]))
    flags = np.zeros((3, 2), np.bool_)
    report = kernels.RowReport(flags, np.array([0.0, 0.0, 5.0]), np.zeros(3), np.ones(3), np.ones(3))
    line = np.array([[0.1, -0.6, 0.4, 0.5], [0.0, 0.0, 0.0, 0.9], [0.3, 0.0, -0.7, 0.0]])
    found = kernels.Products(line, 20, 1, np.array([0, 1, 2]))
    kernels.insert(found, np.array([2, 0, 1]), iteration(), state, lists, report)
    assert lists.lengths.tolist() == [3, 1, 3]
    assert (columns[0, 1:3].tolist(), columns[2, 2]) == ([21, 23], 22)
    assert (sets[0, :3].tolist(), sets[2, 2]) == ([0, 1, 1], 1)
    own = 4 if kinds == 6 else 0
    assert (kernels.ALPHA, kernels.KAPPA) == (0, 4)
    for a, e, value in ((0, 1, -0.6), (0, 2, 0.5), (2, 2, -0.7)):
        entry, row = lists.values[a, :, e], V[columns[a, e]]
        assert entry[[kernels.ZETA, kernels.CHI]].tolist() == [0, 0]
        assert entry[[kernels.Q, kernels.Q_CHANGE]].tolist() == [value, value]
        np.testing.assert_allclose(entry[[kernels.ETA, kernels.V_BETA]], [0.5 * value, -0.5 * value])
        np.testing.assert_allclose(entry[kernels.V_ALPHA], row @ x[a, 0, 1])
        np.testing.assert_allclose(entry[kernels.V_KAPPA], row @ x[a, own, 1])
    np.testing.assert_allclose(report.change, [0.6, 0, 5.0])
    np.testing.assert_allclose(report.paid, [1 + 1.6 * (0.36 + 0.25), 1, 1 + 1.6 * 0.49])
    np.testing.assert_allclose(report.n_nonzero, [3, 1, 2])
    np.testing.assert_allclose(margin, [0.5 / 0.4 - 1, 9, 0.01])


def test_of_an_entry_of_any_field_that_is_left_the_list_is_kept():
    """Parts of Z, of U2 and of C each keep an entry; the margin of a threshold of zero is not asked for."""
    for field, stays in ((kernels.ZETA, True), (kernels.ETA, True), (kernels.CHI, True), (kernels.V_ALPHA, False)):
        values = np.zeros((1, kernels.N_FIELDS, 2))
        values[0, field, 1] = -0.5
        x = np.ones((1, 4, 1, 9))
        state = kernels.RowState(x, np.zeros(1), np.zeros((1, 1)), np.ones(1), np.zeros(1, np.intp))
        columns, sets = np.array([[0, 8]], np.int32), np.zeros((1, 2), np.int8)
        lists = kernels.Lists(columns, sets, values, np.array([2]))
        kernels.prune(V, state, lists, 1e-8)
        assert lists.lengths[0] == (2 if stays else 1)


@pytest.mark.parametrize("mask", [None, LabelMask(np.arange(140) % 2, 1.5)], ids=["none", "labels"])
def test_directions_beyond_a_tile_count_as_the_others(mask):
    """132 of them: four are in a tile of their own."""
    X = np.random.default_rng(4).standard_normal((140, 132))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    settings = AdmmSettings(2e-3, penalty=0.3, penalty_growth=1.5, mask_weight=0.3, max_iter=2, tol=0.0)
    lazy, blocked = (solve_dense(X, settings, soft_mask=mask, path=path) for path in ("lazy", "blocked"))
    assert kernels.TILE < 132
    assert blocked.representation.nnz > 0
    np.testing.assert_allclose(lazy.representation.toarray(), blocked.representation.toarray(), atol=1e-10)
    np.testing.assert_allclose(lazy.objective, blocked.objective, rtol=1e-9)
    assert lazy.stopping_value == pytest.approx(blocked.stopping_value, rel=1e-6)
