"""What is asked of the samples before anything else: finite numbers, enough of them, something to cluster."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from sklearn.utils.validation import validate_data

from masked_subspace._common.types import Array, FloatArray, MatrixLike
from masked_subspace.label.number_of_clusters import bounds_of
from masked_subspace.masks.base import row_blocks
from masked_subspace.parallel.spill import is_dask_array, rows_in_file

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def is_counts(X: MatrixLike) -> bool:
    """Whether X came as whole numbers, be it an array, a list or a data frame."""
    if hasattr(X, "dtypes"):
        kinds = [getattr(dtype, "kind", "f") for dtype in X.dtypes]
    elif isinstance(X, (list, tuple)):
        kinds = [_kind_of_list(X)]
    else:
        kinds = [getattr(getattr(X, "dtype", None), "kind", "f")]
    return all(kind in ("u", "i", "b") for kind in kinds)


def _kind_of_list(X: Sequence[object]) -> str:
    try:
        return np.asarray(X).dtype.kind
    except ValueError:  # ragged: the checks that follow say so
        return "f"


def check_samples(estimator: BaseEstimator, X: MatrixLike, *, reset: bool) -> FloatArray:
    """X as a finite float array with samples as rows. float32 stays float32, small integers become float32."""
    if is_dask_array(X):
        X = rows_in_file(cast("Array", X))
    elif isinstance(X, np.ndarray) and X.dtype.kind in "ui" and X.dtype.itemsize <= 2:
        X = X.astype(np.float32)
    least = max(2, _most_clusters(estimator)) if reset else 1
    checked: FloatArray = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        ensure_min_samples=2 if reset else 1,
        order="C",
    )
    _refuse_infinite(checked, getattr(estimator, "missing", None))
    if len(checked) < least:
        raise ValueError(
            f"n_samples={len(checked)} should be >= n_clusters={least}: there must be at least one sample a cluster."
        )
    return checked


def _most_clusters(estimator: BaseEstimator) -> int:
    """The largest number of clusters that was asked for by name."""
    wanted = getattr(estimator, "n_clusters", 1)
    return 1 if wanted == "auto" else bounds_of(wanted, 0)[1]


def _refuse_infinite(X: FloatArray, missing: str | None) -> None:
    """`missing` is what the estimator does about NaN: "ignore", "error", or None where it has no such parameter."""
    for start, stop in row_blocks(len(X), X.shape[1]):
        block = X[start:stop]
        refused = np.isinf(block) if missing == "ignore" else ~np.isfinite(block)
        if refused.any():
            row, column = np.argwhere(refused)[0]
            value, remedy = "infinity (inf)", "remove or impute such samples (sklearn.impute has ways)."
            if np.isnan(block[row, column]):
                value = "NaN"
                remedy = remedy if missing is None else f'missing="ignore" takes NaN for unknown, or {remedy}'
            raise ValueError(f"X contains {value}, first at row {start + row}, column {column}; {remedy}")


def refuse_degenerate(X: FloatArray, *, center: bool, counts: bool) -> None:
    """Constant data, and rows without a direction.

    `counts` says that X came as whole numbers, where a row of zeros is a value (a blank image): once centred it has a
    direction like any other, uncentred it is a sample that nothing can rebuild. In measured data such a row stands for
    a sample that is missing.
    """
    zero = None if counts else _first_zero_row(X)
    if zero is not None:
        raise ValueError(f"X has a row of zeros, row {zero}; such a sample has no direction: remove it.")
    if center and not (np.ptp(X, axis=0) > 0).any():
        raise ValueError("X is constant: all its rows are the same, so there is nothing to cluster.")
    largest = max(abs(float(X.max())), abs(float(X.min())))
    limits = np.finfo(X.dtype)
    if largest and not np.sqrt(float(limits.tiny)) < largest < np.sqrt(float(limits.max) / X.size):
        raise ValueError(f"X has entries of size {largest:.2g}, whose squares leave the range of {X.dtype}: scale it.")


def refuse_vanished(rows: FloatArray) -> None:
    """Rows of which the preparation left nothing."""
    if not any(rows[start:stop].any() for start, stop in row_blocks(len(rows), rows.shape[1])):
        raise ValueError("X is constant up to rounding: nothing is left of its rows once they are prepared.")


def warn_of_copies(X: FloatArray, share: float = 0.1) -> None:
    """Copies rebuild each other and nothing else: with many of them the graph falls into pieces."""
    seen = Counter(hash(row.tobytes()) for row in X)
    copied = sum(count for count in seen.values() if count > 1)
    if copied > share * len(X):
        warnings.warn(
            f"{copied} of the {len(X)} rows of X have an identical copy; copies link to each other instead of to their "
            "cluster. Fit np.unique(X, axis=0) and give copies the label of their original (return_inverse=True).",
            UserWarning,
            stacklevel=3,
        )


def _first_zero_row(X: FloatArray) -> int | None:
    for start, stop in row_blocks(len(X), X.shape[1]):
        zero = np.flatnonzero(~X[start:stop].any(axis=1))
        if len(zero):
            return start + int(zero[0])
    return None
