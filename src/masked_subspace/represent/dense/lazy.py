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
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import Array, FloatArray, IntArray, Number
from masked_subspace.masks.base import HardMask, SoftMask
from masked_subspace.masks.soft import ConstantMask, LabelMask
from masked_subspace.represent.dense import lazy_kernels as kernels
from masked_subspace.represent.dense.running import FinishedRow
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.represent.model import AdmmSettings, Step, squared_weights

Prices = tuple[tuple[float, ...], Array | None]

# Groups of directions, finer where the spectrum is steep: the bound of `lazy_kernels` is taken in each of them.
_GROUP_ENDS = (4, 12, 24, 48, 96, 160, 240, 340, 450, 600, 800, 1200, 2000)
# Measured at n = 1000 (rank 556) and 2000: with longer lists, for one set and for two, the blocked pass is faster.
_LONGEST_SHARE = {1: 1 / 10, 2: 1 / 18}
_SHORT_LIST = 12
VECTORS_PER_SET = kernels.KAPPA_CHANGE + 1
_FIRST_CAPACITY = 32
_PRUNE_EVERY = 4
_DECIDED_BY = 25  # iterations after which giving up would waste more than it saves


def lazy_prices(settings: AdmmSettings, hard_mask: HardMask | None, soft_mask: SoftMask | None) -> Prices | None:
    """The price of all pairs, or (inside, outside) and the labels; None when every entry must be looked at."""
    if settings.has_residual_model or settings.affine or not (hard_mask is None or hard_mask.diagonal_only):
        return None
    if soft_mask is None:
        return (0.0,), None
    if isinstance(soft_mask, ConstantMask):
        return (soft_mask.price,), None
    if isinstance(soft_mask, LabelMask):
        return (soft_mask.inside, soft_mask.outside), soft_mask.labels
    return None


