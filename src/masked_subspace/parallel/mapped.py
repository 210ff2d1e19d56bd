"""Arrays that live in a file: another process opens the file instead of being sent the contents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from masked_subspace._common.types import Array


@dataclass(frozen=True)
class MappedArray:
    """Where a C-contiguous `np.memmap` is found."""

    path: str
    offset: int
    shape: tuple[int, ...]
    dtype: str

    @classmethod
    def of(cls, array: Array) -> MappedArray | None:
        """The file behind an array, or None if it has none of its own (or is only a part of one)."""
        base = array if isinstance(array, np.memmap) else getattr(array, "base", None)
        if not isinstance(base, np.memmap) or base.filename is None or base.offset is None:
            return None
        same = base.shape == array.shape and base.ctypes.data == array.ctypes.data and base.dtype == array.dtype
        if not same or not array.flags.c_contiguous or _is_part(base):
            return None
        return cls(str(base.filename), int(base.offset), array.shape, array.dtype.str)

    def open(self) -> Array:
        """The array again, read-only."""
        try:
            mapped = np.memmap(self.path, mode="r", dtype=np.dtype(self.dtype), shape=self.shape, offset=self.offset)
        except FileNotFoundError as error:
            raise FileNotFoundError(
                f"{self.path} is not there on this worker; put memory-mapped data on a file system that every worker "
                "sees, or pass an array."
            ) from error
        return np.asarray(mapped)


def _is_part(mapped: np.memmap) -> bool:
    """A slice of a memmap keeps the offset of the whole file, so it cannot be opened by it."""
    return isinstance(mapped.base, np.memmap)
