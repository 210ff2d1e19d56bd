"""The most memory this process has used; Linux says it since a reset, other systems since the process began."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from pathlib import Path


def reset_peak() -> int:
    """Forget the highest use so far, where the system can, and return the present one in bytes."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return peak_bytes()


def peak_bytes() -> int:
    """The most bytes in use since `reset_peak`; 0 where the system does not say (Windows)."""
    with suppress(OSError):
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
        if found:
            return int(found.group(1)) * 1024
    try:
        import resource
    except ImportError:
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
