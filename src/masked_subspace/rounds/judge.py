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
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.label.prediction import leading_rows, predicted_labels
from masked_subspace.metrics import adjusted_rand_index
from masked_subspace.rows.preparation import Preparation
from masked_subspace.rows.views import VIEWS

_SPLITS = 3
FEATURES_OF_A_TABLE = 20


def agreement(votes: Sequence[IntArray]) -> float:
    """Mean adjusted Rand index over all pairs of votes; a single vote agrees with itself."""
    pairs = [adjusted_rand_index(a, b) for i, a in enumerate(votes) for b in votes[:i]]
    return float(np.mean(pairs)) if pairs else 1.0


def yardsticks(X: FloatArray) -> list[FloatArray]:
    """The samples on which strength is measured: unit rows as given, and standardized with a constant column.

    Few features are those of a table, where the length of a row tells clusters apart: as given they too get a
    constant column.
    """
    samples = X if isinstance(X, SparseSamples) else np.asarray(X)
    as_given = "homogeneous" if X.shape[1] <= FEATURES_OF_A_TABLE else "uncentered"
    learnt = [Preparation.learn(samples, VIEWS[name]) for name in (as_given, "standardized")]
    return [leading_rows(one.apply(samples), one.n_columns(X.shape[1]), one.turned) for one in learnt]


def strength_of(samples: Sequence[FloatArray], labels: IntArray, n_clusters: int, seed: int = 0) -> float:
    """Prediction strength by all yardsticks, as their geometric mean."""
    product = np.prod([prediction_strength(one, labels, n_clusters, seed) for one in samples])
    return float(product ** (1 / len(samples)))


def halves(order: IntArray, rng: np.random.Generator) -> IntArray:
    """Two folds at random; samples in another order fall into the same ones."""
    fold = np.empty(len(order), dtype=np.int64)
    fold[order] = rng.random(len(order)) >= 0.5
    return fold


def prediction_strength(samples: FloatArray, labels: IntArray, n_clusters: int, seed: int = 0) -> float:
    """How well the clusters of one half of the samples predict the labels of the other: 0 … 1.

    A partition with fewer than K clusters would predict itself; it scores 0.
    """
    if len(np.unique(labels)) < n_clusters:
        return 0.0
    rng, order = np.random.default_rng(seed), content_order(samples)
    scores = [
        adjusted_rand_index(labels, predicted_labels(samples, labels, n_clusters, halves(order, rng)))
        for _ in range(_SPLITS)
    ]
    return max(0.0, float(np.mean(scores)))
