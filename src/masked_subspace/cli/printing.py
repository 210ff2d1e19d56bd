"""Plain text for terminals: aligned tables, one line of JSON, nothing that a hostile name could turn into a command."""

from __future__ import annotations

import sys
from argparse import Namespace

from masked_subspace._common.types import RecordView
from masked_subspace.inputs.text import clean_text, one_line


def say(options: Namespace, text: str) -> None:
    """Print for a person, unless --quiet or --json was asked for."""
    if not options.quiet and not options.json:
        sys.stdout.write("\n".join(clean_text(line) for line in text.split("\n")) + "\n")


def complain(text: str) -> None:
    """Say on standard error what is wrong with the input, whatever was asked for."""
    sys.stderr.write(f"masked-subspace: {one_line(text)}\n")


def say_json(options: Namespace, value: RecordView) -> None:
    """Print for a machine, if --json was asked for."""
    if options.json:
        from masked_subspace.report.archive import to_json

        sys.stdout.write(to_json(value))
