"""Compiled parts of the published methods, each against the formula written out, also beyond one tile."""

import itertools

import numpy as np
import pytest

from masked_subspace.baselines import elastic_net_kernels as net
from masked_subspace.baselines.bdr import update_blocks
from masked_subspace.baselines.lsr import mirror_scaled
from masked_subspace.baselines.omp import Pursuit, grow_codes
from masked_subspace.baselines.ssc_admm import advance, sparse_product, turn


@pytest.mark.parametrize("n", [7, 64, 70, 130])
def test_the_upper_triangle_is_the_lower_one_and_rows_are_scaled(n):
    rng = np.random.default_rng(0)
    Z, factor = rng.standard_normal((n, n)), rng.uniform(0.5, 2, n)
    low = np.tril(Z, -1)
    expected = (low + low.T) * factor[:, None] + np.diag(np.diag(Z))
    mirror_scaled(Z, factor)
    np.testing.assert_allclose(Z, expected)


@pytest.mark.parametrize("n", [7, 70])
@pytest.mark.parametrize("largest", ["Z above", "Z below", "Z on the diagonal", "B", "none"])
def test_blocks_are_the_positive_part_and_its_residuals_are_those_of_the_problem(n, largest):
    Z, old_Z, W, old_B = np.random.default_rng(0).standard_normal((4, n, n)) * 0.1
    W, old_B = W + W.T, np.maximum(old_B + old_B.T, 0)
    np.fill_diagonal(old_B, 0)
    place = {"Z above": (1, n - 1), "Z below": (n - 1, 1), "Z on the diagonal": (n - 1, n - 1)}.get(largest)
    if place:
        old_Z[place] = 9.0
    elif largest == "B":
        old_B[n - 2, n - 1] = old_B[n - 1, n - 2] = 9.0
    A = Z - 0.3 * (np.diag(W)[:, None] - W)
    expected = np.maximum((A + A.T) / 2, 0)
    np.fill_diagonal(expected, 0)
    B = np.full((n, n), 9.0)
    change, apart, fit = update_blocks(Z, old_Z, W, 0.3, old_B, B)
    np.testing.assert_allclose(B, expected, atol=1e-15)
    assert change == pytest.approx(max(np.abs(Z - old_Z).max(), np.abs(expected - old_B).max()))
    assert apart == pytest.approx(((Z - expected) ** 2).sum())
    assert fit == pytest.approx(((np.eye(n) - Z) * (Z - old_B)).sum())


def test_a_product_with_mostly_zeros_takes_every_entry():
    """Rows of zero to nine entries: groups of four and what is left."""
    step, vectors, out = np.zeros((10, 12)), np.random.default_rng(0).standard_normal((12, 5)), np.full((10, 5), 9.0)
    for count in range(10):
        step[count, np.random.default_rng(count).permutation(12)[:count]] = np.arange(1, count + 1)
    sparse_product(step, vectors, out)
    np.testing.assert_allclose(out, step @ vectors, atol=1e-12)


def soft(T, bound):
    return np.sign(T) * np.maximum(np.abs(T) - bound, 0)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("largest", ["steps", "what is left", "own"])
def test_the_published_iteration_moves_codes_but_for_the_own_one(affine, weighted, largest):
    rng = np.random.default_rng(0)
    T, step, moved = rng.standard_normal((3, 5, 8)) * (0.02 if largest == "what is left" else 1)  # none over the bound
    own, tilt = np.array([0, 3, 7, 2, 5]), 0.02 * rng.standard_normal(5)
    left = rng.standard_normal(8) if affine else np.zeros(1)
    weights = rng.uniform(0.5, 2, (5, 8)) if weighted else np.ones((1, 1))
    mine = np.arange(8) == own[:, None]
    step[mine] = 0.0
    if largest == "own":
        moved[mine] = 9.0
    bound = 0.4 * np.broadcast_to(weights, (5, 8))
    new = T + step + moved - tilt[:, None] * (left if affine else 0)
    before, after = (np.where(mine, 0, soft(one, bound)) for one in (T, new))
    z = new - (T - before)  # with C₋ = soft(T): Z is what T gained beside the multiplier
    z[mine] = (moved - tilt[:, None] * (left if affine else 0))[mine]
    change, sums = advance(T, step, moved, own, tilt, left, weights, 0.4)
    np.testing.assert_allclose(T, new, atol=1e-12)
    np.testing.assert_allclose(step[~mine], (after - before)[~mine], atol=1e-12)
    np.testing.assert_allclose(sums, z.sum(axis=1))
    expected = np.maximum(np.abs(z - after).max(axis=1), np.abs(after - before).max(axis=1))
    np.testing.assert_allclose(change, expected)
    assert (after == before).all() == (largest == "what is left")


