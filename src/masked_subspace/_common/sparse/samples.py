"""Samples that came as a scipy.sparse matrix: the questions that are asked of an array of samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from masked_subspace._common.sparse.row_space import RowSpace
from masked_subspace._common.types import DType, FloatArray, IntArray, MatrixLike

# Up to here samples are exchanged for coordinates in their own row space, at most n × n numbers; it is also the size up
# to which the dense solver is the usual one (represent/representer.py).
COORDINATES_UP_TO = 2_000


@dataclass(frozen=True, eq=False)
class SparseSamples:
    """n samples with d features, as canonical CSR: indices ascend, and no zero is stored.

    `always_coordinates` is for methods that need rows as arrays at any size.
    """

    matrix: csr_array
    always_coordinates: bool = False

    @classmethod
    def of(cls, X: MatrixLike, *, always_coordinates: bool = False) -> SparseSamples:
        """A sparse matrix of floats in whatever form; what is given is not changed."""
        matrix = csr_array(X)
        if not matrix.has_canonical_format or (matrix.data == 0).any():
            matrix = matrix.copy()
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
        return cls(_with_small_indices(matrix), always_coordinates)

    @property
    def in_coordinates(self) -> bool:
        """Whether prepared rows are arrays (coordinates) and not implicit."""
        return self.always_coordinates or len(self) <= COORDINATES_UP_TO

    @property
    def shape(self) -> tuple[int, int]:
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    @property
    def dtype(self) -> DType:
        dtype: DType = self.matrix.dtype
        return dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: IntArray | slice) -> SparseSamples:
        return SparseSamples(csr_array(self.matrix[rows]), self.always_coordinates)

    def array(self, start: int, stop: int) -> FloatArray:
        """Some rows as an array; for blocks."""
        rows: FloatArray = self.matrix[start:stop].toarray()
        return rows

    def astype(self, dtype: npt.DTypeLike) -> SparseSamples:
        # A small number may become zero in float32.
        return self if self.dtype == dtype else SparseSamples.of(self.matrix.astype(dtype), **self._kind)

    def times(self, right: FloatArray) -> FloatArray:
        """Samples @ right, in float64."""
        return np.asarray(self.matrix @ right)

    def min(self) -> float:
        return float(self.matrix.min())

    def max(self) -> float:
        return float(self.matrix.max())

    def bare(self) -> SparseSamples:
        """The same samples without what was derived from them."""
        return SparseSamples(self.matrix, self.always_coordinates)

    @cached_property
    def mean(self) -> FloatArray:
        """Of each feature, in float64."""
        mean: FloatArray = np.asarray(self.matrix.sum(axis=0, dtype=np.float64)).ravel() / len(self)
        return mean

    @cached_property
    def deviation(self) -> FloatArray:
        """Standard deviation of each feature, zeros counted; 1 for a constant one."""
        counts = np.bincount(self.matrix.indices, minlength=self.shape[1])
        centred = self.matrix.data - self.mean[self.matrix.indices]
        stored = np.bincount(self.matrix.indices, weights=centred**2, minlength=self.shape[1])
        deviation = np.sqrt((stored + (len(self) - counts) * self.mean**2) / len(self))
        # The mean of equal values is off by rounding.
        varies = deviation > 8 * np.finfo(np.float64).eps * np.abs(self.mean)
        return np.where(varies, deviation, 1)

    @cached_property
    def varies(self) -> bool:
        """Whether any two samples differ."""
        first = self.matrix[np.zeros(len(self), dtype=np.int64)]
        return bool((self.matrix != first).nnz)

    @cached_property
    def rooted(self) -> SparseSamples:
        """Square roots of the entries; of negative ones 0."""
        return SparseSamples.of(self._with(np.sqrt(np.maximum(self.matrix.data, 0))), **self._kind)

    @cached_property
    def standardized(self) -> SparseSamples:
        """Every feature divided by its deviation, uncentred."""
        return self.divided_by(self.deviation)

    def divided_by(self, scale: FloatArray) -> SparseSamples:
        return SparseSamples.of(
            self._with((self.matrix.data / scale[self.matrix.indices]).astype(self.dtype)), **self._kind
        )

    @cached_property
    def row_space(self) -> RowSpace:
        return RowSpace.of(self.matrix)

    @cached_property
    def _coordinates(self) -> FloatArray:
        return self.row_space.coordinates(self.matrix)

    def coordinates_in(self, space: RowSpace) -> FloatArray:
        """Rows with the inner products that these samples have with those of the space; their own are kept."""
        own = "row_space" in self.__dict__ and self.row_space is space
        return self._coordinates if own else space.coordinates(self.matrix)

    @property
    def _kind(self) -> dict[str, bool]:
        return {"always_coordinates": self.always_coordinates}

    def _with(self, data: FloatArray) -> csr_array:
        return csr_array((data, self.matrix.indices, self.matrix.indptr), shape=self.shape)


def _with_small_indices(matrix: csr_array) -> csr_array:
    """Indices in 32 bits where these are enough: kernels are then compiled for one kind."""
    if matrix.indices.dtype == np.int32 or max(*matrix.shape, matrix.nnz) > np.iinfo(np.int32).max:
        return matrix
    parts = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
    return csr_array(parts, shape=matrix.shape)
