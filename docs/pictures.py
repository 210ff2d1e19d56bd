"""The pictures of the guide, each in a light and a dark version: python docs/pictures.py docs/_pictures

What is there already is not drawn again; delete the folder to draw it anew.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from two_themes import style

from masked_subspace import BMSC, RMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.masks import ConsensusMask, LabelMask
from masked_subspace.metrics import clustering_accuracy, match_labels
from masked_subspace.plots import THEMES, plot_affinity
from masked_subspace.report.palette import cluster_look

PICTURES: dict[str, Any] = {}


def picture(function: Any) -> Any:
    """A function that draws for one theme, under its own name."""
    PICTURES[function.__name__] = function
    return function


def plane_and_lines() -> tuple[np.ndarray, np.ndarray]:
    """80 samples each of a plane and two lines through the origin of R³."""
    rng = np.random.default_rng(0)
    bases = [np.linalg.qr(rng.standard_normal((3, 2)))[0].T, *rng.standard_normal((2, 1, 3))]
    parts = [rng.uniform(-1, 1, (80, len(b))) @ (b / np.linalg.norm(b, axis=1, keepdims=True)) for b in bases]
    clean = np.vstack(parts)
    return clean + 0.01 * rng.standard_normal(clean.shape), np.repeat(np.arange(3), 80)


def digits() -> tuple[np.ndarray, np.ndarray]:
    data = load_digits()
    return data.data[:500], data.target[:500]


@picture
def subspaces(_theme: str) -> Any:
    X, y = plane_and_lines()
    found = {
        "the truth": y,
        "k-means": KMeans(3, n_init=10, random_state=0).fit_predict(X),
        "BMSC": BMSC(3, random_state=0).fit_predict(X),
    }
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), subplot_kw={"projection": "3d"}, layout="constrained")
    for ax, (name, labels) in zip(axes, found.items(), strict=True):
        for k, label in enumerate(np.unique(y)):
            own = X[match_labels(y, labels) == label]
            ax.scatter(*own.T, s=7, color=cluster_look(k).colour, depthshade=False)
        ax.set(title=name if labels is y else f"{name}: accuracy {clustering_accuracy(y, labels):.0%}")
        ax.set(xticklabels=[], yticklabels=[], zticklabels=[])
        ax.view_init(22, 40)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.set_pane_color((0.5, 0.5, 0.5, 0.06))
    return figure


@picture
def rebuild(theme: str) -> Any:
    data = make_subspaces(5, dim=3, ambient=30, per_subspace=40, noise=0.02, random_state=0)
    model = BMSC(5, random_state=0).fit(data.data)
    figure, ax = plt.subplots(figsize=(4, 4), layout="constrained")
    plot_affinity(abs(model.representation_matrix_), data.target, ax=ax, theme=theme)
    ax.set(title="|Z|: row i rebuilds sample i")
    return figure


@picture
def graph(theme: str) -> Any:
    X, y = digits()
    figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
    for ax, kind, name in zip(axes, ("symmetric", "top-k"), ("all links", "the four strongest of each"), strict=True):
        model = BMSC(10, affinity=kind, n_links=4, random_state=0).fit(X)
        plot_affinity(model.affinity_matrix_, y, ax=ax, theme=theme)
        ax.set(title=f"{name}: accuracy {clustering_accuracy(y, model.labels_):.0%}")
    return figure


@picture
def mask(_theme: str) -> Any:
    labelings = [np.repeat([0, 1, 2], 20), np.repeat([0, 1, 2], [26, 14, 20]), np.repeat([0, 1, 2], [16, 24, 20])]
    masks = {"label mask": LabelMask(labelings[0], 3), "consensus of three": ConsensusMask(labelings, 3)}
    figure, axes = plt.subplots(1, 2, figsize=(7.4, 3.4), layout="constrained")
    for ax, (name, one) in zip(axes, masks.items(), strict=True):
        image = ax.imshow(one.block(0, 60), cmap="cividis", vmin=1 / 3, vmax=3)
        ax.set(title=name, xlabel="sample", ylabel="sample")
    figure.colorbar(image, ax=axes, label="price of a link")
    return figure


@picture
def judge(_theme: str) -> Any:
    X, _ = digits()
    ways = [one for one in RMSC(10, random_state=0).fit(X).choices_ if "score" in one]
    figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    for shift, (name, colour) in enumerate(zip(("agreement", "strength", "score"), range(3), strict=True)):
        places = np.arange(len(ways)) + 0.26 * (shift - 1)
        ax.bar(places, [way[name] for way in ways], 0.24, label=name, color=cluster_look(colour).colour)
    names = [way["way"] + (" (taken)" if way["taken"] else "") for way in ways]
    ax.set(xticks=np.arange(len(ways)), xticklabels=names, ylim=(0, 1), ylabel="0 to 1")
    ax.legend(frameon=False, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.18))
    return figure


@picture
def links(_theme: str) -> Any:
    X, y = digits()
    counts = (2, 3, 4, 5, 6, 8, 12, 20, 40)
    accuracy, wrong = [], []
    for count in counts:
        model = BMSC(10, n_links=count, cut="spectral", random_state=0).fit(X)
        accuracy.append(clustering_accuracy(y, model.labels_))
        edges = model.affinity_matrix_.tocoo()
        wrong.append(edges.data[y[edges.row] != y[edges.col]].sum() / edges.data.sum())
    figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    ax.plot(counts, accuracy, "o-", ms=4, color=cluster_look(0).colour, label="accuracy")
    ax.plot(counts, wrong, "s--", ms=4, color=cluster_look(1).colour, label="weight of links between classes")
    ax.set(xscale="log", xlabel="n_links", ylim=(0, 1), xticks=counts, xticklabels=counts)
    ax.minorticks_off()
    ax.legend(frameon=False, loc="center left")
    return figure


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        for theme in THEMES:
            path = folder / f"{name}-{theme}.png"
            if not path.exists():
                with plt.rc_context(style(theme)):
                    draw(theme).savefig(path, dpi=140)
                plt.close("all")


if __name__ == "__main__":
    main()
