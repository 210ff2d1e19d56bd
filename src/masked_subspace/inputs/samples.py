"""What every reader takes and returns, and the checks that every input passes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse

from masked_subspace._common.types import Array, Matrix, Record
from masked_subspace.inputs.text import clean_text, counted, listed

LABEL_NAMES = frozenset({"label", "labels", "target", "class", "y", "truth", "gnd"})


class InputError(ValueError):
    """An input that cannot be used; the text names the file, what is wrong with it and the remedy.

    Examples
    --------
    >>> from pathlib import Path
    >>> from masked_subspace.inputs import InputError, read_samples
    >>> _ = Path("empty.csv").write_text("")
    >>> try:
    ...     read_samples("empty.csv")
    ... except InputError as error:
    ...     print(error)
    empty.csv is empty
    """


class MissingExtraError(InputError):
    """An input that needs a package which is not installed."""


@dataclass(frozen=True)
class ReadOptions:
    """What a person may say about how their data is to be read.

    Parameters
    ----------
    features : tuple of str, default=()
        Columns to use; empty: all that look like measurements.
    drop : tuple of str, default=()
        Columns to leave out.
    name_column : str or None, default=None
        The column of the samples' names; None: recognised.
    label_column : str or None, default=None
        The column of known classes; None: recognised.
    decimal : {".", ","} or None, default=None
        The decimal mark; None: recognised.
    impute : {"none", "median", "knn"}, default="none"
        What missing values are replaced by.
    missing : {"error", "drop", "ignore"}, default="error"
        What is done about missing values that are not replaced: an error, the sample is left out, they stay.
    scale : {"none", "standard"}, default="none"
        "standard": each column gets mean 0 and variance 1.
    image_side : int or None, default=None
        Images are brought to so many pixels a side; None: to 32, unless all agree on a small size.
    color : bool, default=False
        Whether images keep their colours.
    skip_unreadable : bool, default=False
        Whether images that cannot be read are left out; otherwise they are an error.
    max_bytes : int or None, default=None
        How many bytes may be read; None: each format's own bound.

    Examples
    --------
    >>> from masked_subspace.inputs import ReadOptions
    >>> ReadOptions(drop=("id",), impute="median").missing
    'error'
    """

    features: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    name_column: str | None = None
    label_column: str | None = None
    decimal: str | None = None
    impute: str = "none"
    missing: str = "error"
    scale: str = "none"
    image_side: int | None = None
    color: bool = False
    skip_unreadable: bool = False
    max_bytes: int | None = None


@dataclass(frozen=True)
class Source:
    """A file to be read, and what a person calls it (standard input is kept in a temporary file)."""

    path: Path
    shown: str
    options: ReadOptions = ReadOptions()

    def limit(self, usual: int) -> int:
        """How many bytes may be taken."""
        return usual if self.options.max_bytes is None else self.options.max_bytes


@dataclass(frozen=True)
class Column:
    """One column of the input and what became of it."""

    name: str
    role: str  # feature, name, truth or ignored
    why: str = ""
    missing: int = 0

    def plain(self) -> Record:
        """As JSON can hold it."""
        return {"name": self.name, "role": self.role, "why": self.why, "missing": self.missing}


@dataclass(frozen=True)
class Samples:
    """Samples as rows, with all that was known about them.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The numbers.
    names : tuple of str or None, default=None
        Names of the samples.
    target : ndarray of int64 of shape (n_samples,) or None, default=None
        Known classes, numbered from 0.
    class_names : tuple of str or None, default=None
        What class k is called, at place k.
    images_shape : tuple of int or None, default=None
        (height, width), with a third number for colours, where rows are images.
    notes : tuple of str, default=()
        Decisions of the reader that a person should hear about.
    columns : tuple of Column, default=()
        Of tables: every column and its role.
    rows : tuple of int or None, default=None
        Rows of the file, where some of them were left out.
    fingerprints : mapping of str to str, optional
        Short names of the file's content and of the numbers.
    faults : tuple of str, default=()
        What the file says that cannot be true, and was not used. The command says it also with `--quiet`.

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.inputs import Samples
    >>> Samples(np.zeros((3, 2)), names=("a", "b", "c")).n_samples
    3
    """

    X: Matrix
    names: tuple[str, ...] | None = None
    target: npt.NDArray[np.int64] | None = None
    class_names: tuple[str, ...] | None = None
    images_shape: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    rows: tuple[int, ...] | None = None
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def n_samples(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of X's columns, where they have names."""
        return tuple(one.name for one in self.columns if one.role == "feature") or None


def numbered_classes(values: Sequence[object] | Array) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """Class numbers from 0, and the name of each."""
    classes, numbers = np.unique(np.asarray(values), return_inverse=True)
    return numbers.astype(np.int64).ravel(), tuple(clean_text(str(value)) for value in classes)


def checked_matrix(X: Matrix, source: str, names: Sequence[str] | None = None) -> Matrix:
    """A real matrix with at least two rows and no infinite value, or an error that says what it is instead."""
    if X.dtype.kind not in "fiub":
        raise InputError(f"{source} holds {clean_text(str(X.dtype))[:60]} values; numbers are needed")
    if X.ndim != 2:
        raise InputError(f"{source} has shape {X.shape}; samples as the rows of a matrix are needed")
    if X.shape[0] < 2 or X.shape[1] < 1:
        size = f"{counted(X.shape[0], 'sample')} of {counted(X.shape[1], 'value')}"
        raise InputError(f"{source} has {size}; at least 2 samples are needed")
    if X.dtype.kind != "f":
        X = X.astype(np.float32 if X.dtype.itemsize <= 2 else np.float64)
    elif X.dtype.itemsize not in (4, 8) or not X.dtype.isnative:
        X = X.astype(np.float32 if X.dtype.itemsize < 4 else np.float64)
    infinite = np.isinf(X.data if issparse(X) else X)
    if infinite.any():
        if issparse(X):
            raise InputError(f"{source} holds infinite values; correct or drop such samples")
        # Of a matrix the number of the column, of a table its name.
        places = [
            f"row {row}, column {column if names is None else repr(names[column])}"
            for row, column in np.argwhere(infinite)
        ]
        raise InputError(
            f"{source} holds infinite values or numbers too large: {listed(places, 5)}; correct or drop such samples"
        )
    return X


def fingerprint(X: Matrix) -> str:
    """A short name of the numbers themselves: equal for equal matrices, wherever they came from."""
    digest = hashlib.sha256(repr(tuple(int(side) for side in X.shape)).encode())
    parts = [getattr(X, name) for name in ("data", "indices", "indptr")] if issparse(X) else [X]
    for number, part in enumerate(parts):
        kind = np.float64 if number == 0 else np.int64
        digest.update(np.ascontiguousarray(part, dtype=kind).data)
    return digest.hexdigest()[:16]


def as_csr(X: Matrix) -> csr_array:
    """A sparse matrix in rows, its indices in order, and of 32 bits where they fit: k-means takes no others."""
    found = csr_array(X)
    found.sum_duplicates()
    if max(found.nnz, *found.shape) <= np.iinfo(np.int32).max:
        found.indices, found.indptr = found.indices.astype(np.int32), found.indptr.astype(np.int32)
    return found
