"""Labels that spread over a graph from known samples, with the clusters found there as prior.

Each cluster owns a source: a distribution over samples. A random walk that starts there and goes on with probability α
at every step visits the samples with density f_k = (1 − α)(I − αS)⁻¹ q_k, S = D^-½ W D^-½ (Zhou et al. 2004: learning
with local and global consistency). Each density is scaled to unit mass, so that a class with many known samples, or in
a dense region, does not swallow the others; a sample goes to the cluster whose walk visits it most.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.label.graph import normalized_graph

Assign = Callable[[IntArray, FloatArray], IntArray]

# Measured in docs/findings/semi_supervised.md: .9 to .99 differ by up to 3 points, none of them best everywhere.
DAMPING = 0.95
CLUSTER_WEIGHT = 10.0


def cluster_weight(free: IntArray, anchors: IntArray) -> float:
    """How many anchors the members of a cluster count as: the odds that a sample lies in its cluster of `free`.

    The clusters of `free` bear the names of the anchors they hold. Anchors count for the partition or against it;
    before the first of them the odds are `CLUSTER_WEIGHT` to one. The spectral cut finds `free` without the anchors.
    The cut by modularity finds it with them, as links of the graph, so that more of them are right and a cluster
    weighs more. A free partition was no better there (docs/findings/semi_supervised.md).
    """
    known = anchors >= 0
    right = int((free[known] == anchors[known]).sum())
    return (right + CLUSTER_WEIGHT) / (int(known.sum()) - right + 1)


def visit_densities(
    S: csr_array,
    sources: FloatArray,
    start: FloatArray | None = None,
    *,
    alpha: float = DAMPING,
    tol: float = 1e-4,
    max_iter: int = 200,
) -> FloatArray:
    """(I − αS)⁻¹ sources by conjugate gradients, all columns at once; the condition number is below (1+α)/(1−α)."""
    # A column without a source is zero; from a start it would only come near, and what is left be taken for a density.
    F = sources.copy() if start is None else np.where(sources.any(axis=0), start, 0.0)
    R = sources - (F - alpha * (S @ F))
    P = R.copy()
    squared = (R * R).sum(axis=0)
    enough = tol**2 * np.maximum((sources * sources).sum(axis=0), np.finfo(float).tiny)
    for _ in range(max_iter):
        running = squared > enough
        if not running.any():
            break
        AP = P - alpha * (S @ P)
        step = np.where(running, squared / np.where(running, (P * AP).sum(axis=0), 1), 0)
        F += step * P
        R -= step * AP
        new_squared = (R * R).sum(axis=0)
        P = R + np.where(running, new_squared / np.where(running, squared, 1), 0) * P
        squared = new_squared
    return F


def spread_labels(
    W: csr_array,
    labels: IntArray,
    anchors: IntArray,
    n_clusters: int,
    *,
    assign: Assign | None = None,
    alpha: float = DAMPING,
    weight: float = CLUSTER_WEIGHT,
    max_iter: int = 20,
) -> IntArray:
    """Labels by diffusion on W from anchors (samples whose cluster is known, ≥ 0) and from the clusters `labels`.

    The source of a cluster is the mean of its m anchors and of its members, the latter counting as `weight` anchors;
    without anchors it is its members alone. Repeated until the labels stay. `assign(labels, cost)` may overrule a
    round's labels, with cost = −log density.
    """
    S = normalized_graph(W.astype(np.float64))
    known = np.flatnonzero(anchors >= 0)
    anchor_mass = np.bincount(anchors[known], minlength=n_clusters)
    densities = None
    for _ in range(max_iter):
        sources = np.zeros((len(labels), n_clusters))
        size = np.bincount(labels, minlength=n_clusters)
        prior = np.where(size > 0, weight, 0.0)
        total = np.maximum(anchor_mass + prior, np.finfo(float).tiny)
        sources[np.arange(len(labels)), labels] = (prior / np.maximum(size, 1) / total)[labels]
        sources[known, anchors[known]] += (1 / total)[anchors[known]]
        densities = visit_densities(S, sources, densities, alpha=alpha)
        scores = np.maximum(densities, 0) / np.maximum(densities.sum(axis=0), np.finfo(float).tiny)
        new = _best(scores, labels)
        if assign is not None:
            new = assign(new, -np.log(scores + 1e-12))
        if np.array_equal(new, labels):
            break
        labels = new
    return labels


def _best(scores: FloatArray, labels: IntArray) -> IntArray:
    """The cluster with the highest score; a sample that no walk reaches keeps its label."""
    best: IntArray = np.where(scores.max(axis=1) > 0, scores.argmax(axis=1), labels).astype(labels.dtype)
    return best