@pytest.mark.parametrize("affine", [False, True])
def test_what_goes_through_the_factor_is_the_formula(affine):
    rng = np.random.default_rng(0)
    product, last, move = rng.standard_normal((3, 4, 6))
    shrink, tilt, ones = (
        rng.uniform(0.1, 0.9, 6),
        rng.standard_normal(4),
        rng.standard_normal(6) if affine else np.ones(1),
    )
    outside = np.outer(tilt, ones) if affine else 0
    expected = (last - 2 * product + move - outside) * shrink
    turn(product, shrink, tilt, ones, last, move)
    np.testing.assert_allclose(move, expected)
    np.testing.assert_array_equal(last, product)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_a_factor_ends_at_the_first_row_that_depends_on_those_before(scale):
    """By a relative pivot of 1e-12: what is left of the second row is 1e-13 or 1e-11 of it."""
    for rest, expected in ((1e-13, 1), (1e-11, 2)):
        matrix = scale * np.array([[1.0, 0], [1, 1 + rest]])
        assert net._cholesky(matrix, 2) == expected
    atoms = np.random.default_rng(0).standard_normal((4, 6))
    gram, right = scale * atoms @ atoms.T, np.arange(1.0, 5)
    factor = gram.copy()
    assert net._cholesky(factor, 4) == 4
    np.testing.assert_allclose(np.tril(factor), np.linalg.cholesky(gram))
    net._solve_lower(factor, right, 4)
    net._solve_upper(factor, right, 4)
    np.testing.assert_allclose(right, np.linalg.solve(gram, np.arange(1.0, 5)))


def best_of_all_signs(gram, target, prices, ridge):
    """The least objective over all supports and signs: for each the linear system, kept if the signs agree."""
    n, least = len(target), 0.0
    for signs in itertools.product((-1, 0, 1), repeat=n):
        on = np.flatnonzero(signs)
        if len(on):
            right = target[on] - prices[on] * np.array(signs)[on]
            c = np.zeros(n)
            c[on] = np.linalg.lstsq(gram[np.ix_(on, on)] + ridge * np.eye(len(on)), right, rcond=None)[0]
            least = min(least, objective(gram, target, prices, ridge, c))
    return least


def objective(gram, target, prices, ridge, c):
    return 0.5 * c @ gram @ c - target @ c + prices @ np.abs(c) + 0.5 * ridge * c @ c


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("kind", ["apart", "near", "the same", "dependent"])
@pytest.mark.parametrize("seed", range(3))
def test_a_small_elastic_net_is_solved_whatever_the_atoms_and_the_start(kind, ridge, seed):
    rng = np.random.default_rng(seed)
    atoms = rng.standard_normal((4, 6))
    if kind == "near":
        atoms[1] = atoms[0] + 1e-4 * rng.standard_normal(6)
    elif kind == "the same":
        atoms[1] = atoms[0]
    elif kind == "dependent":
        atoms[3] = atoms[0] - 0.5 * atoms[1] + 0.3 * atoms[2]
    gram, target = atoms @ atoms.T, atoms @ rng.standard_normal(6)
    prices = rng.uniform(0.05, 0.4, 4)
    expected = best_of_all_signs(gram, target, prices, ridge)
    for start in (np.zeros(4), rng.standard_normal(4), np.array([0.0, 5.0, -5.0, 5.0])):
        coef = start.copy()
        left = net.solve_restricted(gram, target, prices, ridge, coef, 1e-10)
        slope = target - gram @ coef - ridge * coef
        on = coef != 0
        assert left <= 1e-10
        np.testing.assert_allclose(slope[on], prices[on] * np.sign(coef[on]), atol=1e-9)
        assert (np.abs(slope) <= prices + 1e-9).all()
        assert objective(gram, target, prices, ridge, coef) == pytest.approx(expected, abs=1e-9)


