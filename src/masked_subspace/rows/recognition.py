"""Rows that were seen before: a fitted model knows its own samples by their bits.

Multilinear hashing (Carter & Wegman 1979): h(x) = Σ a_j x_j mod 2⁶⁴ over the 32-bit words of a row, a_j odd and random
but the same in every process, the upper half of two such sums. Two different rows have the same 64 bits once in 2⁶⁴
pairs, so 8 bytes a sample are enough and no sample has to be kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from masked_subspace._common.types import DType, FloatArray, IntArray, KeyArray
from masked_subspace.masks.base import row_blocks

_SEED = 20_250_506
_HALF = np.uint64(32)


def row_hashes(X: FloatArray) -> KeyArray:
    """64 bits for each row; equal rows, also 0 and −0, have equal ones."""
    words_a_row = X.shape[1] * X.dtype.itemsize // 4
    rng = np.random.default_rng(_SEED)
    first, second = rng.integers(0, 2**63, (2, words_a_row), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    hashes = np.empty(len(X), dtype=np.uint64)
    for start, stop in row_blocks(len(X), words_a_row):
        # Adding 0 turns −0 into 0.
        block = np.ascontiguousarray(X[start:stop] + X.dtype.type(0))
        words = block.view(np.uint32).astype(np.uint64)
        # Matrix products of whole numbers wrap around as they should.
        hashes[start:stop] = ((words @ first) >> _HALF << _HALF) | ((words @ second) >> _HALF)
    return hashes


@dataclass(frozen=True)
class SeenRows:
    """The hashes of the training rows in ascending order, and which row each of them is."""

    hashes: KeyArray
    index: IntArray
    dtype: DType

    @classmethod
    def of(cls, X: FloatArray) -> SeenRows:
        hashes = row_hashes(X)
        order = np.argsort(hashes, kind="stable")  # of equal rows the first comes first
        return cls(hashes[order], order, X.dtype)

    def find(self, X: FloatArray) -> IntArray:
        """For each row of X the number of the training row that equals it, −1 where none does."""
        hashes = row_hashes(np.asarray(X, dtype=self.dtype))
        place = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        found: IntArray = np.where(self.hashes[place] == hashes, self.index[place], -1)
        return found
