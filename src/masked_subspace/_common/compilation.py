"""Compile kernels before the clock of a solve runs, say so, once, and let a second process share the work.

numba keeps what it has compiled on disk, so only the first call after an installation pays. Helpers of
kernels are inlined by force (`forceinline`). Still, the process that compiles may run other machine code than one that
reads it from the disk: sums then differ in their last bits, once after an installation.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from joblib import cpu_count

_compiled: set[str] = set()
_log = logging.getLogger("masked_subspace")
_said: set[str] = set()


def compile_once(name: str, run_toy_problem: Callable[[], object]) -> None:
    """Run a toy problem that needs the same machine code as the real one; once in a process for each name."""
    if name in _compiled:
        return
    _compiled.add(name)
    with compiling_is_said():
        run_toy_problem()


@contextmanager
def compiling_is_said(beside: str | None = None) -> Iterator[None]:
    """While this runs, the first kernel of ours that is compiled, and not read from disk, is announced; once in a
    process, however many follow.

    `beside` is "module:function": a toy problem for another process (`compile_beside`), begun at that moment unless
    the kernel is one of that module's package.
    """
    from numba.core import event

    class Announcer(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            module = str(event.data["dispatcher"].py_func.__module__)
            if not module.startswith("masked_subspace") or _said:
                return
            _said.add(module)
            # Said while it happens: a person who waits wants to know for what.
            _log.warning(
                "compiling kernels, about ten seconds for each method; they are kept on disk, so this happens once "
                "after installation …"
            )
            if beside is not None and not module.startswith(beside.rpartition(".")[0]):
                compile_beside(beside)

        def on_end(self, event: object) -> None:
            pass

    with event.install_listener("numba:compile", Announcer()):
        yield


def compile_beside(toy_problem: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes] | None:
    """Run "module:function" in a process of its own, so that its kernels are on disk when this process needs them.

    numba compiles one function at a time in a process, so threads would not help. Nothing depends on the outcome: a
    kernel that is not there in time is compiled here. None where there is no second core or no interpreter to start.
    """
    module, _, function = toy_problem.partition(":")
    if cpu_count() < 2 or not sys.executable or getattr(sys, "frozen", False):
        return None
    program = f"import sys; sys.path[:] = {sys.path!r}; from {module} import {function}; {function}()"
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **one_thread, **(environment or {})},
        )
    except OSError:
        return None
    threading.Thread(target=process.wait, daemon=True).start()  # so that it does not stay in the table of processes
    return process
