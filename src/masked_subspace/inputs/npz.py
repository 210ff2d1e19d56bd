"""Reading `.npz`: a matrix with its truth and image shape, or a matrix that `scipy.sparse.save_npz` wrote."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from masked_subspace._common.nearest_name import did_you_mean
from masked_subspace._common.types import Array
from masked_subspace.inputs.limits import ARRAY_BYTES, check_size, decoding
from masked_subspace.inputs.npy import from_array
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
from masked_subspace.inputs.zipped import ZippedArrays

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_DATA_KEYS = ("X", "data", "x", "features", "arr_0")
_SPARSE_PARTS = {
    "csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "bsr": ("indices", "indptr"), "coo": ("row", "col"),
    "dia": ("offsets",),
}  # fmt: skip


def read(source: Source) -> Samples:
    """`X` (or `data`, or the only matrix), and if they are there `y`/`target`/`labels` and `shape` of an image."""
    with ZippedArrays(source.path, source.shown, source.limit(ARRAY_BYTES)) as archive:
        if {"format", "shape", "data"} <= set(archive.keys):
            return Samples(_sparse(archive, source))
        key = _data_key(archive)
        samples = from_array(archive.read(key), f"{source.shown} [{clean_text(key)}]")
        used = {key}
        if "shape" in archive:
            used.add("shape")
            samples = _with_shape(samples, archive.read("shape"))
        label_key = source.options.label_column or next((k for k in archive.keys if k.lower() in LABEL_NAMES), None)
        if label_key is not None:
            used.add(label_key)
            samples = _with_labels(samples, archive, label_key)
        unused = [clean_text(one) for one in archive.keys if one not in used]
    if unused:
        samples = replace(samples, notes=(*samples.notes, f"not used of the file: {listed(unused)}"))
    return samples


def _data_key(archive: ZippedArrays) -> str:
    for key in _DATA_KEYS:
        if key in archive:
            return key
    matrices = [key for key in archive.keys if len(archive.shape(key)) >= 2]
    if len(matrices) != 1:
        held = listed([clean_text(key) for key in archive.keys], 20) or "nothing"
        raise InputError(f"{archive.shown} holds {held}; name the matrix of samples X")
    return matrices[0]


def _with_shape(samples: Samples, shape: Array) -> Samples:
    sides = [int(side) for side in shape] if shape.ndim == 1 and shape.dtype.kind in "iu" and shape.size <= 3 else []
    if len(sides) >= 2 and min(sides) > 0 and int(np.prod(sides, dtype=object)) == samples.X.shape[1]:
        return replace(samples, images_shape=tuple(sides))
    said = clean_text(str(shape.tolist()))[:60]
    fault = f"shape {said} of the file is no image of {samples.X.shape[1]} values and is not used"
    return replace(samples, faults=(*samples.faults, fault))


def _with_labels(samples: Samples, archive: ZippedArrays, key: str) -> Samples:
    if key not in archive:
        hint = did_you_mean(key, archive.keys)
        raise InputError(
            f"{archive.shown} has no array {key!r} (--label-column){hint}; it has {listed(list(archive.keys), 20)}"
        )
    labels, shown = archive.read(key), clean_text(key)
    if labels.shape == (samples.n_samples, 1):
        labels = labels[:, 0]
    if labels.shape != (samples.n_samples,):
        raise InputError(f"{archive.shown} has {samples.n_samples} samples but {shown} of shape {labels.shape}")
    if labels.dtype.kind not in "iufbUS":
        raise InputError(f"{archive.shown} [{shown}] holds {labels.dtype}; numbers or texts are needed")
    target, class_names = numbered_classes(labels)
    note = f"{shown} of the file is taken as the truth to compare with, not as a feature"
    return replace(samples, target=target, class_names=class_names, notes=(*samples.notes, note))


def _sparse(archive: ZippedArrays, source: Source) -> csr_array:
    """What `scipy.sparse.save_npz` wrote, every index checked: library code would read beyond the memory otherwise."""
    shown = source.shown
    with decoding(shown, "a sparse matrix"):
        form = archive.read("format").item()
        form = form.decode("ascii") if isinstance(form, bytes) else str(form)
        if form not in _SPARSE_PARTS:
            raise InputError(f"{shown} holds a sparse matrix of an unknown form {clean_text(form)[:20]!r}")
        sides = archive.read("shape")
        if sides.dtype.kind not in "iu" or sides.shape != (2,):
            raise InputError(f"{shown} holds no valid sparse matrix: its shape is not two whole numbers")
        shape = tuple(int(side) for side in sides)
        check_size(8 * sum(map(abs, shape)), shown, source.limit(ARRAY_BYTES))
        parts = [archive.read("data"), *(archive.read(part) for part in _SPARSE_PARTS[form])]
        if any(part.dtype.kind not in "iu" for part in parts[1:]) or min(shape) < 0:
            raise InputError(f"{shown} holds no valid sparse matrix: its indices or its shape are no whole numbers")
        return checked_matrix(as_csr(_built(form, parts, shape)), shown)


def _built(form: str, parts: list[Array], shape: tuple[int, ...]) -> csr_array:
    data, *places = parts
    if form == "coo":
        return sparse.coo_array((data, tuple(places)), shape=shape)
    if form == "dia":
        return sparse.dia_array((data, places[0]), shape=shape)
    built = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}[form](
        (data, *places), shape=shape
    )
    built.check_format(full_check=True)
    return built
