"""`NeighborMask`: the hard mask that makes a problem sparse. Each sample may use only its m nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class NeighborMask:
    """Permit only the samples whose cosine is largest in absolute value.

    It is a recipe: the neighbours are found when the data are known.

    Parameters
    ----------
    n_neighbors : int, default=64
        m, how many others a sample may use.
    search : {"auto", "exact", "approximate"}, default="auto"
        "exact" compares all pairs in blocks, "approximate" uses an inverted file, "auto" decides by size.

    Raises
    ------
    ValueError
        If `n_neighbors` is no whole number from 1, or `search` is not known.

    Examples
    --------
    >>> from masked_subspace import BMSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> from masked_subspace.masks import NeighborMask
    >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
    >>> model = BMSC(3, hard_mask=NeighborMask(10), random_state=0).fit(X)
    >>> int((model.representation_matrix_ != 0).sum(axis=1).max()) <= 10
    True
    """

    n_neighbors: int = 64
    search: Literal["auto", "exact", "approximate"] = "auto"

    def __post_init__(self) -> None:
        if not isinstance(self.n_neighbors, int) or self.n_neighbors < 1:
            raise ValueError(f"n_neighbors is {self.n_neighbors!r}; it must be a whole number ≥ 1.")
        if self.search not in ("auto", "exact", "approximate"):
            raise ValueError(f'search is {self.search!r}; choose "auto", "exact" or "approximate".')
