"""Axes of three dimensions in the colours of a theme, and the plane and the lines in which samples lie."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def flats(ax: Any, X: np.ndarray, labels: np.ndarray, reach: float = 1.15) -> None:
    """The plane and the lines of the toy, pale: without them three dimensions cannot be seen on paper."""
    for k in np.unique(labels):
        own = X[labels == k]
        _, strength, basis = np.linalg.svd(own, full_matrices=False)
        if strength[1] > 0.1 * strength[0]:
            ends = reach * np.abs(own @ basis[:2].T).max(axis=0)
            corners = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]]) * ends @ basis[:2]
            ax.plot_surface(*corners.T.reshape(3, 2, 2), color=f"C{k}", alpha=0.16, linewidth=0, shade=False)
        else:
            ends = np.outer([-reach, reach], basis[0]) * np.abs(own @ basis[0]).max()
            ax.plot(*ends.T, color=f"C{k}", lw=0.8, alpha=0.7)
