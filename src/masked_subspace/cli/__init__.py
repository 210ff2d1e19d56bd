"""The command `masked-subspace`. Nothing heavy is imported before a command needs it, so that `--help` is instant."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code. Ctrl-C is one word at any moment, also while modules are loading."""
    try:
        from masked_subspace.cli.command import run

        return run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
