"""A worker without compiled kernels gets them from a process beside it, and waits for that once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("distributed")
from masked_subspace.distributed import warm_up

SEARCH = """
import numpy as np
from masked_subspace.distributed.warm_up import kernels_on_disk
kernels_on_disk()
from masked_subspace.represent.neighbors import kernels
from masked_subspace.represent.neighbors.exact import nearest_in
rows = np.eye(200, 20, dtype=np.float32) + 1
nearest_in(rows, rows, 5)
print(sum(one.stats.cache_misses.total() for one in vars(kernels).values() if hasattr(one, "stats")))
"""


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="no second core to compile on")
def test_the_worker_itself_compiles_no_kernel(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", SEARCH], capture_output=True, text=True, check=False, env=environment)
    assert done.stdout.strip() == "0", done.stderr[-2000:]


@pytest.mark.parametrize(("there", "compiling"), [(True, ""), (False, "1")])
def test_nothing_is_started_where_kernels_are_on_disk_or_this_is_the_compiling_process(
    monkeypatch: pytest.MonkeyPatch, there: bool, compiling: str
) -> None:
    begun: list[Any] = []
    monkeypatch.setattr(warm_up, "compile_beside", lambda *one: begun.append(one))
    monkeypatch.setattr(warm_up, "_done", False)
    monkeypatch.setattr(warm_up, "_were_there", lambda: there)
    monkeypatch.setenv("MASKED_SUBSPACE_COMPILING", compiling)
    warm_up.kernels_on_disk()
    assert begun == []
