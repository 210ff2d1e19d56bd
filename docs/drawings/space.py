"""Axes of three dimensions in the colours of a theme."""

from __future__ import annotations

from typing import Any

from masked_subspace.plots import THEMES


def bare(ax: Any, theme: str) -> Any:
    """A quiet box: no numbers, thin grid, the angle from which plane and lines are apart."""
    ax.set(xticklabels=[], yticklabels=[], zticklabels=[])
    ax.view_init(28, 62)
    ax.set_box_aspect((1, 1, 0.8), zoom=1.05)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((0.5, 0.5, 0.5, 0.05))
        axis._axinfo["grid"].update(color=(0.5, 0.5, 0.5, 0.25), linewidth=0.5)
        axis.line.set_color(THEMES[theme].soft)
    return ax
