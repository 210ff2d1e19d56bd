"""The command `masked-subspace`. Nothing heavy is imported before a command needs it, so that `--help` is instant."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command `masked-subspace`.

    Ctrl-C is one word at any moment, also while modules are loading.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        What follows the command; None: what the process was started with.

    Returns
    -------
    code : int
        The exit code; 0 if all went well.

    Examples
    --------
    >>> from masked_subspace.cli import main
    >>> main(["data", "list"])  # doctest: +ELLIPSIS
    name ...
    0
    """
    try:
        from masked_subspace.cli.command import run

        return run(arguments)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return 130
