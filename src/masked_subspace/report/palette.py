"""Colours and shapes of clusters and of known classes, the same in the page and in `plots`.

Eight colours are about what readers with any kind of colour vision can tell apart, so larger numbers combine them with
shapes: clusters k and k + 8 share a colour but never a shape. Known classes have a muted palette of their own, so that
nobody takes a class for a cluster. No eight colours differ enough and also show on white and on dark grounds, so each
theme has its own: all of them have a contrast of at least 3 : 1 with every ground of their theme.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

# Found by a search for the largest smallest difference (Oklab) in usual, protan, deutan and tritan vision.
CLUSTER_COLOURS = {
    "light": ("#4d53f6", "#9e7b01", "#339370", "#b11706", "#c547b5", "#05536c", "#771833", "#5709ae"),
    "dark": ("#5a7dd4", "#f1b504", "#71f1d8", "#f88465", "#eb4d96", "#8ec2e7", "#91764b", "#9e91fa"),
}
CLASS_COLOURS = {
    "light": ("#6787a8", "#585474", "#295649", "#646879", "#796c43", "#8a7679", "#484369", "#a2805d"),
    "dark": ("#8eb0bc", "#c4c2ed", "#629ca3", "#ada87d", "#f9d7b4", "#e0bea6", "#859169", "#74789e"),
}
SHAPES = ("circle", "square", "triangle", "diamond", "cross", "down", "plus")
MARKERS = {"circle": "o", "square": "s", "triangle": "^", "diamond": "D", "cross": "X", "down": "v", "plus": "P"}


@dataclass(frozen=True)
class Look:
    """How one cluster or class is drawn."""

    colour: str  # in the light theme
    shape: str
    dark_colour: str

    def colour_in(self, theme: str) -> str:
        """Its colour in that theme."""
        return self.dark_colour if theme == "dark" else self.colour

    def plain(self) -> list[str]:
        """As the page's script reads it."""
        return [self.colour, self.shape, self.dark_colour]


UNASSIGNED = Look("#757b84", "circle", "#8a9099")


def cluster_look(k: int) -> Look:
    """Of the k-th cluster; 56 differ."""
    return _look(k, CLUSTER_COLOURS)


def class_look(k: int) -> Look:
    """Of the k-th known class."""
    return _look(k, CLASS_COLOURS)


def cluster_looks(clusters: list[int]) -> list[Look]:
    """Of all clusters in rising order; being in no cluster (−1) has its gray, and takes no other's place."""
    left_out = sum(cluster < 0 for cluster in clusters)
    return [UNASSIGNED if cluster < 0 else cluster_look(k - left_out) for k, cluster in enumerate(clusters)]


def _look(k: int, colours: Mapping[str, tuple[str, ...]]) -> Look:
    light, dark = (colours[theme][k % len(colours[theme])] for theme in ("light", "dark"))
    return Look(light, SHAPES[k // len(colours["light"]) % len(SHAPES)], dark)
