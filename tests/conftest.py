"""Kernels are compiled by another process first, so that every process of the tests reads the same machine code.

The process that compiles may run other code than the one that reads it (see _common/compilation.py), and tests of
engines compare results bit by bit.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

_FITS = """
import numpy as np
from masked_subspace import BMSC
from masked_subspace.masks import NeighborMask

rows = np.random.default_rng(0).normal(size=(1200, 25)).astype(np.float32)
for search in ("exact", "approximate"):
    BMSC(4, solver="sparse", hard_mask=NeighborMask(24, search), center=False, n_jobs=1).fit(rows)
"""


def pytest_sessionstart(session: pytest.Session) -> None:
    if session.config.option.collectonly or hasattr(session.config, "workerinput"):
        return  # the workers of pytest-xdist start after the process that has compiled for them
    done = subprocess.run([sys.executable, "-c", _FITS], cwd=Path(__file__).parent, capture_output=True, text=True)
    if done.returncode:
        warnings.warn(f"kernels were not compiled beforehand: {done.stderr}", stacklevel=1)
