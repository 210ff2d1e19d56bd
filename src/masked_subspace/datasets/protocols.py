"""The samples behind the paper's tables: the same ones for the same trial on every machine."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.utils import Bunch

from masked_subspace.datasets.loading import load

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Protocol:
    """Which rows of which set make up a trial. ``varies``: whether trials differ."""

    dataset: str
    select: Callable[[NDArray[np.int64], int], Indices]
    varies: bool
    description: str


def random_rows(labels: NDArray[np.int64], trial: int, *, count: int) -> Indices:
    """``count`` rows without replacement; the trial is the seed."""
    if count > len(labels):
        raise ValueError(f"the protocol draws {count} samples, but the set served has only {len(labels)}")
    return np.random.default_rng(trial).choice(len(labels), size=count, replace=False).astype(np.intp)


def first_of_each_class(labels: NDArray[np.int64], _trial: int, *, count: int) -> Indices:
    """The first ``count`` rows of each class, class by class; every trial is the same."""
    rows = [np.flatnonzero(labels == k)[:count] for k in range(int(labels.max()) + 1)]
    if min(map(len, rows)) < count:
        raise ValueError(f"the protocol takes {count} samples of each class, but a class has fewer")
    return np.concatenate(rows)


def all_rows(labels: NDArray[np.int64], _trial: int) -> Indices:
    return np.arange(len(labels))


def _whole(name: str) -> Protocol:
    return Protocol(name, all_rows, False, "the whole set")


PROTOCOLS: dict[str, Protocol] = {
    "mnist-1000": Protocol(
        "mnist", partial(random_rows, count=1000), True, "1,000 random samples, the trial is the seed"
    ),
    "usps-1000": Protocol("usps", partial(first_of_each_class, count=100), False, "the first 100 images of each digit"),
    "usps-random-1000": Protocol(
        "usps", partial(random_rows, count=1000), True, "1,000 random samples, the trial is the seed"
    ),
    "orl": _whole("orl"),
    "coil20": _whole("coil20"),
    "coil100": _whole("coil100"),
    "digits": _whole("digits"),
}


def load_protocol(
    name: str,
    trial: int = 0,
    *,
    data_home: str | os.PathLike[str] | None = None,
    cache_home: str | os.PathLike[str] | None = None,
    download: bool = True,
    dtype: DTypeLike | None = np.float32,
) -> Bunch:
    """Load the samples of one trial of a protocol: the same ones on every machine.

    Parameters
    ----------
    name : {"mnist-1000", "usps-1000", "usps-random-1000", "orl", "coil20", "coil100", "digits"}
        The protocol: a set and which of its samples are taken.
    trial : int, default=0
        The seed of the draw, from 0. Protocols without a draw give the same samples for every trial.
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
        ``protocol``, ``trial``, ``indices`` (rows of the set that was served), ``DESCR`` and ``origin``.

    Raises
    ------
    ValueError
        If there is no such protocol, `trial` is no whole number from 0, or the set served has too few samples.
    DatasetError
        If no source has the set; the text says what to do about it.

    Examples
    --------
    >>> from masked_subspace.datasets import load_protocol
    >>> load_protocol("digits").data.shape
    (1797, 64)
    """
    if name not in PROTOCOLS:
        raise ValueError(f"name={name!r} is not a known protocol; choose one of {', '.join(PROTOCOLS)}")
    if isinstance(trial, bool) or not isinstance(trial, int | np.integer) or trial < 0:
        raise ValueError(f"trial={trial!r} must be a whole number from 0: it is the seed of the draw")
    protocol = PROTOCOLS[name]
    whole = load(protocol.dataset, data_home=data_home, cache_home=cache_home, download=download, dtype=None)
    indices = protocol.select(whole.target, int(trial))
    drawn = f" (trial {trial})" if protocol.varies else ""
    return Bunch(
        data=whole.data[indices] if dtype is None else whole.data[indices].astype(dtype),
        target=whole.target[indices],
        images_shape=whole.images_shape,
        name=whole.name,
        protocol=name,
        trial=int(trial),
        indices=indices,
        origin=whole.origin,
        DESCR=f"{whole.DESCR}\nProtocol {name}: {protocol.description}{drawn}, of the {len(whole.target):,} served.",
    )
