"""Colours and shapes of clusters and of known classes, the same in the page and in `plots`.

Eight colours are about what readers with any kind of colour vision can tell apart, so larger numbers combine them with
shapes: clusters k and k + 8 share a colour but never a shape. Known classes have a muted palette of their own, so that
nobody takes a class for a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass

# After Okabe and Ito (2008); yellow and black gave way to brown and violet, which show on white and on dark grounds.
CLUSTER_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#7a5a14", "#7a63e6")
CLASS_COLOURS = ("#786996", "#a5874b", "#4b5a69", "#96695a", "#78b4c3", "#c3a578", "#8787c3", "#695a2d")
UNASSIGNED_COLOUR = "#8a9099"
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "down", "plus")
MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "cross": "X", "down": "v", "plus": "P"}


@dataclass(frozen=True)
class Look:
    """How one cluster or class is drawn."""

    colour: str
    shape: str


def cluster_look(k: int) -> Look:
    """Of the k-th cluster; 56 differ."""
    return _look(k, CLUSTER_COLOURS)


def class_look(k: int) -> Look:
    """Of the k-th known class."""
    return _look(k, CLASS_COLOURS)


def _look(k: int, colours: tuple[str, ...]) -> Look:
    return Look(colours[k % len(colours)], SHAPES[k // len(colours) % len(SHAPES)])
