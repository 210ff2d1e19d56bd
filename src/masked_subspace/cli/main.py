"""From arguments to an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from masked_subspace.cli.exits import Exit, exit_for
from masked_subspace.cli.parser import build_parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["bench"]:  # the benchmark has options of its own
        return _guarded(lambda: int(import_module("masked_subspace.bench").main(given[1:]) or 0))
    parser = build_parser()
    options = parser.parse_args(given)
    if options.version:
        from importlib.metadata import version

        sys.stdout.write(version("masked-subspace") + "\n")
        return Exit.OK
    if options.command is None:
        parser.print_help()
        return Exit.USAGE
    run = import_module(f"masked_subspace.cli.{options.command}").run
    return _guarded(lambda: int(run(options)))


def _guarded(action: Callable[[], int]) -> int:
    """Errors that a person can do something about become one line and an exit code; others keep their traceback."""
    try:
        code = action()
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone (`… | head`): leave quietly, and let no later flush complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except Exception as error:
        code_for_person = exit_for(error)
        if code_for_person is None:
            raise
        sys.stderr.write(f"masked-subspace: {error}\n")
        return code_for_person
