"""What happened how often, for the record that benchmarks/robustness makes."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import event

COUNTS: Counter[str] = Counter()
MEASURED: dict[str, Any] = {}


def count(what: str) -> None:
    """Count one case; to be called inside a property."""
    COUNTS[what] += 1
    event(what)
