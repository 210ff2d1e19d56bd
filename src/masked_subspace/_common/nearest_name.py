"""The right name nearest to a mistyped one; every message about a wrong name ends with it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of a message about a wrong name: the nearest right one, if one is near.

    Parameters
    ----------
    name : str
        What a person typed.
    known : iterable of str
        The names there are.

    Returns
    -------
    text : str
        In brackets after a space, or nothing.

    Examples
    --------
    >>> from masked_subspace.registry import did_you_mean
    >>> did_you_mean("bmcs", ["bmsc", "ssc"])
    " (did you mean 'bmsc'?)"
    """
    folded = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.casefold(), list(folded), n=1)
    return f" (did you mean {folded[near[0]]!r}?)" if near else ""
