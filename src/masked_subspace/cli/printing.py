"""Plain text for terminals: aligned tables, one line of JSON, nothing that a hostile name could turn into a command."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from typing import Any

from masked_subspace.inputs.samples import clean_text


def say(options: Namespace, text: str) -> None:
    """Print for a person, unless --quiet or --json was asked for."""
    if not options.quiet and not options.json:
        sys.stdout.write("\n".join(clean_text(line) for line in text.split("\n")) + "\n")


def say_json(options: Namespace, value: Mapping[str, Any]) -> None:
    """Print for a machine, if --json was asked for."""
    if options.json:
        from masked_subspace.report.archive import to_json

        sys.stdout.write(to_json(value))


def aligned(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A text table; numbers to the right, the rest to the left."""
    texts = [[clean_text(str(cell)) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[column]) for row in texts) for column in range(len(header))]
    numeric = [all(isinstance(row[column], int | float) or _looks_numeric(str(row[column])) for row in rows)
               for column in range(len(header))]  # fmt: skip
    lines = []
    for row in texts:
        cells = [cell.rjust(width) if right else cell.ljust(width)
                 for cell, width, right in zip(row, widths, numeric, strict=True)]  # fmt: skip
        lines.append("  ".join(cells).rstrip())
    rule = "  ".join("─" * width for width in widths)
    return "\n".join([lines[0], rule, *lines[1:]])


def _looks_numeric(text: str) -> bool:
    return text in ("", "–") or text.lstrip("+-−").split(" ")[0].replace(".", "", 1).replace(",", "").isdigit()
