"""Colours of pictures, and the figures they are drawn on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

INK, SOFT, BLUE, RED, WASH = "#1d2127", "#5c6470", "#2f5d8a", "#a8442f", "#f1eee8"


@dataclass(frozen=True)
class Theme:
    """The colours of a picture: light prints well, dark goes with a dark page.

    Parameters
    ----------
    ground : str
        Colour of the background.
    ink : str
        Colour of texts.
    soft : str
        Colour of frames and ticks.
    accent : str
        Colour of lines.
    warning : str
        Colour of marks that should be seen first.
    shades : tuple of str
        Colours of a matrix, from nothing to its largest value.

    Examples
    --------
    >>> from masked_subspace.plots import THEMES
    >>> sorted(THEMES)
    ['dark', 'light']
    """

    ground: str
    ink: str
    soft: str
    accent: str
    warning: str
    shades: tuple[str, ...]


THEMES = {
    "light": Theme("#ffffff", INK, SOFT, BLUE, RED, ("#ffffff", "#9cc3de", "#2a6f9e", "#0d2740")),
    "dark": Theme("#171b20", "#e6e8eb", "#9aa3ae", "#8cb8de", "#e59480", ("#171b20", "#24506f", "#5fa8d3", "#f2f8ff")),
}


def theme_of(name: str) -> Theme:
    """The theme of that name."""
    if name not in THEMES:
        raise ValueError(f"theme={name!r} is not known; choose one of {', '.join(map(repr, THEMES))}.")
    return THEMES[name]


def shades_of(theme: Theme) -> Any:
    """The colour map of a theme's matrices."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("affinity", theme.shades)


def dressed(ax: Any, theme: Theme) -> Any:
    """Ground, frame and texts in the theme's colours; the caller's Axes keep the rest."""
    ax.figure.set_facecolor(theme.ground)
    ax.set_facecolor(theme.ground)
    ax.tick_params(colors=theme.soft, labelsize=8)
    for spine in ax.spines.values():
        spine.set_color(theme.soft)
        spine.set_linewidth(0.6)
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
        text.set_color(theme.ink)
    return ax


def new_figure(width: float, height: float, dpi: int = 100) -> Any:
    """A matplotlib figure of its own, without pyplot's global state.

    Parameters
    ----------
    width : float
        Width in inches.
    height : float
        Height in inches.
    dpi : int, default=100
        Pixels an inch.

    Returns
    -------
    figure : matplotlib Figure
        An empty figure with the constrained layout.

    Raises
    ------
    ImportError
        If matplotlib is not installed (extra `report`).

    Examples
    --------
    >>> from masked_subspace.plots import new_figure
    >>> left, right = new_figure(8, 4).subplots(1, 2)
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'masked-subspace[report]'") from error
    return Figure(figsize=(width, height), layout="constrained", dpi=dpi)


def axes_or_new(ax: Any, size: tuple[float, float] = (4.2, 4.2)) -> Any:
    """The Axes that were given, or new ones of this size in inches."""
    return new_figure(*size).subplots() if ax is None else ax
