"""Compiling is done once, before the clock runs, and long compiling is announced."""

from __future__ import annotations

import logging

import numpy as np
from numba import njit
from numba.core import event

from masked_subspace import BilevelClustering
from masked_subspace._common import compilation
from masked_subspace.represent.dense.solve import solve_dense
from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.represent.sparse.solve import solve_sparse


def test_a_toy_problem_runs_once(monkeypatch):
    monkeypatch.setattr(compilation, "_compiled", set())
    runs: list[int] = []
    for _ in range(2):
        compilation.compile_once("kernels", lambda: runs.append(1))
    assert runs == [1]


def fresh_kernel(module="masked_subspace.somewhere"):
    """A kernel that no disk has."""

    def add(a, b):
        return a + b

    add.__module__ = module
    return njit(add)


def said(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "masked_subspace"]


def test_compiling_is_said_once_while_it_happens(monkeypatch, caplog):
    monkeypatch.setattr(compilation, "_said", set())
    heard: list[int] = []
    with caplog.at_level(logging.WARNING, logger="masked_subspace"), compilation.compiling_is_said():
        fresh_kernel("another_package")(1, 2)
        assert not said(caplog)
        kernel = fresh_kernel()
        with event.install_recorder("numba:compile") as recorder:
            kernel(1, 2)
            heard.append(len(said(caplog)))
            kernel(1, 2)
        fresh_kernel()(1.0, 2.0)
    assert recorder.buffer
    assert heard == [1]
    assert len(said(caplog)) == 1
    assert "compiling kernels" in said(caplog)[0]
    assert "once after installation" in said(caplog)[0]


def test_a_fit_says_that_it_compiles_and_the_next_does_not(monkeypatch, caplog):
    X = np.random.default_rng(0).normal(size=(20, 5))
    BilevelClustering(n_clusters=2, random_state=0).fit(X)
    caplog.clear()  # on a fresh machine that fit has compiled, and has said so
    monkeypatch.setattr(compilation, "_said", set())

    class Compiling(MaskedRepresenter):
        """Stands for the first fit after an installation."""

        def prepare(self, *arguments, **more):
            fresh_kernel()(1, 2)
            return super().prepare(*arguments, **more)

    with caplog.at_level(logging.WARNING, logger="masked_subspace"):
        BilevelClustering(n_clusters=2, random_state=0).fit(X)
        assert not said(caplog)
        for _ in range(2):
            BilevelClustering(Compiling(), n_clusters=2, random_state=0).fit(X)
    assert len(said(caplog)) == 1


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
