"""Views of sparse samples: what keeps zeros happens to the entries, what does not happens implicitly.

A square root and a scale for each feature keep zeros. Centring, the constant column, unit length and the rotation do
not. Of few samples these are done to coordinates in the row space, where they are ordinary arrays; of many, rows stay
implicit, and a whitened view has their leading directions only.

Coordinates are a rotation of the samples, and the order by content (_common/rows.py) is that along a
direction. So coordinates are mirrored until their own direction is that of the features, and principal directions get
the signs that they have in features: what is drawn from sparse samples is what is drawn from the array.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from masked_subspace._common.rows import content_direction, fixed_signs, rows_of_a_block, to_unit_length
from masked_subspace._common.sparse.implicit import ImplicitRows, LeadingDirections, Rotation
from masked_subspace._common.sparse.row_space import RowSpace
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray, Record
from masked_subspace.rows.preparation import Preparation, View, triangular_root

# Leading directions of a whitened view of implicit rows: 500 of 20,000 rows are 40 MB in float32.
IMPLICIT_DIRECTIONS = 500
# As in `evening_rotation`: directions below this share of the first are dropped.
_SMALLEST = 1e-4


@dataclass(frozen=True)
class SparsePreparation(Preparation):
    """`scale` is that of the entries; either `space` and `in_space` say what follows, or `mean`, `constant` and
    `leading` do for implicit rows."""

    space: RowSpace | None = None
    in_space: Preparation | None = None
    leading: Rotation | None = None
    mirror: FloatArray | None = None

    def apply(self, X: Any) -> Any:
        samples = X if isinstance(X, SparseSamples) else SparseSamples.of(X)
        samples = self._entries(samples)
        if self.space is not None and self.in_space is not None:
            return self._mirrored(self.in_space.apply(samples.coordinates_in(self.space)))
        rows = self._implicit(samples)
        return rows if self.leading is None else self._along(rows, self.leading)

    def turned(self, directions: FloatArray) -> FloatArray:
        if self.space is None:
            return super().turned(directions)
        # A mirror image of a mirror image is the original.
        signs = _signs_in_features(self.space, self._mirrored(directions.T).T, lift=self.view.lift)
        return directions * signs.astype(directions.dtype)

    def _mirrored(self, rows: FloatArray) -> FloatArray:
        if self.mirror is None:
            return rows
        normal = self.mirror.astype(rows.dtype)
        mirrored: FloatArray = rows - np.outer(rows @ (2 * normal), normal)
        return mirrored

    def _entries(self, samples: SparseSamples) -> SparseSamples:
        if self.view.root:
            samples = samples.rooted
        if self.scale is None:
            return samples
        return samples.standardized if self.scale is samples.deviation else samples.divided_by(self.scale)

    def _implicit(self, samples: SparseSamples) -> ImplicitRows:
        rows = ImplicitRows.of(samples.matrix, self.mean, self.constant or 0.0)
        return rows.unit() if self.normalize else rows

    def _along(self, rows: ImplicitRows, rotation: Rotation) -> FloatArray:
        places: FloatArray = rotation.apply(rows).astype(rows.dtype)
        if self.normalize and not self.view.low_rank:
            to_unit_length(places, 0.0)
        return places


def directions_kept(X: SparseSamples, views: Iterable[View]) -> Record:
    """How many leading directions whitened views of these samples keep, as part of a record; {} where they keep all."""
    whitened = not X.in_coordinates and any(view.turns for view in views)
    return {"directions": IMPLICIT_DIRECTIONS} if whitened and min(X.shape) > IMPLICIT_DIRECTIONS else {}


def learn_sparse(X: SparseSamples, view: View, *, normalize: bool, directions: int | None) -> SparsePreparation:
    """The view of sparse samples."""
    entries = X.rooted if view.root else X
    learnt = SparsePreparation(view, normalize)
    if view.standardize:
        learnt, entries = replace(learnt, scale=entries.deviation), entries.standardized
    if entries.in_coordinates:
        space = entries.row_space
        rest = replace(view, root=False, standardize=False)
        coordinates = entries.coordinates_in(space)
        # Of a ridge view the root is that of the features, or eigenvectors where these are more than the samples.
        most = directions if view.ridge == 0 else coordinates.shape[1] + 1
        in_space = Preparation.learn(coordinates, rest, normalize=normalize, directions=most)
        n_used = len(np.unique(entries.matrix.indices)) + view.lift
        if view.ridge > 0 and n_used <= len(coordinates):
            prepared = replace(in_space, rotation=None).apply(coordinates)
            rotation = _root_of_features(space, prepared, view).astype(coordinates.dtype)
            return replace(learnt, space=space, in_space=replace(in_space, rotation=rotation))
        if in_space.rotation is None:
            return replace(learnt, space=space, in_space=in_space, mirror=_mirror(space, lift=view.lift))
        signs = _signs_in_features(space, in_space.rotation, lift=view.lift).astype(in_space.rotation.dtype)
        return replace(learnt, space=space, in_space=replace(in_space, rotation=in_space.rotation * signs))
    learnt = replace(learnt, mean=entries.mean if view.center else None)
    if view.lift:
        lengths = ImplicitRows.of(entries.matrix, learnt.mean, 0.0).squared_lengths
        learnt = replace(learnt, constant=view.constant * (float(np.sqrt(lengths.mean())) or 1.0))
    if view.turns:
        most = IMPLICIT_DIRECTIONS if directions is None else directions
        rows = learnt._implicit(entries)
        found = LeadingDirections.of(rows, most)
        found = found.without(found.values <= _SMALLEST * found.values[0])
        mean = float(rows.squared_lengths.sum()) / min(rows.shape)
        learnt = replace(learnt, leading=found.rotation(view.scales(found.values**2, mean)))
    return learnt


def _root_of_features(space: RowSpace, rows: FloatArray, view: View) -> FloatArray:
    """What takes prepared coordinates to the rows that the array's own root gives (`evening_rotation`)."""
    to_features = space.in_features(np.eye(space.directions.shape[1] + 1))
    if view.lift:
        to_features = np.block([[to_features, np.zeros((len(to_features), 1))], [np.zeros(to_features.shape[1]), 1.0]])
    products = to_features @ (rows.T.astype(np.float64) @ rows) @ to_features.T
    energy = np.diagonal(products)
    used = np.flatnonzero(energy > np.finfo(np.float64).eps * energy.max())
    mean = float(energy.sum()) / max(1, min(len(rows), len(to_features)))
    root: FloatArray = to_features[used].T @ triangular_root(products[np.ix_(used, used)], view.ridge * mean)
    return root


def _mirror(space: RowSpace, *, lift: bool) -> FloatArray | None:
    """The normal of the mirror that takes the features' direction of content to that of the coordinates."""
    of_features = content_direction(space.n_features + lift)
    given = space.coordinates_of_direction(of_features[: space.n_features])
    given = np.append(given, of_features[space.n_features :])
    wanted = content_direction(len(given))
    normal = given * np.linalg.norm(wanted) - wanted * np.linalg.norm(given)
    length = float(np.linalg.norm(normal))
    return normal / length if length > 0 else None


def _signs_in_features(space: RowSpace, directions: FloatArray, *, lift: bool) -> FloatArray:
    """The `fixed_signs` of directions that are given in coordinates; some at a time, because features may be many."""
    step = rows_of_a_block(8 * space.n_features)
    n_coordinates = len(directions) - lift
    signs = [
        fixed_signs(np.vstack([space.in_features(some[:n_coordinates]), some[n_coordinates:]]))
        for some in (directions[:, start : start + step] for start in range(0, directions.shape[1], step))
    ]
    return np.concatenate(signs)
