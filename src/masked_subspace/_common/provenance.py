"""Where a result comes from: versions, machine, code. Stands beside every number that is kept."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from masked_subspace._common.types import Record

_PACKAGES = ("masked-subspace", "numpy", "scipy", "scikit-learn", "numba", "joblib", "threadpoolctl")
# What cannot move a number of a fit: what reads, stores, shows and measures. Samples have a hash of their own.
_NOT_COMPUTING = frozenset((
    "cli", "report", "inputs", "datasets", "experiments", "bench", "plots",
    "_common/documentation.py", "_common/files.py", "_common/progress.py", "_common/provenance.py",
    "_common/peak_memory.py",
))  # fmt: skip


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that can change a number."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def computing_files() -> list[Path]:
    """The source files that can change the result of a fit, sorted."""
    root = Path(__file__).parents[1]
    return [
        source
        for source in sorted(root.rglob("*.py"))
        if _NOT_COMPUTING.isdisjoint((source.relative_to(root).parts[0], source.relative_to(root).as_posix()))
    ]


@cache
def code_version() -> str:
    """A short hash of the source files that compute: two results with the same one come from the same code."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for source in computing_files():
        digest.update(source.relative_to(root).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]


@cache
def commit() -> str | None:
    """The git commit of a source checkout, with a + if files differ from it; None for an installed package."""
    root = Path(__file__).resolve().parents[3]
    if not (root / ".git").exists():
        return None
    try:
        head = _git(root, "rev-parse", "--short=12", "HEAD")
        changed = _git(root, "status", "--porcelain", "--untracked-files=no", "--", "src")
    except (OSError, subprocess.SubprocessError):
        return None
    return head + ("+" if changed else "")


def _git(root: Path, *arguments: str) -> str:
    finished = subprocess.run(
        ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=10, check=True
    )
    return finished.stdout.strip()


@cache
def processor() -> str:
    """The processor's name as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def load_average() -> float | None:
    """How busy the machine is: the mean number of running processes over the last minute."""
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return None


def provenance(threads: int | None = None) -> Record:
    """All of it, for a row of results."""
    return {
        "versions": versions(),
        "code_version": code_version(),
        "commit": commit(),
        "cpu": processor(),
        "cores": os.cpu_count(),
        "threads": threads,
        "load": load_average(),
        "platform": platform.platform(),
    }
