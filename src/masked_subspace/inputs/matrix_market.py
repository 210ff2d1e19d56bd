"""Reading Matrix Market files, `.mtx` and `.mtx.gz`: rows are samples.

By our own few lines: `scipy.io.mmread` (1.17) ends the whole process with a segmentation fault on some damaged files.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array

from masked_subspace._common.types import FloatArray
from masked_subspace.inputs.limits import ARRAY_BYTES, bounded_gzip, check_size, decoding
from masked_subspace.inputs.samples import InputError, Samples, Source, as_csr, checked_matrix

_BANNER = "%%matrixmarket"
_FORMS = {"coordinate", "array"}
_KINDS = {"real", "integer", "unsigned-integer", "double", "pattern"}
_MIRRORED = {"general": 0, "symmetric": 1, "skew-symmetric": -1}  # the sign of what stands above the diagonal


@dataclass(frozen=True)
class Header:
    """What a file says of itself before its numbers."""

    form: str
    kind: str
    symmetry: str
    shape: tuple[int, int]
    entries: int  # lines of a coordinate file
    length: int  # bytes of all this

    @property
    def mirror(self) -> int:
        return _MIRRORED[self.symmetry]


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
        header = read_header(content)
        rows, columns = header.shape
        claimed = header.entries if header.form == "coordinate" else rows * columns
        if claimed > 2 * len(content):
            raise InputError(f"{source.shown} claims {claimed} entries, more than its {len(content)} bytes can hold")
        check_size(8 * (rows + columns), source.shown, limit)
        numbers = read_numbers(content[header.length :])
        X = _of_coordinates(header, numbers) if header.form == "coordinate" else _of_columns(header, numbers)
    return Samples(checked_matrix(X, source.shown))


def read_header(content: bytes) -> Header:
    """The banner, any comments, and the line of sizes."""
    place = 0
    lines: list[str] = []
    while place < len(content) and len(lines) < 2:
        end = content.find(b"\n", place)
        end = len(content) if end < 0 else end
        line = content[place:end].decode("ascii", "replace").strip()
        if not lines or (line and not line.startswith("%")):
            lines.append(line)
        place = end + 1
    banner = lines[0].lower().split() if lines else []
    if banner[:2] != [_BANNER, "matrix"] or len(banner) != 5:
        raise ValueError("its first line is not %%MatrixMarket matrix … … …")
    form, kind, symmetry = banner[2:]
    if form not in _FORMS or kind not in _KINDS or symmetry not in _MIRRORED or (form == "array" and kind == "pattern"):
        raise ValueError(f"it holds {form} {kind} {symmetry}; real numbers, general or symmetric, are needed")
    sizes = [int(word) for word in (lines[1].split() if len(lines) > 1 else [])]
    if len(sizes) != (3 if form == "coordinate" else 2) or min(sizes) < 0:
        raise ValueError("its line of sizes (rows, columns, and entries of a sparse matrix) is missing or wrong")
    if symmetry != "general" and sizes[0] != sizes[1]:
        raise ValueError(f"it is {symmetry} but {sizes[0]} × {sizes[1]}")
    return Header(form, kind, symmetry, (sizes[0], sizes[1]), sizes[-1], place)


def read_numbers(text: bytes) -> FloatArray:
    """All numbers of a text, which must hold nothing else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # numpy only warns of what it cannot read
        numbers: FloatArray = np.fromstring(text.decode("ascii"), dtype=np.float64, sep=" ")
    return numbers


def _of_coordinates(header: Header, numbers: FloatArray) -> coo_array:
    width = 2 if header.kind == "pattern" else 3
    if len(numbers) != width * header.entries:
        raise ValueError(f"it claims {header.entries} entries but has {len(numbers)} numbers")
    lines = numbers.reshape(-1, width)
    places = lines[:, :2]
    if len(places) and not ((places >= 1) & (places <= header.shape) & (places % 1 == 0)).all():
        raise ValueError(f"it has an entry outside of {header.shape[0]} × {header.shape[1]}")
    row, column = (places.T - 1).astype(np.int64)
    values = np.ones(len(lines)) if header.kind == "pattern" else lines[:, 2]
    if header.mirror:
        off = row != column
        row, column = np.concatenate([row, column[off]]), np.concatenate([column, row[off]])
        values = np.concatenate([values, header.mirror * values[off]])
    return as_csr(coo_array((values, (row, column)), shape=header.shape))


def _of_columns(header: Header, numbers: FloatArray) -> FloatArray:
    rows, columns = header.shape
    if not header.mirror:
        if len(numbers) != rows * columns:
            raise ValueError(f"it claims {rows} × {columns} numbers but has {len(numbers)}")
        return np.ascontiguousarray(numbers.reshape(columns, rows).T)
    # Column by column from the diagonal down, which is the upper triangle row by row; skew ones leave out the diagonal.
    column, row = np.triu_indices(rows, 1 if header.mirror < 0 else 0)
    if len(numbers) != len(row):
        raise ValueError(f"it claims {len(row)} numbers but has {len(numbers)}")
    X = np.zeros(header.shape)
    X[column, row] = header.mirror * numbers
    X[row, column] = numbers
    return X
