"""A worker without compiled kernels gets them from a process beside it, and waits for that once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
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
from masked_subspace.represent.neighbors.search import nearest_in
rows = np.eye(200, 20, dtype=np.float32) + 1
nearest_in(rows, rows, 5)
print(sum(one.stats.cache_misses.total() for one in vars(kernels).values() if hasattr(one, "stats")))
"""


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="no second core to compile on")
def test_workers_themselves_compile_no_kernel_whichever_comes_first(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", SEARCH]
    workers = []
    for _ in range(2):
        workers.append(
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        )
        time.sleep(2)
    for worker in workers:
        out, err = worker.communicate()
        assert out.strip() == "0", err[-2000:]


@pytest.mark.parametrize(("there", "compiling"), [(True, ""), (False, "1")])
def test_nothing_is_started_where_kernels_are_on_disk_or_this_is_the_compiling_process(
    monkeypatch: pytest.MonkeyPatch, there: bool, compiling: str
) -> None:
    assert started(monkeypatch, there, compiling) == []


def test_one_process_is_started_where_there_are_no_kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(warm_up, "_sign", lambda: tmp_path / "new" / "sign")
    assert len(started(monkeypatch, False, "")) == 1


def test_the_sign_of_an_earlier_version_does_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sign = tmp_path / "sign"
    monkeypatch.setattr(warm_up, "_sign", lambda: sign)
    assert not warm_up._are_there()
    sign.touch()
    assert warm_up._are_there()
    os.utime(sign, (0, 0))
    assert not warm_up._are_there()


def started(monkeypatch: pytest.MonkeyPatch, there: bool, compiling: str) -> list[Any]:
    begun: list[Any] = []
    monkeypatch.setattr(warm_up, "compile_beside", lambda *one: begun.append(one))
    monkeypatch.setattr(warm_up, "_done", False)
    monkeypatch.setattr(warm_up, "_are_there", lambda: there)
    monkeypatch.setenv("MASKED_SUBSPACE_COMPILING", compiling)
    warm_up.kernels_on_disk()
    warm_up.kernels_on_disk()
    return begun
