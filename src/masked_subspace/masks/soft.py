"""Soft masks: ψ of labels, a constant, a plain array, the agreement of several labelings, an embedding's distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.masks.base import SoftMask, row_blocks

Orientation = Literal["corrected", "paper"]


def check_labels(labels: npt.ArrayLike, n_samples: int | None = None, name: str = "labels") -> IntArray:
    """A 1-D vector of labels, recoded to 0..K−1."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; give a 1-D vector with one label for each sample.")
    if n_samples is not None and len(array) != n_samples:
        raise ValueError(f"{name} has {len(array)} entries but X has {n_samples} samples; give one label for each.")
    return np.unique(array, return_inverse=True)[1].astype(np.int32)


def check_strength(strength: float) -> float:
    if not strength >= 1:
        raise ValueError(f"mask_strength is {strength!r}; ψ needs β ≥ 1 (the paper uses 1.05 and 1.1).")
    return float(strength)


class ConstantMask(SoftMask):
    """One price for every pair. With price 0, `eq:gmsc` is `eq:bmsc`."""

    def __init__(self, n_samples: int, price: float = 1.0) -> None:
        self.n_samples = n_samples
        self.price = price

    def at(self, rows: IntArray, cols: IntArray) -> FloatArray:
        return np.full(np.broadcast_shapes(np.shape(rows), np.shape(cols)), self.price)


class LabelMask(SoftMask):
    """ψ(labels): two numbers and a label vector.

    `orientation="corrected"` makes links inside a cluster cheap (1/β) and others dear (β). `"paper"` is ψ as printed,
    which does the opposite once Mˢ stands in a penalty: see docs/paper/errata.md.
    """

    def __init__(self, labels: npt.ArrayLike, strength: float = 1.1, *, orientation: Orientation = "corrected") -> None:
        if orientation not in ("corrected", "paper"):
            raise ValueError(f'orientation is {orientation!r}; choose "corrected" or "paper".')
        self.labels = check_labels(labels)
        self.n_samples = len(self.labels)
        self.strength = check_strength(strength)
        self.orientation = orientation
        cheap, dear = 1 / self.strength, self.strength
        self.inside, self.outside = (cheap, dear) if orientation == "corrected" else (dear, cheap)

    def at(self, rows: IntArray, cols: IntArray) -> FloatArray:
        # ψ(Q) = β QQᵀ + (1 − QQᵀ)/β, where (QQᵀ)_ij = 1 exactly for two samples of one cluster
        return np.where(self.labels[rows] == self.labels[cols], self.inside, self.outside)

    def change(self, other: SoftMask | None) -> float:
        return _change_of_classes(self, other)


class ConsensusMask(SoftMask):
    """Agreement of several labelings: with P_ij the (weighted) share that puts i and j together, the price is β^(1−2P).

    One labeling gives `LabelMask`; pairs on which the labelings are split keep the price 1.
    """

    def __init__(
        self,
        labelings: Sequence[npt.ArrayLike] | IntArray,
        strength: float = 1.1,
        *,
        weights: npt.ArrayLike | None = None,
    ) -> None:
        if len(labelings) == 0:
            raise ValueError("labelings is empty; a consensus needs at least one labeling.")
        first = len(np.asarray(labelings[0]))
        self.labelings = np.stack([check_labels(one, first, f"labelings[{k}]") for k, one in enumerate(labelings)])
        self.n_samples = first
        self.strength = check_strength(strength)
        w = np.ones(len(self.labelings)) if weights is None else np.asarray(weights, dtype=float)
        if w.shape != (len(self.labelings),) or (w < 0).any() or w.sum() <= 0:
            raise ValueError(f"weights must be {len(self.labelings)} numbers ≥ 0 with a positive sum; got {weights!r}.")
        self.weights = w / w.sum()

    def agreement(self, rows: IntArray, cols: IntArray) -> FloatArray:
        """P_ij, the share of labelings that put i and j together."""
        share = np.zeros(np.broadcast_shapes(np.shape(rows), np.shape(cols)))
        for labels, weight in zip(self.labelings, self.weights, strict=True):
            share += weight * (labels[rows] == labels[cols])
        return share

    def at(self, rows: IntArray, cols: IntArray) -> FloatArray:
        prices: FloatArray = self.strength ** (1 - 2 * self.agreement(rows, cols))
        return prices

    def change(self, other: SoftMask | None) -> float:
        return _change_of_classes(self, other)


