"""From arguments to an exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from types import FrameType

from masked_subspace import __version__
from masked_subspace.cli.exits import Exit, exit_for
from masked_subspace.cli.parser import build_parser


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["bench"]:  # the benchmark has options of its own
        return _guarded(lambda: int(import_module("masked_subspace.bench").main(given[1:]) or 0))
    parser = build_parser()
    options = parser.parse_args(given)
    if options.version:
        sys.stdout.write(__version__ + "\n")
        return Exit.OK
    if options.command is None:
        parser.print_help()
        return Exit.USAGE
    options.given = tuple(given)
    return _guarded(lambda: int(import_module(f"masked_subspace.cli.{options.command}").run(options)))


# Seconds until a Ctrl-C that compiled code kept for itself is said again.
_AGAIN = 0.05


class _CtrlC:
    """Remembers that Ctrl-C was pressed: libraries that are loading may turn it into an error of their own."""

    def __init__(self) -> None:
        self.pressed = self._left = False
        usual = signal.getsignal(signal.SIGINT)
        # Somebody who ignores Ctrl-C (a job in the background) keeps ignoring it.
        self._ours = usual is signal.default_int_handler and threading.current_thread() is threading.main_thread()
        if self._ours:
            signal.signal(signal.SIGINT, self._handle)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        self.pressed = True
        # Compiled code that cannot pass it on prints it instead, through these two.
        sys.excepthook = lambda kind, *_: self._not_passed_on(kind)
        sys.unraisablehook = lambda kept: self._not_passed_on(kept.exc_type)
        raise KeyboardInterrupt

    def _not_passed_on(self, kind: type[BaseException]) -> None:
        """Say it again, or the work would go on. Nothing is printed: one word is enough, though objects half made when
        it came complain as they are removed."""
        if issubclass(kind, KeyboardInterrupt):
            again = threading.Timer(_AGAIN, self._press)
            again.daemon = True
            again.start()

    def _press(self) -> None:
        if self._left:
            return
        if sys.platform == "win32":
            signal.raise_signal(signal.SIGINT)
        else:  # to the thread that may be waiting for something
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def leave(self) -> None:
        """Give Ctrl-C back; after it was pressed once, pressing again ends the process without a word."""
        self._left = True
        if not self._ours:
            return
        signal.signal(signal.SIGINT, signal.SIG_DFL if self.pressed else signal.default_int_handler)


def _guarded(action: Callable[[], int]) -> int:
    """Errors that a person can do something about become one line and an exit code; others keep their traceback."""
    ctrl_c = _CtrlC()
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
        if ctrl_c.pressed:
            sys.stderr.write("interrupted\n")
            return Exit.INTERRUPTED
        code_for_person = exit_for(error)
        if code_for_person is None:
            raise
        from masked_subspace.inputs.text import one_line

        sys.stderr.write(f"masked-subspace: {one_line(str(error))}\n")
        return code_for_person
    finally:
        ctrl_c.leave()