def codes_of(support, coef, size, room):
    places, values = np.zeros((len(size), room), np.int64), np.zeros((len(size), room))
    for i, (atoms, numbers) in enumerate(zip(support, coef, strict=True)):
        places[i, : len(atoms)], values[i, : len(atoms)] = atoms, numbers
    return net.Codes(places, values, np.array(size))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_atoms_that_break_their_bound_most_are_listed_first(weighted):
    """Own atoms and listed ones never; at most three, and none that is within the tolerance."""
    rng = np.random.default_rng(0)
    correlations, weights = rng.standard_normal((3, 20)), rng.uniform(0.2, 1.5, (3, 20))
    correlations[1] *= 0.01
    correlations[1, 6] = -1.7
    lasso = np.array([9.0, 0.5, 0.6])
    samples = net.Samples(
        np.zeros((20, 4)),
        np.zeros((3, 4)),
        lasso,
        np.zeros(3),
        np.array([0, 4, -1]),
        np.zeros((0, 0)),
        weights if weighted else np.zeros((0, 0)),
    )
    codes, rows = codes_of([[1], [9, 2], []], [[1.0], [0.3, 0.2], []], [1, 2, 0], 8), np.array([1, 2, 0])
    correlations[1, 3] = 0.6 * (weights[2, 3] if weighted else 1) + 0.03  # by half the tolerance
    correlations[2] *= 0.1
    correlations[0, 9], correlations[0, 4] = 9.0, -9.0
    excess = np.abs(correlations) - lasso[rows][:, None] * (weights[rows] if weighted else 1)
    excess[0, [9, 2, 4]] = -1
    expected = [
        [j for j in np.argsort(-row)[:3] if row[j] > 0.1 * low] for row, low in zip(excess, lasso[rows], strict=True)
    ]
    worst = net.add_violators(rows, correlations, samples, codes, 3, 0.1)
    assert codes.size.tolist() == [1, 2 + len(expected[0]), 1]
    assert codes.support[1, : codes.size[1]].tolist() == [9, 2, *expected[0]]
    assert codes.support[2, : codes.size[2]].tolist() == expected[1] == [6]
    np.testing.assert_allclose(codes.coef[1, :5], [0.3, 0.2, 0, 0, 0])
    np.testing.assert_allclose(worst, np.maximum(excess.max(axis=1), 0))
    assert worst[2] == 0


