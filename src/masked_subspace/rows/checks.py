"""What is asked of the samples before anything else: finite numbers, enough of them, something to cluster, no copies.

Tables and containers that are not arrays come here too: whether they hold whole numbers, and which of their columns
hold text. Packages of tables are never imported: a container is known by what it can do.

A fitted model knows its own samples by their bits. Multilinear hashing (Carter & Wegman 1979): h(x) = Σ a_j x_j mod 2⁶⁴
over the 32-bit words of a row, a_j odd and random but the same in every process, the upper half of two such sums. Two
different rows have the same 64 bits once in 2⁶⁴ pairs, so 8 bytes a sample are enough and no sample has to be kept.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse, sparray, spmatrix
from sklearn.utils.validation import validate_data

from masked_subspace._common.rows import row_blocks
from masked_subspace._common.sparse.implicit import ImplicitRows, Rows
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import Array, DType, FloatArray, IntArray, KeyArray, MatrixLike
from masked_subspace.label.labeler import bounds_of
from masked_subspace.parallel.engine import is_dask_array, rows_in_file
from masked_subspace.rows.zero_rows import zero_rows_of

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

_NAMED_AT_MOST = 5
_SEED = 20_250_506
_HALF = np.uint64(32)


def check_samples(estimator: BaseEstimator, X: MatrixLike, *, reset: bool) -> Any:
    """X as a finite float array with samples as rows, or as `SparseSamples`.

    float32 stays float32, small integers become float32.
    """
    refuse_containers(X)
    if is_dask_array(X):
        X = rows_in_file(cast("Array", X))
    elif isinstance(X, np.ndarray | sparray | spmatrix) and X.dtype.kind in "ui" and X.dtype.itemsize <= 2:
        X = X.astype(np.float32)
    least = max(2, _most_clusters(estimator)) if reset else 1
    try:
        checked = validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_samples=2 if reset else 1,
            order="C",
        )
    except (TypeError, ValueError) as error:
        text = text_columns(X)
        if text is None:
            raise
        raise ValueError(
            f"X is a table with text in {text}; leave such columns out or turn them into numbers "
            "(sklearn.preprocessing has OneHotEncoder and OrdinalEncoder)."
        ) from error
    missing = estimator.missing
    if issparse(checked):
        samples = SparseSamples.of(checked)
        _refuse_infinite_entries(samples, missing)
    else:
        samples = checked
        _refuse_infinite(samples, missing)
    if len(samples) < least:
        raise ValueError(
            f"n_samples={len(samples)} should be >= n_clusters={least}: there must be at least one sample a cluster."
        )
    return samples


def same_kind(X: FloatArray | SparseSamples, *, sparse: bool) -> Any:
    """New samples as the fitted ones came, sparse or not; a model that was fitted on an array holds such arrays."""
    if isinstance(X, SparseSamples):
        return X if sparse else X.array(0, len(X))
    if not sparse:
        return X
    samples = SparseSamples.of(X)
    _refuse_infinite_entries(samples, "ignore")  # an array may have come with NaN
    return samples


def _most_clusters(estimator: BaseEstimator) -> int:
    """The largest number of clusters that was asked for by name."""
    wanted = estimator.n_clusters
    return 1 if wanted == "auto" else bounds_of(wanted, 0)[1]


def _refuse_infinite(X: FloatArray, missing: str | None) -> None:
    """`missing` is what the estimator does about NaN: "ignore", "error", or None where it has no such parameter."""
    for start, stop in row_blocks(len(X), X.shape[1]):
        block = X[start:stop]
        refused = np.isinf(block) if missing == "ignore" else ~np.isfinite(block)
        if refused.any():
            row, column = np.argwhere(refused)[0]
            hint = 'missing="ignore" takes NaN for unknown, or ' if missing is not None else ""
            _refuse_entry(start + int(row), int(column), float(block[row, column]), hint)


def _refuse_infinite_entries(X: SparseSamples, missing: str | None) -> None:
    """The same of sparse samples, in which NaN is never filled in: an estimate of it needs arrays."""
    bad = np.flatnonzero(~np.isfinite(X.matrix.data))
    if len(bad):
        entry = int(bad[0])
        row = int(np.searchsorted(X.matrix.indptr, entry, side="right")) - 1
        hint = 'missing="ignore" takes NaN for unknown in arrays only: fit X.toarray(), or ' if missing else ""
        _refuse_entry(row, int(X.matrix.indices[entry]), float(X.matrix.data[entry]), hint)


def _refuse_entry(row: int, column: int, value: float, hint_for_nan: str) -> None:
    name, hint = ("NaN", hint_for_nan) if np.isnan(value) else ("infinity (inf)", "")
    raise ValueError(
        f"X contains {name}, first at row {row}, column {column}; "
        f"{hint}remove or impute such samples (sklearn.impute has ways)."
    )


def refuse_degenerate(X: FloatArray | SparseSamples, *, center: bool, counts: bool, zero_rows: bool = False) -> None:
    """Constant data, and rows without a direction.

    A row of zeros has a direction like any other once rows are centred or lifted (`zero_rows`). Where they are not, it
    is a sample that nothing can rebuild: a value if X came as whole numbers (`counts`), such as a blank image, and
    otherwise taken for a sample that is missing.
    """
    zeros = np.empty(0, dtype=np.int64) if counts or zero_rows else zero_rows_of(X)
    if len(zeros):
        empty = " X is sparse: such rows have no entries." if isinstance(X, SparseSamples) else ""
        raise ValueError(
            f"X has a row of zeros, row {zeros[0]}; without centring or a constant column such a sample has no "
            f"direction: remove it, or set center=True.{empty}"
        )
    if center and not _varies(X):
        raise ValueError("X is constant: all its rows are the same, so there is nothing to cluster.")
    largest = max(abs(float(X.max())), abs(float(X.min())))
    limits = np.finfo(X.dtype)
    n_entries = X.shape[0] * X.shape[1]
    if largest and not np.sqrt(float(limits.tiny)) < largest < np.sqrt(float(limits.max) / n_entries):
        raise ValueError(f"X has entries of size {largest:.2g}, whose squares leave the range of {X.dtype}: scale it.")


def _varies(X: FloatArray | SparseSamples) -> bool:
    return X.varies if isinstance(X, SparseSamples) else bool((np.ptp(X, axis=0) > 0).any())


def refuse_vanished(rows: Rows) -> None:
    """Rows of which the preparation left nothing."""
    if isinstance(rows, ImplicitRows):
        left = bool(rows.squared_lengths.any())
    else:
        left = any(rows[start:stop].any() for start, stop in row_blocks(len(rows), rows.shape[1]))
    if not left:
        raise ValueError("X is constant up to rounding: nothing is left of its rows once they are prepared.")


def warn_of_copies(X: FloatArray | SparseSamples, share: float = 0.1) -> None:
    """Copies rebuild each other and nothing else: with many of them the graph falls into pieces."""
    hashes = row_hashes(X).tolist() if isinstance(X, SparseSamples) else (hash(row.tobytes()) for row in X)
    seen = Counter(hashes)
    copied = sum(count for count in seen.values() if count > 1)
    if copied > share * len(X):
        warnings.warn(
            f"{copied} of the {len(X)} rows of X have an identical copy; copies link to each other instead of to their "
            "cluster. Fit np.unique(X, axis=0) and give copies the label of their original (return_inverse=True).",
            UserWarning,
            stacklevel=3,
        )


def refuse_entrywise(name: str, reason: str) -> None:
    """The error of a method that looks at single entries of sparse samples."""
    raise TypeError(
        f"X is sparse, but {name} {reason}, which inner products of samples do not tell; give a dense X "
        "(X.toarray()) or leave that out."
    )


def is_counts(X: MatrixLike) -> bool:
    """Whether X came as whole numbers, be it an array, a sparse matrix, a list or a table."""
    if isinstance(X, (list, tuple)):
        kinds = [_kind_of_list(X)]
    elif is_table(X):
        kinds = [_kind_of_type(dtype) for dtype in _types(X)]
    else:
        kinds = [getattr(getattr(X, "dtype", None), "kind", "f")]
    return all(kind in ("u", "i", "b") for kind in kinds)


def _kind_of_list(X: Sequence[object]) -> str:
    try:
        return np.asarray(X).dtype.kind
    except ValueError:  # ragged: the checks that follow say so
        return "f"


def is_table(X: object) -> bool:
    """Whether X has columns with names: pandas, polars, pyarrow."""
    return hasattr(X, "column_names") or (hasattr(X, "columns") and hasattr(X, "dtypes"))


def _types(X: Any) -> list[Any]:
    return list(X.schema.types) if hasattr(X, "column_names") else list(X.dtypes)


def _kind_of_type(dtype: object) -> str:
    """numpy's letter for a type of pandas, polars (Int64) or pyarrow (int64)."""
    kind = getattr(dtype, "kind", None)
    if kind is not None:
        return str(kind)
    return "i" if str(dtype).lower().startswith(("int", "uint", "bool")) else "f"


