"""One block of samples: gather the candidates, form the small Gram matrices once, solve every setting on them.

The small Gram matrices H depend on the rows and the candidates and not on a mask. A solve that knows them neither
gathers rows nor multiplies them, which at 784 features is two thirds of its work. Of few samples all products are
formed at once (`Gram`); of many, those of one round are kept for the next (`ProductStore`), one triangle of each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
from numba import njit
from scipy.sparse import csr_array

from masked_subspace._common.rows import eigenpairs
from masked_subspace._common.sparse.implicit import ImplicitRows, Rows
from masked_subspace._common.types import BoolArray, FloatArray, IndexArray
from masked_subspace.masks.base import HardMask, SoftMask
from masked_subspace.represent.model import AdmmSettings, squared_weights
from masked_subspace.represent.sparse.kernels import (
    Factors,
    Numbers,
    Problems,
    ResidualModel,
    Solutions,
    Workspace,
    admm_rows,
    compress_rows,
    gather_rows,
)

# 600 MB are needed for 70,000 samples with 64 candidates in float32.
_MOST_BYTES = 1 << 30
# With fewer features than this multiple of the variables, multiplying again is about as quick as reading.
_FEATURES_A_VARIABLE = 2
# All products of n samples, a quarter of a gigabyte in float32 at most.
_MOST_PRODUCTS = 1 << 28
# Below this multiple of the mean ‖x‖² an eigendecomposition of each H pays.
_FACTOR_BELOW = 0.25
# Accuracy of the Z step relative to its right side: a few rounding errors.
_SOLVE_TOL = {np.dtype(np.float32): 5e-7, np.dtype(np.float64): 1e-15}


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

    def read(self, columns: IndexArray, _start: int, _stop: int) -> FloatArray | None:
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

    def read(self, _columns: IndexArray, start: int, stop: int) -> FloatArray | None:
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


def largest_entry(X: Rows) -> float:
    """max |entry| (NaN if one is); of implicit rows the greatest length, which bounds it."""
    if isinstance(X, ImplicitRows):
        return float(np.sqrt(X.squared_lengths.max(initial=0.0)))
    # Two passes, no array of absolute values as large as X.
    return float(np.maximum(X.max(initial=0.0), -X.min(initial=0.0)))


def check_range(X: Rows, name: str = "X") -> None:
    """Refuse rows whose numbers the solver cannot multiply."""
    largest, limits = largest_entry(X), np.finfo(X.dtype)
    if not np.isfinite(largest):
        raise ValueError(f"{name} holds NaN or infinite values; remove or fill them first.")
    # Conjugate gradients multiply the Gram matrix with squares of products of rows.
    if largest and not limits.tiny ** (1 / 6) < largest < (limits.max / max(1, X.shape[1])) ** (1 / 6):
        raise ValueError(
            f"{name} has entries of size {largest:.2g}, whose sixth powers leave the range of {X.dtype}; scale it, "
            "or leave normalize=True."
        )


@dataclass(frozen=True)
class SparseProblem:
    """What all blocks read. `targets` is None when the samples rebuild each other."""

    dictionary: Rows
    candidates: IndexArray
    settings: tuple[AdmmSettings, ...]
    soft_masks: tuple[SoftMask | None, ...]
    hard_mask: HardMask | None
    first_stops: tuple[int, ...]  # for each setting, the first iteration that may be the last one
    targets: Rows | None = None
    in_step: bool = False  # all samples make the same number of iterations
    samples: IndexArray | None = None  # which samples the blocks count through; None: all, in order
    products: Products | None = None  # for threads of one process that rebuild samples, no residual model


@dataclass(frozen=True)
class BlockSolution:
    """Rows of Q as the three arrays of CSR, and what the stopping rule and the history need."""

    counts: npt.NDArray[np.int64]
    indices: IndexArray
    data: FloatArray
    objective: npt.NDArray[np.float64]
    residuals: npt.NDArray[np.float64]  # (stopping value, ‖Z − Mʰ⊙C‖∞, ‖Q − Z‖∞), the largest of the block
    least_iter: int
    most_iter: int
    noise: FloatArray | None = None
    outliers: csr_array | None = None


@dataclass(frozen=True)
class SmallProblems:
    """The problems of a block: b samples with v variables each."""

    columns: IndexArray  # b × v, which sample each variable belongs to
    rows: FloatArray  # b × v × d, those samples (none if H was known)
    targets: FloatArray  # b × d (none if H was known)
    H: FloatArray  # b × v × v, products of the rows
    g: FloatArray  # b × v, products of the rows with the target
    energy: FloatArray  # b, ‖x‖² of each target
    allowed: BoolArray  # b × v

    @cached_property
    def eigen(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvectors (as rows) and eigenvalues of each H, once for all settings that ask."""
        values, vectors = eigenpairs(self.H)
        return np.ascontiguousarray(vectors.transpose(0, 2, 1)), values

    @cached_property
    def ones(self) -> FloatArray:
        """Eᵀ1 of each problem, where 1 counts the variables that are samples: Z1 = 1 of `affine.py`."""
        is_sample = (self.columns >= 0).astype(self.H.dtype)
        return np.ascontiguousarray(np.matmul(self.eigen[0], is_sample[:, :, None])[:, :, 0])


