"""Numbers as people and spreadsheets write them: decimal points or commas, thousands in groups, missing values."""

from __future__ import annotations

import re

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-", "."})
POINT, COMMA = ".", ","
_SPACE = "[ '\u00a0\u202f\u2019]"
_PLAIN = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
_EITHER = re.compile(r"[+-]?\d{1,3},\d{3}")  # 1,234 may be one or a thousand
_GROUPS_BY_POINT = re.compile(r"[+-]?\d{1,3}(\.\d{3})+")
_SPACED = re.compile(rf"[+-]?\d{{1,3}}({_SPACE}\d{{3}})+")
_WITH_COMMA = re.compile(rf"[+-]?(\d{{1,3}}([.]\d{{3}})+|\d{{1,3}}({_SPACE}\d{{3}})+|\d+)?,\d+([eE][+-]?\d+)?")
_WITH_POINT = re.compile(rf"[+-]?\d{{1,3}}((,\d{{3}})+|({_SPACE}\d{{3}})+)(\.\d*)?")
_SIGN_BEFORE = re.compile(r"([+-]?)([$€£¥])\s*(?=[\d.,])")
_SIGN_AFTER = re.compile(r"(?<=[\d.,])\s*([%‰€$£¥])$")
_REMOVED = {POINT: re.compile(rf",|{_SPACE}"), COMMA: re.compile(rf"\.|{_SPACE}")}


def kind(text: str) -> str:
    """How `text` can be read: missing, plain, comma, point (with groups), either, spaced, or text."""
    text = text.strip()
    if text.lower() in MISSING:
        return "missing"
    found = _kind(text)
    if found == "text":
        bare, _ = without_sign(text)
        found = "text" if bare == text else _kind(bare)
    return found


def _kind(text: str) -> str:
    return next((name for name, pattern in _KINDS if pattern.fullmatch(text)), "text")


def without_sign(text: str) -> tuple[str, str]:
    """A number without the percent sign or the currency before or after it, and that sign ("" if there is none)."""
    text = text.strip()
    if text.isascii() and text[-1:].isdigit() and "$" not in text[:2]:  # most cells
        return text, ""
    text = text.replace("\N{MINUS SIGN}", "-")
    before, after = _SIGN_BEFORE.match(text), _SIGN_AFTER.search(text)
    if before:
        return before[1] + text[before.end() :], before[2]
    return (text[: after.start()], after[1]) if after else (text, "")


_KINDS = (
    ("plain", _PLAIN), ("either", _EITHER), ("spaced", _SPACED), ("point", _WITH_POINT), ("comma", _WITH_COMMA),
    ("comma", _GROUPS_BY_POINT),
)  # fmt: skip


def is_grouped_by_points(text: str) -> bool:
    """Whether the points of `text` can stand between thousands."""
    return _GROUPS_BY_POINT.fullmatch(text.strip()) is not None


def number(text: str, decimal: str) -> float:
    """The value of `text`, `decimal` being the mark before its fraction; NaN where it is missing."""
    text = text.strip()
    if text.lower() in MISSING:
        return float("nan")
    text = _REMOVED[decimal].sub("", without_sign(text)[0])
    return float(text.replace(",", ".") if decimal == COMMA else text)
