"""The largest resident size that this process ever had."""

from __future__ import annotations

import re
from pathlib import Path


def peak_bytes() -> int:
    """Read from Linux where it says so: `ru_maxrss` of a started process begins at the size of its parent."""
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text()) if status.exists() else None
    if found is not None:
        return 1024 * int(found.group(1))
    import resource

    return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024
