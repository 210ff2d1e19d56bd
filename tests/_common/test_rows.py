"""Helpers of rows by value: blocks, lengths, draws, and the steps of the iterative eigensolver."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import chebyshev
from scipy.sparse import csr_array, diags_array
from scipy.sparse import random as random_sparse

from masked_subspace._common import rows as module
from masked_subspace._common.rows import (
    Csr,
    _filter,
    _filtered_iteration,
    _orthonormal,
    _Product,
    content_direction,
    content_keys,
    content_order,
    drawn_by_content,
    eigenpairs,
    eigenvalues,
    leading_eigenpairs,
    on_one_scale,
    product_rows,
    row_blocks,
    rows_of_a_block,
    smallest_eigenpairs,
    to_unit_length,
    unit_rows,
)


def test_a_block_has_32_megabytes_or_one_row():
    assert [rows_of_a_block(size) for size in (1 << 20, 1 << 25, 1 << 26, 0)] == [32, 1, 1, 1 << 25]
    assert next(row_blocks(5_000)) == (0, 838)  # of 5,000 numbers with eight bytes each
    assert list(row_blocks(5_000, 2_000)) == [(0, 2097), (2097, 4194), (4194, 5000)]


def test_features_on_one_scale_have_mean_0_and_variance_1_and_constant_ones_are_0():
    X = np.random.default_rng(0).normal(size=(30, 3)).astype(np.float32) * [1, 100, 0] + [5, -7, 3]
    found = on_one_scale(X)
    np.testing.assert_allclose(found[:, :2], (X[:, :2] - X[:, :2].mean(axis=0)) / X[:, :2].std(axis=0), atol=1e-12)
    np.testing.assert_array_equal(found[:, 2], 0)
    assert found.dtype == np.float64


def test_rows_get_unit_length_and_those_no_longer_than_the_floor_become_zero():
    rows = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 5.0], [0.3, 0.4]])
    np.testing.assert_allclose(unit_rows(rows), [[0.6, 0.8], [0, 0], [0, 1], [0.6, 0.8]])
    np.testing.assert_array_equal(rows[0], [3, 4])  # a copy
    changed = rows.copy()
    to_unit_length(changed, 0.5)
    np.testing.assert_allclose(changed, [[0.6, 0.8], [0, 0], [0, 1], [0, 0]])
    below = rows.copy()
    to_unit_length(below, 0.49)
    np.testing.assert_allclose(below[3], [0.6, 0.8])


def test_rows_are_ordered_along_one_direction_and_one_feature_more_changes_no_entry_of_it():
    rows = np.random.default_rng(3).normal(size=(20, 4))
    np.testing.assert_array_equal(content_direction(4), content_direction(5)[:4])
    np.testing.assert_allclose(content_keys(rows), rows @ np.random.default_rng(0).standard_normal(4))
    assert (np.diff(content_keys(rows)[content_order(rows)]) > 0).all()


def test_different_rows_are_drawn_and_all_where_there_are_no_more():
    rows = np.random.default_rng(3).normal(size=(20, 4))
    for count in (19, 20, 21):
        found = drawn_by_content(rows, count, np.random.default_rng(0))
        assert len(found) == len(set(found.tolist())) == min(count, 20)
        assert (np.diff(found) > 0).all()


def test_values_alone_and_the_smallest_pairs_are_those_of_all():
    A = np.random.default_rng(0).normal(size=(7, 7))
    A = A + A.T
    values, vectors = eigenpairs(A)
    np.testing.assert_allclose(eigenvalues(A), values, atol=1e-12)
    few, their = smallest_eigenpairs(A, 2)
    np.testing.assert_array_equal(few, values[:2])
    np.testing.assert_allclose(A @ their, their * few, atol=1e-10)
    assert few[0] < few[1]
    np.testing.assert_array_equal(np.abs(their), np.abs(vectors[:, :2]))


def chain(n):
    return csr_array(diags_array([np.full(n - 1, 0.5), np.full(n - 1, 0.5)], offsets=[-1, 1]))


@pytest.mark.parametrize(
    ("n", "k", "density", "iterated"),
    [(300, 3, None, False), (301, 3, None, True), (301, 75, None, True), (301, 76, None, False), (301, 3, 0.3, False)],
)
def test_small_dense_and_many_wanted_are_solved_directly(monkeypatch, n, k, density, iterated):
    S = chain(n) if density is None else csr_array(random_sparse(n, n, density=density, random_state=0))
    S = csr_array((S + S.T) / 2)
    calls = []

    def noted(product, k, seed, tol, weights):
        calls.append((product.ranges, k, seed, tol, weights))
        return np.zeros(k), np.ones((n, k))

    monkeypatch.setattr(module, "_filtered_iteration", noted)
    leading_eigenpairs(S, k, seed=4, tol=1e-5, n_threads=2)
    assert bool(calls) is iterated
    if iterated:
        assert calls == [([(0, n)], k, 4, 1e-5, None)]  # below 10,000 rows there is one thread


def test_the_iteration_ends_with_the_leading_pairs_as_exactly_as_asked_for():
    S = chain(400)
    exact = np.cos(np.arange(1, 6) * np.pi / 401)
    for tol in (1e-2, 1e-7):
        values, vectors = _filtered_iteration(_Product(S, None, 1), 5, 0, tol, None)
        residual = np.linalg.norm(S @ vectors - vectors * values, axis=0)
        assert residual.max() < tol
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-10)
    np.testing.assert_allclose(values, exact, atol=1e-9)


def test_errors_of_vectors_that_count_for_nothing_are_not_waited_for():
    S = chain(400)
    looks = []

    def weights(values):
        looks.append(len(values))
        return np.zeros(len(values))

    _filtered_iteration(_Product(S, None, 1), 5, 0, 1e-12, weights)
    assert looks == [5]


@pytest.mark.parametrize("cut", [0.3, -0.2, 0.9])
def test_the_filter_is_a_chebyshev_polynomial_of_degree_14_on_what_is_to_be_damped(cut):
    """Along the eigenvectors of a diagonal matrix it is T₁₄ of [−1, cut] moved to [−1, 1], at most 1 there."""
    values = np.linspace(-1, 1, 41)
    S = csr_array(diags_array(values))
    centre, half = (cut - 1) / 2, (cut + 1) / 2
    expected = chebyshev.chebval((values - centre) / half, [0] * 14 + [1])
    assert np.abs(expected[values <= cut]).max() <= 1 + 1e-9
    found = _filter(_Product(S, None, 1), np.ones((41, 1)), cut)
    np.testing.assert_allclose(found[:, 0], expected / np.abs(expected).max(), atol=1e-9)


@pytest.mark.parametrize("n", [99, 100, 40_000])
def test_a_basis_of_the_columns_is_orthonormal_whichever_way_it_is_found(n):
    """Four columns: below 100 rows by reflections, above by products, in blocks of 16,384 rows."""
    Y = np.random.default_rng(0).normal(size=(n, 4))
    Y[:, 3] = Y[:, 0] + 1e-6 * Y[:, 3]
    basis = _orthonormal(Y.copy())
    np.testing.assert_allclose(basis.T @ basis, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(basis @ (basis.T @ Y), Y, atol=1e-8)


def test_a_product_takes_rows_and_leaves_the_others():
    rng = np.random.default_rng(0)
    S = csr_array(random_sparse(9, 9, density=0.4, random_state=1))
    Y, out = rng.normal(size=(9, 3)), rng.normal(size=(9, 3))
    before = out.copy()
    product_rows(Csr.of(S), Y, out, 2.0, 0.5, 2, 7)
    np.testing.assert_allclose(out[2:7], (2 * (S @ Y) + 0.5 * Y - before)[2:7], atol=1e-12)
    np.testing.assert_array_equal(out[:2], before[:2])
    np.testing.assert_array_equal(out[7:], before[7:])
