"""Turns what a user may give as a mask into one: a mask, labels, an n × n array, a clusterer, or a list of those."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import clone

from masked_subspace._common.sparse.implicit import Rows, as_array
from masked_subspace._common.types import IntArray, MatrixLike
from masked_subspace.masks.base import HardMask, SoftMask
from masked_subspace.masks.hard import AllOf, DiagonalMask, NeighborMask, PatternMask
from masked_subspace.masks.pair_masks import ApartMask
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.masks.soft import (
    ArrayMask,
    ConsensusMask,
    ConstantMask,
    LabelMask,
    Orientation,
    check_labels,
    check_price_array,
)

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


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


def resolve_hard_mask(spec: object, n_samples: int, known: KnownPairs | None = None) -> HardMask:
    """The hard mask that `spec` describes; a `NeighborMask` is left to the candidate search."""
    parts: list[HardMask] = []
    if spec is None or isinstance(spec, NeighborMask):
        parts.append(DiagonalMask(n_samples))
    elif isinstance(spec, HardMask):
        parts.append(spec)
    else:
        parts.append(PatternMask(_check_pattern(spec)))
    if known is not None and len(known.conflicts):
        parts.append(ApartMask(known))
    for part in parts:
        if part.n_samples != n_samples:
            raise ValueError(f"hard_mask is for {part.n_samples} samples but X has {n_samples}.")
    return parts[0] if len(parts) == 1 else AllOf(parts)


def _check_pattern(spec: object) -> MatrixLike:
    if hasattr(spec, "tocsr"):
        return spec
    array = np.asarray(spec)
    if array.ndim != 2 or array.dtype.kind not in "buif":
        raise ValueError(
            f"hard_mask has shape {array.shape} and dtype {array.dtype}; give an n × n pattern of 0 (forbidden) and 1."
        )
    return array


def _is_clusterer(spec: object) -> bool:
    return hasattr(spec, "fit") and not isinstance(spec, type)


def _labels_of(clusterer: BaseEstimator, X: Rows, seed: int) -> IntArray:
    """Labels of a fresh copy of the clusterer, seeded where it takes a seed and has none."""
    fresh = clone(clusterer)
    if "random_state" in fresh.get_params() and fresh.get_params()["random_state"] is None:
        fresh.set_params(random_state=seed)
    labels = fresh.fit_predict(as_array(X))
    return check_labels(labels, len(X), f"labels of {type(clusterer).__name__}")
