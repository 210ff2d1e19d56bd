"""What the rows of all blocks have in common: the mean, the checks; and one block prepared with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import FloatArray, Matrix

if TYPE_CHECKING:
    from masked_subspace.rows.preparation import Preparation


@dataclass(frozen=True)
class BlockFacts:
    """Sums and extremes of one block, and the first rows that cannot be used (−1: none)."""

    count: int
    total: npt.NDArray[np.float64]
    lowest: FloatArray
    highest: FloatArray
    infinite: int
    zero: int


def block_facts(block: Matrix) -> BlockFacts:
    """Facts about one block of samples as given."""
    rows = np.asarray(block)
    finite = np.isfinite(rows).all(axis=1)
    empty = ~rows.any(axis=1)
    return BlockFacts(
        len(rows),
        rows.sum(axis=0, dtype=np.float64),
        rows.min(axis=0),
        rows.max(axis=0),
        -1 if finite.all() else int(np.argmin(finite)),
        int(np.argmax(empty)) if empty.any() and rows.dtype.kind == "f" else -1,
    )


def learn_preparation(facts: list[BlockFacts], *, center: bool, normalize: bool) -> Preparation:
    """The `Preparation` of all rows, or an error that names the first row that cannot be used."""
    from masked_subspace.rows.preparation import Preparation, View

    start = 0
    for one in facts:
        if one.infinite >= 0:
            raise ValueError(
                f"X contains NaN or infinity, first at row {start + one.infinite}; remove or impute such samples "
                "(sklearn.impute has ways)."
            )
        if one.zero >= 0:
            raise ValueError(
                f"X has a row of zeros, row {start + one.zero}; such a sample has no direction: remove it."
            )
        start += one.count
    varies = np.max([one.highest for one in facts], axis=0) > np.min([one.lowest for one in facts], axis=0)
    if center and not varies.any():
        raise ValueError("X is constant: all its rows are the same, so there is nothing to cluster.")
    if not center:
        return Preparation(View("uncentered", center=False), normalize)
    mean = (np.sum([one.total for one in facts], axis=0) / start).astype(np.float32)
    # A centred row that is no longer than what rounding leaves of the mean has no direction.
    floor = 2 * float(np.finfo(np.float32).eps) * float(np.linalg.norm(mean[varies]))
    return Preparation(View("plain"), normalize, mean=mean, floor=floor)


def prepared(block: Matrix, preparation: Preparation) -> npt.NDArray[np.float32]:
    """One block of samples as the solver sees it; float32, whatever was given."""
    rows: npt.NDArray[np.float32] = preparation.apply(np.ascontiguousarray(block, dtype=np.float32))
    return rows
