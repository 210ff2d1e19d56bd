"""The one eigensolver for symmetric matrices.

Always the divide-and-conquer driver (LAPACK's `syevd`) for all eigenpairs, and a slice where a few are wanted. Drivers
that compute a part of the spectrum lose vectors, return NaN or fail on eigenvalues that occur many times, at sizes that
depend on the CPU; graphs that fall into pieces, which is what subspace clustering aims at, are full of such
eigenvalues. A matrix that is only known by its products has its leading directions by Lanczos: they stand in for rows,
and a direction lost among equals is replaced by another of the same energy.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator, eigsh

from masked_subspace._common.types import FloatArray

# Entries this close to the largest of a vector count as equal to it: rounding differs between CPUs.
_EQUAL = 1e-6
# Relative error of an eigenvalue: what follows are distances and cosines in float32.
_LANCZOS_TOL = 1e-6


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
    product: Callable[[FloatArray], FloatArray], size: int, count: int
) -> tuple[FloatArray, FloatArray]:
    """About the `count` largest eigenvalues of the symmetric matrix that `product` multiplies by, and their vectors."""
    operator = LinearOperator((size, size), matvec=product, matmat=product, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=size)
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