@dataclass(frozen=True)
class LazyProblem:
    """What all blocks of one lazy solve share. Samples stand in the order `order`, sorted by label."""

    settings: AdmmSettings
    spectrum: Spectrum
    order: IntArray
    weights: FloatArray  # w of each set: (w,) or (inside, outside)
    labels: IntArray  # of the sorted samples; all 0 with one set
    bounds: IntArray  # cluster c is the sorted samples bounds[c]..bounds[c + 1]
    longest_list: float  # the mean length at which the lazy pass gives up

    @classmethod
    def of(
        cls,
        settings: AdmmSettings,
        spectrum: Spectrum,
        prices: tuple[float, ...],
        labels: Array | None,
        *,
        patient: bool = False,
    ) -> LazyProblem:
        """`prices` is (price,) of all pairs, or (inside, outside) of the clusters in `labels`.

        A `patient` solve puts up with lists of any length.
        """
        weights = squared_weights(settings.mask_weight, prices, spectrum.vectors.dtype)
        n_samples = len(spectrum.vectors)
        if labels is None:
            order, sorted_labels = np.arange(n_samples), np.zeros(n_samples, np.intp)
        else:
            order = np.argsort(labels, kind="stable")
            sorted_labels = np.asarray(labels, np.intp)[order]
            spectrum = Spectrum(spectrum.values, spectrum.vectors[order], spectrum.right_vectors)
        bounds = np.concatenate([[0], np.cumsum(np.bincount(sorted_labels))])
        longest = n_samples if patient else max(_SHORT_LIST, n_samples * _LONGEST_SHARE[len(weights)])
        problem = cls(settings, spectrum, order, weights, sorted_labels, bounds, longest)
        problem._prepare()
        return problem

    @property
    def n_sets(self) -> int:
        return len(self.weights)

    @property
    def is_weighted(self) -> bool:
        return bool(self.weights.any())

    @cached_property
    def group_ends(self) -> IntArray:
        rank = self.spectrum.rank
        return np.array([end for end in _GROUP_ENDS if end < rank] + [rank], dtype=np.intp)

    @cached_property
    def group_norms(self) -> FloatArray:
        """The largest norm of a row of V in each group of directions: for each cluster, and last for all samples."""
        V = self.spectrum.vectors
        starts = np.concatenate([[0], self.group_ends[:-1]])
        squares = np.add.reduceat(np.square(V, dtype=np.float64), starts, axis=1)
        rows = [squares[begin:end].max(axis=0, initial=0.0) for begin, end in self.clusters]
        norms: FloatArray = np.sqrt(np.stack([*rows, squares.max(axis=0)])).astype(V.dtype)
        return norms

    @property
    def clusters(self) -> list[tuple[int, int]]:
        return list(zip(self.bounds[:-1].tolist(), self.bounds[1:].tolist(), strict=True))

    @cached_property
    def cluster_grams(self) -> list[FloatArray | None]:
        """V_cᵀV_c of each cluster, or None where the cluster is so small that two products with V_c are cheaper."""
        V = self.spectrum.vectors
        return [V[a:b].T @ V[a:b] if 2 * (b - a) > self.spectrum.rank else None for a, b in self.clusters]

    def _prepare(self) -> None:
        """Compute what the blocks share before threads ask for it at the same time."""
        _ = self.group_ends, self.group_norms
        if self.n_sets == 2:
            _ = self.cluster_grams

    def through_cluster(self, label: int, x: FloatArray) -> FloatArray:
        """x V_cᵀV_c for rows x of coefficients."""
        gram = self.cluster_grams[label]
        if gram is not None:
            return x @ gram
        V = self.spectrum.vectors[self.bounds[label] : self.bounds[label + 1]]
        return (x @ V.T) @ V


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
        self._state = kernels.RowState(
            coefficients=np.zeros((n_rows, n_kinds, n_sets, rank), self._dtype),
            multipliers=np.zeros(n_rows, self._dtype),
            reference_max=np.zeros((n_rows, n_sets), self._dtype),
            margin=np.ones(n_rows, self._dtype),
            labels=problem.labels[samples],
        )
        self._lists = kernels.Lists(
            columns=np.zeros((n_rows, _FIRST_CAPACITY), np.int32),
            sets=np.zeros((n_rows, _FIRST_CAPACITY), np.int8),
            values=np.zeros((n_rows, kernels.N_FIELDS, _FIRST_CAPACITY), self._dtype),
            lengths=np.ones(n_rows, np.int64),
        )
        self._lists.columns[:, 0] = samples
        self._resize()

    def _resize(self) -> None:
        labels, n_sets, bounds = self._state.labels, self._problem.n_sets, self._problem.bounds
        n_rows = len(labels)
        unsafe = np.zeros((n_rows, n_sets), np.bool_)
        change, data, paid, n_nonzero, self._gap_mask = np.zeros((5, n_rows), self._dtype)
        self._report = kernels.RowReport(unsafe, change, data, paid, n_nonzero)
        # set 0 is bounded by its cluster's norms, set 1 by those of all samples
        self._norm_rows = np.full((n_rows, n_sets), len(self._problem.group_norms) - 1)
        self._norm_rows[:, 0] = labels
        # where set k finds columns of the other set: set 1 is all but the sample's own cluster
        self._others = np.zeros((n_sets, n_rows, 2), np.intp)
        if n_sets == 2:
            self._others[1] = np.stack([bounds[labels], bounds[labels + 1]], axis=1)

    def step(self, step: Step) -> tuple[FloatArray, FloatArray]:
        problem, report = self._problem, self._report
        iteration = self._iteration(step)
        self._weights = iteration.weights
        kernels.advance(iteration, self._state, self._lists, self._through_clusters(iteration), self._norm_rows, report)
        for k in range(problem.n_sets):
            self._look_for_new_columns(k, np.flatnonzero(report.unsafe[:, k]), iteration)
        if step.number < _DECIDED_BY and self._lists.lengths.mean() > problem.longest_list:
            raise ListsTooLongError
        if step.number % _PRUNE_EVERY == _PRUNE_EVERY - 1:
            negligible = self._dtype.type(1e-8 if self._dtype == np.float32 else 1e-14)
            kernels.prune(iteration.V, self._state, self._lists, negligible)
        cost = 0.5 * (report.data.astype(np.float64) + report.paid) + problem.settings.sparsity * report.n_nonzero
        return cost, report.change

    def _iteration(self, step: Step) -> kernels.Iteration:
        problem, number = self._problem, self._dtype.type
        s = problem.spectrum.values.astype(np.float64)
        return kernels.Iteration(
            V=problem.spectrum.vectors,
            filters=self._as_dtype(s / (s + 2 * step.mu)),
            data_weights=self._as_dtype(s * (2 * step.mu / (s + 2 * step.mu)) ** 2),
            weights=self._as_dtype(problem.weights / step.mu),
            prices=self._as_dtype(problem.weights),
            group_ends=problem.group_ends,
            group_norms=problem.group_norms,
            tau=number(step.tau),
            ratio_last=number(step.mu_last / step.mu),
            ratio_next=number(step.mu / step.mu_next),
            half=number(0.5),
            slack=number(1 + 1e-4),
        )

    def _as_dtype(self, values: npt.ArrayLike) -> FloatArray:
        return np.asarray(values, dtype=self._dtype)

    def _through_clusters(self, iteration: kernels.Iteration) -> FloatArray:
        """What the cluster's own weight adds to Vᵀ of the right side; nothing with one set."""
        n_rows = len(self._state.labels)
        if self._problem.n_sets == 1:
            return np.zeros((n_rows, 0), self._dtype)
        difference = np.empty((n_rows, self._problem.spectrum.rank), self._dtype)
        kernels.set_difference(iteration, self._state.coefficients, difference)
        for label, rows in self._rows_by_label(np.arange(n_rows)):
            difference[rows] = self._problem.through_cluster(label, difference[rows])
        return difference

    def _rows_by_label(self, rows: IntArray) -> list[tuple[int, slice]]:
        """Runs of equal labels within `rows`, which are sorted by label; slices count positions in `rows`."""
        labels = self._state.labels[rows]
        starts = np.flatnonzero(np.diff(labels, prepend=-1))
        ends = np.append(starts[1:], len(labels))
        return [(int(labels[a]), slice(a, b)) for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]

    def _products(self, kind: int, k: int, rows: IntArray) -> Iterator[kernels.Products]:
        """V_j·x for these rows' vectors x of this kind in set k and at least all columns j of that set."""
        V, bounds, coefficients = self._problem.spectrum.vectors, self._problem.bounds, self._state.coefficients
        if k == self._problem.n_sets - 1:
            yield kernels.Products(coefficients[rows, kind, k] @ V.T, 0, k, rows)
            return
        for label, part in self._rows_by_label(rows):
            begin, end = int(bounds[label]), int(bounds[label + 1])
            yield kernels.Products(coefficients[rows[part], kind, k] @ V[begin:end].T, begin, k, rows[part])

    def _look_for_new_columns(self, k: int, rows: IntArray, iteration: kernels.Iteration) -> None:
        if not len(rows):
            return
        state = self._state
        state.coefficients[rows, kernels.G_REFERENCE, k] = state.coefficients[rows, kernels.G, k]
        for found in self._products(kernels.G, k, rows):
            n_new = self._scan(found, iteration.tau, state.reference_max)
            self._make_room(int((self._lists.lengths[found.rows] + n_new).max()))
            kernels.insert(found, n_new, iteration, state, self._lists, self._report)
            if iteration.tau > 0:  # in float32 τ may vanish at the end
                gap = 1 - state.reference_max[found.rows, k] / iteration.tau
                state.margin[found.rows] = np.minimum(state.margin[found.rows], gap)

    def _scan(self, found: kernels.Products, tau: Number, largest: FloatArray) -> IntArray:
        n_new = np.zeros(len(found.rows), np.int64)
        kernels.scan(found, self._lists, self._others[found.k], tau, largest, n_new)
        return n_new

    def _make_room(self, n_entries: int) -> None:
        capacity = self._lists.columns.shape[1]
        if n_entries > capacity:
            missing = max(n_entries, 2 * capacity) - capacity
            columns, sets, values, lengths = self._lists
            self._lists = kernels.Lists(
                np.pad(columns, [(0, 0), (0, missing)]),
                np.pad(sets, [(0, 0), (0, missing)]),
                np.pad(values, [(0, 0), (0, 0), (0, missing)]),
                lengths,
            )

    def exact_change(self, rows: IntArray) -> FloatArray:
        """The lists' changes are known; off the lists ΔZ = VΔα and ΔC = VΔκ have to be formed."""
        change: FloatArray = np.maximum(
            self._report.change[rows], self._largest_off_list(kernels.ALPHA_CHANGE, rows).max(axis=1)
        )
        if self._problem.is_weighted:
            moved = self._largest_off_list(kernels.KAPPA_CHANGE, rows)
            # Eq:C says (w + μ)C = w·C_last + μZ, so Z − C = (w/μ)ΔC: the mask's residual needs no product of its own
            self._gap_mask[rows] = (moved * self._weights).max(axis=1)
            change = np.maximum(change, moved.max(axis=1))
        return change

    def _largest_off_list(self, kind: int, rows: IntArray) -> FloatArray:
        """For each row and set the largest |V_j·x| of the columns that are not listed, x the vectors of this kind."""
        largest = np.zeros((len(self._state.labels), self._problem.n_sets), self._dtype)
        infinite = self._dtype.type(np.finfo(self._dtype).max)
        for k in range(self._problem.n_sets):
            for found in self._products(kind, k, rows):
                self._scan(found, infinite, largest)
        return np.asarray(largest[rows])

    def finish(self, rows: IntArray) -> list[FinishedRow]:
        """Results of rows whose `exact_change` has just been asked for."""
        if not len(rows):
            return []
        gap_sparsity = self._largest_off_list(kernels.ALPHA, rows).max(axis=1)
        finished = []
        for position, row in enumerate(rows):
            own = self._lists.values[row, :, : self._lists.lengths[row]]
            Z, C = own[kernels.V_ALPHA] + own[kernels.ZETA], own[kernels.V_KAPPA] + own[kernels.CHI]
            kept = 1 + np.flatnonzero(own[kernels.Q, 1:])  # entry 0 is the sample itself
            finished.append(
                FinishedRow(
                    self._problem.order[self._lists.columns[row, kept]].astype(np.int32),
                    own[kernels.Q, kept],
                    max(float(self._gap_mask[row]), float(np.abs(Z - C).max())),
                    max(float(gap_sparsity[position]), float(np.abs(Z - own[kernels.Q]).max())),
                    last_step=own[kernels.Q_CHANGE, kept],
                    margin=float(self._state.margin[row]),
                )
            )
        return finished

    def keep(self, rows: IntArray) -> None:
        self._state = kernels.RowState._make(part[rows] for part in self._state)
        self._lists = kernels.Lists._make(part[rows] for part in self._lists)
        self._resize()