@pytest.mark.parametrize("with_gram", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_each_sample_of_a_block_is_improved_at_its_own_price(with_gram, weighted):
    rng = np.random.default_rng(0)
    atoms, targets = rng.standard_normal((6, 5)), rng.standard_normal((3, 5))
    gram = atoms @ atoms.T if with_gram else np.zeros((0, 0))
    weights = rng.uniform(0.5, 2, (3, 6)) if weighted else np.zeros((0, 0))
    lasso, ridge = np.array([0.3, 0.6, 40.0]), np.array([0.0, 0.2, 0.1])
    samples = net.Samples(atoms, targets, lasso, ridge, np.full(3, -1), gram, weights)
    lists = [[4, 0, 3], [5, 2, 1], [0, 1, 2]]
    codes = codes_of(lists, np.zeros((3, 3)), [3, 3, 3], 6)
    left = net.improve_block(np.array([1, 2]), samples, codes, 1e-9)
    assert (left <= 1e-9).all()
    assert codes.size.tolist() == [3, np.count_nonzero(codes.coef[1, : codes.size[1]]), 0]
    listed = codes.support[1, : codes.size[1]]
    assert [j for j in lists[1] if j in listed] == listed.tolist()
    c = np.zeros(6)
    c[listed] = codes.coef[1, : codes.size[1]]
    slope = atoms @ (targets[1] - c @ atoms) - 0.2 * c
    price = 0.6 * (weights[1] if weighted else np.ones(6))
    np.testing.assert_allclose(slope[listed], (price * np.sign(c))[listed], atol=1e-8)
    assert (np.abs(slope) <= price + 1e-8)[lists[1]].all()
    out = np.zeros((1, 5))
    net.residual_block(np.array([1]), atoms, targets, codes, out)
    np.testing.assert_allclose(out[0], targets[1] - c @ atoms)


def test_a_pursuit_adds_the_atom_of_the_largest_correlation_and_fits_all_again():
    rng = np.random.default_rng(0)
    atoms, targets = rng.standard_normal((9, 6)), rng.standard_normal((2, 6))
    atoms[8] = 2 * atoms[7]  # once one is used the other has nothing to add
    targets[1] = 3 * atoms[8]
    banned = np.array([[2, -1, -1], [8, 5, 0]])  # more than there are samples: nobody takes one for the other
    pursuit = Pursuit(atoms, targets, banned, np.zeros((2, 3, 3)), np.zeros((2, 3)))
    codes, left = codes_of([[], []], [[], []], [0, 0], 3), targets.copy()
    for step in range(3):
        rows = np.flatnonzero(codes.size == step)
        correlations = left[rows] @ atoms.T
        open_ones = np.abs(correlations).copy()
        for row, i in zip(open_ones, rows, strict=True):
            row[np.r_[banned[i][banned[i] >= 0], codes.support[i, :step]]] = 0
        for row, i in zip(correlations, rows, strict=True):
            row[np.r_[banned[i][banned[i] >= 0], codes.support[i, :step]]] = 99.0  # asked for, and not to be had
        grow_codes(rows, step, correlations, pursuit, codes)
        for row, i in zip(open_ones, rows, strict=True):
            if codes.size[i] > step:
                assert codes.support[i, step] == row.argmax()
                chosen = codes.support[i, : step + 1]
                fit = np.linalg.lstsq(atoms[chosen].T, targets[i], rcond=None)[0]
                np.testing.assert_allclose(codes.coef[i, : step + 1], fit, atol=1e-9)
                left[i] = targets[i] - fit @ atoms[chosen]
    assert codes.size[0] == 3
    assert codes.support[1, 0] == 7


@pytest.mark.parametrize(("apart", "size"), [(1e-6, 1), (0.9e-5, 1), (1.1e-5, 2), (1e-4, 2)])
def test_an_atom_that_adds_less_than_a_ten_billionth_ends_the_pursuit(apart, size):
    """Squared and as a share: from 1e-12 to 1e-8 of the atom is not in the one that is used already."""
    atoms, codes = 1e3 * np.array([[1.0, 0], [1, apart]]), codes_of([[]], [[]], [0], 2)
    pursuit = Pursuit(atoms, np.array([[1.0, 1]]), np.full((1, 1), -1), np.zeros((1, 2, 2)), np.zeros((1, 2)))
    grow_codes(np.array([0]), 0, np.array([[1.0, 0]]), pursuit, codes)
    grow_codes(np.array([0]), 1, np.array([[0.0, 1]]), pursuit, codes)
    assert codes.size[0] == size


def test_a_coefficient_that_blocks_a_step_ends_at_zero_itself():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        atoms = rng.standard_normal((4, 6))
        gram, target, prices = atoms @ atoms.T, rng.standard_normal(4), rng.uniform(0.1, 0.4, 4)
        coef = rng.standard_normal(4)
        best = np.linalg.solve(gram + 0.2 * np.eye(4), target - prices * np.sign(coef))
        expected, gradient = coef.copy(), np.zeros(4)
        share = np.where(best * coef < 0, coef / (coef - best), 1.0)
        expected += share.min() * (best - coef)
        expected[share < 1] = np.where(share == share.min(), 0, expected)[share < 1]
        assert net._sign_step(gram, target, prices, 0.2, coef, gradient) == (share == 1).all()
        assert (coef == 0).sum() == int((share < 1).any())
        np.testing.assert_allclose(coef, expected, atol=1e-12)
        np.testing.assert_allclose(gradient, target - gram @ coef, atol=1e-12)


def test_along_a_dependency_among_the_atoms_the_fit_stays_as_it_is():
    """The third atom is the sum of the first two; two more come after it."""
    atoms = np.random.default_rng(0).standard_normal((5, 8))
    atoms[2] = atoms[0] + atoms[1]
    coef = np.array([0.5, 0.4, 0.3, 0.2, 0.1])
    step, final = net._towards(atoms @ atoms.T, atoms @ (coef @ atoms), np.full(5, 0.1), 0.0, coef, np.arange(5))
    assert not final
    assert np.abs(step).max() > 0
    np.testing.assert_allclose(step @ atoms, 0, atol=1e-6 * np.abs(step).max())


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize(("left", "stops"), [(1e-13, True), (1e-10, False)])
def test_rows_are_dependent_by_what_is_left_of_them_in_any_unit(unit, left, stops):
    """Of the second row a share of its length is left beside the first; what stops is a share below 1e-12."""
    matrix = unit * np.array([[1.0, 0.0], [1.0, 1.0 + left]])
    assert net._cholesky.py_func(matrix, 2) == (1 if stops else 2)
