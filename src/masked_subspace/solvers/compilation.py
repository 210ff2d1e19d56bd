"""Compile kernels before the clock of a solve runs, and say so when that takes long.

numba keeps what it has compiled on disk, so only the first call after an installation pays.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from time import perf_counter

_LONG = 2.0  # seconds
_compiled: set[str] = set()
_log = logging.getLogger("masked_subspace")


def compile_once(name: str, run_toy_problem: Callable[[], object]) -> None:
    """Run a toy problem that needs the same machine code as the real one; once in a process for each name."""
    if name in _compiled:
        return
    _compiled.add(name)
    begin = perf_counter()
    run_toy_problem()
    seconds = perf_counter() - begin
    if seconds > _LONG:
        _log.warning(
            "compiling the %s took %.1f s; it is kept on disk, so this happens once after installation", name, seconds
        )
