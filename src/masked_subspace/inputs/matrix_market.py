"""Reading Matrix Market files, `.mtx` and `.mtx.gz`: rows are samples."""

from __future__ import annotations

import io

import numpy as np
from scipy.io import mminfo, mmread
from scipy.sparse import issparse

from masked_subspace.inputs.limits import ARRAY_BYTES, bounded_gzip, check_size, decoding
from masked_subspace.inputs.samples import InputError, Samples, Source, as_csr, checked_matrix


def read(source: Source) -> Samples:
    """A sparse or dense matrix; the header may not claim more entries than the text can hold."""
    limit = source.limit(ARRAY_BYTES)
    with source.path.open("rb") as stream:
        is_packed = stream.read(2) == b"\x1f\x8b"
    if is_packed:
        content = bounded_gzip(source.path, source.shown, limit)
    else:
        check_size(source.path.stat().st_size, source.shown, limit)
        content = source.path.read_bytes()
    with decoding(source.shown, "Matrix Market"):
        rows, columns, entries, form, kind, _ = mminfo(io.BytesIO(content))
        if kind == "complex":
            raise InputError(f"{source.shown} holds complex values; real numbers are needed")
        if entries > len(content) or (form == "array" and rows * columns > 2 * len(content)):
            raise InputError(f"{source.shown} claims {entries} entries, more than its {len(content)} bytes can hold")
        check_size(8 * (rows + columns), source.shown, limit)
        found = mmread(io.BytesIO(content))
    X = as_csr(found) if issparse(found) else np.asarray(found)
    return Samples(checked_matrix(X, source.shown))
