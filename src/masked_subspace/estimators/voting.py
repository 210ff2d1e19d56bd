"""Labels of new samples by the vote of the training samples that rebuild them, and how sure a label is."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.sparse.implicit import Rows, products_of
from masked_subspace._common.types import FloatArray
from masked_subspace.label.labeler import Labeling
from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.sparse.solve import represent_over
from masked_subspace.represent.sparsity import mean_square

# Settings of a code that votes, in mean squared row norms (λ, γ, μ₀, p). About a dozen near samples should vote: codes
# that start from a smaller penalty hold large coefficients of both signs on samples that are far (docs/findings/
# calibration.md, "Votes or subspaces").
_SPARSITY, _WEIGHT, _PENALTY, _GROWTH = 3e-3, 0.1, 1.0, 1.5


def voters_of(rows: Rows, new_rows: Rows, *, n_candidates: int, n_threads: int) -> csr_array:
    """Row i: |z| of the code that rebuilds new row i from `rows`, summing to 1; without a code, 1 for its nearest."""
    new_rows = new_rows.astype(rows.dtype, copy=False)
    scale = mean_square(rows)
    settings = AdmmSettings(
        _SPARSITY * scale, mask_weight=_WEIGHT * scale, penalty=_PENALTY * scale, penalty_growth=_GROWTH
    )
    most = min(n_candidates, len(rows))
    shares = csr_array(abs(csr_array(represent_over(rows, new_rows, settings, n_candidates=most, n_threads=n_threads))))
    total = np.asarray(shares.sum(axis=1)).ravel()
    silent = np.flatnonzero(total <= 0)
    total[silent] = 1
    shares.data /= np.repeat(total, np.diff(shares.indptr)).astype(shares.dtype)
    if len(silent):
        nearest = np.abs(products_of(new_rows[silent], rows)).argmax(axis=1)
        shares = csr_array(shares + csr_array((np.ones(len(silent), shares.dtype), (silent, nearest)), shares.shape))
    return shares


def placed_by(voters: csr_array, values: FloatArray) -> FloatArray:
    """The mean of the voters' rows of `values`. Rows that are shares stay shares; directions keep unit length."""
    means: FloatArray = voters @ values
    if is_shares(values):
        return means
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    directions: FloatArray = means / np.where(lengths > 0, lengths, 1)
    return directions


def is_shares(values: FloatArray) -> bool:
    """Whether rows are nonnegative and sum to 1, as memberships do, or to 0."""
    sums = values.sum(axis=1)
    near = np.abs(sums - (sums > 0.5)) < 1e-4
    return bool(values.min(initial=0) >= 0 and near.all())


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
