"""Compiling is done once, before the clock runs, and long compiling is announced."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from masked_subspace.solvers import compilation
from masked_subspace.solvers.admm import solve_dense
from masked_subspace.solvers.result import AdmmSettings


def test_a_toy_problem_runs_once(monkeypatch):
    monkeypatch.setattr(compilation, "_compiled", set())
    runs: list[int] = []
    for _ in range(2):
        compilation.compile_once("kernels", lambda: runs.append(1))
    assert runs == [1]


def test_long_compiling_is_announced_and_short_is_not(monkeypatch, caplog):
    monkeypatch.setattr(compilation, "_compiled", set())
    with caplog.at_level(logging.WARNING, logger="masked_subspace"):
        compilation.compile_once("short", lambda: None)
        assert not caplog.records
        monkeypatch.setattr(compilation, "_LONG", -1.0)
        compilation.compile_once("long", lambda: None)
    assert "compiling the long took" in caplog.text


def test_a_solve_compiles_first(monkeypatch):
    known: set[str] = set()
    monkeypatch.setattr(compilation, "_compiled", known)
    rows = np.random.default_rng(0).normal(size=(20, 5)).astype(np.float32)
    solve_dense(rows, AdmmSettings(1e-2, max_iter=3))
    assert known == {"dense solver (blocked pass) for float32"}


_SOLVE = """
import hashlib
import numpy as np
from masked_subspace import BMSC
from masked_subspace.masks import NeighborMask

rng = np.random.default_rng(0)
rows = np.concatenate([rng.normal(size=(300, 3)) @ rng.normal(size=(3, 25)) for _ in range(4)])
rows = (rows + 0.1 * rng.normal(size=rows.shape)).astype(np.float32)
model = BMSC(4, solver="sparse", hard_mask=NeighborMask(24, "exact"), center=False, n_jobs=1)
Z = model.fit(rows).representation_matrix_
print(hashlib.sha256(Z.indices.tobytes() + Z.data.tobytes()).hexdigest())
"""


def test_code_just_compiled_and_code_from_the_disk_give_the_same_bits(tmp_path: Path) -> None:
    """Helpers must be inlined: a helper that is not may run as compiled alone or as compiled with its caller."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    run = [sys.executable, "-c", _SOLVE]
    compiled, read = (subprocess.check_output(run, env=environment, text=True) for _ in range(2))
    assert any(tmp_path.rglob("*admm_rows*.nbc"))
    assert compiled == read
