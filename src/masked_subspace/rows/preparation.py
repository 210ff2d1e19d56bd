"""What happens to the rows before anything else: checks, centring, unit length."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import validate_data

from masked_subspace._common.symmetric_eigen import eigenpairs
from masked_subspace.masks.base import row_blocks
from masked_subspace.parallel.mapped import MappedArray
from masked_subspace.parallel.spill import empty_in_file, is_dask_array, rows_in_file

FloatArray = npt.NDArray[np.floating[Any]]


def is_counts(X: Any) -> bool:
    """Whether X came as whole numbers, be it an array, a list or a data frame."""
    if hasattr(X, "dtypes"):
        kinds = [getattr(dtype, "kind", "f") for dtype in X.dtypes]
    elif isinstance(X, (list, tuple)):
        kinds = [_kind_of_list(X)]
    else:
        kinds = [getattr(getattr(X, "dtype", None), "kind", "f")]
    return all(kind in ("u", "i", "b") for kind in kinds)


def _kind_of_list(X: list[Any] | tuple[Any, ...]) -> str:
    try:
        return np.asarray(X).dtype.kind
    except ValueError:  # ragged: the checks that follow say so
        return "f"


def check_samples(estimator: Any, X: Any, *, reset: bool) -> FloatArray:
    """X as a finite float array with samples as rows. float32 stays float32, small integers become float32."""
    if is_dask_array(X):
        X = rows_in_file(X)
    elif isinstance(X, np.ndarray) and X.dtype.kind in "ui" and X.dtype.itemsize <= 2:
        X = X.astype(np.float32)
    least = max(2, int(getattr(estimator, "n_clusters", 1))) if reset else 1
    checked: FloatArray = validate_data(
        estimator,
        X,
        reset=reset,
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        ensure_min_samples=2 if reset else 1,
        order="C",
    )
    _refuse_infinite(checked)
    if len(checked) < least:
        raise ValueError(
            f"n_samples={len(checked)} should be >= n_clusters={least}: there must be at least one sample a cluster."
        )
    return checked


def _refuse_infinite(X: FloatArray) -> None:
    for start, stop in row_blocks(len(X), X.shape[1]):
        finite = np.isfinite(X[start:stop])
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            value = "NaN" if np.isnan(X[start + row, column]) else "infinity (inf)"
            raise ValueError(
                f"X contains {value}, first at row {start + row}, column {column}; "
                "remove or impute such samples (sklearn.impute has ways)."
            )


@dataclass(frozen=True)
class Preparation:
    """What happens to rows, as learnt on the training rows, so that new rows get the same.

    In this order: square root (`root`, for nonnegative data), centring, unit length, a mild whitening (`rotation`:
    each principal direction is divided by a power of its singular value), unit length again. A centred row
    no longer than `floor` is rounding and becomes zero.
    """

    mean: FloatArray | None
    normalize: bool
    root: bool = False
    rotation: FloatArray | None = None
    floor: float = 0.0

    @classmethod
    def learn(
        cls,
        X: FloatArray,
        *,
        center: bool,
        normalize: bool,
        root: bool = False,
        whitening: float = 0.0,
    ) -> Preparation:
        rows = np.sqrt(np.maximum(X, 0)) if root else X
        mean, floor = None, 0.0
        if center:
            mean = rows.mean(axis=0, dtype=np.float64).astype(X.dtype)
            # A centred row that is no longer than what rounding leaves of the mean has no direction.
            varies = rows.max(axis=0) > rows.min(axis=0)
            floor = 2 * float(np.finfo(X.dtype).eps) * float(np.linalg.norm(mean[varies]))
        plain = cls(mean, normalize, root, None, floor)
        if whitening == 0:
            return plain
        return replace(plain, rotation=whitening_rotation(plain.apply(X), whitening))

    def apply(self, X: FloatArray) -> FloatArray:
        """The rows the solver sees. What lives in a file stays in one: its rows go through memory in blocks."""
        if MappedArray.of(X) is None:
            return self._rows(X)
        # A rotation may drop directions: the prepared rows are then narrower than X.
        width = X.shape[1] if self.rotation is None else self.rotation.shape[1]
        out = empty_in_file((len(X), width), X.dtype)
        for start, stop in row_blocks(len(X), X.shape[1]):
            out[start:stop] = self._rows(X[start:stop])
        return np.asarray(out)

    def _rows(self, X: FloatArray) -> FloatArray:
        """A row that equals the mean stays zero: a sample that nothing can rebuild."""
        rows: FloatArray = np.sqrt(np.maximum(X, 0)) if self.root else np.array(X, order="C")
        if self.mean is not None:
            rows -= self.mean
        if self.normalize:
            # What is left of a row that equals the mean is rounding, and must not be blown up to unit length.
            _to_unit_length(rows, self.floor)
        if self.rotation is not None:
            rows = rows @ self.rotation
            if self.normalize:
                _to_unit_length(rows, 0.0)
        return rows


def _to_unit_length(rows: FloatArray, floor: float) -> None:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    rows /= np.where(norms > floor, norms, 1).astype(rows.dtype)
    rows[norms[:, 0] <= floor] = 0


def whitening_rotation(rows: FloatArray, power: float) -> FloatArray:
    """V S^-power for rows = U S Vᵀ, so that rows @ rotation = U S^(1 − power); directions below 1e-4 S₁ are dropped."""
    n, d = rows.shape
    if d <= n:
        squared, V = eigenpairs((rows.T @ rows).astype(np.float64))
        kept = squared > 1e-8 * squared[-1]
        values, V = np.sqrt(squared[kept]), V[:, kept]
    else:
        squared, U = eigenpairs((rows @ rows.T).astype(np.float64))
        kept = squared > 1e-8 * squared[-1]
        values = np.sqrt(squared[kept])
        V = rows.T @ U[:, kept] / values
    return np.ascontiguousarray(V * values**-power, dtype=rows.dtype)


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
