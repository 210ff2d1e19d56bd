"""Votes in the space of topics, for word counts.

Texts have no few neighbours that rebuild them: every two share some words. Along their leading topics (rows/words.py)
they form directions, which k-means on unit rows finds. How many topics matter is not known, nor how much more the
first should count than the last; so several answers vote, each on a draw of the samples. Where topics are the wrong
model they disagree, and the judge takes another way.
"""

from __future__ import annotations

import numpy as np

from masked_subspace._common.rows import content_order, unit_rows
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.label.kmeans import cluster_means, cluster_rows, squared_distances

# Topics beyond the number of clusters, once and twice that number (docs/findings/judge.md, "Word counts").
_BEYOND = 3
# How far the topics are evened out: not, and by the root of their size.
_POWERS = (0.0, 0.5)
_DRAWS, _SHARE, _MOST_DRAWN = 2, 0.7, 5_000
_STARTS = 5


def topic_votes(rows: FloatArray, n_clusters: int, seed: int) -> list[IntArray]:
    """Labels of all samples by k-means on draws of them, in two numbers of topics and at two scales."""
    order, rng = content_order(rows), np.random.default_rng(seed)
    size = np.sqrt(np.einsum("ij,ij->j", rows, rows, dtype=np.float64)).astype(rows.dtype)
    drawn_size = min(_MOST_DRAWN, max(n_clusters, round(_SHARE * len(rows))))
    votes = []
    for count in (n_clusters + _BEYOND, 2 * n_clusters + _BEYOND):
        for power in _POWERS:
            topics = unit_rows(rows[:, :count] / np.maximum(size[:count], np.finfo(rows.dtype).tiny) ** power)
            for number in range(_DRAWS):
                drawn = order[rng.choice(len(rows), drawn_size, replace=False)]
                votes.append(_labels_by_draw(topics, drawn, n_clusters, seed + number))
    return votes


def _labels_by_draw(topics: FloatArray, drawn: IntArray, n_clusters: int, seed: int) -> IntArray:
    """The nearest of the centres that k-means finds among the drawn samples."""
    some = topics[drawn]
    centres = cluster_means(some, cluster_rows(some, n_clusters, seed, _STARTS), n_clusters)
    labels: IntArray = squared_distances(topics, centres).argmin(axis=1).astype(np.int32)
    return labels
