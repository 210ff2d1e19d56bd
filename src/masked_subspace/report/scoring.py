"""Scores of labels in which −1 means "in no cluster": the samples left out are counted, and never taken for a cluster.

Accuracy counts all samples, and who is in no cluster is not right: leaving samples out cannot raise it. NMI, BCA, the
adjusted Rand index and modularity compare clusters with something, so they are taken over the samples in clusters.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.types import Array, BoolArray
from masked_subspace.label.modularity import modularity
from masked_subspace.metrics import binary_clustering_accuracy, clustering_accuracy, normalized_mutual_info

LEFT_OUT = "in no cluster"  # the name of a column
COUNTED = "accuracy counts them as wrong, NMI and BCA leave them out"


def in_clusters(labels: Array) -> BoolArray:
    """Which samples are in a cluster; label −1 is none."""
    return np.asarray(np.asarray(labels) >= 0)


def scores(labels: Array, target: Array | None) -> dict[str, float]:
    """Accuracy, NMI and BCA against the known classes; nothing without them, no NMI and BCA without any cluster."""
    if target is None:
        return {}
    inside = in_clusters(labels)
    if not inside.any():
        return {"accuracy": 0.0}
    true, found = np.asarray(target)[inside], np.asarray(labels)[inside]
    return {
        "accuracy": clustering_accuracy(true, found) * float(inside.mean()),
        "NMI": normalized_mutual_info(true, found),
        "BCA": binary_clustering_accuracy(true, found),
    }


def agreement(first: Array, second: Array) -> tuple[float | None, int]:
    """The adjusted Rand index of two labelings over the samples that both have in clusters, and how many these are."""
    from sklearn.metrics import adjusted_rand_score

    both = in_clusters(first) & in_clusters(second)
    shared = int(both.sum())
    if not shared:
        return None, 0
    return float(adjusted_rand_score(np.asarray(first)[both], np.asarray(second)[both])), shared


def cluster_modularity(affinity: csr_array, labels: Array) -> float:
    """Modularity of the clusters in the part of the graph that they hold."""
    inside = np.flatnonzero(in_clusters(labels))
    _, codes = np.unique(np.asarray(labels)[inside], return_inverse=True)
    graph = affinity if len(inside) == affinity.shape[0] else csr_array(affinity[inside][:, inside])
    return float(modularity(graph, codes))
