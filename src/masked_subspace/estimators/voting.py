"""Labels of new samples by the vote of the training samples that rebuild them, or that are nearest.

A new row x is rebuilt as Σ_j z_j a_j from training rows. Along x itself that is Σ_j z_j⟨x, a_j⟩, so that sample j
votes with z_j⟨x, a_j⟩, its part of what was rebuilt. |z_j| would give a say to samples that only correct the others:
they have large coefficients, point elsewhere, and are often of another cluster (docs/findings/calibration.md).

Where the fit linked samples by distance (represent/representer.py), the seven nearest vote with exp(−‖x − a_j‖² / σ²),
σ the distance to the seventh.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.rows import products_of, row_blocks, unit_rows
from masked_subspace._common.sparse.implicit import Rows
from masked_subspace._common.types import FloatArray
from masked_subspace.represent.model import AdmmSettings, mean_square
from masked_subspace.represent.neighbors.listed_rows import ListedRows
from masked_subspace.represent.neighbors.search import nearest_in
from masked_subspace.represent.representer import SCALE_NEIGHBOUR
from masked_subspace.represent.sparse.solve import represent_over
from masked_subspace.rounds.defaults import VOTE_GROWTH, VOTE_PENALTY, VOTE_SPARSITY


def voters_of(
    rows: Rows, new_rows: Rows, *, n_candidates: int, n_threads: int, listed: ListedRows | None = None
) -> csr_array:
    """Row i: each training sample's part of new row i as rebuilt, summing to 1; without a code, 1 for its nearest."""
    new_rows = new_rows.astype(rows.dtype, copy=False)
    scale = mean_square(rows)
    settings = AdmmSettings(VOTE_SPARSITY * scale, penalty=VOTE_PENALTY * scale, penalty_growth=VOTE_GROWTH)
    most = min(n_candidates, len(rows))
    codes = represent_over(rows, new_rows, settings, n_candidates=most, n_threads=n_threads, listed=listed)
    shares = parts_of_rebuilt(codes, rows, new_rows)
    total = np.asarray(shares.sum(axis=1)).ravel()
    silent = np.flatnonzero(total <= 0)
    total[silent] = 1
    shares.data /= np.repeat(total, np.diff(shares.indptr)).astype(shares.dtype)
    if len(silent):
        nearest = np.abs(products_of(new_rows[silent], rows)).argmax(axis=1)
        shares = csr_array(shares + csr_array((np.ones(len(silent), shares.dtype), (silent, nearest)), shares.shape))
    return shares


def nearest_voters(rows: FloatArray, new_rows: FloatArray, *, n_threads: int) -> csr_array:
    """Row i: the weights of the training samples nearest to new row i, summing to 1."""
    new_rows = new_rows.astype(rows.dtype, copy=False)
    count = min(SCALE_NEIGHBOUR, len(rows))
    found = nearest_in(rows, new_rows, count, n_threads=n_threads)
    squared = np.empty(found.shape)
    for start, stop in row_blocks(len(found), count * rows.shape[1]):
        apart = new_rows[start:stop, None] - rows[found[start:stop]]
        squared[start:stop] = np.einsum("ijk,ijk->ij", apart, apart)
    scale = squared.max(axis=1, keepdims=True)
    weights = np.exp(-squared / np.where(scale > 0, scale, 1))
    weights /= weights.sum(axis=1, keepdims=True)
    indptr = np.arange(0, found.size + 1, count)
    return csr_array((weights.astype(rows.dtype).ravel(), found.ravel(), indptr), shape=(len(new_rows), len(rows)))


def parts_of_rebuilt(codes: csr_array, rows: Rows, new_rows: Rows) -> csr_array:
    """z_ij⟨x_i, a_j⟩ where that is positive."""
    parts = csr_array(codes, copy=True)
    widest = int(np.diff(parts.indptr).max(initial=1))
    for start, stop in row_blocks(parts.shape[0], max(1, widest) * rows.shape[1]):
        here = slice(parts.indptr[start], parts.indptr[stop])
        # Few of the training samples stand in a code: products with all of them would cost more than the code did.
        used, column = np.unique(parts.indices[here], return_inverse=True)
        row = np.repeat(np.arange(stop - start), np.diff(parts.indptr[start : stop + 1]))
        if isinstance(rows, np.ndarray) and isinstance(new_rows, np.ndarray):
            along = np.einsum("ij,ij->i", new_rows[start + row], rows[parts.indices[here]])
        else:
            along = products_of(new_rows[start:stop], rows[used])[row, column]
        parts.data[here] = np.maximum(parts.data[here] * along, 0)
    parts.eliminate_zeros()
    return parts


def placed_by(voters: csr_array, values: FloatArray) -> FloatArray:
    """The mean of the voters' rows of `values`. Rows that are shares stay shares; directions keep unit length."""
    means: FloatArray = voters @ values
    return means if is_shares(values) else unit_rows(means)


def is_shares(values: FloatArray) -> bool:
    """Whether rows are nonnegative and sum to 1, as memberships do, or to 0."""
    sums = values.sum(axis=1)
    near = np.abs(sums - (sums > 0.5)) < 1e-4
    return bool(values.min(initial=0) >= 0 and near.all())
