"""The two mask protocols: a soft mask is a price for each pair, a hard mask a permission for each pair.

Neither is ever asked for an n × n array: a dense solver asks for a block of rows, a sparse one for single pairs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np

from masked_subspace._common.types import BoolArray, FloatArray, IntArray

_BLOCK_BYTES = 1 << 25


def row_blocks(n_samples: int, n_columns: int | None = None) -> Iterator[tuple[int, int]]:
    """Ranges of rows whose dense blocks stay near 32 MB."""
    step = max(1, _BLOCK_BYTES // (8 * max(1, n_samples if n_columns is None else n_columns)))
    for start in range(0, n_samples, step):
        yield start, min(n_samples, start + step)


class SoftMask(ABC):
    """Mˢ of `eq:gmsc`: `at(i, j)` is the price factor of rebuilding sample i with sample j, never negative."""

    n_samples: int

    @abstractmethod
    def at(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """Prices of the pairs (rows, cols), broadcast against each other."""

    def block(self, start: int, stop: int) -> FloatArray:
        """Rows start..stop of the mask as a dense (stop − start) × n array."""
        return self.at(np.arange(start, stop)[:, None], np.arange(self.n_samples)[None, :])

    def change(self, other: SoftMask | None) -> float:
        """‖Mˢ_new − Mˢ_old‖∞, the stopping value of Algorithm 2 (no mask counts as zero)."""
        largest = 0.0
        for start, stop in row_blocks(self.n_samples):
            difference = self.block(start, stop)
            if other is not None:
                difference = difference - other.block(start, stop)
            largest = max(largest, float(np.abs(difference).max(initial=0.0)))
        return largest


class HardMask(ABC):
    """Mʰ of `eq:bmsc`: `allowed(i, j)` says whether sample j may rebuild sample i. The diagonal never may."""

    n_samples: int
    diagonal_only: bool = False

    @abstractmethod
    def allowed(self, rows: IntArray, cols: IntArray) -> BoolArray:
        """Permission of the pairs (rows, cols), broadcast against each other."""

    def block(self, start: int, stop: int) -> BoolArray:
        """Rows start..stop of the mask as a dense (stop − start) × n array."""
        return self.allowed(np.arange(start, stop)[:, None], np.arange(self.n_samples)[None, :])
