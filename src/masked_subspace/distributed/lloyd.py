"""Lloyd's algorithm as sums over blocks of rows: each block sends K sums, nobody sees all rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from masked_subspace._common.types import FloatArray, IndexArray

Sums = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], float]

_TILE = 1 << 22  # entries of a block's distances held at once
_PIECE = 16_384  # rows turned into float64 at once


def nearest_centre(rows: FloatArray, centres: FloatArray) -> tuple[IndexArray, npt.NDArray[np.float64]]:
    """The nearest centre of each row and the squared distance to it."""
    labels, distances = np.empty(len(rows), dtype=np.int32), np.empty(len(rows))
    centres = centres.astype(rows.dtype, copy=False)
    squares = np.einsum("ij,ij->i", centres, centres)
    step = max(1, _TILE // len(centres))
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        away = squares - 2 * (some @ centres.T)
        best = away.argmin(axis=1)
        labels[start : start + step] = best
        own = np.einsum("ij,ij->i", some, some, dtype=np.float64)
        distances[start : start + step] = np.maximum(own + away[np.arange(len(some)), best], 0)
    return labels, distances


def centre_sums(rows: FloatArray, centres: FloatArray) -> Sums:
    """Σ of the rows nearest to each centre, how many they are, and Σ of their squared distances."""
    total, counts, inertia = np.zeros(centres.shape), np.zeros(len(centres), dtype=np.int64), 0.0
    for start in range(0, len(rows), _PIECE):
        some = rows[start : start + _PIECE]
        labels, distances = nearest_centre(some, centres)
        members = csr_array((np.ones(len(some)), labels, np.arange(len(some) + 1)), shape=(len(some), len(centres)))
        total += members.T @ some
        counts += np.bincount(labels, minlength=len(centres))
        inertia += float(distances.sum())
    return total, counts, inertia


def moved_centres(sums: list[Sums], centres: FloatArray) -> FloatArray:
    """Means of what is nearest to each centre; a centre that nothing is near to stays."""
    total, counts = np.sum([one[0] for one in sums], axis=0), np.sum([one[1] for one in sums], axis=0)
    moved: FloatArray = np.where(counts[:, None] > 0, total / np.maximum(counts, 1)[:, None], centres)
    return moved.astype(centres.dtype)
