"""Rows that were seen before: a fitted model knows its own samples by their bits.

Multilinear hashing (Carter & Wegman 1979): h(x) = Σ a_j x_j mod 2⁶⁴ over the 32-bit words of a row, a_j odd and random
but the same in every process, the upper half of two such sums. Two different rows have the same 64 bits once in 2⁶⁴
pairs, so 8 bytes a sample are enough and no sample has to be kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.rows import row_blocks
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import DType, FloatArray, IntArray, KeyArray

_SEED = 20_250_506
_HALF = np.uint64(32)


def row_hashes(X: FloatArray | SparseSamples) -> KeyArray:
    """64 bits for each row; equal rows, also 0 and −0, or dense and sparse, have equal ones."""
    words_a_row = X.shape[1] * X.dtype.itemsize // 4
    rng = np.random.default_rng(_SEED)
    first, second = rng.integers(0, 2**63, (2, words_a_row), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    if isinstance(X, SparseSamples):
        return _sparse_hashes(X, first, second)
    hashes = np.empty(len(X), dtype=np.uint64)
    for start, stop in row_blocks(len(X), words_a_row):
        # Adding 0 turns −0 into 0.
        block = np.ascontiguousarray(X[start:stop] + X.dtype.type(0))
        words = block.view(np.uint32).astype(np.uint64)
        # Matrix products of whole numbers wrap around as they should.
        hashes[start:stop] = _joined(words @ first, words @ second)
    return hashes


def _joined(first: KeyArray, second: KeyArray) -> KeyArray:
    return (first >> _HALF << _HALF) | (second >> _HALF)


def _sparse_hashes(X: SparseSamples, first: KeyArray, second: KeyArray) -> KeyArray:
    """The same sums over the entries that are stored: the words of a zero are zeros."""
    matrix, each = X.matrix, X.dtype.itemsize // 4
    words = np.ascontiguousarray(matrix.data).view(np.uint32).reshape(-1, each).astype(np.uint64)
    sums = np.zeros((2, len(X)), dtype=np.uint64)
    for word in range(each):
        entries = csr_array((words[:, word], matrix.indices, matrix.indptr), shape=X.shape)
        for total, factors in zip(sums, (first, second), strict=True):
            total += entries @ factors[word::each]
    return _joined(*sums)


@dataclass(frozen=True)
class SeenRows:
    """The hashes of the training rows in ascending order, and which row each of them is."""

    hashes: KeyArray
    index: IntArray
    dtype: DType

    @classmethod
    def of(cls, X: FloatArray | SparseSamples) -> SeenRows:
        hashes = row_hashes(X)
        order = np.argsort(hashes, kind="stable")  # of equal rows the first comes first
        return cls(hashes[order], order, X.dtype)

    def find(self, X: FloatArray | SparseSamples) -> IntArray:
        """For each row of X the number of the training row that equals it, −1 where none does."""
        if len(self.hashes) == 0:
            return np.full(len(X), -1)
        hashes = row_hashes(X.astype(self.dtype) if isinstance(X, SparseSamples) else np.asarray(X, dtype=self.dtype))
        place = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        found: IntArray = np.where(self.hashes[place] == hashes, self.index[place], -1)
        return found
