import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.neighbors import kneighbors_graph

from masked_subspace.label.graph import KINDS, affinity_matrix, keep_largest, power_graph, rows_by_maximum

Z = np.array([[9.0, -2, 1, 0], [0, 0, 0.5, 4], [0, 0, 0, 0], [3, -6, 1.5, 0]])


def test_symmetric_is_the_papers_phi_without_the_diagonal():
    expected = (np.abs(Z) + np.abs(Z).T) / 2
    np.fill_diagonal(expected, 0)
    for given in (Z, csr_array(Z)):
        np.testing.assert_allclose(affinity_matrix(given, "symmetric").toarray(), expected)


def test_normalized_divides_rows_by_their_maximum():
    A = np.abs(Z)
    np.fill_diagonal(A, 0)
    rows = A / np.where(A.max(axis=1) > 0, A.max(axis=1), 1)[:, None]
    np.testing.assert_allclose(affinity_matrix(Z, "normalized").toarray(), (rows + rows.T) / 2)


def test_unit_length_divides_rows_by_their_length():
    A = np.abs(Z)
    np.fill_diagonal(A, 0)
    lengths = np.linalg.norm(A, axis=1)
    rows = A / np.where(lengths > 0, lengths, 1)[:, None]
    np.testing.assert_allclose(affinity_matrix(Z, "unit-length").toarray(), (rows + rows.T) / 2)


def test_code_neighbors_are_the_nearest_unit_codes(monkeypatch):
    """Against scikit-learn's search on dense codes, which are never orthogonal; in blocks of a few rows."""
    monkeypatch.setattr("masked_subspace.label.graph._PRODUCT_WIDTH", 1 << 20)
    codes = np.random.default_rng(0).uniform(0.1, 1, size=(40, 40))
    unit = codes / np.linalg.norm(codes, axis=1, keepdims=True)
    nearest = kneighbors_graph(unit, 3, include_self=False).toarray()
    np.testing.assert_array_equal(
        affinity_matrix(codes, "code-neighbors", n_links=3).toarray(), (nearest + nearest.T) / 2
    )


def test_codes_that_share_no_atom_or_point_apart_are_no_neighbours():
    codes = np.array([[0, 1.0, 0, 0], [1.0, 0, 0, 0], [0, -1.0, 0, 0], [0, 2.0, 0, 0]])
    W = affinity_matrix(codes, "code-neighbors", n_links=2).toarray()
    expected = np.zeros((4, 4))
    expected[0, 3] = expected[3, 0] = 1
    np.testing.assert_array_equal(W, expected)


def test_top_k_keeps_the_largest_of_each_row_before_symmetrising():
    W = affinity_matrix(Z, "top-k", n_links=1).toarray()
    expected = np.zeros((4, 4))
    expected[0, 1] = expected[1, 3] = expected[3, 1] = 1
    np.testing.assert_allclose(W, (expected + expected.T) / 2)
    np.testing.assert_allclose(
        affinity_matrix(Z, "top-k", n_links=9).toarray(), affinity_matrix(Z, "normalized").toarray()
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_graph_is_symmetric_nonnegative_and_has_no_loops(kind):
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(30, 30)) * (rng.uniform(size=(30, 30)) < 0.3)
    W = affinity_matrix(csr_array(dense), kind)
    assert isinstance(W, csr_array)
    W = W.toarray()
    np.testing.assert_allclose(W, W.T, atol=1e-12)
    assert W.min() >= 0
    assert np.abs(np.diag(W)).max() == 0


def test_float32_stays_float32():
    for kind in ("top-k", "symmetric", "normalized", "unit-length", "code-neighbors"):
        assert affinity_matrix(csr_array(Z.astype(np.float32)), kind).dtype == np.float32


def test_shape_interaction_of_a_block_diagonal_projection_is_block_diagonal():
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 2)))[0]
    P = np.zeros((12, 12))
    P[:6, :6] = P[6:, 6:] = basis @ basis.T
    W = affinity_matrix(P, "shape-interaction").toarray()
    assert np.abs(W[:6, 6:]).max() == 0
    assert W[:6, :6].max() == pytest.approx(1)


def test_unknown_kind_and_bad_k_are_refused():
    with pytest.raises(ValueError, match="affinity is 'best'"):
        affinity_matrix(Z, "best")
    with pytest.raises(ValueError, match="n_links is 0"):
        keep_largest(csr_array(Z), 0)


def test_empty_rows_and_matrices_survive():
    empty = csr_array((3, 3))
    assert affinity_matrix(empty, "top-k").nnz == 0
    assert rows_by_maximum(csr_array(Z)).toarray()[2].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(("sigma", "kept"), [(2e-4, 3), (0.5e-4, 2)])
def test_shape_interaction_keeps_directions_above_a_ten_thousandth(sigma, kept):
    """M = UΣ^½ with unit rows; angles beyond a right one are no link, and the largest weight is 1."""
    rng = np.random.default_rng(0)
    U, S = np.linalg.qr(rng.standard_normal((9, 3)))[0], np.array([1.0, -0.2, sigma])
    Z = (U * S) @ U.T
    for rank, used in ((None, kept), (1, 1), (3, 3)):
        M = U[:, :used] * np.sqrt(np.abs(S[:used]))
        M /= np.linalg.norm(M, axis=1, keepdims=True)
        expected = np.maximum(M @ M.T, 0) ** 3.0
        np.fill_diagonal(expected, 0)
        expected /= expected.max()
        found = affinity_matrix(Z, "shape-interaction", rank=rank, power=3.0).toarray()
        np.testing.assert_allclose(found, np.where(expected < 1e-8, 0, expected), atol=1e-6)


def test_shape_interaction_takes_the_symmetric_part():
    Z = np.random.default_rng(0).standard_normal((8, 8))
    found, other = (affinity_matrix(one, "shape-interaction").toarray() for one in (Z, (Z + Z.T) / 2))
    np.testing.assert_allclose(found, other, atol=1e-10)


def test_powers_below_1e8_of_the_largest_are_no_links_and_negative_cosines_count_as_told():
    """cos⁴ of 2·10⁻⁸ and of 4·10⁻⁹ beside a largest of 1."""
    seen, unseen = 2e-8**0.25, 4e-9**0.25
    M = 7 * np.array([[1, 0, 0], [1, 0, 0], [-seen, np.sqrt(1 - seen**2), 0], [unseen, 0, np.sqrt(1 - unseen**2)]])
    both = power_graph(M, 4.0, negative=-1.0)
    np.testing.assert_allclose(both.toarray()[0], [0, 1, 2e-8, 0], rtol=1e-9)
    assert both.nnz == 6
    assert power_graph(M, 4.0, negative=0.0).nnz == 2


@pytest.mark.parametrize(
    ("row", "kept"), [([1, 1, 2], [0, 2]), ([2, 1, 1, 1], [0, 1]), ([1, 3, 3, 3], [1, 2]), ([1, 2, 1, 3], [1, 3])]
)
def test_of_equal_entries_the_first_are_kept_also_where_a_larger_one_follows(row, kept):
    found = keep_largest(csr_array(np.array([row], dtype=float)), 2)
    np.testing.assert_array_equal(found.indices, kept)
