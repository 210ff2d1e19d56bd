"""The subspaces behind the clusters: of each cluster its mean, the directions that are signal, and what they explain.

How many directions are signal is asked one after another (Kritchman & Nadler 2008). Take direction k + 1 of a cluster
of n samples and d features, λ its variances from large to small. If the directions from k + 1 on were white noise, its
variance would be

    σ² = Σ_{i > k} λ_i / (d − k)

and the largest of them would not exceed the edge of the Marchenko–Pastur law,

    σ² (1 + √γ)²,   γ = (d − k) / (n − 1 − k).

The dimension is the first k for which λ_{k + 1} stays below this edge and a tenth. A flat cluster may fill most of few
features evenly, so that its directions look like noise until the first that is much shorter: level directions before a
fall to a tenth are signal, too, where there are four samples for each feature. Features whose noise is not white, such
as pixels, have more directions above the edge than a model with the same number in each cluster would be given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from sklearn.utils import Bunch

from masked_subspace._common.rows import drawn_by_content, eigenpairs, row_blocks
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.label.sparse_subspaces import SparseSubspace, centred_directions

# What is known of a cluster's subspace: a record, of sparse samples one that is written out when asked for.
Subspace: TypeAlias = "Bunch | SparseSubspace"

# The largest variance of a finite sample of noise lies around the edge, not below it.
_ABOVE_EDGE = 1.1
# Features a sample up to which the smallest variances of noise are known, and what is a fall.
_KNOWN, _FALL = 0.25, 10.0
# Of a cluster with more samples and more features than this, so many samples are looked at: an eigendecomposition of
# 2,000 takes a second.
_MOST_SAMPLES = 2_000


def subspaces_of(X: FloatArray | SparseSamples, labels: IntArray, n_clusters: int) -> list[Subspace]:
    """One record for each cluster: `mean`, `basis` (dim × d, orthonormal rows), `dim`, `explained`, `size`; of sparse
    samples a `SparseSubspace`, which has that record."""
    return [subspace_of(X, np.flatnonzero(labels == cluster)) for cluster in range(n_clusters)]


def subspace_of(X: FloatArray | SparseSamples, members: IntArray) -> Subspace:
    """The affine subspace of some rows of X.

    `explained` is the share of their squared distance from the mean that lies in it; 1 where there is none.
    """
    n_features = X.shape[1]
    size = len(members)
    if min(size, n_features) > _MOST_SAMPLES:
        members = members[drawn_by_content(X[members], _MOST_SAMPLES, np.random.default_rng(0))]
    if size == 0:
        return Bunch(mean=np.full(n_features, np.nan), basis=np.empty((0, n_features)), dim=0, explained=0.0, size=0)
    if isinstance(X, SparseSamples):
        mean, found, variances = centred_directions(X[members])
        dim = signal_dimension(variances, len(members), n_features)
        return SparseSubspace(mean, found.first(dim), dim, _explained(variances, dim), size)
    rows = np.asarray(X[members], dtype=np.float64)
    mean = rows.mean(axis=0)
    variances, directions = principal_directions(rows - mean)
    dim = signal_dimension(variances, len(rows), n_features)
    return Bunch(mean=mean, basis=directions[:dim], dim=dim, explained=_explained(variances, dim), size=size)


def _explained(variances: FloatArray, dim: int) -> float:
    total = float(variances.sum())
    return float(variances[:dim].sum()) / total if total > 0 else 1.0


def principal_directions(centred: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Variances from large to small, and orthonormal directions as rows, without those that are rounding."""
    n, d = centred.shape
    wide = n <= d
    values, vectors = eigenpairs(centred @ centred.T if wide else centred.T @ centred)
    largest = max(float(values[-1]), 0.0)
    # A product of rows has errors of eps times its largest eigenvalue, and copied or constant rows have nothing else.
    kept = np.flatnonzero(values > 10 * max(n, d) * np.finfo(np.float64).eps * largest)[::-1]
    values, vectors = values[kept], vectors[:, kept]
    if wide:
        # Where eigenvalues differ by many orders, rounding leaves the smallest directions skew: QR straightens them.
        vectors = np.linalg.qr(centred.T @ (vectors / np.sqrt(values)))[0]
    return values / max(n - 1, 1), np.ascontiguousarray(vectors.T)


def signal_dimension(variances: FloatArray, n_samples: int, n_features: int) -> int:
    """How many of the variances, large to small, are more than white noise has."""
    for k in range(len(variances)):
        noise = float(variances[k:].sum()) / (n_features - k)
        ratio = (n_features - k) / max(n_samples - 1 - k, 1)
        if variances[k] <= _ABOVE_EDGE * noise * (1 + np.sqrt(ratio)) ** 2:
            return k + (_level_directions(variances[k:], n_samples - 1 - k, n_features - k) if ratio <= _KNOWN else 0)
    return len(variances)


def _level_directions(variances: FloatArray, n_samples: int, n_features: int) -> int:
    """How many of the variances, large to small, are level before the first fall to a tenth or less; 0 without."""
    # Variances that are rounding are left out: after the last of fewer than all there is nothing.
    last = variances[-1:] if len(variances) == n_features else np.zeros(1)
    falls = np.flatnonzero(variances >= _FALL * np.append(variances[1:], last))
    if len(falls) == 0:
        return 0
    count = int(falls[0]) + 1
    edge = np.sqrt(count / n_samples)
    level = _ABOVE_EDGE**2 * ((1 + edge) / (1 - edge)) ** 2 * variances[falls[0]]
    return count if variances[0] <= level else 0


def distances_to(X: FloatArray | SparseSamples, subspaces: Sequence[Subspace]) -> FloatArray:
    """n × K: how far each row of X is from each subspace; infinitely far from that of an empty cluster."""
    distance = np.full((len(X), len(subspaces)), np.inf)
    if isinstance(X, SparseSamples):
        for cluster, one in enumerate(subspaces):
            if one.size > 0:
                distance[:, cluster] = one.distances(X)
        return distance
    for start, stop in row_blocks(len(X), X.shape[1]):
        block = np.asarray(X[start:stop], dtype=np.float64)
        for cluster, one in enumerate(subspaces):
            if one.size > 0 and not isinstance(one, SparseSubspace):
                shifted = block - one.mean
                shifted -= (shifted @ one.basis.T) @ one.basis
                distance[start:stop, cluster] = np.linalg.norm(shifted, axis=1)
    return distance
