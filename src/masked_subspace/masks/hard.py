"""Hard masks: which pairs are permitted at all. Every one of them forbids the diagonal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.sparse import csr_array, issparse

from masked_subspace._common.matrices import as_dense
from masked_subspace._common.types import BoolArray, IntArray, MatrixLike
from masked_subspace.masks.base import HardMask
from masked_subspace.masks.pair_masks import ApartMask
from masked_subspace.masks.pairs import KnownPairs


class DiagonalMask(HardMask):
    """Only the diagonal is forbidden: Mʰ of `eq:bmsc` as the paper has it.

    Parameters
    ----------
    n_samples : int
        How many samples the mask is for.

    References
    ----------
    .. [Song2025] Song, J. and Ling, H. (2025). Masked subspace clustering methods. arXiv:2505.06863,
       equation (5).

    Examples
    --------
    >>> from masked_subspace.masks import DiagonalMask
    >>> DiagonalMask(3).block(0, 2).astype(int).tolist()
    [[0, 1, 1], [1, 0, 1]]
    """

    diagonal_only = True

    def __init__(self, n_samples: int) -> None:
        self.n_samples = n_samples

    def allowed(self, rows: IntArray, cols: IntArray) -> BoolArray:
        return np.not_equal(rows, cols)


class PatternMask(HardMask):
    """The permitted pairs, or the forbidden ones, as a sparse pattern.

    Parameters
    ----------
    pattern : array or sparse array of shape (n_samples, n_samples)
        Nonzero where a pair is meant. The diagonal is forbidden whatever stands there.
    forbids : bool, default=False
        Whether the pairs of the pattern are those that are forbidden.

    Attributes
    ----------
    pattern : csr_array of bool of shape (n_samples, n_samples)
        The pairs, without stored zeros.
    n_samples : int
        How many samples the mask is for.

    Raises
    ------
    ValueError
        If the pattern is not n × n.

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.masks import PatternMask
    >>> PatternMask(np.eye(3, k=1), forbids=True).block(0, 2).astype(int).tolist()
    [[0, 0, 1], [1, 0, 0]]
    """

    def __init__(self, pattern: MatrixLike, *, forbids: bool = False) -> None:
        matrix = csr_array(pattern != 0) if not issparse(pattern) else csr_array(pattern)
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"hard_mask has shape {matrix.shape}; it must be n × n, a 0 or 1 for each pair.")
        matrix = csr_array(matrix.astype(bool))
        matrix.eliminate_zeros()
        matrix.sort_indices()
        self.pattern = matrix
        self.forbids = forbids
        self.n_samples = int(matrix.shape[0])

    def _contains(self, rows: IntArray, cols: IntArray) -> BoolArray:
        rows, cols = np.broadcast_arrays(rows, cols)
        found = self.pattern[rows.ravel(), cols.ravel()]
        return as_dense(found).astype(bool).reshape(rows.shape)

    def allowed(self, rows: IntArray, cols: IntArray) -> BoolArray:
        permitted: BoolArray = (self._contains(rows, cols) != self.forbids) & np.not_equal(rows, cols)
        return permitted

    def block(self, start: int, stop: int) -> BoolArray:
        dense: BoolArray = self.pattern[start:stop].toarray() != self.forbids
        dense[np.arange(stop - start), np.arange(start, stop)] = False
        return dense


class AllOf(HardMask):
    """A pair is permitted when every part permits it.

    Parameters
    ----------
    parts : sequence of HardMask
        Masks of the same samples, one at least.

    Attributes
    ----------
    n_samples : int
        How many samples the masks are for.
    diagonal_only : bool
        Whether no part forbids more than the diagonal.

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.masks import AllOf, DiagonalMask, PatternMask
    >>> AllOf([DiagonalMask(3), PatternMask(np.tri(3))]).block(1, 3).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0]]
    """

    def __init__(self, parts: Sequence[HardMask]) -> None:
        self.parts = list(parts)
        self.n_samples = self.parts[0].n_samples
        self.diagonal_only = all(part.diagonal_only for part in self.parts)

    def allowed(self, rows: IntArray, cols: IntArray) -> BoolArray:
        permitted: BoolArray = np.logical_and.reduce([part.allowed(rows, cols) for part in self.parts])
        return permitted

    def block(self, start: int, stop: int) -> BoolArray:
        permitted: BoolArray = np.logical_and.reduce([part.block(start, stop) for part in self.parts])
        return permitted


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


def resolve_hard_mask(spec: object, n_samples: int, known: KnownPairs | None = None) -> HardMask:
    """The hard mask that `spec` describes; a `NeighborMask` is left to the candidate search."""
    parts: list[HardMask] = []
    if spec is None or isinstance(spec, NeighborMask):
        parts.append(DiagonalMask(n_samples))
    elif isinstance(spec, HardMask):
        parts.append(spec)
    else:
        parts.append(PatternMask(_check_pattern(spec)))
    if known is not None and len(known.conflicts):
        parts.append(ApartMask(known))
    for part in parts:
        if part.n_samples != n_samples:
            raise ValueError(f"hard_mask is for {part.n_samples} samples but X has {n_samples}.")
    return parts[0] if len(parts) == 1 else AllOf(parts)


def _check_pattern(spec: object) -> MatrixLike:
    if hasattr(spec, "tocsr"):
        return spec
    array = np.asarray(spec)
    if array.ndim != 2 or array.dtype.kind not in "buif":
        raise ValueError(
            f"hard_mask has shape {array.shape} and dtype {array.dtype}; give an n × n pattern of 0 (forbidden) and 1."
        )
    return array
