"""Reading `.csv`, `.tsv` and `.txt`, also as `.gz`: two passes, one to see what every column is, one for the values."""

from __future__ import annotations

import csv
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from masked_subspace.inputs.columns import Facts, about_text, assign, notes_on
from masked_subspace.inputs.numbers import COMMA, POINT, is_grouped_by_points, kind, number, without_sign
from masked_subspace.inputs.samples import InputError, Samples, Source, checked_matrix, numbered_classes
from masked_subspace.inputs.table_text import TableText
from masked_subspace.inputs.text import clean_text, counted, listed, shortened

_FEW_COLUMNS, _MANY_COLUMNS = 3, 8  # so many numbers in equal steps may be a header, or are one
_MOSTLY = 0.8  # a column with so many numbers is meant as numbers: a text in it is an error, not a reason to drop it


_FRACTION = re.compile(r"[.,]\d*[1-9]\d*([eE]|\s*$)")  # 0.5 and 1,25e3, not 2.0


@dataclass
class _Scan:
    """One column as it is read: counts of the ways to read its cells, and whether its values repeat."""

    counts: dict[str, int] = field(default_factory=dict)
    first_text: tuple[int, str] | None = None
    signs: set[str] = field(default_factory=set)  # %, € … at its numbers; "" where there is none
    digit_texts: int = 0  # texts that begin like a number: 12 kg, 2024-01-31
    truth_values: int = 0  # true and false
    grouped_by_points: int = 0
    other_points: int = 0
    seen: set[str] | None = field(default_factory=set)  # values but missing ones; None as soon as one repeats
    low: int | None = None
    high: int | None = None
    whole: bool = True
    fraction: bool = False
    only_otherwise: dict[str, tuple[int, str]] = field(default_factory=dict)  # a cell that a mark makes no sense of

    def add(self, row: int, text: str) -> None:
        how = "plain" if text.isdigit() and text.isascii() else kind(text)
        self.counts[how] = self.counts.get(how, 0) + 1
        if how == "text":
            self._add_text(row, text)
        if how in ("comma", "point"):
            self.only_otherwise.setdefault(POINT if how == "comma" else COMMA, (row, text))
        if how not in ("text", "missing"):
            text, sign = without_sign(text)
            self.signs.add(sign)
        if how == "plain" and not text.isdigit() and "." in text:
            if is_grouped_by_points(text):
                self.grouped_by_points += 1
            else:
                self.other_points += 1
                self.only_otherwise.setdefault(COMMA, (row, text))
        if self.seen is not None:
            if text in self.seen and how != "missing":
                self.seen = None
            elif how != "missing":
                self.seen.add(text)
        if not self.fraction and how in ("plain", "comma"):
            self.fraction = _FRACTION.search(text) is not None
        if self.whole and how != "missing":
            self._add_whole(text)

    def _add_text(self, row: int, text: str) -> None:
        if self.first_text is None:
            self.first_text = (row, text)
        begins = text.lstrip(" (+-<>~≈")
        self.digit_texts += begins[:1].isdecimal()
        self.truth_values += text.strip().lower() in ("true", "false")

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
    def hint(self) -> str:
        """What to do where a measurement may hide in a column of texts."""
        n_texts = self.of("text")
        if n_texts and self.truth_values == n_texts:
            return "write 1 and 0 to use it as a feature"
        if self.first_text is None or self.digit_texts < _MOSTLY * n_texts:
            return ""
        return f"{clean_text(self.first_text[1].strip())[:30]!r} is no plain number: write such to use it as a feature"

    @property
    def n_numbers(self) -> int:
        return self.of("plain", "comma", "point", "either", "spaced")


def read(source: Source) -> Samples:
    """A text table; comma, semicolon, tab or | between the values, with or without a header."""
    try:
        text = TableText(source)
        records = text.records()
        scans, first, n_records = _scan(records, source)
        numbered = _numbered_columns(scans, first)
        has_header = n_records > 1 and (bool(numbered) or any(
            scan.n_numbers and not scan.of("text") and kind(cell) == "text"
            for scan, cell in zip(scans, first, strict=True)
        ))  # fmt: skip
        if n_records == 1 and all(kind(cell) in ("text", "missing") for cell in first):
            shown = listed([clean_text(shortened(cell.strip(), 20)) for cell in first], 4)
            raise InputError(f"{source.shown} holds one line ({shown}) and no numbers; write a row for every sample")
        if not has_header:
            for scan, cell in zip(scans, first, strict=True):
                scan.add(0, cell)
        header = [clean_text(name.strip()) or f"column {i}" for i, name in enumerate(first)] if has_header else None
        return _table(text, scans, header, n_records - has_header, source, numbered)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{source.shown} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8"
        ) from error
    except csv.Error as error:
        raise InputError(f"{source.shown} cannot be read as a table: {error}") from error


def _numbered_columns(scans: Sequence[_Scan], first: Sequence[str]) -> list[int]:
    """What the first line counts, if it is a header of years or of columns numbered by another program."""
    cells = [(scan, cell.strip()) for scan, cell in zip(scans, first, strict=True) if kind(cell) != "text"]
    cells = [(scan, cell) for scan, cell in cells if cell]
    if len(cells) < _FEW_COLUMNS or not all(cell.isdecimal() and cell.isascii() for _, cell in cells):
        return []
    numbers = [int(cell) for _, cell in cells if len(cell) < 10]
    steps = {later - earlier for earlier, later in pairwise(numbers)}
    fractions = all(scan.fraction for scan, _ in cells)  # samples with fractions do not begin with one without
    if len(numbers) < len(cells) or len(steps) != 1 or steps == {0}:
        return []
    return numbers if fractions or len(numbers) >= _MANY_COLUMNS else []


