"""Compiling is done once, before the clock runs, and long compiling is announced."""

from __future__ import annotations

import logging
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit
from numba.core import event

from masked_subspace import BilevelClustering
from masked_subspace._common import compilation
from masked_subspace._common.rows import Csr, product_rows
from masked_subspace.estimators.base import WARM_UP_BESIDE
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


def run_python(program, cache):
    """What a fresh interpreter with its own folder for compiled kernels prints."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.split()


LISTEN = """
from numba.core import event
import numpy as np
compiled = set()
class Listener(event.Listener):
    def on_start(self, event):
        compiled.add(event.data["dispatcher"].py_func.__module__)
    def on_end(self, event):
        pass
"""


def test_the_process_beside_leaves_every_kernel_that_a_cut_needs(tmp_path):
    begin = f"{LISTEN}\nfrom masked_subspace._common.compilation import compile_beside\n"
    started = run_python(
        f"{begin}p = compile_beside({WARM_UP_BESIDE!r}); print('one core' if p is None else p.wait())", tmp_path
    )
    if started == ["one", "core"]:
        pytest.skip("a second process compiles only where there is a second core")
    assert started == ["0"]
    fit = f"""{LISTEN}
import masked_subspace as ms
X = np.random.default_rng(0).normal(size=(400, 8))
with event.install_listener("numba:compile", Listener()):
    for cut in ("spectral", "modularity"):
        ms.BMSC(5, cut=cut, random_state=0).fit(X)
print(*sorted(m for m in compiled if m.startswith("masked_subspace")))
"""
    kernels = run_python(fit, tmp_path)
    assert kernels  # those of the representation: the listener listens
    assert not [module for module in kernels if module.startswith("masked_subspace.label")]


def test_a_process_begins_beside_the_first_kernel_of_another_package(monkeypatch):
    begun: list[str] = []
    monkeypatch.setattr(compilation, "compile_beside", begun.append)
    for module, expected in (
        ("masked_subspace.label.somewhere", []),
        ("masked_subspace.represent.x", [WARM_UP_BESIDE]),
    ):
        monkeypatch.setattr(compilation, "_said", set())
        with compilation.compiling_is_said(beside=WARM_UP_BESIDE):
            fresh_kernel(module)(1, 2)
            fresh_kernel(module)(1.0, 2)
        assert begun == expected


def test_no_process_begins_on_one_core_or_without_an_interpreter(monkeypatch):
    monkeypatch.setattr(compilation, "cpu_count", lambda: 1)
    assert compilation.compile_beside(WARM_UP_BESIDE) is None
    monkeypatch.setattr(compilation, "cpu_count", lambda: 2)
    monkeypatch.setattr(sys, "executable", "")
    assert compilation.compile_beside(WARM_UP_BESIDE) is None


def test_machine_code_is_chosen_by_what_a_tuple_of_arrays_holds():
    """numba 0.60 ran the code of another type in half of such calls, with wrong numbers where sizes agreed."""
    rng = np.random.default_rng(0)
    n, kinds = 30, [(index, dtype) for index in (np.int32, np.int64) for dtype in (np.float32, np.float64)]
    for place in rng.integers(0, len(kinds), 400):
        index, dtype = kinds[place]
        S = Csr(np.arange(n + 1, dtype=index), rng.permutation(n).astype(index), rng.random(n).astype(dtype))
        Y = rng.random((n, 3)).astype(dtype)
        out = np.zeros_like(Y)
        product_rows(S, Y, out, dtype(1), dtype(0), 0, n)
        np.testing.assert_allclose(out, S.data[:, None] * Y[S.indices], rtol=1e-6)
