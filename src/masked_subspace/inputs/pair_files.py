"""Reading what a person knows about pairs: `first, second, kind`, kind being must or cannot."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import Array, Record
from masked_subspace.inputs.limits import TEXT_BYTES, check_size, regular_file
from masked_subspace.inputs.samples import InputError, Samples
from masked_subspace.inputs.text import cell_text, clean_text

_MUST = frozenset({"must", "must-link", "must_link", "same", "together", "1", "+1", "true"})
_CANNOT = frozenset({"cannot", "cannot-link", "cannot_link", "different", "apart", "0", "-1", "false"})
_HEADS = frozenset({"kind", "type", "link", "constraint", "relation", "pair", "value"})


@dataclass(frozen=True)
class GivenPairs:
    """Known pairs of samples, as read from a file.

    Parameters
    ----------
    must_link : ndarray of int64 of shape (n_pairs, 2)
        Row indices of samples that belong together, every pair once.
    cannot_link : ndarray of int64 of shape (n_pairs, 2)
        Row indices of samples that belong apart, every pair once.
    repeated : int, default=0
        Lines that said again what another line says.
    by : {"row", "name"}, default="row"
        What the file calls samples by, the same in all of it.
    also_rows : bool, default=False
        Whether its names are numbers that could be taken for rows as well.

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.inputs import GivenPairs
    >>> pairs = GivenPairs(np.array([[0, 1]]), np.empty((0, 2), dtype=np.int64))
    >>> list(pairs.fit_arguments())
    ['must_link']
    """

    must_link: npt.NDArray[np.int64]
    cannot_link: npt.NDArray[np.int64]
    repeated: int = 0
    by: str = "row"
    also_rows: bool = False

    @property
    def note(self) -> str:
        """What a person should know of how samples are called."""
        if self.also_rows:
            return "pairs are by name: their numbers are rows, too, which are not meant"
        return f"pairs are by {self.by}" + (", from 0" if self.by == "row" else "")

    def fit_arguments(self) -> Record:
        """Keywords for an estimator's `fit`.

        Returns
        -------
        keywords : dict of str to ndarray
            `must_link` and `cannot_link`; a kind nobody gave is left out.
        """
        pairs = {"must_link": self.must_link, "cannot_link": self.cannot_link}
        return {name: array for name, array in pairs.items() if len(array)}

    def kept_by(self, labels: Array) -> tuple[int, int]:
        """How many pairs a clustering keeps.

        Parameters
        ----------
        labels : ndarray of shape (n_samples,)
            Clusters.

        Returns
        -------
        together : int
            Must-links whose samples share a cluster.
        apart : int
            Cannot-links whose samples do not.
        """
        together, apart = (labels[pairs] for pairs in (self.must_link, self.cannot_link))
        return int((together[:, 0] == together[:, 1]).sum()), int((apart[:, 0] != apart[:, 1]).sum())


@dataclass
class _Rows:
    """Which row a text means: a sample's name, or its row in the file from 0."""

    samples: Samples
    by_name: dict[str, int] = field(default_factory=dict)
    ambiguous: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        for row, name in enumerate(self.samples.names or ()):
            for text in {name, name.strip(), cell_text(name)}:
                if self.by_name.setdefault(text, row) != row:
                    self.ambiguous.add(text)
        self.by_number = {number: row for row, number in enumerate(self.samples.rows or range(self.samples.n_samples))}

    def find(self, text: str) -> int | None:
        """The row, or None if there is no such sample."""
        return self.by_name[text] if text in self.by_name else self.numbered(text)

    def numbered(self, text: str) -> int | None:
        """The row of a number, or None if it is none."""
        return self.by_number.get(int(text)) if text.isascii() and text.isdigit() and len(text) < 19 else None


