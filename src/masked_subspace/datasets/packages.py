"""Finding a file inside an installed package without importing the package."""

from __future__ import annotations

from importlib import metadata, util
from pathlib import Path


def installed_file(package: str, *parts: str) -> Path | None:
    """The path below the package's folder, or None if package or file is missing."""
    try:
        spec = util.find_spec(package)
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder).joinpath(*parts)
        if path.exists():
            return path
    return None


def package_label(package: str) -> str:
    try:
        return f"package {package} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return f"package {package}"
