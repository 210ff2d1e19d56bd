"""Reading `.csv` and `.parquet`: numbers are features, a column called label is the truth, other text is names."""

from __future__ import annotations

import csv
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from masked_subspace.inputs.samples import (
    LABEL_NAMES,
    InputError,
    Samples,
    checked_matrix,
    clean_text,
    numbered_classes,
)

MAX_TEXT_BYTES = 1_000_000_000
_SAMPLED_ROWS = 50
_MISSING = frozenset({"", "na", "nan", "null", "none", "?"})


@dataclass(frozen=True)
class _Roles:
    """Which columns play which part."""

    features: list[int]
    names: int | None
    labels: int | None
    header: list[str] | None

    def describe(self, index: int) -> str:
        """A column as a person would call it."""
        return repr(clean_text(self.header[index])) if self.header else f"number {index + 1}"

    def notes(self) -> tuple[str, ...]:
        """What was decided about columns that are not features."""
        found = []
        if self.names is not None:
            found.append(f"column {self.describe(self.names)} is taken as the samples' names")
        if self.labels is not None:
            found.append(f"column {self.describe(self.labels)} is taken as the truth to compare with, not as a feature")
        return tuple(found)


def read_csv(path: Path, label_column: str | None = None, max_bytes: int | None = None) -> Samples:
    """A text table; comma, semicolon or tab between the values, with or without a header."""
    limit = MAX_TEXT_BYTES if max_bytes is None else max_bytes
    size = path.stat().st_size
    if size > limit:
        raise InputError(
            f"{path} is {size / 1e9:.1f} GB of text; at most {limit / 1e9:.1f} GB are read at once. "
            "Save it as .npy or .parquet once and cluster that, or raise --max-gb"
        )
    if size == 0:
        raise InputError(f"{path} is empty")
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            dialect = _delimiter(stream.readline())
            stream.seek(0)
            return _parse(csv.reader(stream, delimiter=dialect), path, label_column)
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start})") from error
    except csv.Error as error:
        raise InputError(f"{path} cannot be read as a table: {error}") from error


def _delimiter(first_line: str) -> str:
    return max(",;\t", key=first_line.count)


def _parse(reader: Iterator[list[str]], path: Path, label_column: str | None) -> Samples:
    head: list[list[str]] = []
    for row in reader:
        if row:
            head.append(row)
        if len(head) > _SAMPLED_ROWS:
            break
    roles = _roles(head, path, label_column)
    body = head[1:] if roles.header else head
    values, names, labels = array("d"), [], []
    n_rows, width = 0, len(head[0])
    for row in _chain(body, reader):
        if not row:
            continue
        n_rows += 1
        if len(row) != width:
            raise InputError(f"{path}: row {n_rows} has {len(row)} values where {width} are expected")
        try:
            values.extend([float(row[index]) for index in roles.features])
        except ValueError as error:
            raise _not_a_number(row, roles, path, n_rows) from error
        if roles.names is not None:
            names.append(clean_text(row[roles.names]))
        if roles.labels is not None:
            labels.append(row[roles.labels].strip())
    X = np.frombuffer(values, dtype=np.float64).reshape(n_rows, len(roles.features))
    return _samples(X, path, roles, names, labels)


def _chain(first: list[list[str]], rest: Iterator[list[str]]) -> Iterator[list[str]]:
    yield from first
    yield from rest


def _not_a_number(row: Sequence[str], roles: _Roles, path: Path, n_rows: int) -> InputError:
    index = next(index for index in roles.features if not _is_number(row[index]))
    text = clean_text(row[index])[:40]
    what = "a missing value" if text.strip().lower() in _MISSING else f"{text!r}, not a number,"
    remedy = "fill it in or drop the row"
    return InputError(f"{path}: row {n_rows} has {what} in column {roles.describe(index)}; {remedy}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _roles(head: list[list[str]], path: Path, label_column: str | None) -> _Roles:
    if not head:
        raise InputError(f"{path} has no rows")
    body = head[1:] or head
    width = len(head[0])
    numeric = [
        all(_is_number(row[i]) or row[i].strip().lower() in _MISSING for row in body if i < len(row))
        for i in range(width)
    ]
    has_header = len(head) > 1 and any(numeric[i] and not _is_number(head[0][i]) for i in range(width))
    return _assign(numeric, head[0] if has_header else None, path, label_column)


def _assign(numeric: Sequence[bool], header: list[str] | None, path: Path, label_column: str | None) -> _Roles:
    labels = _label_index(header, path, label_column)
    features = [index for index, is_number in enumerate(numeric) if is_number and index != labels]
    names = next((index for index, is_number in enumerate(numeric) if not is_number and index != labels), None)
    if not features:
        raise InputError(f"{path} has no column of numbers; columns of numbers are the features")
    return _Roles(features, names, labels, header)


def _label_index(header: list[str] | None, path: Path, label_column: str | None) -> int | None:
    if label_column is not None:
        if header is None or label_column not in header:
            known = ", ".join(clean_text(name) for name in (header or [])[:20]) or "no header"
            raise InputError(f"{path} has no column {label_column!r} (--label-column); it has {known}")
        return header.index(label_column)
    names = [name.strip().lower() for name in header or []]
    return next((index for index, name in enumerate(names) if name in LABEL_NAMES), None)


def _samples(X: Any, path: Path, roles: _Roles, names: list[str], labels: list[str]) -> Samples:
    target, class_names = numbered_classes(labels) if labels else (None, None)
    return Samples(checked_matrix(X, str(path)), tuple(names) or None, target, class_names, None, roles.notes())


def read_parquet(path: Path, label_column: str | None = None) -> Samples:
    """A Parquet table, through pyarrow (extra `data`)."""
    try:
        import pyarrow as arrow
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(f"reading {path} needs pyarrow: pip install 'masked-subspace[data]'") from error
    try:
        table = parquet.read_table(path)
    except (arrow.ArrowInvalid, OSError) as error:
        raise InputError(f"{path} cannot be read as Parquet: {error}") from error
    kinds = [
        arrow.types.is_floating(t) or arrow.types.is_integer(t) or arrow.types.is_boolean(t) for t in table.schema.types
    ]
    roles = _assign(kinds, list(table.column_names), path, label_column)
    columns = [np.asarray(table.column(index).to_numpy(), dtype=np.float64) for index in roles.features]
    names = [] if roles.names is None else [clean_text(str(value)) for value in table.column(roles.names).to_pylist()]
    labels = [] if roles.labels is None else [str(value) for value in table.column(roles.labels).to_pylist()]
    return _samples(np.column_stack(columns), path, roles, names, labels)
