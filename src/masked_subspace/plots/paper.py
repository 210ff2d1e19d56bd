"""The figures of the paper and their parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import Array
from masked_subspace.plots.themes import BLUE, INK, RED, SOFT, WASH, axes_or_new

_CELLS = 400


def plot_accuracy_against_pairs(accuracy: npt.ArrayLike, pair_accuracy: npt.ArrayLike, *, ax: Any = None) -> Any:
    """The accuracy over pairs (BCA) of clusterings against their accuracy (CA): Figure 1 of the paper.

    Parameters
    ----------
    accuracy : array-like of shape (n_clusterings,)
        CA in per cent.
    pair_accuracy : array-like of shape (n_clusterings,)
        BCA in per cent.
    ax : matplotlib Axes or None, default=None
        Where to draw; None: on new ones of a figure of its own.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on; `ax.figure.savefig("picture.png")` writes it.

    References
    ----------
    .. [Song2025] Song, J. and Ling, H. (2025). Masked subspace clustering methods. arXiv:2505.06863,
       Figure 1.

    Examples
    --------
    >>> from masked_subspace.plots import plot_accuracy_against_pairs
    >>> plot_accuracy_against_pairs([50, 75, 90], [60, 80, 95]).get_ylabel()
    'BCA %'
    """
    ax = axes_or_new(ax, (4.4, 4.0))
    ax.plot([0, 100], [0, 100], color=SOFT, lw=0.8, ls=":")
    ax.scatter(np.asarray(accuracy), np.asarray(pair_accuracy), s=14, color=BLUE, alpha=0.6, linewidths=0)
    ax.set(xlabel="CA %", ylabel="BCA %", xlim=(0, 101), ylim=(0, 101))
    return ax


def plot_same_class(labels: npt.ArrayLike, order: npt.ArrayLike, *, ax: Any = None) -> Any:
    """The matrix of 0 and 1 of who shares a cluster.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Clusters.
    order : array-like of int of shape (n_samples,)
        Indices of the samples in the order in which they are drawn.
    ax : matplotlib Axes or None, default=None
        Where to draw; None: on new ones of a figure of its own.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on; `ax.figure.savefig("picture.png")` writes it.

    Examples
    --------
    >>> from masked_subspace.plots import plot_same_class
    >>> len(plot_same_class([0, 1, 0, 1], [0, 2, 1, 3]).images)
    1
    """
    names = np.asarray(labels)[np.asarray(order)]
    step = max(1, len(names) // _CELLS)
    names = names[::step]
    ax = axes_or_new(ax)
    ax.imshow(names[:, None] == names[None, :], cmap="cividis", interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    return ax


def plot_pair(images: Sequence[Array], *, title: str = "", ax: Any = None) -> Any:
    """Two images side by side.

    Parameters
    ----------
    images : sequence of two arrays of shape (height, width)
        The pictures, left and right.
    title : str, default=""
        What stands above them.
    ax : matplotlib Axes or None, default=None
        Where to draw; None: on new ones of a figure of its own.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on; `ax.figure.savefig("picture.png")` writes it.

    Examples
    --------
    >>> from masked_subspace.datasets import load
    >>> from masked_subspace.plots import plot_pair
    >>> digits = load("digits")
    >>> pictures = digits.data.reshape(-1, *digits.images_shape)
    >>> plot_pair(pictures[:2], title="0 and 1").get_title()
    '0 and 1'
    """
    ax = axes_or_new(ax, (2.4, 1.4))
    gap = np.full((images[0].shape[0], max(1, images[0].shape[1] // 12)), np.nan)
    ax.imshow(np.hstack([images[0], gap, images[1]]).astype(float), cmap="gray")
    ax.set_axis_off()
    ax.set_title(title, fontsize=8)
    return ax


def plot_framework(*, ax: Any = None) -> Any:
    """The bilevel frame as a flow, where nothing but the mask travels back: Figure 2 of the paper.

    Parameters
    ----------
    ax : matplotlib Axes or None, default=None
        Where to draw; None: on new ones of a figure of its own.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on; `ax.figure.savefig("picture.png")` writes it.

    References
    ----------
    .. [Song2025] Song, J. and Ling, H. (2025). Masked subspace clustering methods. arXiv:2505.06863,
       Figure 2.

    Examples
    --------
    >>> from masked_subspace.plots import plot_framework
    >>> plot_framework().axison
    False
    """
    ax = axes_or_new(ax, (8.4, 2.6))
    boxes: Mapping[str, tuple[float, str]] = {
        "X": (0.05, "samples X"),
        "f": (0.27, "representer f\nmin f(Z, Mˢ)"),
        "phi": (0.50, "affinity φ(Z)"),
        "g": (0.72, "labeler g\nspectral clustering"),
        "y": (0.94, "labels"),
    }
    style = {"boxstyle": "round,pad=0.5", "fc": WASH, "ec": SOFT, "lw": 0.8}
    for place, text in boxes.values():
        ax.text(place, 0.68, text, ha="center", va="center", fontsize=9, color=INK, bbox=style)
    places = [place for place, _ in boxes.values()]
    arrow = {"arrowstyle": "-|>", "color": INK, "lw": 1.0, "shrinkA": 0, "shrinkB": 0}
    for left, right, gap in zip(
        places, places[1:], ((0.055, 0.08), (0.08, 0.065), (0.065, 0.085), (0.085, 0.04)), strict=False
    ):
        ax.annotate("", (right - gap[1], 0.68), (left + gap[0], 0.68), arrowprops=arrow)
    mask = {**style, "ec": RED}
    ax.text(0.605, 0.15, "soft mask Mˢ = ψ(labels)", ha="center", va="center", fontsize=9, color=RED, bbox=mask)
    # The way back: down from the labels to the mask, and from the mask up to the representer.
    for corners in ([(0.94, 0.59), (0.94, 0.15), (0.715, 0.15)], [(0.495, 0.15), (0.27, 0.15), (0.27, 0.56)]):
        ax.plot(*zip(*corners[:2], strict=True), color=RED, lw=1.0)
        ax.annotate("", corners[2], corners[1], arrowprops={**arrow, "color": RED})
    ax.set(xlim=(-0.03, 1.03), ylim=(0, 1))
    ax.set_axis_off()
    return ax
