"""The small Gram matrices H of all samples, where they need not be multiplied sample by sample.

They depend on the rows and the candidates and not on a mask. A solve that finds them here neither gathers rows nor
multiplies them, which at 784 features is two thirds of its work. Of few samples all products are formed at once
(`Gram`); of many, those of one round are kept for the next (`ProductStore`), one triangle of each.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
from numba import njit

from masked_subspace._common.sparse.implicit import ImplicitRows, Rows
from masked_subspace._common.types import FloatArray, IndexArray

# 600 MB are needed for 70,000 samples with 64 candidates in float32.
_MOST_BYTES = 1 << 30
# With fewer features than this multiple of the variables, multiplying again is about as quick as reading.
_FEATURES_A_VARIABLE = 2
# All products of n samples, a quarter of a gigabyte in float32 at most.
_MOST_PRODUCTS = 1 << 28


class Products(Protocol):
    """Where the products of a block's variables may be known already."""

    @property
    def shape(self) -> tuple[int, int]:
        """(samples, variables of each)."""

    def read(self, columns: IndexArray, start: int, stop: int) -> FloatArray | None:
        """H of the samples start..stop, whose variables are `columns`; None unless all of them are known."""

    def write(self, start: int, H: FloatArray) -> None:
        """H of the samples from `start` on, now that it is known."""


class Gram:
    """All products of few samples: one matrix product in place of one for each sample."""

    def __init__(self, X: FloatArray, n_variables: int) -> None:
        self.shape = len(X), n_variables
        self._products = X @ X.T

    @classmethod
    def if_worthwhile(cls, X: Rows, n_candidates: int) -> Gram | None:
        """n² products where the samples' own would be n·v² or more."""
        n, v = len(X), n_candidates + 1
        if isinstance(X, ImplicitRows):
            return None
        return cls(X, v) if n <= v * v and n * n * X.itemsize <= _MOST_PRODUCTS else None

    def read(self, columns: IndexArray, start: int, stop: int) -> FloatArray | None:  # noqa: ARG002
        H = np.empty((*columns.shape, columns.shape[1]), dtype=self._products.dtype)
        _gather(self._products, columns, H)
        return H

    def write(self, start: int, H: FloatArray) -> None:
        """Nothing: everything is known from the beginning."""


class ProductStore:
    """H of each sample once it has been computed; reading gives back the same bits."""

    def __init__(self, n_samples: int, n_variables: int, dtype: npt.DTypeLike) -> None:
        self.n_variables = n_variables
        self._triangles = np.empty((n_samples, n_variables * (n_variables + 1) // 2), dtype=dtype)
        self._known = np.zeros(n_samples, dtype=bool)

    @classmethod
    def if_worthwhile(cls, X: Rows, n_candidates: int) -> ProductStore | None:
        """A store for these rows, or None where it would be too large or save too little."""
        (n, d), v = X.shape, n_candidates + 1
        if d < _FEATURES_A_VARIABLE * v or n * v * (v + 1) // 2 * X.itemsize > _MOST_BYTES:
            return None
        return cls(n, v, X.dtype)

    @property
    def shape(self) -> tuple[int, int]:
        """(samples, variables of each)."""
        return len(self._known), self.n_variables

    def read(self, columns: IndexArray, start: int, stop: int) -> FloatArray | None:  # noqa: ARG002
        if not self._known[start:stop].all():
            return None
        H = np.empty((stop - start, self.n_variables, self.n_variables), dtype=self._triangles.dtype)
        _unpack(self._triangles[start:stop], H)
        return H

    def write(self, start: int, H: FloatArray) -> None:
        stop = start + len(H)
        _pack(H, self._triangles[start:stop])
        self._known[start:stop] = True


@njit(cache=True, nogil=True)
def _pack(H: FloatArray, triangles: FloatArray) -> None:
    for s in range(H.shape[0]):
        at = 0
        for j in range(H.shape[1]):
            triangles[s, at : at + j + 1] = H[s, j, : j + 1]
            at += j + 1


@njit(cache=True, nogil=True)
def _unpack(triangles: FloatArray, H: FloatArray) -> None:
    for s in range(H.shape[0]):
        at = 0
        for j in range(H.shape[1]):
            for k in range(j + 1):
                H[s, j, k] = triangles[s, at + k]
            at += j + 1
        for j in range(H.shape[1]):
            for k in range(j + 1, H.shape[1]):
                H[s, j, k] = H[s, k, j]


@njit(cache=True, nogil=True)
def _gather(products: FloatArray, columns: IndexArray, H: FloatArray) -> None:
    """H[s, i, j] = products[columns[s, i], columns[s, j]]; a negative column is a row of zeros."""
    for s in range(columns.shape[0]):
        for i in range(columns.shape[1]):
            for j in range(i + 1):
                a, b = columns[s, i], columns[s, j]
                H[s, i, j] = products[a, b] if a >= 0 and b >= 0 else 0
                H[s, j, i] = H[s, i, j]
