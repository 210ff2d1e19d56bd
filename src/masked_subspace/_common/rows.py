"""Rows of numbers as every room handles them: in blocks that fit memory, at unit length, in an order of their own, and
along the eigenvectors of their products or of their graph. None of it depends on where a row stands or on the machine.

Whoever draws samples (seeds of k-means, a subsample, the halves of a split) draws from an order that depends on what
they are and not on where they stand: with the rows permuted, the same samples are drawn. It is that of the rows' places
along one fixed random direction. A hash would do for rows that are the same to the last bit; prepared rows are not,
because the mean of permuted rows rounds differently, and along a direction rounding can do no more than exchange two
neighbours. Rows that are equal keep their order: it does not matter which of them is drawn.

Eigenvectors of a dense symmetric matrix come from the divide-and-conquer driver (LAPACK's `syevd`), all of them, and a
slice where a few are wanted. Drivers that compute a part of the spectrum lose vectors, return NaN or fail on
eigenvalues that occur many times, at sizes that depend on the CPU; graphs that fall into pieces, which is what subspace
clustering aims at, are full of such eigenvalues. A matrix that is only known by its products has its leading directions
by Lanczos: they stand in for rows, and a direction lost among equals is replaced by another of the same energy.

Those of a sparse one with spectrum in [−1, 1] come from Chebyshev-filtered subspace iteration. A block method, because
the ideal graph has the eigenvalue 1 many times: a single-vector Lanczos run (`eigsh`) misses copies of it (on COIL100,
10 of 44) and takes ten times as long for the few hundred vectors a soft choice of eigenvectors needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator, eigsh

from masked_subspace._common.types import FloatArray, IntArray, Number

if TYPE_CHECKING:
    from masked_subspace._common.sparse.implicit import ImplicitRows, Rows
    from masked_subspace._common.sparse.samples import SparseSamples

# What can be put in order: samples or prepared rows, sparse or not.
Content: TypeAlias = "FloatArray | ImplicitRows | SparseSamples"
Positions = npt.NDArray[np.intp]

_DIRECTION_SEED = 0
# What a dense block of rows may take: large enough for BLAS, small enough for any machine.
BLOCK_BYTES = 1 << 25
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


def rows_of_a_block(row_bytes: int) -> int:
    """How many rows of so many bytes each stay near 32 MB; one at least."""
    return max(1, BLOCK_BYTES // max(1, row_bytes))


def block_ranges(n_rows: int, block_size: int) -> Iterator[tuple[int, int]]:
    """Consecutive ranges that cover all rows.

    Parameters
    ----------
    n_rows : int
        How many rows there are.
    block_size : int
        Rows of a block; the last may have fewer.

    Yields
    ------
    start : int
        The first row of a block.
    stop : int
        The row behind its last.

    Examples
    --------
    >>> from masked_subspace.parallel import block_ranges
    >>> list(block_ranges(5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """
    for start in range(0, n_rows, block_size):
        yield start, min(n_rows, start + block_size)


def row_blocks(n_samples: int, n_columns: int | None = None) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose dense blocks, of `n_columns` or `n_samples` columns, stay near 32 MB."""
    return block_ranges(n_samples, rows_of_a_block(8 * (n_samples if n_columns is None else n_columns)))


def on_one_scale(rows: FloatArray) -> FloatArray:
    """Rows whose features have mean 0 and variance 1, in float64; constant features are 0."""
    scaled = np.array(rows, dtype=np.float64)
    scaled -= scaled.mean(axis=0)
    deviation = scaled.std(axis=0)
    scaled /= np.where(deviation > 0, deviation, 1)
    return scaled


def unit_rows(rows: FloatArray) -> FloatArray:
    """Rows scaled to unit length; zero rows stay zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: FloatArray = rows / np.where(norms > 0, norms, 1)
    return scaled


def to_unit_length(rows: FloatArray, floor: float = 0.0) -> None:
    """The same in place; rows no longer than `floor` become zero."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(norms > floor, norms, 1).astype(rows.dtype)
    rows[norms[:, 0] <= floor] = 0


def products_of(left: Rows, right: Rows) -> FloatArray:
    """left @ rightᵀ, of arrays or of sparse samples."""
    if isinstance(left, np.ndarray):
        assert isinstance(right, np.ndarray)
        return np.asarray(left @ right.T)
    assert not isinstance(right, np.ndarray)
    return left.products(right)


def content_direction(n_features: int) -> npt.NDArray[np.float64]:
    """The direction of rows with so many features; one feature more adds an entry and changes none."""
    return np.random.default_rng(_DIRECTION_SEED).standard_normal(n_features)


def content_keys(rows: Content) -> npt.NDArray[np.float64]:
    """Where each row lies along the direction."""
    direction = content_direction(rows.shape[1])
    if not isinstance(rows, np.ndarray):
        return rows.times(direction).astype(np.float64)
    # A matrix product would round a row differently in another place.
    keys: npt.NDArray[np.float64] = np.einsum("ij,j->i", rows, direction, dtype=np.float64)
    return keys


def content_order(rows: Content) -> Positions:
    """Positions of the rows, sorted by content."""
    order: Positions = np.argsort(content_keys(rows), kind="stable")
    return order


def drawn_by_content(rows: Content, count: int, rng: np.random.Generator) -> Positions:
    """Ascending positions of `count` different rows (all, if there are no more), drawn whatever their order."""
    if count >= len(rows):
        return np.arange(len(rows))
    return np.sort(content_order(rows)[rng.choice(len(rows), count, replace=False)])


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
