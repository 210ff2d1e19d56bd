"""Reading `.parquet` through pyarrow (extra `data`); columns get their roles as in a text table."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np

from masked_subspace._common.types import Array
from masked_subspace.inputs.columns import Facts, about_text, assign, notes_on
from masked_subspace.inputs.limits import ARRAY_BYTES, check_size, decoding
from masked_subspace.inputs.samples import MissingExtraError, Samples, Source, checked_matrix, numbered_classes
from masked_subspace.inputs.text import clean_text

if TYPE_CHECKING:
    from pyarrow import ChunkedArray, Table


def read(source: Source) -> Samples:
    """A Parquet table."""
    try:
        from pyarrow import parquet, types
    except ImportError as error:
        raise MissingExtraError(f"reading {source.shown} needs pyarrow: pip install 'masked-subspace[data]'") from error
    with decoding(source.shown, "Parquet"):
        file = parquet.ParquetFile(source.path)
        claimed = file.metadata.num_rows * max(1, file.metadata.num_columns) * 8
        check_size(claimed, source.shown, source.limit(ARRAY_BYTES))
        table = file.read()
        facts = [_facts(table, index, types) for index in range(table.num_columns)]
        roles = assign(facts, table.num_rows, source.options, source.shown)
        columns = [_numbers(table.column(index)) for index in roles.features]
        names = None if roles.names is None else tuple(_texts(table.column(roles.names)))
        labels = None if roles.labels is None else _texts(table.column(roles.labels))
    target, class_names = numbered_classes(labels) if labels else (None, None)
    X = checked_matrix(np.column_stack(columns), source.shown, [facts[index].name for index in roles.features])
    return Samples(X, names, target, class_names, None, notes_on(roles.columns), roles.columns)


def _facts(table: Table, index: int, types: ModuleType) -> Facts:
    column, kind = table.column(index), table.schema.types[index]
    name = clean_text(str(table.column_names[index])) or f"column {index}"
    whole = types.is_integer(kind)
    numeric = whole or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind)
    is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind)
    distinct, span = False, None
    if (whole or is_text) and len(column) and column.null_count == 0:
        values = column.to_pylist()
        distinct = len(set(values)) == len(values)
        span = max(values) - min(values) if whole else None
    remark = "true and false are 1 and 0" if types.is_boolean(kind) else ""
    if not numeric:
        remark = _about(column) if is_text else f"{clean_text(str(kind))[:60]}, not a column of numbers"
    missing = int(column.null_count) + (int(np.isnan(_numbers(column)).sum()) if types.is_floating(kind) else 0)
    missing = min(missing, int(np.isnan(_numbers(column)).sum())) if types.is_floating(kind) else missing
    fraction = bool(types.is_floating(kind) and (np.nan_to_num(_numbers(column)) % 1 != 0).any())
    return Facts(
        name, numeric, distinct, whole, span, missing, empty=column.null_count == len(column), remark=remark,
        fraction=fraction,
    )  # fmt: skip


def _about(column: ChunkedArray) -> str:
    texts = [value for value in column.to_pylist() if value is not None]
    different = len(set(texts))
    return about_text(different if different == len(texts) else None, int(column.null_count))


def _numbers(column: ChunkedArray) -> Array:
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _texts(column: ChunkedArray) -> list[str]:
    return [clean_text(str(value)) for value in column.to_pylist()]
