"""Blocks of rows: how every stage that scales reads an array, a `np.memmap` or a dask array."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from masked_subspace._common.sparse.implicit import ImplicitRows
from masked_subspace._common.types import Array, DType


def read_rows(X: Array, start: int, stop: int, dtype: npt.DTypeLike | None = None) -> Array:
    """Some rows of an array, a memmap or a dask array; only they are read.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Anything that can be sliced by rows.
    start : int
        The first row.
    stop : int
        The row behind the last.
    dtype : dtype or None, default=None
        Of the result; None: that of X.

    Returns
    -------
    rows : ndarray of shape (stop − start, n_features)
        In memory and contiguous.

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.parallel import read_rows
    >>> read_rows(np.arange(6).reshape(3, 2), 1, 3, np.float32).tolist()
    [[2.0, 3.0], [4.0, 5.0]]
    """
    return np.ascontiguousarray(np.asarray(X[start:stop]), dtype=dtype)


def float_dtype(X: Array | ImplicitRows) -> DType:
    """float32 stays float32; everything else is computed in float64."""
    return np.dtype(np.float32) if X.dtype == np.float32 else np.dtype(np.float64)


def check_rows(X: Array, name: str = "X") -> None:
    """Refuse what cannot be read by rows."""
    if getattr(X, "ndim", None) != 2:
        raise ValueError(
            f"{name} has {getattr(X, 'ndim', 'no')} dimensions; give a 2-D array, memmap or dask array "
            "with one sample for each row."
        )