def text_columns(X: object) -> str | None:
    """The columns of a table that are not numbers, as the words of an error; None where there are none."""
    if not is_table(X):
        return None
    found = [(name, value) for name, value in map(_first_text, *_columns(X)) if value is not None]
    if not found:
        return None
    named = ", ".join(f"{name!r} (such as {value!r})" for name, value in found[:_NAMED_AT_MOST])
    more = f" and {len(found) - _NAMED_AT_MOST} more" if len(found) > _NAMED_AT_MOST else ""
    return f"column{'s' if len(found) > 1 else ''} {named}{more}"


def _columns(X: Any) -> tuple[list[object], list[npt.ArrayLike]]:
    """Names, and the columns themselves."""
    if hasattr(X, "column_names"):  # pyarrow
        return list(X.column_names), list(X.columns)
    if hasattr(X, "iloc"):  # pandas, where names may repeat
        return list(X.columns), [X.iloc[:, place] for place in range(X.shape[1])]
    return list(X.columns), [X[name] for name in X.columns]


def _first_text(name: object, column: npt.ArrayLike) -> tuple[object, object]:
    """The name with the first value that is no number, or with None."""
    values = np.asarray(column)
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        for value in values.tolist():
            try:
                float(value)
            except (TypeError, ValueError):
                return name, value
    return name, None


