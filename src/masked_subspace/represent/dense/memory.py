"""How much memory a dense solve needs, how much there is, and a clear refusal before any work."""

from __future__ import annotations

import os
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int | None:
    """Memory this process may still take, or None where the system does not say."""
    found = [value for value in (_free_in_system(), _free_in_cgroup()) if value is not None]
    return min(found) if found else None


def require_memory(needed: int, n_samples: int) -> None:
    """Raise `ValueError` when `needed` bytes are more than there are."""
    available = available_bytes()
    if available is not None and needed > available:
        raise ValueError(
            f"solver='dense' needs about {_readable(needed)} for {n_samples} samples but only {_readable(available)} "
            "of memory is free. Use solver='sparse', whose memory grows with n × n_candidates, give X as float32, "
            "or fit fewer samples."
        )


def _free_in_system() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _free_in_cgroup() -> int | None:
    """A container's own limit, which /proc/meminfo does not know."""
    try:
        limit = (_CGROUP / "memory.max").read_text().strip()
        used = (_CGROUP / "memory.current").read_text().strip()
        return None if limit == "max" else max(0, int(limit) - int(used))
    except (OSError, ValueError):
        return None


def _readable(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"