def solve_block(problem: SparseProblem, block: tuple[int, int]) -> list[BlockSolution]:
    """Solutions of all settings for the samples start..stop."""
    start, stop = block
    small = small_problems(problem, start, stop)
    numbers = sample_numbers(problem, start, stop)
    prices: dict[int, FloatArray] = {}
    return [
        solve_admm(small, setting, _weights(setting, mask, numbers, small, prices), first_stop, in_step=problem.in_step)
        for setting, mask, first_stop in zip(problem.settings, problem.soft_masks, problem.first_stops, strict=True)
    ]


def sample_numbers(problem: SparseProblem, start: int, stop: int) -> IndexArray:
    """The samples of a block."""
    return np.arange(start, stop, dtype=np.int32) if problem.samples is None else problem.samples[start:stop]


def small_problems(problem: SparseProblem, start: int, stop: int) -> SmallProblems:
    """Gather the rows of the candidates and multiply them, once for all settings."""
    numbers = sample_numbers(problem, start, stop)
    candidates = problem.candidates[numbers]
    own = problem.targets is None
    # Algorithm 1 keeps the forbidden diagonal as a variable of Z, so the sample itself is the last one.
    columns = np.concatenate([candidates, numbers[:, None]], axis=1) if own else np.ascontiguousarray(candidates)
    rows, H = _gathered_products(problem, columns, start, stop)
    targets = rows[:, -1] if problem.targets is None else _rows_of(problem.targets, start, stop)
    allowed = columns >= 0
    if own:
        g, energy = H[:, -1, :].copy(), H[:, -1, -1].copy()
        allowed[:, -1] = False
        if problem.hard_mask is not None and not problem.hard_mask.diagonal_only:
            allowed[:, :-1] &= problem.hard_mask.allowed(numbers[:, None], candidates)
    elif isinstance(problem.targets, ImplicitRows):
        assert isinstance(problem.dictionary, ImplicitRows)
        g = problem.dictionary.products_with(columns, problem.targets, start)
        energy = problem.targets.squared_lengths[start:stop].astype(g.dtype)
    else:
        g = np.ascontiguousarray(np.matmul(rows, targets[:, :, None])[:, :, 0])
        energy = np.einsum("ij,ij->i", targets, targets)
    return SmallProblems(columns, rows, targets, H, g, energy, allowed)


def _rows_of(rows: Rows, start: int, stop: int) -> FloatArray:
    """Rows of a block; implicit ones are not written out."""
    if isinstance(rows, ImplicitRows):
        return np.empty((0, rows.shape[1]), dtype=rows.dtype)
    return np.ascontiguousarray(rows[start:stop])


