"""Votes of k-means: clusters as what lies about their centres, with every feature on one scale.

Nothing is simpler, and on tables whose groups are neither subspaces nor apart it is often all that can be found. Each
vote is fitted to a draw of the samples. Where centres are the wrong model draws disagree, or what they find predicts
itself badly, and the judge takes another way.
"""

from __future__ import annotations

import numpy as np

from masked_subspace._common.rows import content_order, on_one_scale
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.label.agreement import adjusted_rand_index
from masked_subspace.label.kmeans import cluster_means, cluster_rows, squared_distances
from masked_subspace.rounds.mixtures import FEATURES_OF_A_TABLE

CENTRES = "centres"
# Fewer features are those of a table that mixtures see, which find more there; more are those of images, spectra and
# genes, where no set we know is best seen so, and k-means takes long.
_FEWEST_FEATURES, _MOST_FEATURES = FEATURES_OF_A_TABLE + 1, 100
_VOTES, _SHARE, _MOST_DRAWN = 6, 0.7, 5_000
_STARTS = 5


def suits_centres(X: FloatArray) -> bool:
    """Whether X has so many features."""
    return _FEWEST_FEATURES <= X.shape[1] <= _MOST_FEATURES


def centre_votes(X: FloatArray, n_clusters: int, seed: int, *, least: float = -1.0) -> list[IntArray]:
    """Labels of all samples by k-means on some draws of them; where the first two agree by less than `least`, these."""
    rows = on_one_scale(np.asarray(X))
    # Draws are by content, and in its order: permuted samples get the same votes.
    order, rng = content_order(rows), np.random.default_rng(seed)
    size = min(_MOST_DRAWN, max(n_clusters, round(_SHARE * len(rows))))
    votes: list[IntArray] = []
    for number in range(_VOTES):
        drawn = order[rng.choice(len(rows), size, replace=False)]
        votes.append(labels_by_draw(rows, drawn, n_clusters, seed + number, _STARTS))
        if number == 1 and adjusted_rand_index(*votes) < least:
            break
    return votes


def labels_by_draw(rows: FloatArray, drawn: IntArray, n_clusters: int, seed: int, starts: int) -> IntArray:
    """The nearest of the centres that k-means finds among the drawn rows."""
    some = rows[drawn]
    centres = cluster_means(some, cluster_rows(some, n_clusters, seed, starts), n_clusters)
    labels: IntArray = squared_distances(rows, centres).argmin(axis=1).astype(np.int32)
    return labels
