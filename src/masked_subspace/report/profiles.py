"""What tells a cluster apart: the features in which its samples differ most from all others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array, issparse

from masked_subspace._common.types import Array, Matrix, MatrixLike, Record

SHOWN_FEATURES = 8


def feature_names_of(X: MatrixLike) -> list[str] | None:
    """The columns of a data frame; None for anything else."""
    columns = getattr(X, "columns", None)
    return None if columns is None else [str(column) for column in columns]


def cluster_profiles(X: Matrix, labels: Array, names: Sequence[str] | None = None) -> tuple[Record, ...]:
    """For each cluster its most telling features: mean here, mean of the rest, difference in standard deviations.

    A cluster without a rest (there is one only) has no profile. Unknown entries (NaN) are left out of every mean.
    """
    names = feature_names_of(X) if names is None else names
    clusters, codes = np.unique(labels, return_inverse=True)
    if len(clusters) < 2:
        return ()
    sums, squares, counts = _moments(X, codes, len(clusters))
    total, known = sums.sum(axis=0), counts.sum(axis=0)
    centre = total / np.maximum(known, 1)
    spread = np.sqrt(np.maximum(squares / np.maximum(known, 1) - centre**2, 0.0))
    spread[spread <= 1e-9 * np.maximum(np.abs(centre), 1e-300)] = np.inf  # a constant feature tells nothing apart
    here = sums / np.maximum(counts, 1)
    rest = (total - sums) / np.maximum(known - counts, 1)
    effect = np.where((counts > 0) & (known > counts), (here - rest) / spread, 0.0)
    profiles = []
    for k, cluster in enumerate(clusters):
        top = np.argsort(-np.abs(effect[k]), kind="stable")[:SHOWN_FEATURES]
        features = [
            {
                "feature": f"feature {j}" if names is None else str(names[j]),
                "here": float(here[k, j]),
                "rest": float(rest[k, j]),
                "effect": float(effect[k, j]),
            }
            for j in top.tolist()
            if effect[k, j] != 0
        ]
        profiles.append({"cluster": str(cluster), "features": features})
    return tuple(profiles)


def _moments(X: Matrix, codes: Array, n_clusters: int) -> tuple[Array, Array, Array]:
    """Sums and numbers of known entries by cluster and feature, and sums of squares by feature."""
    n = len(codes)
    members = csr_array((np.ones(n), (codes, np.arange(n))), shape=(n_clusters, n))
    sizes = np.bincount(codes, minlength=n_clusters).astype(float)[:, None]
    if issparse(X):
        rows = csr_array(X, dtype=np.float64)
        sums = np.asarray((members @ rows).toarray())
        return sums, np.asarray(rows.power(2).sum(axis=0)).ravel(), np.repeat(sizes, rows.shape[1], axis=1)
    rows = np.asarray(X, dtype=np.float64)
    known = np.isfinite(rows)
    if known.all():
        return members @ rows, np.einsum("ij,ij->j", rows, rows), np.repeat(sizes, rows.shape[1], axis=1)
    filled = np.where(known, rows, 0.0)
    return members @ filled, np.einsum("ij,ij->j", filled, filled), members @ known.astype(float)
