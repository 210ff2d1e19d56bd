"""The subspace of a cluster of sparse samples, whose basis is written out only when somebody asks for it.

Text has many directions above the noise: a basis of 700 directions and 200,000 features is a gigabyte. Distances need
none of it: with members = U S Vᵀ about their mean m, ‖x − m − (x − m)VVᵀ‖² = ‖x − m‖² − ‖(x − m)V‖².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils import Bunch

from masked_subspace._common.rows import row_blocks
from masked_subspace._common.sparse.implicit import ImplicitRows, LeadingDirections
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray


@dataclass(frozen=True, eq=False)
class SparseSubspace:
    """As the record of `subspace_of`, with the directions where they were found."""

    mean: FloatArray
    directions: LeadingDirections
    dim: int
    explained: float
    size: int

    def record(self) -> Bunch:
        """With the basis, dim × d."""
        V = self.directions.rotation().in_features()
        # As in `principal_directions`.
        basis = V if self.directions.by_features else np.linalg.qr(V)[0]
        return Bunch(
            mean=self.mean, basis=np.ascontiguousarray(basis.T), dim=self.dim, explained=self.explained, size=self.size
        )

    def distances(self, X: SparseSamples) -> FloatArray:
        rows = ImplicitRows.of(X.matrix.astype(np.float64), self.mean, 0.0)
        squared = rows.squared_lengths.copy()
        rotation = self.directions.rotation()
        for start, stop in row_blocks(len(X), max(1, self.dim)):
            squared[start:stop] -= (rotation.apply(rows[start:stop]) ** 2).sum(axis=1)
        return np.sqrt(np.maximum(squared, 0))


def centred_directions(samples: SparseSamples) -> tuple[FloatArray, LeadingDirections, FloatArray]:
    """The mean, all directions of the samples about it but those that are rounding, and their variances."""
    n, d = samples.shape
    rows = ImplicitRows.of(samples.matrix.astype(np.float64), samples.mean, 0.0)
    found = LeadingDirections.of(rows, min(n, d))
    rounding = found.values**2 <= 10 * max(n, d) * np.finfo(np.float64).eps * found.values[0] ** 2
    found = found.without(rounding)
    return samples.mean, found, found.values**2 / max(n - 1, 1)
