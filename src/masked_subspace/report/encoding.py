"""Numbers as the page's script reads them: little-endian bytes in base64, and JSON without infinities."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import Array


def encoded(values: Array) -> str:
    """The bytes of an array."""
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def small_integers(values: Array) -> str:
    """Numbers up to 65,535."""
    return encoded(np.asarray(values).astype("<u2"))


def sixteen_bits(values: Array, low: npt.ArrayLike | None = None, high: npt.ArrayLike | None = None) -> str:
    """Columns from their lowest (or `low`) to their highest (or `high`) value as 0 … 65,535."""
    low = values.min(axis=0) if low is None else low
    high = values.max(axis=0) if high is None else high
    span = np.where(np.asarray(high) > low, np.asarray(high) - low, 1.0)
    return small_integers(np.rint(np.clip((values - low) / span, 0, 1) * 65535))


def finite(value: object) -> object:
    """The same as JSON holds it: Python's numbers, lists and texts as keys, null where a number is not finite."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple | np.ndarray):
        return [finite(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    return value
