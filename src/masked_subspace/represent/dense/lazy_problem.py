"""What all blocks of a lazy solve share, and which masks allow one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from masked_subspace._common.types import Array, FloatArray, IntArray
from masked_subspace.masks.base import HardMask, SoftMask
from masked_subspace.masks.soft import ConstantMask, LabelMask
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.represent.model import AdmmSettings, squared_weights

Prices = tuple[tuple[float, ...], Array | None]

# Groups of directions, finer where the spectrum is steep: the bound of `lazy_kernels` is taken in each of them.
_GROUP_ENDS = (4, 12, 24, 48, 96, 160, 240, 340, 450, 600, 800, 1200, 2000)
# Measured at n = 1000 (rank 556) and 2000: with longer lists, for one set and for two, the blocked pass is faster.
_LONGEST_SHARE = {1: 1 / 10, 2: 1 / 18}
_SHORT_LIST = 12


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
