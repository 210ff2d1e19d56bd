"""Reading MATLAB's `.mat` up to version 7 through scipy, which runs nothing of what a file holds."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.io import loadmat, whosmat
from scipy.sparse import issparse

from masked_subspace._common.nearest_name import did_you_mean
from masked_subspace._common.types import Array, Matrix, Record
from masked_subspace.inputs.limits import ARRAY_BYTES, check_size, decoding
from masked_subspace.inputs.matlab_tags import check_claims
from masked_subspace.inputs.samples import (
    LABEL_NAMES,
    InputError,
    Samples,
    Source,
    as_csr,
    checked_matrix,
    numbered_classes,
)
from masked_subspace.inputs.text import clean_text, listed

_DATA_NAMES = ("X", "x", "data", "fea", "features", "A", "Y")
_NUMBERS = frozenset({"double", "single", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
                      "logical", "sparse"})  # fmt: skip


def variables(path: Path, shown: str, limit: int) -> dict[str, tuple[int, ...]]:
    """The numeric variables of a file and their shapes, none of them larger than the limit."""
    with path.open("rb") as stream:
        if (
            stream.read(520)[512:520] == b"\x89HDF\r\n\x1a\n"
            or stream.seek(0)
            or stream.read(8) == b"\x89HDF\r\n\x1a\n"
        ):
            raise InputError(f"{shown} is a MATLAB v7.3 file; save it with -v7")
    with decoding(shown, ".mat"):
        check_claims(path, shown, limit)
        found = {str(name): tuple(int(side) for side in shape) for name, shape, kind in whosmat(path)
                 if kind in _NUMBERS}  # fmt: skip
    for name, shape in found.items():
        check_size(8 * math.prod(shape) if all(side >= 0 for side in shape) else limit + 1, f"{shown} [{name}]", limit)
    return found


def load(path: Path, names: list[str], shown: str) -> Record:
    """These variables."""
    with decoding(shown, ".mat"):
        loaded = loadmat(path, variable_names=names)
        return {name: loaded[name] for name in names}


def read(source: Source) -> Samples:
    """`X` (or `data`, `fea`, or the only matrix); `gnd`, `y`, `label`… is the truth and says which side is samples."""
    shown, options = source.shown, source.options
    found = variables(source.path, shown, source.limit(ARRAY_BYTES))
    label = options.label_column or next((name for name in found if name.lower() in LABEL_NAMES), None)
    if label is not None and label not in found:
        hint = did_you_mean(label, found)
        raise InputError(f"{shown} has no variable {label!r} (--label-column){hint}; it has {listed(list(found), 20)}")
    matrices = [name for name, shape in found.items() if len(shape) == 2 and min(shape) > 1 and name != label]
    data = next((name for name in _DATA_NAMES if name in matrices), matrices[0] if len(matrices) == 1 else None)
    if data is None:
        raise InputError(
            f"{shown} holds {listed([clean_text(n) for n in found], 20) or 'no matrix'}; name the matrix X"
        )
    loaded = load(source.path, [data, *([label] if label else [])], shown)
    X = as_csr(loaded[data]) if issparse(loaded[data]) else np.asarray(loaded[data])
    unused = [clean_text(name) for name in found if name not in (data, label)]
    notes = [
        f"variable {clean_text(data)!r} is the samples",
        *([f"not used of the file: {listed(unused)}"] * bool(unused)),
    ]
    if label is None:
        return Samples(checked_matrix(X, shown), notes=tuple(notes))
    labels = np.asarray(loaded[label]).ravel()
    if len(labels) == X.shape[1] != X.shape[0]:
        X = as_csr(X.T) if issparse(X) else np.ascontiguousarray(X.T)
        notes.append(f"its columns are the samples: {clean_text(label)!r} has {len(labels)} values")
    return replace(_with_truth(X, labels, label, shown), notes=(*notes, f"variable {clean_text(label)!r} is the truth"))


def _with_truth(X: Matrix, labels: Array, label: str, shown: str) -> Samples:
    if len(labels) != X.shape[0]:
        raise InputError(f"{shown} has {X.shape[0]} samples but {clean_text(label)} of {len(labels)} values")
    target, class_names = numbered_classes(labels)
    return Samples(checked_matrix(X, shown), None, target, class_names)
