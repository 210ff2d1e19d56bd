"""Two-dimensional pictures of an embedding: its principal axes, and a map that places clusters like towns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_STEPS = 300


def principal_axes(embedding: Array, count: int) -> tuple[Array, Array]:
    """Coordinates along the axes of largest variance, and the share of variance on each."""
    centred = embedding - embedding.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    # The sign of an axis is arbitrary: let its largest weight be positive, so that reruns look alike.
    axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    projected = centred @ axes[:count].T
    share = projected.var(axis=0) / max(float(centred.var(axis=0).sum()), 1e-300)
    return projected, share


def cluster_map(embedding: Array, codes: Array) -> Array:
    """Near clusters stand near each other; a sample stands on the way to its next cluster as far as it is undecided.

    `codes` number the clusters from 0. The centres are placed by metric scaling of their distances, a sample at
    (1 − t)·own + t·next with t = d_own/(d_own + d_next): at its cluster's centre without doubt, half way in full doubt.
    """
    n_clusters = int(codes.max()) + 1
    sums = np.zeros((n_clusters, embedding.shape[1]))
    np.add.at(sums, codes, embedding)
    centres = sums / np.bincount(codes, minlength=n_clusters)[:, None]
    places = scaled(distances(centres, centres))
    if n_clusters == 1:
        return np.repeat(places, len(codes), axis=0)
    to_centres = distances(embedding, centres)
    rows = np.arange(len(codes))
    own = to_centres[rows, codes]
    to_centres[rows, codes] = np.inf
    following = to_centres.argmin(axis=1)
    other = to_centres[rows, following]
    doubt = np.minimum(own / np.maximum(own + other, 1e-300), 0.5)[:, None]
    return np.asarray((1 - doubt) * places[codes] + doubt * places[following])


def distances(first: Array, second: Array) -> Array:
    """Euclidean distances of all pairs of rows."""
    squared = (first**2).sum(axis=1)[:, None] - 2 * first @ second.T + (second**2).sum(axis=1)
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def scaled(wanted: Array) -> Array:
    """Places in the plane whose distances come near `wanted`: stress majorization (SMACOF) from a fixed spiral."""
    n = len(wanted)
    turn = np.arange(n) * np.pi * (3 - np.sqrt(5))
    radius = np.sqrt((np.arange(n) + 0.5) / n) * max(float(wanted.max(initial=0.0)), 1e-12)
    places = np.column_stack([radius * np.cos(turn), radius * np.sin(turn)])
    for _ in range(_STEPS):
        now = distances(places, places)
        ratio = np.divide(wanted, now, out=np.zeros_like(wanted), where=now > 1e-12)
        guttman = -ratio
        np.fill_diagonal(guttman, ratio.sum(axis=1) - np.diagonal(ratio))
        places = guttman @ places / n
    return places
