"""Compiling is done once, before the clock runs, and long compiling is announced."""

from __future__ import annotations

import logging

import numpy as np

from masked_subspace._common import compilation
from masked_subspace.represent.dense.solve import solve_dense
from masked_subspace.represent.model import AdmmSettings


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
