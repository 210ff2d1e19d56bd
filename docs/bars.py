"""Docstrings as the site shows them: |Z| is an absolute value, and scikit-learn's versions are not ours.

To docutils bars are a substitution, so that those outside code are escaped. "Added in version" of a method that is
inherited from scikit-learn would be read as a version of this library; it is left out.
"""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

_CODE = re.compile(r"(``.*?``|`[^`]*`)")


def escape(_app: Any, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]) -> None:
    """The event of autodoc: change the lines in place."""
    lines[:] = [line for line in lines if not line.lstrip().startswith(".. versionadded::")]
    for number, line in enumerate(lines):
        if "|" in line and not line.lstrip().startswith((">>>", "...", "|", "+-")):
            parts = _CODE.split(line)
            parts[::2] = [part.replace("|", r"\|") for part in parts[::2]]
            lines[number] = "".join(parts)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("autodoc-process-docstring", escape, priority=900)  # after numpydoc has made its sections
    return {"version": "1", "parallel_read_safe": True}
