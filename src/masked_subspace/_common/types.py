"""The names of arrays in signatures, once for the whole package."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
FloatArray = npt.NDArray[np.floating[Any]]
# One number of an array, in compiled code where it must be of the array's dtype.
Number = np.floating[Any]
IntArray = npt.NDArray[np.integer[Any]]
BoolArray = npt.NDArray[np.bool_]
IndexArray = npt.NDArray[np.int32]
KeyArray = npt.NDArray[np.uint64]
Rows32 = npt.NDArray[np.float32]
# One value each: a setting, a stored record, a library's keyword arguments.
Record = dict[str, Any]
