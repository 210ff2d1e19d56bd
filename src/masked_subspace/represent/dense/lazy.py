"""The lazy pass: Algorithm 1 without looking at every entry, for BMSC and for soft masks with at most two prices.

With a weight w that does not change along a row, every matrix of Algorithm 1 is, row by row, a combination of the
eigenvectors plus a short list: Z = Vα + ζ, U2 = Vβ + η, C = Vκ + χ, with ζ, η, χ, Q zero off the list. Then Eq:b-Z is

    h = Vᵀ(right side),   α ← (right side's coefficients) − s/(s+2μ)·h,   ζ ← (right side's list)

which costs r numbers and a few entries instead of n. Off the list T = Z − U2/μ = V(α − β/μ) =: Vg, and the only
question there is whether some |V_j·g| exceeds τ. A bound that costs O(r) says no for most rows in most iterations; when
it cannot, the product Vg is formed and columns above τ join the list. Nothing is approximated: the bound is safe.

A label mask has two weights, inside and outside the sample's cluster, so a row has two coefficient sets, and the
projection of "V_j·x_inside for j in the cluster, V_j·x_outside elsewhere" on V needs V_cᵀV_c of each cluster c.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.represent.continuation import Step
from masked_subspace.represent.dense import lazy_kernels as kernels
from masked_subspace.represent.dense.blocks import FinishedRow
from masked_subspace.represent.dense.lazy_problem import LazyProblem

VECTORS_PER_SET = kernels.KAPPA_CHANGE + 1
_FIRST_CAPACITY = 32
_PRUNE_EVERY = 4
_DECIDED_BY = 25  # iterations after which giving up would waste more than it saves


class ListsTooLongError(Exception):
    """The solution is not sparse enough for lists to pay: looking at every entry is faster."""


class LazyPass:
    """Some samples of Algorithm 1, sorted by label, in coefficients and lists."""

    def __init__(self, problem: LazyProblem, samples: IntArray) -> None:
        self.samples = samples
        self._problem = problem
        n_rows, n_sets, rank = len(samples), problem.n_sets, problem.spectrum.rank
        self._dtype = problem.spectrum.vectors.dtype
        n_kinds = kernels.KAPPA_CHANGE + 1 if problem.is_weighted else kernels.ALPHA_CHANGE + 1
        self._coefficients = np.zeros((n_rows, n_kinds, n_sets, rank), self._dtype)
        self._columns = np.zeros((n_rows, _FIRST_CAPACITY), np.int32)
        self._columns[:, 0] = samples
        self._sets = np.zeros((n_rows, _FIRST_CAPACITY), np.int8)
        self._entries = np.zeros((n_rows, kernels.N_FIELDS, _FIRST_CAPACITY), self._dtype)
        self._n_entries = np.ones(n_rows, np.int64)
        self._multipliers = np.zeros(n_rows, self._dtype)  # U1/μ on the diagonal
        self._reference_max = np.zeros((n_rows, n_sets), self._dtype)
        self._margin = np.ones(n_rows, self._dtype)  # the nearest that any entry has come to τ, relative to it
        self._labels = problem.labels[samples]
        self._resize()

    def _resize(self) -> None:
        n_rows, n_sets, bounds = len(self._n_entries), self._problem.n_sets, self._problem.bounds
        self._unsafe = np.zeros((n_rows, n_sets), np.bool_)
        self._change, self._data, self._paid, self._count, self._gap_mask = np.zeros((5, n_rows), self._dtype)
        # set 0 is bounded by its cluster's norms, set 1 by those of all samples
        self._norm_rows = np.full((n_rows, n_sets), len(self._problem.group_norms) - 1)
        self._norm_rows[:, 0] = self._labels
        # where set k finds columns of the other set: set 1 is all but the sample's own cluster
        self._others = np.zeros((n_sets, n_rows, 2), np.intp)
        if n_sets == 2:
            self._others[1] = np.stack([bounds[self._labels], bounds[self._labels + 1]], axis=1)

    def step(self, step: Step) -> tuple[FloatArray, FloatArray]:
        problem = self._problem
        s = problem.spectrum.values.astype(np.float64)
        scalars = self._as_dtype([step.tau, step.mu_last / step.mu, step.mu / step.mu_next, 0.5, 1 + 1e-4])
        weights, prices = self._as_dtype(problem.weights / step.mu), self._as_dtype(problem.weights)
        self._weights = weights
        kernels.advance(
            problem.spectrum.vectors,
            self._as_dtype(s / (s + 2 * step.mu)),
            self._as_dtype(s * (2 * step.mu / (s + 2 * step.mu)) ** 2),
            self._coefficients,
            self._through_clusters(weights, scalars),
            self._columns,
            self._sets,
            self._n_entries,
            self._entries,
            self._multipliers,
            weights,
            prices,
            scalars,
            problem.group_ends,
            problem.group_norms,
            self._norm_rows,
            self._reference_max,
            self._unsafe,
            self._change,
            self._data,
            self._paid,
            self._count,
            self._margin,
        )
        for k in range(problem.n_sets):
            self._look_for_new_columns(k, np.flatnonzero(self._unsafe[:, k]), prices, scalars)
        if step.number < _DECIDED_BY and self._n_entries.mean() > problem.longest_list:
            raise ListsTooLongError
        if step.number % _PRUNE_EVERY == _PRUNE_EVERY - 1:
            self._prune()
        cost = 0.5 * (self._data.astype(np.float64) + self._paid) + problem.settings.sparsity * self._count
        return cost, self._change

    def _as_dtype(self, values: npt.ArrayLike) -> FloatArray:
        return np.asarray(values, dtype=self._dtype)

    def _through_clusters(self, weights: FloatArray, scalars: FloatArray) -> FloatArray:
        """What the cluster's own weight adds to Vᵀ of the right side; nothing with one set."""
        n_rows = len(self._n_entries)
        if self._problem.n_sets == 1:
            return np.zeros((n_rows, 0), self._dtype)
        difference = np.empty((n_rows, self._problem.spectrum.rank), self._dtype)
        kernels.set_difference(self._coefficients, weights, scalars, difference)
        for label, rows in self._rows_by_label(np.arange(n_rows)):
            difference[rows] = self._problem.through_cluster(label, difference[rows])
        return difference

    def _rows_by_label(self, rows: IntArray) -> list[tuple[int, slice]]:
        """Runs of equal labels within `rows`, which are sorted by label; slices count positions in `rows`."""
        labels = self._labels[rows]
        starts = np.flatnonzero(np.diff(labels, prepend=-1))
        ends = np.append(starts[1:], len(labels))
        return [(int(labels[a]), slice(a, b)) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]

    def _products(self, kind: int, k: int, rows: IntArray) -> Iterator[tuple[IntArray, FloatArray, int]]:
        """V_j·x for these rows' vectors x of this kind in set k and at least all columns j of that set.

        Yields some rows, their products, and the first column of these.
        """
        V, bounds = self._problem.spectrum.vectors, self._problem.bounds
        if k == self._problem.n_sets - 1:
            yield rows, self._coefficients[rows, kind, k] @ V.T, 0
            return
        for label, part in self._rows_by_label(rows):
            begin, end = int(bounds[label]), int(bounds[label + 1])
            yield rows[part], self._coefficients[rows[part], kind, k] @ V[begin:end].T, begin

    def _look_for_new_columns(self, k: int, rows: IntArray, prices: FloatArray, scalars: FloatArray) -> None:
        if not len(rows):
            return
        self._coefficients[rows, kernels.G_REFERENCE, k] = self._coefficients[rows, kernels.G, k]
        for some, product, first in self._products(kernels.G, k, rows):
            n_new = self._scan(product, first, k, some, scalars[kernels.TAU], self._reference_max)
            self._make_room(int((self._n_entries[some] + n_new).max()))
            kernels.insert(
                product,
                first,
                k,
                some,
                n_new,
                self._problem.spectrum.vectors,
                self._coefficients,
                self._columns,
                self._sets,
                self._n_entries,
                self._entries,
                prices,
                scalars,
                self._change,
                self._paid,
                self._count,
                self._margin,
            )
            if scalars[kernels.TAU] > 0:  # in float32 τ may vanish at the end
                gap = 1 - self._reference_max[some, k] / scalars[kernels.TAU]
                self._margin[some] = np.minimum(self._margin[some], gap)

    def _scan(
        self, product: FloatArray, first: int, k: int, rows: IntArray, tau: Any, largest: FloatArray
    ) -> npt.NDArray[np.int64]:
        n_new = np.zeros(len(rows), np.int64)
        kernels.scan(product, first, k, rows, self._columns, self._n_entries, self._others[k], tau, largest, n_new)
        return n_new

    def _make_room(self, n_entries: int) -> None:
        capacity = self._columns.shape[1]
        if n_entries > capacity:
            missing = max(n_entries, 2 * capacity) - capacity
            self._columns = np.pad(self._columns, [(0, 0), (0, missing)])
            self._sets = np.pad(self._sets, [(0, 0), (0, missing)])
            self._entries = np.pad(self._entries, [(0, 0), (0, 0), (0, missing)])

    def _prune(self) -> None:
        negligible = self._dtype.type(1e-8 if self._dtype == np.float32 else 1e-14)
        kernels.prune(
            self._problem.spectrum.vectors,
            self._coefficients,
            self._columns,
            self._sets,
            self._n_entries,
            self._entries,
            self._reference_max,
            negligible,
        )

    def exact_change(self, rows: IntArray) -> FloatArray:
        """The lists' changes are known; off the lists ΔZ = VΔα and ΔC = VΔκ have to be formed."""
        change: FloatArray = np.maximum(
            self._change[rows], self._largest_off_list(kernels.ALPHA_CHANGE, rows).max(axis=1)
        )
        if self._problem.is_weighted:
            moved = self._largest_off_list(kernels.KAPPA_CHANGE, rows)
            # Eq:C says (w + μ)C = w·C_last + μZ, so Z − C = (w/μ)ΔC: the mask's residual needs no product of its own
            self._gap_mask[rows] = (moved * self._weights).max(axis=1)
            change = np.maximum(change, moved.max(axis=1))
        return change

    def _largest_off_list(self, kind: int, rows: IntArray) -> FloatArray:
        """For each row and set the largest |V_j·x| of the columns that are not listed, x the vectors of this kind."""
        largest = np.zeros((len(self._n_entries), self._problem.n_sets), self._dtype)
        infinite = self._dtype.type(np.finfo(self._dtype).max)
        for k in range(self._problem.n_sets):
            for some, product, first in self._products(kind, k, rows):
                self._scan(product, first, k, some, infinite, largest)
        return np.asarray(largest[rows])

    def finish(self, rows: IntArray) -> list[FinishedRow]:
        """Results of rows whose `exact_change` has just been asked for."""
        if not len(rows):
            return []
        gap_sparsity = self._largest_off_list(kernels.ALPHA, rows).max(axis=1)
        finished = []
        for position, row in enumerate(rows):
            n = self._n_entries[row]
            own = self._entries[row, :, :n]
            Z, C = own[kernels.V_ALPHA] + own[kernels.ZETA], own[kernels.V_KAPPA] + own[kernels.CHI]
            kept = 1 + np.flatnonzero(own[kernels.Q, 1:])  # entry 0 is the sample itself
            finished.append(
                FinishedRow(
                    self._problem.order[self._columns[row, kept]].astype(np.int32),
                    own[kernels.Q, kept],
                    max(float(self._gap_mask[row]), float(np.abs(Z - C).max())),
                    max(float(gap_sparsity[position]), float(np.abs(Z - own[kernels.Q]).max())),
                    last_step=own[kernels.Q_CHANGE, kept],
                    margin=float(self._margin[row]),
                )
            )
        return finished

    def keep(self, rows: IntArray) -> None:
        for name in (
            "_coefficients",
            "_columns",
            "_sets",
            "_entries",
            "_n_entries",
            "_multipliers",
            "_margin",
            "_reference_max",
            "_labels",
        ):
            setattr(self, name, getattr(self, name)[rows])
        self._resize()
