"""Reading what a person knows about pairs: `first, second, kind`, kind being must or cannot."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from masked_subspace.inputs.samples import InputError, Samples, clean_text

_MUST = frozenset({"must", "must-link", "must_link", "same", "together", "1", "+1", "true"})
_CANNOT = frozenset({"cannot", "cannot-link", "cannot_link", "different", "apart", "0", "-1", "false"})


@dataclass(frozen=True)
class KnownPairs:
    """Pairs of row indices, m × 2 each."""

    must_link: npt.NDArray[np.int64]
    cannot_link: npt.NDArray[np.int64]

    def fit_arguments(self) -> dict[str, Any]:
        """Keywords for an estimator's `fit`; pairs of a kind nobody gave are left out."""
        pairs = {"must_link": self.must_link, "cannot_link": self.cannot_link}
        return {name: array for name, array in pairs.items() if len(array)}


def read_pairs(path: Path, samples: Samples) -> KnownPairs:
    """Known pairs; a sample is meant by its name if the data has names, else by its row number from 0."""
    rows_of = {name: row for row, name in enumerate(samples.names or ())}
    found: dict[bool, list[tuple[int, int]]] = {True: [], False: []}
    with path.open(newline="", encoding="utf-8-sig") as stream:
        for number, cells in enumerate(csv.reader(stream), start=1):
            if not cells or (number == 1 and _is_header(cells)):
                continue
            where = f"{path}, line {number}"
            if len(cells) != 3:
                raise InputError(f"{where}: three values are needed (first, second, must or cannot), not {len(cells)}")
            first, second = (_row(cell.strip(), rows_of, samples.n_samples, where) for cell in cells[:2])
            if first == second:
                raise InputError(f"{where}: a sample is paired with itself")
            found[_kind(cells[2], where)].append((first, second))
    as_pairs = {kind: np.array(pairs, dtype=np.int64).reshape(-1, 2) for kind, pairs in found.items()}
    return KnownPairs(as_pairs[True], as_pairs[False])


def _is_header(cells: list[str]) -> bool:
    return cells[-1].strip().lower() not in _MUST | _CANNOT


def _kind(text: str, where: str) -> bool:
    kind = text.strip().lower()
    if kind in _MUST | _CANNOT:
        return kind in _MUST
    raise InputError(f"{where}: {clean_text(text)[:40]!r} is neither must nor cannot")


def _row(text: str, rows_of: dict[str, int], n_samples: int, where: str) -> int:
    if text in rows_of:
        return rows_of[text]
    if text.isascii() and text.isdigit() and int(text) < n_samples:
        return int(text)
    raise InputError(
        f"{where}: {clean_text(text)[:40]!r} is neither a sample's name nor a row from 0 to {n_samples - 1}"
    )