def _scan(records: Iterator[tuple[int, list[str]]], source: Source) -> tuple[list[_Scan], list[str], int]:
    first_line, first = next(records, (0, []))
    if not first:
        raise InputError(f"{source.shown} has no rows")
    scans, n_records = [_Scan() for _ in first], 1
    for line, cells in records:
        if len(cells) != len(first):
            raise InputError(_uneven(first_line, first, line, cells, source.shown))
        for scan, cell in zip(scans, cells, strict=True):
            scan.add(n_records, cell)
        n_records += 1
    return scans, first, n_records


def _uneven(first_line: int, first: Sequence[str], line: int, cells: Sequence[str], shown: str) -> str:
    if len(first) == 1 < len(cells):  # a title or a remark, not the header
        title = clean_text(shortened(first[0].strip(), 40))
        return (
            f"{shown}: line {first_line} ({title!r}) has 1 value, line {line} has {len(cells)}; delete what stands "
            "above the header"
        )
    return (
        f"{shown}: line {line} has {counted(len(cells), 'value')} where {len(first)} are expected; "
        "give every line as many"
    )


def _table(
    text: TableText, scans: Sequence[_Scan], header: list[str] | None, n_rows: int, source: Source,
    numbered: Sequence[int] = (),
) -> Samples:  # fmt: skip
    known = header or [f"column {index}" for index in range(len(scans))]
    decimal = _decimal_of_file(scans)
    dropped = {part.strip() for name in source.options.drop for part in (name, *name.split(","))}
    marks = [_decimal(scan, decimal, source.options.decimal) for scan in scans]
    facts = []
    for name, scan, mark in zip(known, scans, marks, strict=True):
        _refuse_stray_text(scan, name, bool(header), dropped, source)
        facts.append(_facts(scan, name, mark))
    roles = assign(facts, n_rows, source.options, source.shown)
    for index in roles.features:
        _refuse_other_mark(scans[index], known[index], bool(header), source)
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
    if header and numbered:
        notes.append(
            f"the first line counts {listed([str(one) for one in numbered])} and is taken as the header, not as a "
            "sample; write a header above it if it is one"
        )
    if text.empty_at_end:
        notes.append(f"{counted(text.empty_at_end, 'line')} without any value at the end of the file left out")
    if names and len(set(names)) < len(names):
        notes.append("some names repeat: the samples they stand for cannot be told apart by name")
    matrix = checked_matrix(X, source.shown, [known[index] for index in roles.features])
    return Samples(matrix, tuple(names) or None, target, class_names, None, tuple(notes), roles.columns)


def _decimal_of_file(scans: Sequence[_Scan]) -> str | None:
    """The mark that stands before fractions in all columns that tell; None if they differ or none tells."""
    commas = any(scan.of("comma") for scan in scans)
    points = any(scan.of("point") for scan in scans)
    if commas and not points:
        return COMMA
    return POINT if not commas and (points or any(scan.other_points for scan in scans)) else None


def _decimal(scan: _Scan, of_file: str | None, asked: str | None) -> str:
    """The mark before the fractions of a column, by its own cells, then by the rest of the file."""
    if asked is not None:
        return asked
    if scan.of("comma") and not scan.of("point"):
        return COMMA
    if scan.of("point") or scan.other_points:
        return POINT
    if scan.of("either"):
        return of_file or (POINT if scan.grouped_by_points else COMMA)
    return COMMA if of_file == COMMA and scan.grouped_by_points else POINT


def _facts(scan: _Scan, name: str, mark: str) -> Facts:
    remark = ""
    confused = bool(scan.of("comma") and (scan.of("point") or scan.other_points))
    mixed = len(scan.signs) > 1 and not scan.of("text")
    numeric = not scan.of("text") and not confused and not mixed
    distinct = scan.seen is not None and not scan.of("missing")
    if mixed:
        signs = " and ".join(f"with {sign}" if sign else "without a sign" for sign in sorted(scan.signs, reverse=True))
        remark = f"numbers {signs}; write them one way"
    elif confused:
        remark = "numbers with decimal points and with decimal commas; write them one way"
    elif not numeric:
        remark = about_text(None if scan.seen is None else len(scan.seen), scan.of("missing"), scan.hint)
    elif mark == COMMA and (scan.of("comma", "either") or scan.grouped_by_points):
        unsure = "" if scan.of("comma") else " (--decimal . reads them with points)"
        remark = f"read with decimal commas{unsure}"
    elif scan.of("point", "either", "spaced"):
        unsure = " (--decimal , reads decimal commas)" if scan.of("either") and not scan.of("point") else ""
        remark = f"read with groups of thousands{unsure}"
    if numeric and scan.signs - {""}:
        remark = "; ".join(filter(None, (f"read without the sign {max(scan.signs)}", remark)))
    whole = scan.whole and scan.signs <= {""}
    span = scan.high - scan.low if whole and scan.low is not None and scan.high is not None else None
    return Facts(
        name, numeric, distinct and not confused and not mixed, span is not None, span,
        scan.of("missing"), empty=not scan.n_numbers and not scan.of("text"), remark=remark,
        fraction=numeric and scan.fraction, hint=scan.hint,
    )  # fmt: skip


def _refuse_other_mark(scan: _Scan, name: str, has_header: bool, source: Source) -> None:
    """A number that has no meaning with the mark asked for: 1,32 with points would be 132."""
    mark = source.options.decimal
    if mark in scan.only_otherwise:
        record, text = scan.only_otherwise[mark]
        raise InputError(
            f"{source.shown}: row {record - has_header} has {clean_text(text.strip())[:40]!r} in column {name!r}, "
            f"which is no number with --decimal {mark}; without it each column is read by its own mark"
        )


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
