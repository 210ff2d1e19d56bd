"""Reading `.csv`, `.tsv` and `.txt`, also as `.gz`: two passes, one to see what every column is, one for the values."""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TextIO

import numpy as np

from masked_subspace.inputs.columns import REPEATING_TEXT, Facts, assign, notes_on
from masked_subspace.inputs.limits import TEXT_BYTES, bounded_gzip, regular_file
from masked_subspace.inputs.numbers import COMMA, POINT, is_grouped_by_points, kind, number
from masked_subspace.inputs.samples import InputError, Samples, Source, checked_matrix, numbered_classes
from masked_subspace.inputs.text import clean_text

_TRIED_ROWS = 20
_MOSTLY = 0.8  # a column with so many numbers is meant as numbers: a text in it is an error, not a reason to drop it


_FRACTION = re.compile(r"[.,]\d*[1-9]\d*([eE]|\s*$)")  # 0.5 and 1,25e3, not 2.0


@dataclass
class _Scan:
    """One column as it is read: counts of the ways to read its cells, and whether its values repeat."""

    counts: dict[str, int] = field(default_factory=dict)
    first_text: tuple[int, str] | None = None
    grouped_by_points: int = 0
    other_points: int = 0
    seen: set[str] | None = field(default_factory=set)  # None as soon as a value repeats
    low: int | None = None
    high: int | None = None
    whole: bool = True
    fraction: bool = False

    def add(self, row: int, text: str) -> None:
        how = "plain" if text.isdigit() and text.isascii() else kind(text)
        self.counts[how] = self.counts.get(how, 0) + 1
        if how == "text" and self.first_text is None:
            self.first_text = (row, text)
        if how == "plain" and not text.isdigit() and "." in text:
            if is_grouped_by_points(text):
                self.grouped_by_points += 1
            else:
                self.other_points += 1
        if self.seen is not None:
            if how == "missing" or text in self.seen:
                self.seen = None
            else:
                self.seen.add(text)
        if not self.fraction and how in ("plain", "comma"):
            self.fraction = _FRACTION.search(text) is not None
        if self.whole and how != "missing":
            self._add_whole(text)

    def _add_whole(self, text: str) -> None:
        try:
            value = int(text) if len(text) < 40 and "_" not in text else None
        except ValueError:
            value = None
        if value is None:
            self.whole = False
        else:
            self.low = value if self.low is None else min(self.low, value)
            self.high = value if self.high is None else max(self.high, value)

    def of(self, *kinds: str) -> int:
        return sum(self.counts.get(one, 0) for one in kinds)

    @property
    def n_numbers(self) -> int:
        return self.of("plain", "comma", "point", "either", "spaced")


def read(source: Source) -> Samples:
    """A text table; comma, semicolon, tab or | between the values, with or without a header."""
    try:
        text = _Text(source)
        records = text.records()
        scans, first, n_records = _scan(records, source)
        has_header = n_records > 1 and any(
            scan.n_numbers and not scan.of("text") and kind(cell) == "text"
            for scan, cell in zip(scans, first, strict=True)
        )
        if not has_header:
            for scan, cell in zip(scans, first, strict=True):
                scan.add(0, cell)
        header = [clean_text(name.strip()) or f"column {i}" for i, name in enumerate(first)] if has_header else None
        return _table(text, scans, header, n_records - has_header, source)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source.shown} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from error
    except csv.Error as error:
        raise InputError(f"{source.shown} cannot be read as a table: {error}") from error


