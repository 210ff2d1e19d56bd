"""Compiling is done once, before the clock runs, and long compiling is announced."""

from __future__ import annotations

import logging
import time

import numpy as np

from masked_subspace._common import compilation
from masked_subspace.represent.dense.solve import solve_dense
from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.sparse.solve import solve_sparse


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


def test_it_is_said_while_it_happens(monkeypatch, caplog):
    monkeypatch.setattr(compilation, "_compiled", set())
    monkeypatch.setattr(compilation, "_LONG", 0.01)
    heard: list[str] = []

    def wait_for_the_message():
        for _ in range(500):
            if "compiling the slow one, once" in caplog.text:
                heard.append(caplog.text)
                return
            time.sleep(0.01)

    with caplog.at_level(logging.WARNING, logger="masked_subspace"):
        compilation.compile_once("slow one", wait_for_the_message)
    assert heard


def test_the_sparse_solver_compiles_first(monkeypatch):
    known: set[str] = set()
    monkeypatch.setattr(compilation, "_compiled", known)
    rows = np.random.default_rng(0).normal(size=(20, 5)).astype(np.float32)
    candidates = np.array([np.delete(np.arange(20), i)[:4] for i in range(20)], dtype=np.int32)
    solve_sparse(rows, AdmmSettings(1e-2, max_iter=3), candidates=candidates)
    assert known == {"sparse solver for float32"}


def test_a_solve_compiles_first(monkeypatch):
    known: set[str] = set()
    monkeypatch.setattr(compilation, "_compiled", known)
    rows = np.random.default_rng(0).normal(size=(20, 5)).astype(np.float32)
    solve_dense(rows, AdmmSettings(1e-2, max_iter=3))
    assert known == {"dense solver (blocked pass) for float32"}
