"""Commands and options that were mistyped: one line that names the nearest right one, not a page of options."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

from masked_subspace._common.nearest_name import did_you_mean
from masked_subspace.cli.exits import Exit


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, like all other errors of the command."""

    def parse_known_args(  # type: ignore[override]  # argparse declares overloads for types of namespaces
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse; an unknown option is told before anything that is missing because of it."""
        given = list(sys.argv[1:] if args is None else args)
        known = list(self._option_string_actions)
        for word in self._options_in(given):
            if not any(one.startswith(word) for one in known):  # argparse takes the beginning of a name for the name
                self.error(f"there is no option {word}{did_you_mean(word, known)}")
        found, left = super().parse_known_args(given, namespace)
        if left:
            self.error(f"unexpected {', '.join(map(repr, left))}")
        return found, left

    def _options_in(self, given: Sequence[str]) -> Iterator[str]:
        """The words that name options with two dashes; those after a command are for the parser of that command."""
        for word in given:
            if word == "--" or (self._subparsers is not None and not word.startswith("-")):
                return
            if word.startswith("--") and " " not in word:  # argparse takes a text with spaces for a value
                yield word.partition("=")[0]

    def _check_value(self, action: argparse.Action, value: object) -> None:
        choices = action.choices
        if choices is not None and value not in choices:
            listed = [str(one) for one in choices]
            raise argparse.ArgumentError(
                action, f"{value!r} is unknown{did_you_mean(str(value), listed)}; choose of {', '.join(listed)}"
            )

    def error(self, message: str) -> NoReturn:
        """One line, and the exit code of wrong usage."""
        from masked_subspace.inputs.text import one_line

        sys.stderr.write(f"masked-subspace: {one_line(message)}; see {self.prog} --help\n")
        raise SystemExit(int(Exit.USAGE))
