"""Sparse samples have the products of their dense form, whatever is done to rows implicitly."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array, csr_matrix
from scipy.sparse import random as random_sparse

from masked_subspace._common.rows import products_of
from masked_subspace._common.sparse.implicit import ImplicitRows, LeadingDirections, as_array
from masked_subspace._common.sparse.row_space import RowSpace
from masked_subspace._common.sparse.samples import SparseSamples, _with_small_indices
from masked_subspace.represent.neighbors.search import find_candidates


def sparse(n, d, seed=0, density=0.2, dtype=np.float64):
    return csr_array(random_sparse(n, d, density=density, random_state=seed)).astype(dtype)


def explicit(X, mean, constant):
    """The same rows written out."""
    rows = X.toarray().astype(np.float64) - (0 if mean is None else mean)
    return np.hstack([rows, np.full((len(rows), 1), constant)]) if constant else rows


@pytest.fixture(params=[(False, 0.0), (True, 0.0), (False, 0.7), (True, 0.7)], ids=["plain", "mean", "lift", "both"])
def pair(request):
    """Implicit rows and the array they stand for."""
    centred, constant = request.param
    X = sparse(40, 90)
    mean = X.toarray().mean(axis=0) if centred else None
    return ImplicitRows.of(X, mean, constant), explicit(X, mean, constant)


def test_products_are_those_of_the_centred_lifted_array(pair):
    rows, array = pair
    assert rows.shape == array.shape
    np.testing.assert_allclose(rows.products(rows), array @ array.T, atol=1e-12)
    np.testing.assert_allclose(rows.squared_lengths, (array**2).sum(axis=1), atol=1e-12)
    unit = array / np.linalg.norm(array, axis=1, keepdims=True)
    np.testing.assert_allclose(rows.unit().products(rows.unit()[:7]), unit @ unit[:7].T, atol=1e-12)
    np.testing.assert_allclose((rows / 4.0).products(rows), array @ array.T / 4, atol=1e-12)


def test_small_problems_have_the_products_of_their_rows(pair):
    rows, array = pair
    columns = np.array([[3, 1, -1, 7], [0, 5, 6, 2]], dtype=np.int32)
    H = rows.gram_of(columns)
    for s, chosen in enumerate(columns):
        own = array[chosen] * (chosen >= 0)[:, None]
        np.testing.assert_allclose(H[s], own @ own.T, atol=1e-12)
    g = rows.products_with(columns, rows[10:], 4)
    np.testing.assert_allclose(g[1], array[columns[1]] @ array[15], atol=1e-12)
    assert g[0, 2] == 0


def test_products_with_vectors(pair):
    rows, array = pair
    rng = np.random.default_rng(0)
    right, left = rng.normal(size=(array.shape[1], 3)), rng.normal(size=(len(array), 3))
    scaled = rows.unit()
    unit = array / np.linalg.norm(array, axis=1, keepdims=True)
    for a, b in ((right, left), (right[:, 0], left[:, 0])):
        np.testing.assert_allclose(scaled.times(a), unit @ a, atol=1e-12)
        np.testing.assert_allclose(scaled.transposed_times(b), unit.T @ b, atol=1e-12)


@pytest.mark.parametrize("shape", [(40, 90), (90, 40)])
@pytest.mark.parametrize("center", [False, True])
def test_leading_directions_are_those_of_the_array(shape, center, monkeypatch):
    X = sparse(*shape)
    rows, array = (
        ImplicitRows.of(X, X.toarray().mean(axis=0) * 0.5, 0.0),
        explicit(X, X.toarray().mean(axis=0) * 0.5, 0),
    )
    seen = array - array.mean(axis=0) if center else array
    U, S, V = np.linalg.svd(seen, full_matrices=False)
    for small in (2_000, 0):  # the whole eigenproblem, and Lanczos
        monkeypatch.setattr("masked_subspace._common.sparse.implicit._SMALL", small)
        found = LeadingDirections.of(rows, 5, center=center)
        np.testing.assert_allclose(found.values, S[:5], rtol=1e-8)
        np.testing.assert_allclose(np.abs(found.places), np.abs(U[:, :5] * S[:5]), atol=1e-5)
    np.testing.assert_allclose(
        np.abs(LeadingDirections.of(rows, 5).rotation(np.arange(5.0)).apply(rows[:9])),
        np.abs(array[:9] @ np.linalg.svd(array, full_matrices=False)[2][:5].T) * np.arange(5.0),
        atol=1e-5,
    )
    assert V.shape[0] == min(shape)


def test_a_rotation_that_would_be_too_tall_is_kept_as_weights_of_rows(monkeypatch):
    X = sparse(30, 200)
    rows = ImplicitRows.of(X, X.toarray().mean(axis=0), 0.0)
    found = LeadingDirections.of(rows, 6)
    tall = found.rotation(found.values**-0.5)
    monkeypatch.setattr("masked_subspace._common.sparse.implicit._MOST_NUMBERS", 1)
    short = found.rotation(found.values**-0.5)
    assert tall.weights.shape == (200, 6)
    assert short.weights.shape == (30, 6)
    new = ImplicitRows.of(sparse(5, 200, seed=1), rows.mean, 0.0)
    np.testing.assert_allclose(short.apply(new), tall.apply(new), atol=1e-10)
    np.testing.assert_allclose(short.in_features(), tall.in_features(), atol=1e-10)


def test_centring_in_float32_does_not_lose_what_it_leaves():
    """A common part ten thousand times as long as the rest: float32 products alone would keep nothing of it."""
    rng = np.random.default_rng(0)
    array = (1e4 + rng.normal(size=(30, 8))).astype(np.float32)
    mean = array.mean(axis=0, dtype=np.float64)
    rows = ImplicitRows.of(csr_array(array), mean, 0.0)
    true = array.astype(np.float64) - mean
    np.testing.assert_allclose(rows.products(rows), true @ true.T, atol=1e-5)


def test_a_row_that_equals_the_mean_has_no_length():
    X = np.random.default_rng(0).random((9, 6))
    X[4] = np.delete(X, 4, axis=0).mean(axis=0)
    rows = ImplicitRows.of(csr_array(X), X.mean(axis=0), 0.0).unit()
    assert rows.squared_lengths[4] == 0
    np.testing.assert_array_equal(rows.products(rows)[4], 0)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_candidates_are_those_of_the_array(n_threads):
    X = sparse(600, 50, density=0.3)
    mean = X.toarray().mean(axis=0)
    found = find_candidates(ImplicitRows.of(X, mean, 0.0), 12, n_threads=n_threads)
    expected = find_candidates(X.toarray() - mean, 12, search="exact")
    assert np.mean([len(set(a) & set(b)) / 12 for a, b in zip(found, expected, strict=True)]) > 0.999
    assert not (found == np.arange(600)[:, None]).any()


@pytest.mark.parametrize("shape", [(30, 200), (200, 30), (40, 40)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_coordinates_keep_all_inner_products_and_lengths(shape, dtype):
    X = sparse(*shape, dtype=dtype)
    space = RowSpace.of(X)
    rows = space.coordinates(X)
    atol = 1e-10 if dtype == np.float64 else 1e-4
    assert rows.dtype == dtype
    assert rows.shape[1] <= min(shape) + 1
    np.testing.assert_allclose(rows @ rows.T, (X @ X.T).toarray(), atol=atol)
    new = sparse(5, shape[1], seed=1, dtype=dtype)
    placed = space.coordinates(new)
    np.testing.assert_allclose(placed @ rows.T, (new @ X.T).toarray(), atol=atol)
    np.testing.assert_allclose((placed**2).sum(axis=1), (new.toarray() ** 2).sum(axis=1), atol=atol)


def test_samples_have_no_part_outside_their_own_space():
    """Where directions are short, rounding of the others is as long as they are: it is no part outside."""
    rng = np.random.default_rng(0)
    X = csr_array(rng.standard_normal((30, 60)) * np.logspace(0, -6, 30)[:, None])
    assert (RowSpace.of(X).coordinates(X)[:, -1] == 0).all()
    new = csr_array(rng.standard_normal((4, 60)))
    assert (RowSpace.of(X).coordinates(new)[:, -1] > 1).all()


def test_too_many_directions_are_refused():
    with pytest.raises(ValueError, match="TruncatedSVD"):
        RowSpace.of(csr_array((20_000, 30_000)))


@pytest.mark.parametrize("kind", [csr_array, csr_matrix, csc_array])
def test_samples_answer_as_their_array_does(kind):
    X = sparse(50, 20)
    X[:, [3]] = 2.0
    array = X.toarray()
    samples = SparseSamples.of(kind(X))
    assert (len(samples), samples.shape, samples.min(), samples.max()) == (50, (50, 20), 0.0, array.max())
    np.testing.assert_allclose(samples.mean, array.mean(axis=0), atol=1e-15)
    deviation = array.std(axis=0)
    deviation[3] = 1
    np.testing.assert_allclose(samples.deviation, deviation, atol=1e-14)
    np.testing.assert_allclose(samples.rooted.array(0, 50), np.sqrt(array))
    np.testing.assert_array_equal(samples[np.array([4, 1])].array(0, 2), array[[4, 1]])
    assert samples.varies
    assert not SparseSamples.of(csr_array(np.ones((4, 3)))).varies


def test_zeros_that_are_stored_and_entries_given_twice_change_nothing():
    given = csr_array((np.array([1.0, 0.0, 2.0, 3.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])), shape=(2, 4))
    samples = SparseSamples.of(given)
    np.testing.assert_array_equal(samples.array(0, 2), [[0, 0, 3, 0], [0, 3, 0, 0]])
    assert samples.matrix.nnz == 2
    assert given.nnz == 4


def test_what_needs_an_array_gets_leading_directions():
    X = sparse(30, 400)
    rows = ImplicitRows.of(X, None, 0.0)
    seen = as_array(rows)
    np.testing.assert_allclose(seen @ seen.T, products_of(rows, rows), atol=1e-9)  # 30 rows have no more directions
    array = X.toarray()
    assert as_array(array) is array


@pytest.mark.parametrize("shape", [(30, 12), (12, 30)], ids=["tall", "wide"])
def test_directions_that_are_rounding_are_left_out(shape):
    """Rows of rank three have three directions, however many are asked for; rows of zeros have one."""
    rng = np.random.default_rng(0)
    rank_three = rng.integers(0, 3, (shape[0], 3)) @ rng.integers(0, 3, (3, shape[1])).astype(float)
    found = LeadingDirections.of(ImplicitRows.of(csr_array(rank_three), None, 0.0), 8)
    np.testing.assert_allclose(found.values, np.linalg.svd(rank_three, compute_uv=False)[:3])
    assert len(LeadingDirections.of(ImplicitRows.of(csr_array(rank_three), None, 0.0), 2).values) == 2
    assert len(LeadingDirections.of(ImplicitRows.of(csr_array(shape), None, 0.0), 8).values) == 1


def test_samples_without_an_entry_have_coordinates_all_the_same():
    space = RowSpace.of(csr_array((5, 8)))
    np.testing.assert_array_equal(space.coordinates(csr_array((5, 8))), np.zeros((5, 2)))
    new = csr_array(np.arange(8.0)[None, :])
    assert np.linalg.norm(space.coordinates(new)) == pytest.approx(np.linalg.norm(np.arange(8.0)))


def test_indices_become_small_only_where_they_fit():
    """Kernels are compiled for 32 bits, and more features than those count keep their numbers."""
    few, many = 2**31 - 1, 2**31 + 9
    for n_features, dtype in ((few, np.int32), (many, np.int64)):
        parts = np.ones(1), np.array([n_features - 1]), np.array([0, 1])
        found = _with_small_indices(csr_array(parts, shape=(1, n_features)))
        assert found.indices.dtype == dtype
        assert found.indices[0] == n_features - 1


def test_the_smaller_product_of_tall_rows_is_made_a_few_columns_at_a_time():
    """All 300 columns of the products with 60,000 rows would be 144 MB; a block has 32 MB."""
    rows = ImplicitRows.of(sparse(60_000, 300, density=0.002), None, 0.0)
    tracemalloc.start()
    found = LeadingDirections.of(rows, 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found.values) == 3
    assert peak < 100e6
