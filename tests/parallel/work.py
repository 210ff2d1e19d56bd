"""Work that the tests send to workers; it must be importable there."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Numbers:
    values: Any
    flag: str = ""


def total(shared: Numbers, block: tuple[int, int]) -> float:
    return float(np.sum(shared.values[slice(*block)]))


def slow_total(shared: Numbers, block: tuple[int, int]) -> float:
    time.sleep(0.2)
    return total(shared, block)


def total_but_die_once(shared: Numbers, block: tuple[int, int]) -> float:
    """The first worker to reach the third block kills itself as the machine's memory guard would."""
    if block[0] >= 2000:
        try:
            Path(shared.flag).touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    return total(shared, block)


def broken(shared: Numbers, block: tuple[int, int]) -> float:
    raise ZeroDivisionError(f"block {block} of {len(shared.values)}")