def refuse_containers(X: object) -> None:
    """An object that holds several matrices: which of them are the samples has to be said."""
    for one in type(X).__mro__:
        if one.__module__.split(".")[0] == "anndata" and one.__name__ == "AnnData":
            raise TypeError(
                "X is an AnnData object, which may hold several matrices: give the one to cluster, such as "
                'fit(adata.X), sparse or not, or fit(adata.obsm["X_pca"]). The labels go back with '
                'adata.obs["cluster"] = model.labels_.astype(str).'
            )


def row_hashes(X: FloatArray | SparseSamples) -> KeyArray:
    """64 bits for each row; equal rows, also 0 and −0, or dense and sparse, have equal ones."""
    words_a_row = X.shape[1] * X.dtype.itemsize // 4
    rng = np.random.default_rng(_SEED)
    first, second = rng.integers(0, 2**63, (2, words_a_row), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    if isinstance(X, SparseSamples):
        return _sparse_hashes(X, first, second)
    hashes = np.empty(len(X), dtype=np.uint64)
    for start, stop in row_blocks(len(X), words_a_row):
        # Adding 0 turns −0 into 0.
        block = np.ascontiguousarray(X[start:stop] + X.dtype.type(0))
        words = block.view(np.uint32).astype(np.uint64)
        # Matrix products of whole numbers wrap around as they should.
        hashes[start:stop] = _joined(words @ first, words @ second)
    return hashes


def _joined(first: KeyArray, second: KeyArray) -> KeyArray:
    return (first >> _HALF << _HALF) | (second >> _HALF)


def _sparse_hashes(X: SparseSamples, first: KeyArray, second: KeyArray) -> KeyArray:
    """The same sums over the entries that are stored: the words of a zero are zeros."""
    matrix, each = X.matrix, X.dtype.itemsize // 4
    words = np.ascontiguousarray(matrix.data).view(np.uint32).reshape(-1, each).astype(np.uint64)
    sums = np.zeros((2, len(X)), dtype=np.uint64)
    for word in range(each):
        entries = csr_array((words[:, word], matrix.indices, matrix.indptr), shape=X.shape)
        for total, factors in zip(sums, (first, second), strict=True):
            total += entries @ factors[word::each]
    return _joined(*sums)


@dataclass(frozen=True)
class SeenRows:
    """The hashes of the training rows in ascending order, and which row each of them is."""

    hashes: KeyArray
    index: IntArray
    dtype: DType

    @classmethod
    def of(cls, X: FloatArray | SparseSamples) -> SeenRows:
        hashes = row_hashes(X)
        order = np.argsort(hashes, kind="stable")  # of equal rows the first comes first
        return cls(hashes[order], order, X.dtype)

    def find(self, X: FloatArray | SparseSamples) -> IntArray:
        """For each row of X the number of the training row that equals it, −1 where none does."""
        if len(self.hashes) == 0:
            return np.full(len(X), -1)
        hashes = row_hashes(X.astype(self.dtype) if isinstance(X, SparseSamples) else np.asarray(X, dtype=self.dtype))
        place = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        found: IntArray = np.where(self.hashes[place] == hashes, self.index[place], -1)
        return found