def read_pairs(path: Path, samples: Samples) -> GivenPairs:
    """Read known pairs from a table of three columns: first, second, must or cannot.

    Every line is checked, and a first line counts as a header only if it reads like one. A file calls all samples by
    name or all by row; numbers that are all names are names.

    Parameters
    ----------
    path : Path
        A CSV file.
    samples : Samples
        The samples, whose names or rows stand in the file.

    Returns
    -------
    pairs : GivenPairs
        Row indices.

    Raises
    ------
    InputError
        If a line cannot be read, names an unknown sample or says the opposite of another, or if one line has a name
        and another a row; the text names the line.

    Examples
    --------
    >>> import numpy as np
    >>> from pathlib import Path
    >>> from masked_subspace.inputs import Samples, read_pairs
    >>> _ = Path("pairs.csv").write_text("a,b,must\\nb,c,cannot\\n")
    >>> read_pairs(Path("pairs.csv"), Samples(np.zeros((3, 2)), names=("a", "b", "c"))).must_link.tolist()
    [[0, 1]]
    """
    check_size(regular_file(path, "--pairs"), f"{clean_text(str(path))} (--pairs)", TEXT_BYTES)
    rows, shown = _Rows(samples), clean_text(str(path))
    lines: list[tuple[int, list[str]]] = []
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            for number, cells in enumerate(csv.reader(stream), start=1):
                if cells and not (number == 1 and _is_header(cells, rows)):
                    lines.append((number, cells))
    except UnicodeDecodeError as error:
        raise InputError(f"{shown} (--pairs) is not UTF-8 text ({error.reason} at byte {error.start})") from error
    except csv.Error as error:
        raise InputError(f"{shown} (--pairs) cannot be read as a table: {error}") from error
    except OSError as error:
        raise InputError(f"{shown} (--pairs) may not be read: {error.strerror}") from error
    by, also_rows = _called(lines, rows, shown)
    said: dict[tuple[int, int], tuple[bool, int]] = {}
    repeated = 0
    for number, cells in lines:
        pair, must = _pair(cells, rows, f"{shown}, line {number}")
        earlier = said.setdefault(pair, (must, number))
        if earlier[0] != must:
            raise InputError(f"{shown}: lines {earlier[1]} and {number} say opposite things of one pair")
        repeated += earlier[1] != number
    if not said:
        raise InputError(f"{shown} (--pairs) holds no pair; a line is: first, second, must or cannot")
    kinds = {kind: [pair for pair, (must, _) in said.items() if must is kind] for kind in (True, False)}
    must_link, cannot_link = (np.array(kinds[kind], dtype=np.int64).reshape(-1, 2) for kind in (True, False))
    return GivenPairs(must_link, cannot_link, repeated, by, also_rows)


def _called(lines: Sequence[tuple[int, list[str]]], rows: _Rows, shown: str) -> tuple[str, bool]:
    """What a file calls its samples by, and whether its names could be rows as well; an error if it is not the same
    everywhere: of a name that looks like a number nobody could say then what is meant."""
    name: tuple[int, str] | None = None
    row: tuple[int, str] | None = None
    every_name_a_row = True
    for number, cells in lines:
        for text in (cell.strip() for cell in cells[:2]):
            if text in rows.by_name:
                name = name or (number, text)
                every_name_a_row &= rows.numbered(text) is not None
            elif rows.numbered(text) is not None:
                row = row or (number, text)
    if name and row:
        raise InputError(
            f"{shown}: {clean_text(name[1])[:40]!r} (line {name[0]}) is a sample's name and {row[1]!r} (line {row[0]}) "
            "is none, only a row; give names in all lines, or rows in all lines"
            + (" and leave the column of names out (--drop)" if every_name_a_row else "")
        )
    return ("name", every_name_a_row) if name else ("row", False)


def _is_header(cells: list[str], rows: _Rows) -> bool:
    texts = [cell.strip() for cell in cells]
    return (
        len(texts) == 3 and texts[2].lower() in _HEADS and rows.find(texts[0]) is None and rows.find(texts[1]) is None
    )


def _pair(cells: list[str], rows: _Rows, where: str) -> tuple[tuple[int, int], bool]:
    if len(cells) != 3:
        raise InputError(f"{where}: three values are needed (first, second, must or cannot), not {len(cells)}")
    first, second = (_row(cell.strip(), rows, where) for cell in cells[:2])
    if first == second:
        raise InputError(f"{where}: a sample is paired with itself")
    return (min(first, second), max(first, second)), _kind(cells[2], where)


def _kind(text: str, where: str) -> bool:
    kind = text.strip().lower()
    if kind in _MUST | _CANNOT:
        return kind in _MUST
    raise InputError(f"{where}: {clean_text(text)[:40]!r} is neither must nor cannot")


def _row(text: str, rows: _Rows, where: str) -> int:
    row = rows.find(text)
    if text in rows.ambiguous:
        raise InputError(f"{where}: {clean_text(text)[:40]!r} is the name of several samples; give rows in all lines")
    if row is None:
        last = max(rows.by_number)
        raise InputError(f"{where}: {clean_text(text)[:40]!r} is neither a sample's name nor a row from 0 to {last}")
    return row
