"""The order in which places are asked for a set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from masked_subspace.datasets.spec import DatasetSpec, ImageSet
from masked_subspace.datasets.storage import read_npz


@dataclass(frozen=True)
class Found:
    """A set on this machine. ``source`` is "folder", "cache" or "package"."""

    spec: DatasetSpec
    source: str
    path: Path

    def read(self) -> ImageSet:
        if self.source == "package":
            assert self.spec.package is not None
            return self.spec.package.read(self.path)
        return read_npz(self.path, f"{self.source} {self.path.parent}")


def find_on_this_machine(spec: DatasetSpec, folder: Path | None, cache: Path) -> Found | None:
    """The user's folder, then the cache, then an installed package."""
    for source, place in (("folder", folder), ("cache", cache)):
        if place and (path := place / f"{spec.name}.npz").is_file():
            return Found(spec, source, path)
    if spec.package and (location := spec.package.locate()):
        return Found(spec, "package", location)
    return None
