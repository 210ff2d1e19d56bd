"""One self-contained HTML file from a template, a style sheet, scripts and a payload."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from importlib.resources import files
from pathlib import Path

from masked_subspace._common.files import FileError, write_text
from masked_subspace.report.payload import payload
from masked_subspace.report.record import ReportContent

# Panels are found by their names, panel_….js, and stand before the last one, each in a block: its names are its own.
_SCRIPTS = (
    "basis.js",
    "panels.js",
    "palette.js",
    "glossary.js",
    "matrix.js",
    "matrix_view.js",
    "map.js",
    "selection.js",
    "map_tools.js",
    "charts.js",
    "tables.js",
    "verdict.js",
    "clusters.js",
    "samples.js",
)
_LAST = "page.js"
_MARK = b'<meta name="generator" content="masked-subspace">'  # among the first lines of assets/report.html


def render(content: ReportContent) -> str:
    """The page as text.

    Whatever users named stands in it only as JSON, and the script sets it only as text.

    Parameters
    ----------
    content : ReportContent
        Everything on the page.

    Returns
    -------
    page : str
        One HTML file that needs no other.

    Examples
    --------
    >>> from masked_subspace.report import ReportContent, render
    >>> render(ReportContent("A title")).startswith("<!doctype html>")
    True
    """
    script = "(() => {\n'use strict';\n" + "\n".join(_scripts()) + "\n})();"
    parts = {
        "{{title}}": html.escape(content.title),
        "{{policy}}": _policy(script),
        "{{style}}": _asset("report.css"),
        "{{payload}}": script_safe_json(payload(content)),
        "{{script}}": script,
    }
    pieces = _asset("report.html")
    # One pass from left to right, so that a placeholder inside user text is not replaced.
    rendered, rest = [], pieces
    for placeholder, value in parts.items():
        before, _, rest = rest.partition(placeholder)
        rendered += [before, value]
    return "".join(rendered) + rest


def write_page(content: ReportContent, path: Path) -> Path:
    """Write the page, all of it or nothing."""
    return write_text(path, render(content))


def refuse_foreign_page(path: Path) -> None:
    """An error if something stands there that is no page of this program."""
    if os.path.lexists(path) and not is_page(path):
        raise FileError(f"{path} is no report that this program wrote; move it away or choose another --out")


def is_page(path: Path) -> bool:
    """Whether a file is a page that this program wrote: a plain file that says so before anything a person named."""
    try:
        if path.is_symlink() or not path.is_file():
            return False
        with path.open("rb") as stream:
            return _MARK in stream.read(200)
    except OSError:
        return False


def script_safe_json(value: object) -> str:
    """JSON that no HTML parser can mistake for the end of its script element."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _scripts() -> list[str]:
    assets = files("masked_subspace.report").joinpath("assets").iterdir()
    panels = sorted(one.name for one in assets if one.name.startswith("panel_"))
    return [*map(_asset, _SCRIPTS), *(f"{{\n{_asset(name)}}}" for name in panels), _asset(_LAST)]


def _asset(name: str) -> str:
    return files("masked_subspace.report").joinpath("assets", name).read_text(encoding="utf-8")


def _policy(script: str) -> str:
    """A content policy under which nothing is fetched and only this very script runs."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
