"""The records of a report as JSON and arrays, and back. New fields of the records are kept without a change here."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from masked_subspace._common.types import Array, Record, RecordView
from masked_subspace.inputs import InputError
from masked_subspace.report import record

_RECORDS = {cls.__name__: cls for cls in vars(record).values() if isinstance(cls, type) and is_dataclass(cls)}
_PARTS = ("data", "indices", "indptr")


def encoded(value: object, arrays: Record, path: str = "record") -> object:
    """`value` as JSON can hold it; arrays and graphs go to `arrays` under a name that says where they belong."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, bytes):
        return {"@bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return encoded(value.tolist(), arrays, path)
        arrays[path] = value.astype(np.float32) if value.dtype == np.float64 else value
        return {"@array": path}
    if issparse(value):
        graph = csr_array(value)
        arrays |= {f"{path}.{part}": getattr(graph, part) for part in _PARTS}
        return {"@graph": path, "shape": [int(side) for side in graph.shape]}
    if isinstance(value, list | tuple):
        items = [encoded(item, arrays, f"{path}.{number}") for number, item in enumerate(value)]
        return {"@tuple": items} if isinstance(value, tuple) else items
    if isinstance(value, Mapping):
        return {"@map": [[key, encoded(item, arrays, f"{path}.{number}")] for number, (key, item) in
                         enumerate(value.items())]}  # fmt: skip
    if type(value).__name__ in _RECORDS:
        named = {one.name: encoded(getattr(value, one.name), arrays, f"{path}.{one.name}") for one in fields(value)}  # type: ignore[arg-type]
        return {"@record": type(value).__name__, "fields": named}
    raise TypeError(f"{path} is a {type(value).__name__}, which a stored run cannot hold")


def decoded(value: Any, arrays: RecordView) -> Any:
    """The other way; ValueError or KeyError if something is not as `encoded` makes it."""
    if isinstance(value, list):
        return [decoded(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "@bytes" in value:
        return base64.b64decode(value["@bytes"], validate=True)
    if "@array" in value:
        return arrays[value["@array"]]
    if "@graph" in value:
        parts = tuple(arrays[f"{value['@graph']}.{part}"] for part in _PARTS)
        return checked_graph(parts, value["shape"], value["@graph"])
    if "@tuple" in value:
        return tuple(decoded(item, arrays) for item in value["@tuple"])
    if "@map" in value:
        return {key: decoded(item, arrays) for key, item in value["@map"]}
    cls = _RECORDS[value["@record"]]
    known = {one.name for one in fields(cls)}
    return cls(**{key: decoded(item, arrays) for key, item in value["fields"].items() if key in known})


def _two_sides(shape: object) -> tuple[int, int]:
    whole = isinstance(shape, list) and len(shape) == 2 and all(type(side) is int and side >= 0 for side in shape)
    if not whole:
        raise ValueError(f"its shape {shape} is not two whole numbers")
    return tuple(shape)  # type: ignore[arg-type, return-value]


def checked_graph(parts: tuple[Array, Array, Array], shape: object, shown: str) -> csr_array:
    """A sparse matrix whose every index lies inside its shape; library code would read beyond the memory otherwise."""
    try:
        if parts[1].dtype.kind not in "iu" or parts[2].dtype.kind not in "iu" or parts[0].dtype.kind not in "fiub":
            raise ValueError("its parts are not numbers and indices")
        graph = csr_array(parts, shape=_two_sides(shape))
        graph.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{shown} holds no valid sparse matrix: {error}") from error
    return graph