def _gathered_products(
    problem: SparseProblem, columns: IndexArray, start: int, stop: int
) -> tuple[FloatArray, FloatArray]:
    """The rows of the variables and their products; no rows where these are implicit or the products known already."""
    width, kept = problem.dictionary.shape[1], problem.products
    known = None if kept is None else kept.read(columns, start, stop)
    if known is not None:
        return np.empty((0, columns.shape[1], width), dtype=known.dtype), known
    if isinstance(problem.dictionary, ImplicitRows):
        H = problem.dictionary.gram_of(columns)
        rows = np.empty((0, columns.shape[1], width), dtype=H.dtype)
    else:
        rows = np.empty((*columns.shape, width), dtype=problem.dictionary.dtype)
        gather_rows(problem.dictionary, columns, rows)
        H = np.matmul(rows, rows.transpose(0, 2, 1))
    if kept is not None:
        kept.write(start, H)
    return rows, H


def _weights(
    settings: AdmmSettings,
    mask: SoftMask | None,
    numbers: IndexArray,
    small: SmallProblems,
    known: dict[int, FloatArray],
) -> FloatArray:
    """γ Mˢ⊙Mˢ on the block's pairs; settings that share a mask share the look-up."""
    if mask is None:
        return np.zeros_like(small.g)
    if id(mask) not in known:
        known[id(mask)] = mask.at(numbers[:, None], small.columns)
    return squared_weights(settings.mask_weight, known[id(mask)], small.H.dtype).astype(small.H.dtype)


def solve_admm(
    small: SmallProblems, settings: AdmmSettings, weights: FloatArray, first_stop: int = 1, *, in_step: bool = False
) -> BlockSolution:
    """One setting on all problems of a block, each until it has converged or, `in_step`, until all have."""
    dtype = small.H.dtype
    b, v = small.g.shape
    space = Workspace(
        np.zeros((b, 6, v), dtype),
        np.full(b, settings.penalty, dtype),
        np.zeros(b),
        small.g.copy(),
        np.empty((5, v), dtype),
    )
    out = Solutions(
        np.zeros(len(small.g), dtype=np.int64),
        np.full((len(small.g), 3), np.inf),
        np.zeros(settings.max_iter),
    )
    modelled = settings.has_residual_model
    parts = np.zeros((2, *small.targets.shape) if modelled else (2, 0, 0), dtype=dtype)
    prices = np.array([-1 if one is None else one for one in (settings.noise, settings.outliers)], dtype=dtype)
    model = None
    if modelled:
        left = np.empty(small.targets.shape[1], dtype)
        model = ResidualModel(small.rows, small.targets, parts[0], parts[1], prices, left)
    admm_rows(
        Problems(small.H, small.g, small.energy, weights, small.allowed),
        _factors(small, settings),
        model,
        Numbers(
            float(settings.sparsity),
            float(settings.penalty),
            float(settings.penalty_growth),
            float(settings.tol),
            _SOLVE_TOL[dtype],
            first_stop,
            settings.max_iter,
            in_step,
        ),
        space,
        out,
    )
    return BlockSolution(
        *_compressed(space.states[:, 2], small),
        out.objective,
        out.residuals.max(axis=0, initial=0.0),
        int(out.n_iter.min(initial=settings.max_iter)),
        int(out.n_iter.max(initial=0)),
        None if settings.noise is None else parts[0],
        None if settings.outliers is None else csr_array(parts[1]),
    )


def _factors(small: SmallProblems, settings: AdmmSettings) -> Factors | None:
    """Eigenvectors where a small first penalty would make conjugate gradients slow, and where Z is affine."""
    if settings.affine:
        return Factors(*small.eigen, small.ones)
    trace = float(np.einsum("bii->", small.H))
    if settings.penalty >= _FACTOR_BELOW * trace / max(1, small.H.shape[0] * small.H.shape[1]):
        return None
    return Factors(*small.eigen, np.empty((0, 0), dtype=small.H.dtype))


def _compressed(Q: FloatArray, small: SmallProblems) -> tuple[npt.NDArray[np.int64], IndexArray, FloatArray]:
    Q = np.ascontiguousarray(Q)
    counts = np.zeros(len(Q), dtype=np.int64)
    indices, data = np.empty(Q.size, dtype=np.int32), np.empty(Q.size, dtype=Q.dtype)
    total = compress_rows(Q, small.columns, small.allowed, counts, indices, data)
    return counts, indices[:total].copy(), data[:total].copy()
