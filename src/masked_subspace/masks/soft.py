"""Soft masks: ψ of labels, a constant, a plain array, the agreement of several labelings, an embedding's distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, clone

from masked_subspace._common.rows import row_blocks
from masked_subspace._common.sparse.implicit import Rows, as_array
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.masks.base import SoftMask

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
    """One price for every pair; with price 0 GMSC is BMSC.

    Parameters
    ----------
    n_samples : int
        How many samples the mask is for.
    price : float, default=1.0
        The price.

    Examples
    --------
    >>> from masked_subspace.masks import ConstantMask
    >>> ConstantMask(3, price=0.5).block(0, 1).tolist()
    [[0.5, 0.5, 0.5]]
    """

    def __init__(self, n_samples: int, price: float = 1.0) -> None:
        self.n_samples = n_samples
        self.price = price

    def at(self, rows: IntArray, cols: IntArray) -> FloatArray:
        return np.full(np.broadcast_shapes(np.shape(rows), np.shape(cols)), self.price)


class LabelMask(SoftMask):
    """Links inside a cluster are cheap and others dear: ψ of `eq:rmsc`, in O(n) memory.

        Mˢ_ij = 1/β if i and j have one label, else β

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        A label for each sample, of any kind.
    strength : float, default=1.1
        β, 1 at least: how far prices are from 1.
    orientation : {"corrected", "paper"}, default="corrected"
        "paper" is ψ as printed, with β inside and 1/β outside: once Mˢ stands in a penalty that does the opposite of
        what the paper describes (docs/paper/errata.md).

    Attributes
    ----------
    n_samples : int
        How many samples the mask is for.
    inside : float
        Price of a pair of one cluster.
    outside : float
        Price of any other pair.

    Raises
    ------
    ValueError
        If the labels are no vector, `strength` is below 1, or `orientation` is not known.

    References
    ----------
    .. [Song2025] Song, J. and Ling, H. (2025). Masked subspace clustering methods. arXiv:2505.06863,
       equation (9).

    Examples
    --------
    >>> from masked_subspace.masks import LabelMask
    >>> LabelMask(["a", "a", "b"], strength=2).block(0, 1).tolist()
    [[0.5, 0.5, 2.0]]
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
    """Pairs cost the less, the more labelings put them together.

        Mˢ_ij = β^(1 − 2P_ij),   P_ij the (weighted) share of labelings that put i and j together

    One labeling gives `LabelMask`; pairs on which the labelings are split keep the price 1.

    Parameters
    ----------
    labelings : sequence of array-like of shape (n_samples,)
        Several labels for each sample.
    strength : float, default=1.1
        β, 1 at least: how far prices are from 1.
    weights : array-like of shape (n_labelings,) or None, default=None
        How much each labeling counts, 0 at least; None: all the same.

    Attributes
    ----------
    n_samples : int
        How many samples the mask is for.
    labelings : ndarray of int of shape (n_labelings, n_samples)
        The labelings, each numbered from 0.
    weights : ndarray of shape (n_labelings,)
        How much each counts; they sum to 1.

    Raises
    ------
    ValueError
        If there is no labeling, lengths differ, weights are negative or all 0, or `strength` is below 1.

    Examples
    --------
    >>> from masked_subspace.masks import ConsensusMask
    >>> ConsensusMask([[0, 0, 1], [0, 1, 1]], strength=2).block(0, 1).tolist()
    [[0.5, 1.0, 2.0]]
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
        """Share of labelings that put pairs together.

        Parameters
        ----------
        rows : ndarray of int
            Indices i of the first samples.
        cols : ndarray of int
            Indices j of the second samples, of a shape that fits `rows` by broadcasting.

        Returns
        -------
        share : ndarray of float
            P_ij, of the shape to which `rows` and `cols` broadcast.
        """
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
    """Pairs cost as much as they are apart in an embedding: the mask of Soft S³C.

        Θ_ij = ½‖q_i − q_j‖²                                                       (Li, You & Vidal 2017)

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_vectors)
        A row q for each sample.

    Attributes
    ----------
    n_samples : int
        How many samples the mask is for.

    References
    ----------
    .. [Li2017] Li, C., You, C. and Vidal, R. (2017). Structured sparse subspace clustering: a joint affinity learning
       and subspace clustering framework. IEEE TIP 26(6).

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.masks import EmbeddingMask
    >>> EmbeddingMask(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])).block(0, 1).tolist()
    [[0.0, 1.0, 0.0]]
    """

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
    """An array of prices.

    Parameters
    ----------
    array : array-like of shape (n_samples, n_samples)
        Finite, nonnegative, symmetric prices.

    Attributes
    ----------
    n_samples : int
        How many samples the mask is for.

    Raises
    ------
    ValueError
        If the array is not square, not symmetric, or holds a negative or infinite price; the text names the entry.

    Examples
    --------
    >>> from masked_subspace.masks import ArrayMask
    >>> ArrayMask([[0, 1], [1, 0]]).block(0, 1).tolist()
    [[0.0, 1.0]]
    """

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


def resolve_soft_mask(
    spec: object, X: Rows, *, strength: float, orientation: Orientation, seed: int, name: str = "soft_mask"
) -> SoftMask | None:
    """The soft mask that `spec` describes for the samples X; None stays None."""
    n_samples = len(X)
    if spec is None:
        return None
    if isinstance(spec, SoftMask):
        if spec.n_samples != n_samples:
            raise ValueError(f"{name} is for {spec.n_samples} samples but X has {n_samples}.")
        return spec
    if _is_clusterer(spec):
        return LabelMask(_labels_of(spec, X, seed), strength, orientation=orientation)
    if isinstance(spec, (list, tuple)) and any(_is_clusterer(one) or np.ndim(one) == 1 for one in spec):
        labelings = [
            _labels_of(one, X, seed + k) if _is_clusterer(one) else check_labels(one, n_samples, f"{name}[{k}]")
            for k, one in enumerate(spec)
        ]
        return ConsensusMask(labelings, strength)
    array = np.asarray(spec)
    if array.ndim == 1:
        return LabelMask(check_labels(array, n_samples, name), strength, orientation=orientation)
    return ArrayMask(check_price_array(array, n_samples, name))


def first_soft_mask(spec: object, X: Rows, strength: float, orientation: Orientation, seed: int, name: str) -> SoftMask:
    """The mask of the first round: what `spec` describes, or one price for every pair."""
    mask = resolve_soft_mask(spec, X, strength=strength, orientation=orientation, seed=seed, name=name)
    return ConstantMask(len(X)) if mask is None else mask


def _is_clusterer(spec: object) -> bool:
    return hasattr(spec, "fit") and not isinstance(spec, type)


def _labels_of(clusterer: BaseEstimator, X: Rows, seed: int) -> IntArray:
    """Labels of a fresh copy of the clusterer, seeded where it takes a seed and has none."""
    fresh = clone(clusterer)
    if "random_state" in fresh.get_params() and fresh.get_params()["random_state"] is None:
        fresh.set_params(random_state=seed)
    labels = fresh.fit_predict(as_array(X))
    return check_labels(labels, len(X), f"labels of {type(clusterer).__name__}")
