"""Two-dimensional pictures of an embedding: its principal axes, and a map of clusters and of the graph inside them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.rows import eigenpairs
from masked_subspace._common.types import Array
from masked_subspace.label.graph import distances, nearest_centres
from masked_subspace.report.forces import pull_and_push
from masked_subspace.report.scoring import in_clusters

_STEPS = 300
_MOST_UPDATES = 150_000_000  # pulls along links over all sweeps: some seconds
_SWEEPS = (40, 200)


def principal_axes(embedding: Array, count: int) -> tuple[Array, Array]:
    """Coordinates along the axes of largest variance, and the share of variance on each."""
    centred = embedding - embedding.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    # The sign of an axis is arbitrary: let its largest weight be positive, so that reruns look alike.
    axes = axes * np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[:, None]
    projected = centred @ axes[:count].T
    share = projected.var(axis=0) / max(float(centred.var(axis=0).sum()), 1e-30)
    return projected, share


def cluster_map(embedding: Array, codes: Array) -> Array:
    """Near clusters stand near each other; a sample stands on the way to its next cluster as far as it is undecided.

    `codes` number the clusters from 0. The centres are placed by metric scaling of their distances, a sample at
    (1 − t)·own + t·next with t = d_own/(d_own + d_next): at its cluster's centre without doubt, half way in full doubt.
    """
    nearest = nearest_centres(embedding, codes)
    places = scaled(distances(nearest.centres, nearest.centres))
    if len(places) == 1:
        return np.repeat(places, len(codes), axis=0)
    doubt = np.minimum(nearest.own / np.maximum(nearest.own + nearest.other, 1e-30), 0.5)[:, None]
    return np.asarray((1 - doubt) * places[codes] + doubt * places[nearest.following])


def homes(embedding: Array, labels: Array) -> Array:
    """Clusters numbered from 0, for the map: samples in no cluster stand by the one whose centre is nearest."""
    inside = in_clusters(labels)
    if not inside.any():
        return np.zeros(len(labels), dtype=np.int64)
    _, codes = np.unique(labels[inside], return_inverse=True)
    found = np.empty(len(labels), dtype=np.int64)
    found[inside] = codes
    centres = nearest_centres(embedding[inside], codes).centres
    found[~inside] = distances(embedding[~inside], centres).argmin(axis=1)
    return found


def graph_map(affinity: csr_array, embedding: Array, codes: Array) -> Array:
    """The map that the report and `plots.plot_map` draw, within −1 … 1: `cluster_map`, unfolded along the links.

    Linked samples draw together and all others push apart a little, so that a cluster shows its inner structure
    instead of a single spot. The same input gives the same map.
    """
    places = _unit_square(cluster_map(embedding, codes))
    n = len(codes)
    if n < 3:
        return places
    places = _unit_square(places + 0.35 * _inside(embedding, codes) / np.sqrt(int(codes.max()) + 1))
    if np.ptp(places, axis=0).min() < 1e-6:  # samples on one spot or one line would push nobody out of it
        places = _unit_square(places + 0.1 * _spiral(n))
    first, second, weight = _links(affinity, codes)
    sweeps = int(np.clip(_MOST_UPDATES / max(len(first), 1), *_SWEEPS))
    # Linked samples come to stand about one apart; the room for clusters grows slowly with the number of samples.
    unfolded = pull_and_push(places * 4 * n**0.15, first, second, weight, sweeps)
    return _unit_square(_reined_in(unfolded))


def _inside(embedding: Array, codes: Array) -> Array:
    """Where a sample lies in its own cluster: its two leading directions there, in units of their spread."""
    inside = np.zeros((len(codes), 2))
    for cluster in range(int(codes.max()) + 1):
        members = np.flatnonzero(codes == cluster)
        if len(members) < 3:
            continue
        rows = embedding[members] - embedding[members].mean(axis=0)
        values, vectors = eigenpairs(rows.T @ rows)
        leading = vectors[:, np.argsort(values)[::-1][:2]]
        leading = leading * np.sign(leading[np.abs(leading).argmax(axis=0), np.arange(leading.shape[1])])
        along = rows @ leading
        spread = np.maximum(along.std(axis=0), 1e-30)  # a float32 of 1e-300 would be 0
        inside[members, : along.shape[1]] = np.clip(along / spread, -2.5, 2.5)
    return inside


def _links(affinity: csr_array, codes: Array) -> tuple[Array, Array, Array]:
    """Links once each with weights in 0 … 1; a sample without any is tied to the best linked one of its cluster."""
    entries = csr_array(affinity).tocoo()
    rows, columns = entries.coords
    upper = (rows < columns) & (entries.data != 0)
    first, second, weight = rows[upper], columns[upper], np.abs(entries.data[upper]).astype(np.float64)
    weight = np.clip(np.sqrt(weight / np.quantile(weight, 0.98)), 0.05, 1.0) if len(weight) else weight
    degree = np.bincount(first, weight, len(codes)) + np.bincount(second, weight, len(codes))
    ranked = np.lexsort((degree, codes))  # the last of each cluster is its best linked
    hubs = ranked[np.cumsum(np.bincount(codes)) - 1]
    alone = np.flatnonzero(degree == 0)
    alone = alone[hubs[codes[alone]] != alone]
    joined = (np.concatenate(pair) for pair in ((first, alone), (second, hubs[codes[alone]])))
    first, second = (one.astype(np.int64) for one in joined)
    return first, second, np.concatenate([weight, np.full(len(alone), 0.3)])


def _reined_in(places: Array) -> Array:
    """Far strays come to the border of the rest, so that one of them does not shrink everything else."""
    middle = np.median(places, axis=0)
    away = places - middle
    radius = np.sqrt((away**2).sum(axis=1))
    reach = 1.25 * np.quantile(radius, 0.98) + 1e-12
    factor = np.where(radius > reach, reach * (1 + 0.1 * np.tanh(radius / reach - 1)) / np.maximum(radius, 1e-12), 1.0)
    return np.asarray(middle + away * factor[:, None])


def _unit_square(places: Array) -> Array:
    """Centred, with the longer side from −1 to 1: the proportions stay."""
    low, high = places.min(axis=0), places.max(axis=0)
    span = max(float((high - low).max()), 1e-30)
    return np.asarray((places - (low + high) / 2) * (2 / span))


def _spiral(n: int) -> Array:
    """Places that fill the unit disc evenly, as the seeds of a sunflower do."""
    turn = np.arange(n) * np.pi * (3 - np.sqrt(5))
    radius = np.sqrt((np.arange(n) + 0.5) / n)
    return np.column_stack([radius * np.cos(turn), radius * np.sin(turn)])


def scaled(wanted: Array) -> Array:
    """Places in the plane whose distances come near `wanted`: stress majorization (SMACOF) from a fixed spiral."""
    n = len(wanted)
    places = _spiral(n) * max(float(wanted.max(initial=0.0)), 1e-12)
    for _ in range(_STEPS):
        now = distances(places, places)
        ratio = np.divide(wanted, now, out=np.zeros_like(wanted), where=now > 1e-12)
        guttman = -ratio
        np.fill_diagonal(guttman, ratio.sum(axis=1) - np.diagonal(ratio))
        places = guttman @ places / n
    return places
