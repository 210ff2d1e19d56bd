"""The text of a table, cut into cells: which mark parts them, and which lines hold nothing."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import TextIO

from masked_subspace.inputs.limits import TEXT_BYTES, bounded_gzip, regular_file
from masked_subspace.inputs.numbers import kind
from masked_subspace.inputs.samples import InputError, Source
from masked_subspace.inputs.text import sized

_TRIED_ROWS = 20
_EXCEL_MARK = re.compile(r"\s*\"?sep=(.)\"?\s*", re.IGNORECASE)  # the first line of what Excel exports


class TableText:
    """A table's text, to be gone through more than once."""

    def __init__(self, source: Source) -> None:
        limit, size = source.limit(TEXT_BYTES), regular_file(source.path)
        self._source = source
        self._content: bytes | None = None
        self.empty_at_end = 0  # lines of nothing but marks after the last sample; known after a pass
        with source.path.open("rb") as stream:
            begins = stream.read(4)
        if begins == b"PK\x03\x04":
            raise InputError(f"{source.shown} is a zip archive or an Excel workbook, not text; save it as CSV (UTF-8)")
        if begins[:2] == b"\x1f\x8b":
            self._content = bounded_gzip(source.path, source.shown, limit)
            size = len(self._content)
        elif size > limit:
            raise InputError(
                f"{source.shown} is {sized(size)} of text; at most {sized(limit)} are read at once. "
                "Save it as .npy or .parquet once and cluster that, or raise --max-gb"
            )
        if size == 0:
            raise InputError(f"{source.shown} is empty")
        self._mark_given = False
        self._delimiter = self._find_delimiter()

    def _open(self) -> TextIO:
        if self._content is not None:
            return io.TextIOWrapper(io.BytesIO(self._content), encoding="utf-8-sig", newline="")
        return self._source.path.open(newline="", encoding="utf-8-sig")

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Line numbers (from 1, as editors count) and cells of every line that is not blank."""
        waiting: list[tuple[int, list[str]]] = []
        with self._open() as stream:
            reader = csv.reader(self._lines(stream), delimiter=self._delimiter, skipinitialspace=self._by_spaces)
            for cells in reader:
                if self._mark_given and reader.line_num == 1:
                    continue
                if len(cells) > 1 and not any(cell.strip() for cell in cells):
                    waiting.append((reader.line_num, cells))  # a sample without values, unless no other follows
                elif cells:
                    yield from waiting
                    waiting = []
                    yield reader.line_num, cells
        self.empty_at_end = len(waiting)

    @property
    def _by_spaces(self) -> bool:
        return self._delimiter == " "

    def _lines(self, stream: TextIO) -> Iterable[str]:
        return (line.strip() for line in stream) if self._by_spaces else stream

    def _find_delimiter(self) -> str:
        """The mark that cuts the first lines into equally many cells; a comma may also stand inside numbers."""
        with self._open() as stream:
            lines = [line for _, line in zip(range(_TRIED_ROWS), stream, strict=False) if line.strip()]
        said = _EXCEL_MARK.fullmatch(lines[0]) if lines else None
        if said is not None:
            self._mark_given = True
            return said[1]
        for mark in "\t;|,":
            widths = {len(cells) for cells in csv.reader(lines, delimiter=mark) if cells}
            if len(widths) == 1 and widths != {1}:
                return mark
        if _numbers_between_spaces(lines):
            return " "
        return max(",;\t", key=(lines or [""])[0].count)


def _numbers_between_spaces(lines: list[str]) -> bool:
    """Whether lines are numbers with spaces between them, as numpy.savetxt writes them; the first may be a header."""
    below = [line.split() for line in lines[1:] or lines]
    alike = len({len(cells) for cells in [lines[0].split(), *below]}) == 1 if lines else False
    if not alike or len(below[0]) < 2 or any(kind(cell) == "text" for cells in below for cell in cells):
        return False
    return any(kind(line) == "text" for line in lines[1:] or lines)  # else "1 234" is one number