class _Text:
    """The table's text, to be gone through more than once."""

    def __init__(self, source: Source) -> None:
        limit, size = source.limit(TEXT_BYTES), regular_file(source.path)
        self._source = source
        self._content: bytes | None = None
        with source.path.open("rb") as stream:
            is_packed = stream.read(2) == b"\x1f\x8b"
        if is_packed:
            self._content = bounded_gzip(source.path, source.shown, limit)
            size = len(self._content)
        elif size > limit:
            raise InputError(
                f"{source.shown} is {size / 1e9:.1f} GB of text; at most {limit / 1e9:.1f} GB are read at once. "
                "Save it as .npy or .parquet once and cluster that, or raise --max-gb"
            )
        if size == 0:
            raise InputError(f"{source.shown} is empty")
        self._delimiter = self._find_delimiter()

    def _open(self) -> TextIO:
        if self._content is not None:
            return io.TextIOWrapper(io.BytesIO(self._content), encoding="utf-8-sig", newline="")
        return self._source.path.open(newline="", encoding="utf-8-sig")

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Line numbers (from 1, as editors count) and cells of every line that is not blank."""
        with self._open() as stream:
            reader = csv.reader(stream, delimiter=self._delimiter)
            for cells in reader:
                if cells:
                    yield reader.line_num, cells

    def _find_delimiter(self) -> str:
        """The mark that cuts the first lines into equally many cells; a comma may also stand inside numbers."""
        with self._open() as stream:
            lines = [line for _, line in zip(range(_TRIED_ROWS), stream, strict=False) if line.strip()]
        for mark in "\t;|,":
            widths = {len(cells) for cells in csv.reader(lines, delimiter=mark) if cells}
            if len(widths) == 1 and widths != {1}:
                return mark
        return max(",;\t", key=(lines or [""])[0].count)


def _scan(records: Iterator[tuple[int, list[str]]], source: Source) -> tuple[list[_Scan], list[str], int]:
    _, first = next(records, (0, []))
    if not first:
        raise InputError(f"{source.shown} has no rows")
    scans, n_records = [_Scan() for _ in first], 1
    for line, cells in records:
        if len(cells) != len(first):
            raise InputError(
                f"{source.shown}: line {line} has {len(cells)} values where {len(first)} are expected; "
                "give every line as many"
            )
        for scan, cell in zip(scans, cells, strict=True):
            scan.add(n_records, cell)
        n_records += 1
    return scans, first, n_records


def _table(text: _Text, scans: Sequence[_Scan], header: list[str] | None, n_rows: int, source: Source) -> Samples:
    known = header or [f"column {index}" for index in range(len(scans))]
    european = any(scan.of("comma") for scan in scans) and not any(scan.of("point") for scan in scans)
    dropped = {part.strip() for name in source.options.drop for part in (name, *name.split(","))}
    marks = [_decimal(scan, european, source.options.decimal) for scan in scans]
    facts = []
    for name, scan, mark in zip(known, scans, marks, strict=True):
        _refuse_stray_text(scan, name, bool(header), dropped, source)
        facts.append(_facts(scan, name, mark))
    roles = assign(facts, n_rows, source.options, source.shown)
    values, names, labels = array("d"), [], []
    records = text.records()
    if header:
        next(records)
    for _, cells in records:
        values.extend([number(cells[index], marks[index]) for index in roles.features])
        if roles.names is not None:
            names.append(clean_text(cells[roles.names]))
        if roles.labels is not None:
            labels.append(cells[roles.labels].strip())
    X = np.frombuffer(values, dtype=np.float64).reshape(n_rows, len(roles.features))
    target, class_names = numbered_classes(labels) if labels else (None, None)
    notes = [*notes_on(roles.columns)] if header or len(roles.features) < len(scans) else []
    if names and len(set(names)) < len(names):
        notes.append("some names repeat: the samples they stand for cannot be told apart by name")
    return Samples(
        checked_matrix(X, source.shown), tuple(names) or None, target, class_names, None, tuple(notes), roles.columns
    )


def _decimal(scan: _Scan, european: bool, asked: str | None) -> str:
    """The mark before the fractions of a column, by its own cells, then by the rest of the file."""
    if asked is not None:
        return asked
    if scan.of("comma") and not scan.of("point"):
        return COMMA
    if scan.of("point") or scan.other_points:
        return POINT
    if scan.of("either"):
        return COMMA if european or not scan.grouped_by_points else POINT
    return COMMA if european and scan.grouped_by_points else POINT


def _facts(scan: _Scan, name: str, mark: str) -> Facts:
    remark = ""
    confused = bool(scan.of("comma") and (scan.of("point") or scan.other_points))
    numeric = not scan.of("text") and not confused
    if confused:
        remark = "numbers with decimal points and with decimal commas; write them one way"
    elif not numeric:
        remark = REPEATING_TEXT if scan.seen is None else f"{len(scan.seen)} different texts, not a measurement"
    elif mark == COMMA and (scan.of("comma", "either") or scan.grouped_by_points):
        remark = "read with decimal commas (--decimal . reads them with points)"
    elif scan.of("point", "either", "spaced"):
        remark = "read with groups of thousands (--decimal , reads decimal commas)"
    span = scan.high - scan.low if scan.whole and scan.low is not None and scan.high is not None else None
    return Facts(
        name, numeric, scan.seen is not None and not confused, scan.whole and span is not None, span,
        scan.of("missing"), empty=not scan.n_numbers and not scan.of("text"), remark=remark,
        fraction=numeric and scan.fraction,
    )  # fmt: skip


def _refuse_stray_text(scan: _Scan, name: str, has_header: bool, dropped: set[str], source: Source) -> None:
    if scan.first_text is None or name in dropped or name in (source.options.label_column, source.options.name_column):
        return
    if scan.n_numbers >= _MOSTLY * (scan.n_numbers + scan.of("text")):
        record, text = scan.first_text
        more = f" (one of {scan.of('text')})" if scan.of("text") > 1 else ""
        raise InputError(
            f"{source.shown}: row {record - has_header} has {clean_text(text)[:40]!r}, not a number, in column "
            f"{name!r}{more}; correct it, leave it empty, or leave the column out with --drop"
        )
