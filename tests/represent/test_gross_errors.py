"""GMSC-n on data with gross errors: it finds the wrong entries, and the clusters that GMSC loses."""

from __future__ import annotations

import numpy as np
import pytest

from masked_subspace.label.labeler import Evidence, GraphLabeler
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.represent.dense.solve import solve_dense
from masked_subspace.represent.model import AdmmSettings

N_SUBSPACES, N_EACH = 4, 40
SETTINGS = {"sparsity": 0.005, "penalty": 3.0, "penalty_growth": 1.1}


def corrupted(share: float, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unit rows of 4 subspaces of dimension 3 in R^100, noise .02, and a share of the entries shifted by ±.5."""
    rng = np.random.default_rng(seed)
    rows = np.vstack([rng.normal(size=(N_EACH, 3)) @ rng.normal(size=(3, 100)) for _ in range(N_SUBSPACES)])
    X = rows / np.linalg.norm(rows, axis=1, keepdims=True) + 0.02 * rng.normal(size=rows.shape)
    shifted = rng.random(X.shape) < share
    X[shifted] += 0.5 * rng.choice([-1, 1], shifted.sum())
    return X, shifted, np.repeat(np.arange(N_SUBSPACES), N_EACH)


def accuracy(X: np.ndarray, y: np.ndarray, representation: object) -> float:
    labels = GraphLabeler(N_SUBSPACES).label(representation, Evidence(X), seed=0).labels
    return float(clustering_accuracy(y, labels))


@pytest.mark.parametrize(("share", "least_accuracy", "most_of_v1"), [(0.01, 1.0, 0.99), (0.03, 0.95, 0.9)])
def test_outliers_are_found_and_clusters_survive(share, least_accuracy, most_of_v1):
    found, v1, v2 = [], [], []
    for seed in range(3):
        X, shifted, y = corrupted(share, seed)
        plain = solve_dense(X, AdmmSettings(**SETTINGS))
        robust = solve_dense(X, AdmmSettings(**SETTINGS, outliers=0.01))
        entries = robust.outliers.toarray() != 0
        found.append(2 * (entries & shifted).sum() / (entries.sum() + shifted.sum()))
        v1.append(accuracy(X, y, plain.representation))
        v2.append(accuracy(X, y, robust.representation))
    assert min(found) >= 0.95
    assert min(v2) >= least_accuracy
    assert np.mean(v1) <= most_of_v1
