"""A judge without labels: how far found clusters are real.

    score = agreement × prediction strength

Agreement: mean adjusted Rand index between votes that were found in different ways (views, links, cuts). Noise gives
every way its own partition. Prediction strength: the samples are split in two; in one half each cluster becomes an
affine subspace (its mean and the directions that hold 90 % of its energy, nine at most); the other half goes to the
nearest subspace, and the adjusted Rand index says how far that agrees with its labels. All views are judged by the same
two yardsticks, the samples as given and with every feature on one scale; their geometric mean counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from masked_subspace._common.content_order import content_order
from masked_subspace._common.sparse.implicit import ImplicitRows
from masked_subspace._common.symmetric_eigen import eigenpairs, largest_eigenpairs
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.metrics import adjusted_rand_index
from masked_subspace.rows.preparation import Preparation
from masked_subspace.rows.views import VIEWS

_SPLITS = 3
_ENERGY = 0.9
_MOST_DIRECTIONS = 9
# More features than this are first reduced to their leading principal directions: the yardstick stays, at less cost.
_MOST_FEATURES = 100


def agreement(votes: Sequence[IntArray]) -> float:
    """Mean adjusted Rand index over all pairs of votes; a single vote agrees with itself."""
    pairs = [adjusted_rand_index(a, b) for i, a in enumerate(votes) for b in votes[:i]]
    return float(np.mean(pairs)) if pairs else 1.0


def yardsticks(X: FloatArray) -> list[FloatArray]:
    """The samples on which strength is measured: unit rows as given, and standardized with a constant column."""
    learnt = [Preparation.learn(X, VIEWS[name]) for name in ("uncentered", "standardized")]
    return [_reduced(one.apply(X), one, one.n_columns(X.shape[1])) for one in learnt]


def strength_of(samples: Sequence[FloatArray], labels: IntArray, n_clusters: int, seed: int = 0) -> float:
    """Prediction strength by all yardsticks, as their geometric mean."""
    product = np.prod([prediction_strength(one, labels, n_clusters, seed) for one in samples])
    return float(product ** (1 / len(samples)))


def _reduced(rows: FloatArray, preparation: Preparation, d: int) -> FloatArray:
    """At most 100 principal directions of the rows; d is their width, of sparse samples that of arrays like them."""
    if isinstance(rows, ImplicitRows):
        return rows.principal(_MOST_FEATURES, center=True)
    if d <= _MOST_FEATURES:
        return rows
    rows = rows - rows.mean(axis=0)
    if d <= len(rows):
        return rows @ preparation.turned(largest_eigenpairs(rows.T @ rows, _MOST_FEATURES)[1])
    values, vectors = largest_eigenpairs(rows @ rows.T, _MOST_FEATURES)
    reduced: FloatArray = vectors * np.sqrt(np.maximum(values, 0))
    return reduced


def prediction_strength(samples: FloatArray, labels: IntArray, n_clusters: int, seed: int = 0) -> float:
    """How well the clusters of one half of the samples predict the labels of the other: 0 … 1.

    A partition with fewer than K clusters would predict itself; it scores 0.
    """
    if len(np.unique(labels)) < n_clusters:
        return 0.0
    rng, order = np.random.default_rng(seed), content_order(samples)
    scores = []
    for _ in range(_SPLITS):
        half = np.empty(len(samples), dtype=bool)
        half[order] = rng.random(len(samples)) < 0.5
        distance = np.full((len(samples), n_clusters), np.inf)
        for train in (half, ~half):
            for cluster in range(n_clusters):
                members = samples[train & (labels == cluster)]
                if len(members) > 1:
                    distance[~train, cluster] = _squared_distance(members, samples[~train])
        scores.append(adjusted_rand_index(labels, distance.argmin(axis=1)))
    return max(0.0, float(np.mean(scores)))


def _squared_distance(members: FloatArray, others: FloatArray) -> FloatArray:
    """From each of the others to the affine subspace of the members."""
    mean = members.mean(axis=0)
    centred = members - mean
    wide = centred.shape[0] <= centred.shape[1]
    values, vectors = eigenpairs(centred @ centred.T if wide else centred.T @ centred)
    values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
    share = np.cumsum(values) / max(float(values.sum()), np.finfo(float).tiny)
    rank = min(int(np.searchsorted(share, _ENERGY)) + 1, _MOST_DIRECTIONS, len(members) - 1)
    basis = vectors[:, :rank]
    if wide:
        basis = centred.T @ basis / np.sqrt(np.maximum(values[:rank], np.finfo(members.dtype).tiny))
    shifted = others - mean
    squared: FloatArray = (shifted**2).sum(axis=1) - ((shifted @ basis) ** 2).sum(axis=1)
    return squared
