"""The names of types in signatures, once for the whole package.

What scipy, scikit-learn, Dask and matplotlib provide has no types of its own, so the names of their classes say what is
meant and are not checked; they are imported for the type checker alone, which keeps the import of the package fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from scipy.sparse import csr_array, spmatrix
    from sklearn.base import BaseEstimator

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.integer[Any]]
BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.int32]
KeyArray = npt.NDArray[np.uint64]
Rows32 = npt.NDArray[np.float32]
DType = np.dtype[Any]
# One number of an array: in compiled code it must be of the array's dtype.
Number = np.floating[Any]
# What users pass as samples or as a graph, and the same once it has a shape.
MatrixLike: TypeAlias = "npt.ArrayLike | csr_array | spmatrix"
Matrix: TypeAlias = "Array | csr_array"
# What `hard_mask`, `soft_mask` and `init` may be: the name of a mask, labels, a matrix, a clusterer.
MaskLike: TypeAlias = "str | npt.ArrayLike | csr_array | BaseEstimator | None"
RandomSeed = int | np.random.RandomState | None
# One value each: a setting, a stored record, a library's keyword arguments; and one that is only read.
Record = dict[str, Any]
RecordView = Mapping[str, Any]
