"""Text that came from files, made safe to print and to open elsewhere."""

from __future__ import annotations

import re
import unicodedata

# Characters that reorder the text around them: a name with one can look like another name.
_REORDERING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def clean_text(text: str) -> str:
    """Text from a stranger as valid Unicode without control characters, so that no terminal or page obeys it.

    Parameters
    ----------
    text : str
        Whatever a file or a name held.

    Returns
    -------
    clean : str
        The same with a replacement character for each that controls or reorders.

    Examples
    --------
    >>> from masked_subspace.inputs import clean_text
    >>> clean_text("a" + chr(27) + "[2J") == "a" + chr(0xFFFD) + "[2J"
    True
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join("\N{REPLACEMENT CHARACTER}" if _is_control(char) else char for char in text)


def _is_control(char: str) -> bool:
    return char in _REORDERING or unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")


def one_line(text: str) -> str:
    """A message, maybe of a library, as one clean line."""
    return clean_text(" ".join(text.split()))


def cell_text(text: str) -> str:
    """`text` for a cell of a table file: spreadsheets run what begins like a formula, so it gets an apostrophe.

    Some of them take the wide signs of East Asian text (`＝`) for the plain ones, as NFKC does.
    """
    begins = unicodedata.normalize("NFKC", text).lstrip(" ")
    if begins.startswith(_FORMULA_STARTS) and not _NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def counted(number: int, thing: str) -> str:
    """`1 image`, `2 images`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def sized(n_bytes: float) -> str:
    """`1.5 GB`, or in a smaller unit where that says more."""
    for unit, least in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= 0.05 * least:
            return f"{n_bytes / least:.1f} {unit}"
    return counted(int(n_bytes), "byte")


def shortened(name: str, most: int = 60) -> str:
    """A name for a line of text: nobody reads 800 characters, and they push the rest out of sight."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def listed(items: list[str], most: int = 5) -> str:
    """The first few of many, and how many more; a name too long for a line is cut with a sign."""
    shown = ", ".join(item if len(item) <= 60 else f"{item[:59]}…" for item in items[:most])
    return shown if len(items) <= most else f"{shown} and {len(items) - most} more"
