"""Is this for my data? Four shapes, and which method finds them."""

from __future__ import annotations

import functools
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import make_blobs, make_moons

from drawings import picture
from drawings.samples import digits, fitted, plane_and_lines
from drawings.space import bare, flats
from masked_subspace import BMSC, RMSC
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.plots import plot_map

METHODS = {
    "k-means": lambda k: KMeans(k, n_init=10, random_state=0),
    "HDBSCAN": lambda _: HDBSCAN(min_cluster_size=15, copy=True),
    "BMSC": lambda k: BMSC(k, random_state=0),
    "RMSC": lambda k: RMSC(k, random_state=0),
}


@functools.cache
def _sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    return {
        "round heaps": make_blobs(240, centers=4, random_state=3),
        "winding shapes": make_moons(240, noise=0.06, random_state=0),
        "lines and a plane\nthat cross": plane_and_lines(),
        "500 digits,\n64 features": digits(),
    }


@functools.cache
def _accuracy(name: str) -> list[float]:
    X, y = _sets()[name]
    return [clustering_accuracy(y, make(len(np.unique(y))).fit_predict(X)) for make in METHODS.values()]


@picture
def which_tool(theme: str) -> Any:
    """Samples above, accuracy of four methods below."""
    figure = plt.figure(figsize=(9, 4), layout="constrained")
    grid = figure.add_gridspec(2, 4, height_ratios=(1.5, 1))
    for column, (name, (X, y)) in enumerate(_sets().items()):
        if X.shape[1] == 3:
            ax = bare(figure.add_subplot(grid[0, column], projection="3d"), theme)
            ax.set_box_aspect((1, 1, 0.8), zoom=1.35)
            flats(ax, X, y)
        else:
            ax = figure.add_subplot(grid[0, column])
            ax.set(xticks=[], yticks=[])
        if X.shape[1] == 64:
            plot_map(fitted(RMSC, digits, 10), ax=ax, theme=theme, names=False)
        else:
            for k in np.unique(y):
                ax.scatter(*X[y == k].T, s=5, color=f"C{k}")
        ax.set_title(name)
        below = figure.add_subplot(grid[1, column])
        scores = _accuracy(name)
        bars = below.barh(
            list(METHODS), scores, color=["C0" if score > max(scores) - 0.02 else "C1" for score in scores]
        )
        below.bar_label(bars, [f"{score:.0%}" for score in scores], padding=2, fontsize=8)
        below.set(xlim=(0, 1.35), xticks=[])
        below.invert_yaxis()
        below.spines[["top", "right", "bottom"]].set_visible(False)
        if column:
            below.set_yticklabels([])
    return figure
