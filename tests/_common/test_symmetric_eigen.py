"""The eigensolver on what breaks partial drivers: eigenvalues that occur many times, at every small size."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace._common.rows import (
    eigenpairs,
    eigenvalues,
    largest_eigenpairs,
    leading_eigenpairs,
    leading_eigenpairs_of_products,
    smallest_eigenpairs,
    with_fixed_signs,
)
from masked_subspace.baselines import BDR, LRR, EnSC
from masked_subspace.baselines.bdr import smallest_eigenvectors
from masked_subspace.baselines.lrr import shrink_singular_values
from masked_subspace.label.graph import normalized_graph
from masked_subspace.preprocessing import PCAFeatures


def cliques(n, size):
    """Disjoint complete graphs of `size` samples; the last one may be smaller."""
    piece = np.arange(n) // size
    W = (piece[:, None] == piece[None, :]).astype(float)
    np.fill_diagonal(W, 0)
    return W


def laplacian(W):
    return np.diag(W.sum(axis=1)) - W


def degenerate_matrices(n):
    yield "identity", np.eye(n)
    yield "empty", np.zeros((n, n))
    yield "constant", np.ones((n, n))
    for size in (1, 2, 3, 5, n):
        yield f"cliques of {size}", cliques(n, size)
        yield f"laplacian of cliques of {size}", laplacian(cliques(n, size))
        yield f"normalized cliques of {size}", normalized_graph(csr_array(cliques(n, size))).toarray()


def assert_eigenpairs(A, values, vectors, expected):
    scale = max(1.0, np.abs(A).max() * len(A))
    np.testing.assert_allclose(values, expected, atol=1e-12 * scale)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-12)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12 * scale)


@pytest.mark.parametrize("n", range(1, 61))
def test_repeated_eigenvalues_at_every_size(n):
    for _, A in degenerate_matrices(n):
        expected = np.linalg.svd(A + (n + 1) * np.eye(n), compute_uv=False) - (n + 1)  # descending, by another method
        assert_eigenpairs(A, *eigenpairs(A), expected[::-1])
        np.testing.assert_allclose(eigenvalues(A), eigenpairs(A)[0], atol=1e-12 * max(1.0, np.abs(A).max()) * n)
        for count in {1, (n + 1) // 2, n}:
            assert_eigenpairs(A, *largest_eigenpairs(A, count), expected[:count])
            assert_eigenpairs(A, *smallest_eigenpairs(A, count), expected[::-1][:count])


@pytest.mark.parametrize("n", range(2, 61))
def test_callers_survive_repeated_eigenvalues_at_every_size(n):
    for size in (1, 2, 3, 5, n):
        W = cliques(n, size)
        pieces = -(-n // size)
        values, vectors = leading_eigenpairs(normalized_graph(csr_array(W)), min(8, n))
        assert_eigenpairs(normalized_graph(csr_array(W)).toarray(), values, vectors, values)
        flat = smallest_eigenvectors(W, min(8, n), None)
        assert np.linalg.norm(laplacian(W) @ flat, axis=0)[: min(8, pieces)].max() < 1e-12 * n
        shrunk, nuclear = shrink_singular_values(np.eye(n) + W, 0.5)
        sigma = np.linalg.svd(np.eye(n) + W, compute_uv=False)
        assert nuclear == pytest.approx(np.maximum(sigma - 0.5, 0).sum())
        np.testing.assert_allclose(np.linalg.svd(shrunk, compute_uv=False), np.maximum(sigma - 0.5, 0), atol=1e-12 * n)
    components = PCAFeatures(n).fit(np.vstack([np.eye(n), -np.eye(n)])).components_
    np.testing.assert_allclose(components @ components.T, np.eye(n), atol=1e-12)


def test_fits_that_failed_on_some_cpus():
    """Each of these raised, or returned NaN, with a partial driver and the BLAS kernels of some machines."""
    rng = np.random.default_rng
    fits = [(LRR(2), rng(seed).random((21, 10)), 2) for seed in range(3)]
    fits += [
        (EnSC(8), rng(0).standard_normal((28, 1)), 8),
        (BDR(8), rng(32).standard_normal((15, 10)), 8),
    ]
    for estimator, X, n_clusters in fits:
        fitted = estimator.set_params(random_state=0).fit(X)
        assert set(fitted.labels_) <= set(range(n_clusters))
        assert np.isfinite(fitted.representation_matrix_.data).all()
        assert np.isfinite(fitted.embedding_).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("solver", [eigenpairs, eigenvalues])
def test_what_is_not_finite_is_refused(bad, solver):
    A = np.eye(5)
    A[3, 1] = A[1, 3] = bad
    with pytest.raises(np.linalg.LinAlgError, match="NaN or infinite"):
        solver(A)


def test_a_stack_and_float32():
    stack = np.array([np.diag([2.0, 1.0]), np.diag([5.0, 7.0])], dtype=np.float32)
    values, vectors = eigenpairs(stack)
    assert values.dtype == vectors.dtype == np.float32
    np.testing.assert_allclose(values, [[1, 2], [5, 7]])


def test_signs_do_not_depend_on_what_the_solver_returned():
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(rng.standard_normal((9, 4)))[0]
    turned = with_fixed_signs(vectors * [1, -1, -1, 1])
    np.testing.assert_array_equal(turned, with_fixed_signs(vectors))
    assert (turned[np.abs(turned).argmax(axis=0), np.arange(4)] > 0).all()


def test_signs_do_not_depend_on_rounding():
    """Two entries that only rounding tells apart: the first one decides."""
    for tiny in (-1e-14, 0, 1e-14):
        v = np.array([[-1 + tiny], [1.0], [0.3]])
        np.testing.assert_allclose(with_fixed_signs(v)[:, 0], [1, -1, -0.3], atol=1e-12)
    np.testing.assert_array_equal(with_fixed_signs(np.zeros((3, 1))), 0)


def test_no_file_has_an_eigensolver_of_its_own():
    """`lobpcg` of BDR refines eigenvectors it has already and checks its residual; `eigsh` of metrics is one number."""
    import ast
    from pathlib import Path

    import masked_subspace

    root = Path(masked_subspace.__file__).parent
    found = {
        f"{path.relative_to(root)}: {name}"
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        for name in [getattr(node, "attr", None) or getattr(node, "name", None)]
        if isinstance(node, ast.Attribute | ast.alias) and name in {"eigh", "eigsh", "eigvalsh", "svds", "lobpcg"}
    }
    here = {f"_common/rows.py: {name}" for name in ("eigh", "eigvalsh", "eigsh")}
    assert found == here | {"baselines/bdr.py: lobpcg", "metrics.py: eigsh"}


def test_products_alone_give_the_leading_eigenpairs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 9))
    A = X @ X.T
    values, vectors = leading_eigenpairs_of_products(lambda v: A @ v, 60, 4)
    order = np.argsort(-values)
    np.testing.assert_allclose(values[order], eigenpairs(A)[0][::-1][:4], rtol=1e-5)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-4 * values.max())


def test_products_alone_give_the_same_bits_again_and_begin_where_they_are_told():
    rng = np.random.default_rng(0)
    A = np.diag(np.r_[9.0, rng.uniform(0, 1, 199)])
    asked = []

    def product(v):
        asked.append(v.copy())
        return A @ v

    first, again = (leading_eigenpairs_of_products(product, 200, 3) for _ in range(2))
    np.testing.assert_array_equal(first[1], again[1])
    begun = np.eye(200)[0]
    asked.clear()
    leading_eigenpairs_of_products(product, 200, 3, begun)
    np.testing.assert_allclose(asked[0], begun)
