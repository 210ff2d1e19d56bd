"""Prepared rows of many sparse samples: centred, lifted, of unit length, and none of it written out.

Row i is s_i·(x_i − m, c) with the sparse x_i, the mean m, the constant column c and a scale s_i. Products of rows are

    s_i s_j (x_i·x_j − p_i − p_j + q),   p = Xm,   q = ‖m‖² + c²,

a rank-one correction of the sparse products. Candidates, small problems and votes need nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from masked_subspace._common.rows import eigenpairs, leading_eigenpairs_of_products, rows_of_a_block, with_fixed_signs
from masked_subspace._common.sparse.kernels import Factors, product_tile, products_among, products_with
from masked_subspace._common.types import Array, BoolArray, DType, FloatArray, IndexArray, IntArray, Number

# Principal directions that take the place of rows where a method needs an array of them, such as k-means.
SEEN_DIRECTIONS = 100
# A symmetric matrix up to this size is factored as a whole.
_SMALL = 2_000
# A rotation with more numbers than this is kept as weights of the training rows (500 directions of 50,000 features).
_MOST_NUMBERS = 25_000_000
_EPSILON = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False)
class ImplicitRows:
    """Rows s_i·(x_i − m, c)."""

    matrix: csr_array  # x
    scale: FloatArray  # s, float64 as all that follow
    mean: FloatArray | None  # m
    constant: float  # c; 0 without a constant column
    along: FloatArray  # p
    offset: float  # q

    @classmethod
    def of(cls, matrix: csr_array, mean: FloatArray | None, constant: float) -> ImplicitRows:
        """Rows x − m with the constant column, not yet scaled."""
        along = np.zeros(matrix.shape[0]) if mean is None else np.asarray(matrix @ mean, dtype=np.float64)
        squared = 0.0 if mean is None else float(mean @ mean)
        return cls(matrix, np.ones(matrix.shape[0]), mean, constant, along, squared + constant**2)

    @property
    def shape(self) -> tuple[int, int]:
        return int(self.matrix.shape[0]), int(self.matrix.shape[1]) + (self.constant != 0)

    @property
    def ndim(self) -> int:
        return 2

    @property
    def dtype(self) -> DType:
        dtype: DType = self.matrix.dtype
        return dtype

    @property
    def itemsize(self) -> int:
        return int(self.dtype.itemsize)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: IntArray | slice) -> ImplicitRows:
        return replace(self, matrix=csr_array(self.matrix[rows]), scale=self.scale[rows], along=self.along[rows])

    def __truediv__(self, divisor: float | Number) -> ImplicitRows:
        return replace(self, scale=self.scale / float(divisor))

    def astype(self, dtype: npt.DTypeLike, copy: bool = True) -> ImplicitRows:  # noqa: ARG002
        """As of an array; nobody writes into these rows, so that they are never copied for nothing."""
        return self if self.dtype == dtype else replace(self, matrix=self.matrix.astype(dtype))

    @cached_property
    def squared_lengths(self) -> FloatArray:
        """‖row‖² of each row; what rounding leaves of a row that equals the mean is 0."""
        data = self.matrix.data.astype(np.float64)
        row_of = np.repeat(np.arange(len(self)), np.diff(self.matrix.indptr))
        own = np.bincount(row_of, weights=data**2, minlength=len(self))
        left = own - 2 * self.along + self.offset
        left[left <= 64 * _EPSILON * (own + self.offset)] = 0
        squared: FloatArray = self.scale**2 * left
        return squared

    def unit(self) -> ImplicitRows:
        """All rows at unit length; a row without one becomes zero."""
        lengths = np.sqrt(self.squared_lengths)
        return replace(self, scale=np.where(lengths > 0, self.scale / np.where(lengths > 0, lengths, 1), 0))

    @property
    def factors(self) -> Factors:
        matrix = self.matrix
        return Factors(matrix.indptr, matrix.indices, matrix.data, self.scale, self.along, self.offset)

    def _work(self) -> FloatArray:
        return np.zeros(self.matrix.shape[1])

    def gram_of(self, columns: IndexArray) -> FloatArray:
        """b × v × v: the products of the rows columns[s] with each other; −1 stands for no row."""
        H = np.empty((*columns.shape, columns.shape[1]), dtype=self.dtype)
        products_among(self.factors, columns, self._work(), H)
        return H

    def products_with(self, columns: IndexArray, targets: ImplicitRows, start: int) -> FloatArray:
        """b × v: the products of the rows columns[s] with row start + s of `targets`."""
        g = np.empty(columns.shape, dtype=self.dtype)
        products_with(self.factors, columns, targets.factors, start, self._work(), g)
        return g

    def tiles(self, others: ImplicitRows, width: int) -> Iterator[Tile]:
        """The products with `others`, so many of those at a time."""
        for start in range(0, len(others), width):
            yield Tile(self, others[start : start + width], start)

    def products(self, others: ImplicitRows) -> FloatArray:
        """All products with the rows of `others`, as an array: for few rows."""
        out: FloatArray = np.empty((len(self), len(others)), dtype=self.dtype)
        for tile in self.tiles(others, max(1, len(others))):
            tile.rows(0, len(self), out)
        return out

    def seen(self) -> FloatArray:
        """Rows as an array of at most 100 columns, their leading principal directions: for k-means and the like."""
        return self.principal(SEEN_DIRECTIONS).astype(self.dtype)

    def principal(self, count: int, *, center: bool = False) -> FloatArray:
        """n × count: the rows along their leading directions; `center` subtracts the mean of the rows before."""
        return LeadingDirections.of(self, count, center=center).places

    def times(self, right: FloatArray) -> FloatArray:
        """Rows @ right."""
        features = right[: self.matrix.shape[1]]
        out = np.asarray(self.matrix @ features)
        if self.mean is not None:
            out = out - self.mean @ features
        if self.constant:
            out = out + self.constant * right[-1]
        return out * (self.scale if out.ndim == 1 else self.scale[:, None])

    def transposed_times(self, left: FloatArray) -> FloatArray:
        """Rowsᵀ @ left."""
        scaled = left * (self.scale if left.ndim == 1 else self.scale[:, None])
        total = scaled.sum(axis=0)
        out = np.asarray(self.matrix.T @ scaled)
        if self.mean is not None:
            out = out - (self.mean * total if left.ndim == 1 else np.outer(self.mean, total))
        return np.concatenate([out, [self.constant * total]]) if self.constant else out


@dataclass(frozen=True, eq=False)
class Tile:
    """The products of all rows of `left` with a block of others, whose entries are sorted by feature once."""

    left: ImplicitRows
    right: ImplicitRows
    start: int

    @cached_property
    def _by_feature(self) -> tuple[Array, Array, Array]:
        turned = self.right.matrix.tocsc()
        return turned.indptr, turned.indices, turned.data

    def prepare(self) -> None:
        """Sort now, where several threads are about to ask."""
        _ = self._by_feature

    def rows(self, start: int, stop: int, out: FloatArray) -> None:
        """Products of the rows start..stop, into `out`."""
        work = np.zeros(len(self.right))
        product_tile(self.left.factors, start, self.right.factors, self._by_feature, work, out[: stop - start])


@dataclass(frozen=True, eq=False)
class LeadingDirections:
    """The largest singular values S of rows = U S Vᵀ, descending, with the side of vectors that is the smaller one."""

    rows: ImplicitRows
    values: FloatArray  # S
    vectors: FloatArray  # V where there are no more features than rows, else U
    center: bool  # whether the mean of the rows was subtracted

    @classmethod
    def of(cls, rows: ImplicitRows, count: int, *, center: bool = False) -> LeadingDirections:
        """Through the smaller of the two products of the rows with themselves; by Lanczos where that is large."""
        rows = rows.astype(np.float64)  # once, and not in every product
        empty = cls(rows, np.zeros(0), np.zeros((min(rows.shape), 0)), center)
        size = min(rows.shape)
        if size <= max(_SMALL, 3 * count):
            values, vectors = eigenpairs(empty._whole_product())
        else:
            values, vectors = leading_eigenpairs_of_products(empty._product, size, count)
        order = np.argsort(-values, kind="stable")[:count]
        kept = order[values[order] > size * _EPSILON * max(float(values.max(initial=0)), 0.0)]
        if len(kept) == 0:
            kept = order[:1]
        return replace(empty, values=np.sqrt(np.maximum(values[kept], 0)), vectors=with_fixed_signs(vectors[:, kept]))

    def without(self, dropped: BoolArray) -> LeadingDirections:
        return replace(self, values=self.values[~dropped], vectors=self.vectors[:, ~dropped])

    def first(self, count: int) -> LeadingDirections:
        return self.without(np.arange(len(self.values)) >= count)

    @property
    def by_features(self) -> bool:
        n, d = self.rows.shape
        return d <= n

    @property
    def places(self) -> FloatArray:
        """U S: where the rows lie along their leading directions."""
        return self._times(self.vectors) if self.by_features else self.vectors * self.values

    def rotation(self, scales: FloatArray | float = 1.0) -> Rotation:
        """V diag(scales), for rows that are not centred anew."""
        values = np.maximum(self.values, np.finfo(np.float64).tiny)
        if self.by_features:
            return Rotation(None, self.vectors * scales)
        # V = rowsᵀ U S⁻¹; where features are very many, the rows are kept instead.
        weights = self.vectors * (scales / values)
        if self.rows.shape[1] * len(values) > _MOST_NUMBERS:
            return Rotation(self.rows, weights)
        return Rotation(None, self.rows.transposed_times(weights))

    def _times(self, v: FloatArray) -> FloatArray:
        out = self.rows.times(v)
        return out - out.mean(axis=0) if self.center else out

    def _transposed_times(self, u: FloatArray) -> FloatArray:
        return self.rows.transposed_times(u - u.mean(axis=0) if self.center else u)

    def _product(self, v: FloatArray) -> FloatArray:
        return self._transposed_times(self._times(v)) if self.by_features else self._times(self._transposed_times(v))

    def _whole_product(self) -> FloatArray:
        """The smaller product as an array, some columns at a time: what stands between is as long as the larger."""
        size, step = min(self.rows.shape), rows_of_a_block(8 * max(self.rows.shape))
        blocks = [np.eye(size, min(step, size - start), -start) for start in range(0, size, step)]
        return np.hstack([self._product(block) for block in blocks])


@dataclass(frozen=True, eq=False)
class Rotation:
    """rows ↦ rows @ R with a tall R: as it is, or R = trainingᵀ @ weights where it would be too tall."""

    training: ImplicitRows | None
    weights: FloatArray

    def in_features(self) -> FloatArray:
        """R itself."""
        return self.weights if self.training is None else self.training.transposed_times(self.weights)

    def apply(self, rows: ImplicitRows) -> FloatArray:
        if self.training is None:
            return rows.times(self.weights)
        step = rows_of_a_block(8 * len(self.training))
        parts = [
            rows[start : start + step].products(self.training) @ self.weights for start in range(0, len(rows), step)
        ]
        return np.concatenate(parts)


# What solvers and labelers are given.
Rows = FloatArray | ImplicitRows


def as_array(rows: Rows) -> FloatArray:
    """Rows for a method that needs an array: themselves, or their leading principal directions."""
    return rows.seen() if isinstance(rows, ImplicitRows) else rows
