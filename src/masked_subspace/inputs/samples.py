"""What every reader returns, and the checks that every input passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from masked_subspace.inputs.text import clean_text

Array = npt.NDArray[Any]

LABEL_NAMES = frozenset({"label", "labels", "target", "class", "y", "truth"})


class InputError(ValueError):
    """An input that cannot be used; the text names the file, what is wrong with it and the remedy."""


@dataclass(frozen=True)
class Samples:
    """Samples as rows, with all that was known about them."""

    X: Array
    names: tuple[str, ...] | None = None
    target: npt.NDArray[np.int64] | None = None  # known classes, numbered from 0
    class_names: tuple[str, ...] | None = None  # class_names[k] is what class k is called
    images_shape: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()  # decisions of the reader that a person should hear about

    @property
    def n_samples(self) -> int:
        """How many rows there are."""
        return int(self.X.shape[0])


def numbered_classes(values: Sequence[Any] | Array) -> tuple[npt.NDArray[np.int64], tuple[str, ...]]:
    """Class numbers from 0, and the name of each."""
    classes, numbers = np.unique(np.asarray(values), return_inverse=True)
    return numbers.astype(np.int64), tuple(clean_text(str(value)) for value in classes)


def checked_matrix(X: Array, source: str) -> Array:
    """A finite real matrix with at least two rows, or an error that says what it is instead."""
    if X.dtype.kind not in "fiub":
        raise InputError(f"{source} holds {X.dtype} values; numbers are needed")
    if X.ndim != 2:
        raise InputError(f"{source} has shape {X.shape}; samples as the rows of a matrix are needed")
    if X.shape[0] < 2 or X.shape[1] < 1:
        raise InputError(f"{source} has {X.shape[0]} samples of {X.shape[1]} values; at least 2 samples are needed")
    if X.dtype.kind != "f":
        X = X.astype(np.float32 if X.dtype.itemsize <= 2 else np.float64)
    finite = np.isfinite(X)
    if not finite.all():
        row, column = (int(index[0]) for index in np.nonzero(~finite))
        raise InputError(f"{source} holds {X[row, column]} at row {row}, column {column}; fill in or drop such samples")
    return X
