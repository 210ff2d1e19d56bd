"""A table as Markdown, CSV, LaTeX or lines of a terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from masked_subspace.inputs.text import clean_text
from masked_subspace.report.record import Table


def cell_text(value: object, decimals: int | None) -> str:
    """A cell as a person reads it."""
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}" if decimals is None else f"{value:.{decimals}f}"
    return str(value)


def aligned(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
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


def _texts(table: Table) -> list[list[str]]:
    decimals = [*table.decimals, *([None] * (len(table.columns) - len(table.decimals)))]
    return [[cell_text(value, digits) for value, digits in zip(row, decimals, strict=True)] for row in table.rows]


def terminal(table: Table) -> str:
    """Aligned lines."""
    return f"{table.title}\n{aligned(table.columns, _texts(table))}\n" + "".join(f"  {note}\n" for note in table.notes)


def markdown(tables: Sequence[Table]) -> str:
    """Tables one after the other."""
    parts = []
    for table in tables:
        lines = [f"## {table.title}", "", _bar(table.columns), _bar(["---"] * len(table.columns))]
        lines += [_bar(row) for row in _texts(table)]
        parts.append("\n".join([*lines, "", *(f"- {_no_bars(note)}" for note in table.notes)]))
    return "\n\n".join(parts) + "\n"


def _bar(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_no_bars(cell) for cell in cells) + " |"


def _no_bars(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def comma_separated(tables: Sequence[Table]) -> str:
    """All tables in one file of long rows, at full precision; the first column names the table."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for table in tables:
        writer.writerow(["table", *table.columns])
        writer.writerows([table.title, *("" if value is None else value for value in row)] for row in table.rows)
    return text.getvalue()


_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "–": "--", "†": r"$\dagger$",
    "‡": r"$\ddagger$", "³": r"$^3$", "λ": r"$\lambda$", "β": r"$\beta$", "φ": r"$\phi$", "−": r"$-$", "ᵀ": r"$^T$",
}  # fmt: skip


def tex_text(text: str) -> str:
    """Text that LaTeX prints as it is."""
    return "".join(_TEX.get(char, char) for char in text)


def latex(tables: Sequence[Table]) -> str:
    """One table environment each (needs booktabs)."""
    parts = ["% needs \\usepackage{booktabs}"]
    for table in tables:
        columns = "l" * 2 + "r" * (len(table.columns) - 2)
        body = [" & ".join(tex_text(cell) for cell in row) + r" \\" for row in _texts(table)]
        head = " & ".join(tex_text(column) for column in table.columns) + r" \\"
        lines = [
            r"\begin{table}",
            r"\centering\small",
            rf"\caption{{{tex_text(table.title)}}}",
            rf"\begin{{tabular}}{{{columns}}}",
            *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
            r"\end{tabular}",
            r"\end{table}",
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"
