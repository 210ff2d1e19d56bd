"""The eigensolvers for symmetric matrices: all of a dense one, the leading ones of a sparse one.

Dense: always the divide-and-conquer driver (LAPACK's `syevd`) for all eigenpairs, and a slice where a few are wanted.
Drivers that compute a part of the spectrum lose vectors, return NaN or fail on eigenvalues that occur many times, at
sizes that depend on the CPU; graphs that fall into pieces, which is what subspace clustering aims at, are full of such
eigenvalues. A matrix that is only known by its products has its leading directions by Lanczos: they stand in for rows,
and a direction lost among equals is replaced by another of the same energy.

Sparse, with spectrum in [−1, 1]: Chebyshev-filtered subspace iteration. A block method, because the ideal graph has the
eigenvalue 1 many times: a single-vector Lanczos run (`eigsh`) misses copies of it (on COIL100, 10 of 44) and takes ten
times as long for the few hundred vectors a soft choice of eigenvectors needs.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from masked_subspace._common.types import FloatArray, IntArray, Number

# Entries this close to the largest of a vector count as equal to it: rounding differs between CPUs.
_EQUAL = 1e-6
# Relative error of an eigenvalue: what follows are distances and cosines in float32.
_LANCZOS_TOL = 1e-6
Weights = Callable[[FloatArray], FloatArray]
_DEGREE = 14
_ROUNDS = 30
_DENSE_SIZE = 300
# Below this many rows a thread costs more than it gives.
_ROWS_A_THREAD = 10_000
_TALL = 25
_ROWS_AT_ONCE = 16_384


def eigenpairs(A: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """All eigenvalues of a symmetric matrix, ascending, and orthonormal eigenvectors as columns; float32 stays so.

    The lower triangle is read. A stack of matrices gives a stack of results. NaN and infinite entries are refused.
    """
    values, vectors = np.linalg.eigh(_finite(A))
    return values, vectors


def eigenvalues(A: npt.ArrayLike) -> FloatArray:
    """Those of `eigenpairs` alone, in a third of the time."""
    return np.linalg.eigvalsh(_finite(A))


def _finite(A: npt.ArrayLike) -> FloatArray:
    matrix = np.asarray(A)
    if not np.isfinite(matrix).all():
        raise np.linalg.LinAlgError(
            "An eigenproblem holds NaN or infinite values: the numbers before it overflowed. Scale X, or choose a "
            "larger penalty or ridge."
        )
    return matrix


def largest_eigenpairs(A: npt.ArrayLike, count: int) -> tuple[FloatArray, FloatArray]:
    """The `count` largest eigenvalues, descending, and their vectors with the signs of `with_fixed_signs`."""
    values, vectors = eigenpairs(A)
    return values[::-1][:count].copy(), with_fixed_signs(np.ascontiguousarray(vectors[:, ::-1][:, :count]))


def smallest_eigenpairs(A: npt.ArrayLike, count: int) -> tuple[FloatArray, FloatArray]:
    """The `count` smallest eigenvalues, ascending, and their vectors."""
    values, vectors = eigenpairs(A)
    return values[:count].copy(), np.ascontiguousarray(vectors[:, :count])


def leading_eigenpairs_of_products(
    product: Callable[[FloatArray], FloatArray], size: int, count: int, start: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """About the `count` largest eigenvalues of the symmetric matrix that `product` multiplies by, and their vectors.

    `start` is where Lanczos begins; None: a fixed random vector.
    """
    operator = LinearOperator((size, size), matvec=product, matmat=product, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=size) if start is None else start
    values, vectors = eigsh(operator, k=count, which="LA", v0=start, tol=_LANCZOS_TOL)
    return values, vectors


def with_fixed_signs(vectors: FloatArray) -> FloatArray:
    """Columns turned so that the first of their largest entries is positive: the same on every machine."""
    turned: FloatArray = vectors * fixed_signs(vectors)
    return turned


def fixed_signs(vectors: FloatArray) -> FloatArray:
    """1 or −1 for each column: what `with_fixed_signs` multiplies it by."""
    size = np.abs(vectors)
    first = (size >= (1 - _EQUAL) * size.max(axis=0, initial=0)).argmax(axis=0)
    signs = np.sign(vectors[first, np.arange(vectors.shape[1])])
    factors: FloatArray = np.where(signs == 0, 1, signs).astype(vectors.dtype)
    return factors


def leading_eigenpairs(
    S: csr_array, k: int, *, seed: int = 0, tol: float = 1e-4, n_threads: int = 1, weights: Weights | None = None
) -> tuple[FloatArray, FloatArray]:
    """The k largest eigenvalues of S, descending, and their vectors with fixed signs.

    `weights(values)` says how much each vector will count, at most 1: an error counts as much as its vector, so that
    vectors inside a dense spectrum that will count for nothing are not waited for.
    """
    n = S.shape[0]
    k = min(k, n)
    if n <= _DENSE_SIZE or k > n // 4 or S.nnz > 0.2 * n * n:
        return largest_eigenpairs(S.toarray(), k)
    threads = min(n_threads, max(1, n // _ROWS_A_THREAD))
    with ThreadPoolExecutor(threads) if threads > 1 else nullcontext() as pool:
        values, vectors = _filtered_iteration(_Product(S, pool, threads), k, seed, tol, weights)
    return values, with_fixed_signs(vectors)


class _Product:
    """out ← a·S·Y + b·Y − out, the rows shared among threads; the result does not depend on how many there are."""

    def __init__(self, S: csr_array, pool: ThreadPoolExecutor | None, threads: int) -> None:
        self.S = S
        self.pool = pool
        edges = np.linspace(0, S.shape[0], threads + 1).astype(int)
        self.ranges = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))

    def __call__(self, Y: FloatArray, out: FloatArray, a: float, b: float) -> None:
        parts, one = Csr.of(self.S), self.S.dtype.type

        def rows(limits: tuple[int, int]) -> None:
            product_rows(parts, Y, out, one(a), one(b), limits[0], limits[1])

        if self.pool is None:
            rows(self.ranges[0])
        else:
            list(self.pool.map(rows, self.ranges))


def _filtered_iteration(
    product: _Product, k: int, seed: int, tol: float, weights: Weights | None
) -> tuple[FloatArray, FloatArray]:
    """Rounds of: a Chebyshev polynomial damps [−1, cut], QR, Rayleigh–Ritz, a better cut."""
    n, dtype = product.S.shape[0], product.S.dtype
    block = k + max(10, k // 10)
    Y = np.random.default_rng(seed).standard_normal((n, block)).astype(dtype)
    cut = 0.3
    for _ in range(_ROUNDS):
        Y = _orthonormal(_filter(product, Y, cut))
        SY = np.zeros_like(Y)
        product(Y, SY, 1, 0)
        H = Y.T @ SY
        values, rotation = eigenpairs((H + H.T) / 2)
        values, rotation = values[::-1], np.ascontiguousarray(rotation[:, ::-1])
        Y = Y @ rotation
        residual = np.linalg.norm(SY @ rotation[:, :k] - Y[:, :k] * values[:k], axis=0)
        if weights is not None:
            residual = residual * weights(values[:k])
        if residual.max() < tol:
            break
        cut = float(np.clip(values[(k + block) // 2], -0.9, 0.999))
    return values[:k], np.ascontiguousarray(Y[:, :k])


def _orthonormal(Y: FloatArray) -> FloatArray:
    """An orthonormal basis of the columns. For tall Y by two passes of Cholesky QR: products instead of reflections."""
    n, width = Y.shape
    if n < _TALL * width:
        return np.linalg.qr(Y)[0]
    for _ in range(2):
        gram = np.zeros((width, width))
        for start in range(0, n, _ROWS_AT_ONCE):
            rows = Y[start : start + _ROWS_AT_ONCE].astype(np.float64)
            gram += rows.T @ rows
        # A shift of the size of rounding keeps the factor alive when columns are nearly dependent.
        gram[np.diag_indices(width)] += np.finfo(np.float64).eps * n * np.trace(gram) / width
        inverse = solve_triangular(cholesky(gram, lower=False), np.eye(width), lower=False)
        for start in range(0, n, _ROWS_AT_ONCE):
            Y[start : start + _ROWS_AT_ONCE] = Y[start : start + _ROWS_AT_ONCE].astype(np.float64) @ inverse
    return Y


def _filter(product: _Product, Y: FloatArray, cut: float) -> FloatArray:
    """T_m((S − c)/e) Y with [c − e, c + e] = [−1, cut]: grows above the cut, stays bounded below it."""
    half, centre = (cut + 1) / 2, (cut - 1) / 2
    previous, current = Y.copy(), np.zeros_like(Y)
    # T₁ = (S − c)/e: the three-term step with half the factors and nothing to subtract
    product(previous, current, 1 / half, -centre / half)
    for _ in range(_DEGREE - 1):
        product(current, previous, 2 / half, -2 * centre / half)
        previous, current = current, previous
        size = np.abs(current).max()
        if size > 1e15:
            previous /= size
            current /= size
    filtered: FloatArray = current / np.maximum(np.abs(current).max(axis=0), np.finfo(Y.dtype).tiny)
    return filtered


class Csr(NamedTuple):
    """A CSR matrix as compiled code takes it."""

    indptr: IntArray
    indices: IntArray
    data: FloatArray

    @classmethod
    def of(cls, S: csr_array) -> Csr:
        return cls(S.indptr, S.indices, S.data)


@njit(cache=True, nogil=True, fastmath=True)
def product_rows(S: Csr, Y: FloatArray, out: FloatArray, a: Number, b: Number, start: int, stop: int) -> None:
    """out = a·SY + b·Y − out in the rows start..stop."""
    width = Y.shape[1]
    for i in range(start, stop):
        for column in range(width):
            out[i, column] = b * Y[i, column] - out[i, column]
        for position in range(S.indptr[i], S.indptr[i + 1]):
            weight = a * S.data[position]
            j = S.indices[position]
            for column in range(width):
                out[i, column] += weight * Y[j, column]
