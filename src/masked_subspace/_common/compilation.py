"""Compile kernels before the clock of a solve runs, and say so, once.

numba keeps what it has compiled on disk, so only the first call after an installation pays. Helpers of
kernels are inlined by force (`forceinline`). Still, the process that compiles may run other machine code than one that
reads it from the disk: sums then differ in their last bits, once after an installation.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

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
def compiling_is_said() -> Iterator[None]:
    """While this runs, the first kernel of ours that is compiled, and not read from disk, is announced; once in a
    process, however many follow."""
    from numba.core import event

    class Announcer(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            function = event.data["dispatcher"].py_func
            if str(function.__module__).startswith("masked_subspace") and not _said:
                _said.add(function.__module__)
                # Said while it happens: a person who waits wants to know for what.
                _log.warning(
                    "compiling kernels, which takes up to a minute; they are kept on disk, so this happens once after "
                    "installation …"
                )

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Announcer()):
        yield
