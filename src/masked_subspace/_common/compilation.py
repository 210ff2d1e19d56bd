"""Compile kernels before the clock of a solve runs, and say so when that takes long.

numba keeps what it has compiled on disk, so only the first call after an installation pays. Helpers of
kernels are inlined by force (`forceinline`). Still, the process that compiles may run other machine code than one that
reads it from the disk: sums then differ in their last bits, once after an installation.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Timer
from time import process_time

_LONG = 2.0  # CPU seconds: on a busy machine even reading the compiled code from disk takes long by the clock
_compiled: set[str] = set()
_log = logging.getLogger("masked_subspace")


def compile_once(name: str, run_toy_problem: Callable[[], object]) -> None:
    """Run a toy problem that needs the same machine code as the real one; once in a process for each name."""
    if name in _compiled:
        return
    _compiled.add(name)
    begin = process_time()
    # Said while it happens: a person who waits wants to know for what.
    notice = Timer(max(_LONG, 0.0), _log.warning, ["compiling the %s, once after installation …", name])
    notice.daemon = True
    notice.start()
    try:
        run_toy_problem()
    finally:
        notice.cancel()
    seconds = process_time() - begin
    if seconds > _LONG:
        _log.warning(
            "compiling the %s took %.1f s; it is kept on disk, so this happens once after installation", name, seconds
        )
