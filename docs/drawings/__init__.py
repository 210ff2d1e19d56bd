"""The pictures of the guide: a module for each group of pages, a function for each picture."""

from __future__ import annotations

from typing import Any

PICTURES: dict[str, Any] = {}


def picture(function: Any) -> Any:
    """A function that draws for one theme, under its own name."""
    PICTURES[function.__name__] = function
    return function
