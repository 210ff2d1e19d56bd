"""Reading `.npy` and `.npz`. Pickles are never loaded: they can run code."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from masked_subspace.inputs.samples import LABEL_NAMES, Array, InputError, Samples, checked_matrix, numbered_classes

_DATA_KEYS = ("X", "data", "x", "features", "arr_0")


def read_npy(path: Path) -> Samples:
    """A matrix, or a stack of images (n × height × width)."""
    return _from_array(_load(path), str(path))


def read_npz(path: Path) -> Samples:
    """`X` (or `data`, or the only matrix), and if they are there `y`/`target`/`labels` and `shape` of an image."""
    archive = _load(path)
    try:
        keys = list(archive.files)
        data_key = _data_key(archive, keys, path)
        samples = _from_array(_entry(archive, data_key, path), f"{path} [{data_key}]")
        label_key = next((key for key in keys if key.lower() in LABEL_NAMES), None)
        shape = _entry(archive, "shape", path) if "shape" in keys else None
        labels = _entry(archive, label_key, path) if label_key is not None else None
    finally:
        archive.close()
    images_shape = samples.images_shape
    if shape is not None and shape.ndim == 1 and int(np.prod(shape)) == samples.X.shape[1]:
        images_shape = tuple(int(side) for side in shape)
    if labels is None:
        return Samples(samples.X, images_shape=images_shape)
    if labels.shape != (samples.n_samples,):
        raise InputError(f"{path} has {samples.n_samples} samples but {label_key} of shape {labels.shape}")
    target, class_names = numbered_classes(labels)
    note = f"{label_key} of the file is taken as the truth to compare with, not as a feature"
    return Samples(samples.X, None, target, class_names, images_shape, (note,))


def _load(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        # numpy's own words advise to unpickle what it does not know.
        reason = "it holds no plain array; Python objects are never loaded" if "pickle" in str(error) else error
        raise InputError(f"{path} cannot be read as {path.suffix}: {reason}") from error


def _entry(archive: Any, key: str, path: Path) -> Array:
    try:
        return np.asarray(archive[key])
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"{path} [{key}] cannot be read: {error}") from error


def _data_key(archive: Any, keys: list[str], path: Path) -> str:
    for key in _DATA_KEYS:
        if key in keys:
            return key
    matrices = [key for key in keys if _entry(archive, key, path).ndim >= 2]
    if len(matrices) != 1:
        raise InputError(f"{path} holds {', '.join(keys) or 'nothing'}; name the matrix of samples X")
    return matrices[0]


def _from_array(array: Array, source: str) -> Samples:
    if array.ndim in (3, 4):
        images_shape = tuple(int(side) for side in array.shape[1:])
        return Samples(checked_matrix(array.reshape(array.shape[0], -1), source), images_shape=images_shape)
    return Samples(checked_matrix(array, source))
