"""Labels of new samples by the vote of the training samples that rebuild them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.rows import products_of, unit_rows
from masked_subspace._common.sparse.implicit import Rows
from masked_subspace._common.types import FloatArray
from masked_subspace.estimators.defaults import VOTE_GROWTH, VOTE_PENALTY, VOTE_SPARSITY
from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.sparse.solve import represent_over
from masked_subspace.represent.sparsity import mean_square


def voters_of(rows: Rows, new_rows: Rows, *, n_candidates: int, n_threads: int) -> csr_array:
    """Row i: |z| of the code that rebuilds new row i from `rows`, summing to 1; without a code, 1 for its nearest."""
    new_rows = new_rows.astype(rows.dtype, copy=False)
    scale = mean_square(rows)
    settings = AdmmSettings(VOTE_SPARSITY * scale, penalty=VOTE_PENALTY * scale, penalty_growth=VOTE_GROWTH)
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
    return means if is_shares(values) else unit_rows(means)


def is_shares(values: FloatArray) -> bool:
    """Whether rows are nonnegative and sum to 1, as memberships do, or to 0."""
    sums = values.sum(axis=1)
    near = np.abs(sums - (sums > 0.5)) < 1e-4
    return bool(values.min(initial=0) >= 0 and near.all())
