"""Unknown entries of one row from the rows that are like it: the step that rows/missing.py repeats.

A row x with the observed entries Ω is a Gaussian combination of atoms plus noise,

    x = Σ_j c_j a_j + e,   c_j ~ N(0, s_j²),   e ~ N(0, ρ v),

where the atoms are its k nearest rows (s² = α/k) and the principal directions of all rows, each as long as the rows'
standard deviation along it (s² = 1 − α), and v is the mean square of an entry. Its codes see observed entries only,

    ĉ = argmin_c ‖x_Ω − Σ_j c_j (a_j)_Ω‖² + ρ v Σ_j c_j² / s_j²,

and its unknown entries are those of Σ_j ĉ_j a_j, their conditional mean. α = 1 is self-expression on observed entries,
α = 0 probabilistic principal components. Projecting all atoms onto Ω is the projection of Yang, Robinson & Vidal
(2015), who put zeros where an atom is unknown; here an atom has its latest estimate there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from masked_subspace._common.rows import block_ranges, row_blocks
from masked_subspace._common.types import BoolArray, FloatArray, IntArray
from masked_subspace.parallel.engine import local_engine

_BLOCK = 64


class Setting(NamedTuple):
    """α, k and ρ."""

    share: float
    n_nearest: int
    noise: float

    def scales(self, n_nearest: int, n_directions: int) -> FloatArray:
        """s_j of the nearest rows, nearest first, and of the directions."""
        nearest = np.zeros(n_nearest)
        count = min(self.n_nearest, n_nearest)
        nearest[:count] = np.sqrt(self.share / max(1, count))
        return np.concatenate([nearest, np.full(n_directions, np.sqrt(1 - self.share))])


@dataclass(frozen=True)
class Atoms:
    """What rows are rebuilt from: complete rows, and directions (r × d) with their lengths."""

    rows: FloatArray
    directions: FloatArray
    variance: float


@dataclass(frozen=True)
class Asked:
    """Rows with zeros where they are unknown, which entries are observed, and which are wanted."""

    values: FloatArray
    observed: BoolArray
    wanted: BoolArray
    own: IntArray | None = None  # which of the atoms' rows each of them is, and must not be rebuilt from


def nearest_by_observed(asked: Asked, rows: FloatArray, count: int) -> IntArray:
    """The `count` rows with the largest |cosine| over the observed entries of each asked row, nearest first.

    cos(i, j) = Σ_{Ω_i} x f / √(Σ_{Ω_i} x² Σ_{Ω_i} f²): two matrix products, since x is zero outside Ω.
    """
    squares = rows * rows
    found = np.empty((len(asked.values), count), dtype=np.intp)
    for start, stop in row_blocks(len(asked.values), len(rows)):
        lengths = np.sqrt(asked.observed[start:stop].astype(rows.dtype) @ squares.T)
        cosines = np.abs(asked.values[start:stop] @ rows.T) / np.maximum(lengths, np.finfo(rows.dtype).tiny)
        if asked.own is not None:
            cosines[np.arange(stop - start), asked.own[start:stop]] = -1
        chosen = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
        order = np.argsort(-np.take_along_axis(cosines, chosen, axis=1), axis=1, kind="stable")
        found[start:stop] = np.take_along_axis(chosen, order, axis=1)
    return found


class _Work(NamedTuple):
    asked: Asked
    atoms: Atoms
    nearest: IntArray
    settings: Sequence[Setting]


def estimates(
    asked: Asked, atoms: Atoms, nearest: IntArray, settings: Sequence[Setting], n_threads: int
) -> Iterator[list[FloatArray]]:
    """For each asked row its wanted entries, once for every setting."""
    blocks = [range(*ends) for ends in block_ranges(len(asked.values), _BLOCK)]
    for block in local_engine(n_threads).run(_of_rows, _Work(asked, atoms, nearest, settings), blocks):
        yield from block


def _of_rows(work: _Work, block: range) -> list[list[FloatArray]]:
    return [_of_row(work, i) for i in block]


def _of_row(work: _Work, i: int) -> list[FloatArray]:
    asked, atoms, nearest = work.asked, work.atoms, work.nearest[i]
    matrix = np.concatenate([atoms.rows[nearest], atoms.directions])
    seen, wanted = asked.observed[i], asked.wanted[i]
    known = matrix[:, seen]
    gram = (known @ known.T).astype(np.float64)
    products = (known @ asked.values[i, seen]).astype(np.float64)
    unknown = matrix[:, wanted]
    found = []
    for setting in work.settings:
        scales = setting.scales(len(nearest), len(atoms.directions))
        used = np.flatnonzero(scales)
        scales = scales[used]
        # Codes in units of s, u = c / s: (S G S + ρ v I) u = S b
        system = gram[np.ix_(used, used)] * np.outer(scales, scales)
        system[np.diag_indices(len(used))] += setting.noise * atoms.variance
        codes = scales * np.linalg.solve(system, scales * products[used])
        found.append(codes.astype(matrix.dtype) @ unknown[used])
    return found