def _change_of_classes(mask: LabelMask | ConsensusMask, other: SoftMask | None) -> float:
    """‖Mˢ_new − Mˢ_old‖∞ by one sample of each class, in O(n + classes²).

    Samples that all labelings of both masks put into the same clusters cost the same against everybody. So two samples,
    of one class or of two, differ as the first samples of their classes do (the diagonal counts).
    """
    mine, theirs = _labelings_of(mask), _labelings_of(other)
    if mine is None or theirs is None:
        return SoftMask.change(mask, other)
    first = np.unique(np.stack(mine + theirs), axis=1, return_index=True)[1]
    largest = 0.0
    for start, stop in row_blocks(len(first)):
        pairs = first[start:stop, None], first[None, :]
        difference = mask.at(*pairs) - (0 if other is None else other.at(*pairs))
        largest = max(largest, float(np.abs(difference).max(initial=0.0)))
    return largest


def _labelings_of(mask: SoftMask | None) -> list[IntArray] | None:
    """All that the prices of a mask depend on; None if they depend on more than labels."""
    if isinstance(mask, LabelMask):
        return [mask.labels]
    if isinstance(mask, ConsensusMask):
        return list(mask.labelings)
    return [] if mask is None or isinstance(mask, ConstantMask) else None


class EmbeddingMask(SoftMask):
    """Θ_ij = ½‖q_i − q_j‖² for the rows q of a spectral embedding: the mask of Soft S³C."""

    def __init__(self, embedding: FloatArray) -> None:
        self.embedding = np.asarray(embedding)
        self.n_samples = len(self.embedding)
        self._half_squared = 0.5 * np.einsum("ij,ij->i", self.embedding, self.embedding)

    def at(self, rows: IntArray, cols: IntArray) -> FloatArray:
        rows, cols = np.broadcast_arrays(rows, cols)
        inner = np.einsum("...k,...k->...", self.embedding[rows], self.embedding[cols])
        distances: FloatArray = np.maximum(self._half_squared[rows] + self._half_squared[cols] - inner, 0.0)
        return distances

    def block(self, start: int, stop: int) -> FloatArray:
        inner = self.embedding[start:stop] @ self.embedding.T
        half = self._half_squared
        distances: FloatArray = np.maximum(half[start:stop, None] + half[None, :] - inner, 0.0)
        return distances


class ArrayMask(SoftMask):
    """A plain n × n array of prices, as the user gave it."""

    def __init__(self, array: npt.ArrayLike) -> None:
        self.array = check_price_array(array)
        self.n_samples = len(self.array)

    def at(self, rows: IntArray, cols: IntArray) -> FloatArray:
        prices: FloatArray = self.array[rows, cols]
        return prices

    def block(self, start: int, stop: int) -> FloatArray:
        return self.array[start:stop]


def check_price_array(array: npt.ArrayLike, n_samples: int | None = None, name: str = "soft_mask") -> FloatArray:
    """An n × n array of finite, nonnegative, symmetric prices."""
    prices = np.asarray(array)
    if prices.dtype.kind not in "buif":
        raise ValueError(f"{name} has dtype {prices.dtype}; give a mask, labels, n × n prices or a clusterer.")
    if prices.ndim != 2 or prices.shape[0] != prices.shape[1] or prices.shape[0] != (n_samples or len(prices)):
        wanted = "n × n" if n_samples is None else f"{n_samples} × {n_samples}"
        raise ValueError(f"{name} has shape {prices.shape}; it must be {wanted}, a price for each pair of samples.")
    if prices.dtype.kind != "f":
        prices = prices.astype(np.float64)
    if not np.isfinite(prices).all():
        i, j = np.argwhere(~np.isfinite(prices))[0]
        raise ValueError(f"{name}[{i}, {j}] is {prices[i, j]}; prices must be finite.")
    if (prices < 0).any():
        i, j = np.argwhere(prices < 0)[0]
        raise ValueError(f"{name}[{i}, {j}] is {prices[i, j]}; prices must not be negative.")
    gap = np.abs(prices - prices.T)
    if gap.max(initial=0.0) > 1e-6 * max(1.0, float(prices.max(initial=0.0))):
        i, j = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ValueError(
            f"{name} is not symmetric: [{i}, {j}] is {prices[i, j]} but [{j}, {i}] is {prices[j, i]}; "
            "pass (M + M.T) / 2."
        )
    return prices
