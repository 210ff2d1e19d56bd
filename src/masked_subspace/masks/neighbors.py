"""`NeighborMask`: the hard mask that makes a problem sparse. Each sample may use only its m nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class NeighborMask:
    """Permit only the `n_neighbors` samples with the largest |cosine|.

    `search="exact"` compares all pairs in blocks; `"approximate"` uses an inverted file; `"auto"`
    decides by size. It is a recipe: the neighbours are found when the data are known.
    """

    n_neighbors: int = 64
    search: Literal["auto", "exact", "approximate"] = "auto"

    def __post_init__(self) -> None:
        if not isinstance(self.n_neighbors, int) or self.n_neighbors < 1:
            raise ValueError(f"n_neighbors is {self.n_neighbors!r}; it must be a whole number ≥ 1.")
        if self.search not in ("auto", "exact", "approximate"):
            raise ValueError(f'search is {self.search!r}; choose "auto", "exact" or "approximate".')
