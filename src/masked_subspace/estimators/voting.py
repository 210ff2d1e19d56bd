"""Labels of new samples by the vote of the training samples that rebuild them, and how sure a label is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from masked_subspace.label.labeler import Labeling
from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.sparse.solve import represent_over
from masked_subspace.represent.sparsity import mean_square

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.integer[Any]]


# Settings of a code that votes, in mean squared row norms: a slow continuation from a small penalty gives short codes,
# in which a training sample finds itself (λ, γ, μ₀, p).
_SPARSITY, _WEIGHT, _PENALTY, _GROWTH = 1e-3, 0.01, 0.1, 1.5


def ballots_of(
    rows: FloatArray, labels: IntArray, new_rows: FloatArray, n_clusters: int, *, n_candidates: int, n_threads: int
) -> FloatArray:
    """Shares of |z| that each new row's code puts on each cluster; a row that finds no code asks its nearest."""
    new_rows = new_rows.astype(rows.dtype, copy=False)
    scale = mean_square(rows)
    settings = AdmmSettings(
        _SPARSITY * scale, mask_weight=_WEIGHT * scale, penalty=_PENALTY * scale, penalty_growth=_GROWTH
    )
    most = min(n_candidates, len(rows))
    codes = represent_over(rows, new_rows, settings, n_candidates=most, n_threads=n_threads)
    ones = np.ones(len(labels), dtype=rows.dtype)
    members = csr_array((ones, (np.arange(len(labels)), labels)), (len(rows), n_clusters))
    ballots: FloatArray = (abs(csr_array(codes)) @ members).toarray()
    total = ballots.sum(axis=1)
    silent = np.flatnonzero(total <= 0)
    if len(silent):
        ballots[silent, labels[np.abs(new_rows[silent] @ rows.T).argmax(axis=1)]] = 1
        total[silent] = 1
    shares: FloatArray = ballots / total[:, None]
    return shares


def vote(
    rows: FloatArray, labels: IntArray, new_rows: FloatArray, *, n_candidates: int = 64, n_threads: int = 1
) -> IntArray:
    """The cluster with the largest share of each new row's code."""
    n_clusters = int(labels.max()) + 1
    ballots = ballots_of(rows, labels, new_rows, n_clusters, n_candidates=n_candidates, n_threads=n_threads)
    winners: IntArray = ballots.argmax(axis=1).astype(labels.dtype)
    return winners


def embedding_margin(labeling: Labeling) -> FloatArray:
    """For each sample 1 − (distance to its own centre)/(distance to the next), in 0..1; 1 is certain."""
    labels, rows = labeling.labels, labeling.embedding
    n_clusters = int(labels.max()) + 1
    if n_clusters == 1:
        return np.ones(len(labels))
    sums = np.zeros((n_clusters, rows.shape[1]))
    np.add.at(sums, labels, rows)
    centres = sums / np.maximum(np.bincount(labels, minlength=n_clusters), 1)[:, None]
    squared = (rows**2).sum(axis=1)[:, None] - 2 * rows @ centres.T + (centres**2).sum(axis=1)
    distance = np.sqrt(np.maximum(squared, 0))
    own = distance[np.arange(len(labels)), labels].copy()
    distance[np.arange(len(labels)), labels] = np.inf
    other = distance.min(axis=1)
    margin: FloatArray = np.clip(1 - own / np.maximum(other, np.finfo(float).tiny), 0, 1)
    return margin
