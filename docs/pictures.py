"""The pictures of the guide, each in a light and a dark version: python docs/pictures.py docs/_pictures

What is there already is not drawn again; delete the folder to draw it anew. Fits are made once for both themes.
"""

from __future__ import annotations

import functools
import sys
import warnings
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits, load_wine
from two_themes import style

from masked_subspace import BMSC, RMSC
from masked_subspace.datasets import load, make_subspaces
from masked_subspace.masks import ConsensusMask, LabelMask
from masked_subspace.metrics import clustering_accuracy, match_labels, subspace_preserving_error
from masked_subspace.plots import THEMES, plot_affinity, plot_map
from masked_subspace.report.palette import cluster_look

PICTURES: dict[str, Any] = {}


def picture(function: Any) -> Any:
    """A function that draws for one theme, under its own name."""
    PICTURES[function.__name__] = function
    return function


@functools.cache
def plane_and_lines() -> tuple[np.ndarray, np.ndarray]:
    """80 samples each of a plane and two lines through the origin of R³."""
    rng = np.random.default_rng(0)
    bases = [np.linalg.qr(rng.standard_normal((3, 2)))[0].T, *rng.standard_normal((2, 1, 3))]
    parts = [rng.uniform(-1, 1, (80, len(b))) @ (b / np.linalg.norm(b, axis=1, keepdims=True)) for b in bases]
    clean = np.vstack(parts)
    return clean + 0.01 * rng.standard_normal(clean.shape), np.repeat(np.arange(3), 80)


@functools.cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    data = load_digits()
    return data.data[:500], data.target[:500]


@functools.cache
def fitted(method: type, data: Any, n_clusters: int, **settings: Any) -> Any:
    """One fit for all pictures and themes that want it; `data` is a function of this file."""
    return method(n_clusters, random_state=0, **settings).fit(data()[0])


@functools.cache
def noisy_subspaces() -> tuple[np.ndarray, np.ndarray]:
    data = make_subspaces(5, dim=4, ambient=20, per_subspace=60, noise=0.14, random_state=2)
    return data.data, data.target


@functools.cache
def clean_subspaces() -> tuple[np.ndarray, np.ndarray]:
    data = make_subspaces(5, dim=3, ambient=30, per_subspace=40, noise=0.02, random_state=0)
    return data.data, data.target


@functools.cache
def faces() -> tuple[np.ndarray, np.ndarray]:
    data = load("orl", download=False)
    return data.data[:200], data.target[:200]


@functools.cache
def wine() -> tuple[np.ndarray, np.ndarray]:
    data = load_wine()
    return data.data, data.target


@picture
def subspaces(theme: str) -> Any:
    X, y = plane_and_lines()
    found = {
        "the truth": y,
        "k-means": KMeans(3, n_init=10, random_state=0).fit_predict(X),
        "BMSC": fitted(BMSC, plane_and_lines, 3).labels_,
    }
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.1), subplot_kw={"projection": "3d"})
    figure.subplots_adjust(left=0, right=1, bottom=0, top=0.92, wspace=0)
    for ax, (name, labels) in zip(axes, found.items(), strict=True):
        matched = match_labels(y, labels)
        for k in range(3):
            ax.scatter(*X[matched == k].T, s=8, color=cluster_look(k).colour, depthshade=False)
        ax.set(title=name if labels is y else f"{name}: accuracy {clustering_accuracy(y, labels):.0%}")
        ax.set(xticklabels=[], yticklabels=[], zticklabels=[])
        ax.view_init(28, 62)
        ax.set_box_aspect((1, 1, 0.8), zoom=1.05)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.set_pane_color((0.5, 0.5, 0.5, 0.05))
            axis._axinfo["grid"].update(color=(0.5, 0.5, 0.5, 0.25), linewidth=0.5)
            axis.line.set_color(THEMES[theme].soft)
    return figure


@picture
def rebuild(theme: str) -> Any:
    figure, ax = plt.subplots(figsize=(4, 4), layout="constrained")
    model = fitted(BMSC, clean_subspaces, 5)
    plot_affinity(abs(model.representation_matrix_), clean_subspaces()[1], ax=ax, theme=theme)
    ax.set(title="|Z|: row i rebuilds sample i")
    return figure


@picture
def graph(theme: str) -> Any:
    y = digits()[1]
    figure, axes = plt.subplots(1, 2, figsize=(8, 4), layout="constrained")
    for ax, kind, name in zip(axes, ("symmetric", "top-k"), ("all links", "the four strongest of each"), strict=True):
        model = fitted(BMSC, digits, 10, affinity=kind, n_links=4)
        plot_affinity(model.affinity_matrix_, y, ax=ax, theme=theme)
        ax.set(title=f"{name}: accuracy {clustering_accuracy(y, model.labels_):.0%}")
    return figure


@picture
def views(_theme: str) -> Any:
    """What each view does to three kinds of data."""
    kinds = {"digits": (digits, 10), "faces": (faces, 20), "wine": (wine, 3)}
    names = ("plain", "root", "whitened", "homogeneous", "standardized")
    figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
    for shift, (kind, (data, k)) in enumerate(kinds.items()):
        scores = [clustering_accuracy(data()[1], fitted(BMSC, data, k, view=name).labels_) for name in names]
        ax.bar(np.arange(5) + 0.27 * (shift - 1), scores, 0.25, label=kind, color=cluster_look(shift).colour)
    ax.set(xticks=range(5), xticklabels=names, ylim=(0, 1), ylabel="accuracy of BMSC")
    ax.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.2))
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
def rounds(theme: str) -> Any:
    """The representation before and after its own labels became a mask."""
    y = noisy_subspaces()[1]
    figure, axes = plt.subplots(1, 2, figsize=(8, 4.1), layout="constrained")
    for ax, count in zip(axes, (1, 2), strict=True):
        settings = {"members": 1, "max_rounds": count, "mask_weight": 1, "mask_strength": 2}
        model = fitted(RMSC, noisy_subspaces, 5, **settings)
        wrong = subspace_preserving_error(model.representation_matrix_, y)
        plot_affinity(abs(model.representation_matrix_), y, ax=ax, theme=theme)
        ax.set(title=f"round {count}: {wrong:.0%} of the weight on wrong samples")
    return figure


@picture
def members(_theme: str) -> Any:
    """How often samples are right, by certainty."""
    y, model = digits()[1], fitted(RMSC, digits, 10)
    right = match_labels(y, model.labels_) == y
    edges = np.array([0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0001])
    places = np.digitize(model.certainty_, edges) - 1
    bins = [k for k in range(len(edges) - 1) if (places == k).any()]
    figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    shares = [right[places == k].mean() for k in bins]
    bars = ax.bar(range(len(bins)), shares, 0.7, color=cluster_look(0).colour)
    ax.bar_label(bars, [f"{(places == k).sum()} digits" for k in bins], padding=2, fontsize=8)
    names = [f"{edges[k]:.2g} to {min(edges[k + 1], 1):.2g}" for k in bins]
    ax.set(
        xticks=range(len(bins)), xticklabels=names, ylim=(0, 1.12), xlabel="certainty_", ylabel="share that is right"
    )
    return figure


@picture
def cuts(theme: str) -> Any:
    """The same graph, cut in two ways."""
    y = digits()[1]
    figure, axes = plt.subplots(1, 2, figsize=(8, 4.1), layout="constrained")
    for ax, cut in zip(axes, ("spectral", "modularity"), strict=True):
        model = fitted(BMSC, digits, 10, cut=cut)
        plot_map(model, ax=ax, theme=theme)
        sizes = np.bincount(model.labels_)
        accuracy = clustering_accuracy(y, model.labels_)
        ax.set(title=f"{cut}: sizes {sizes.min()} to {sizes.max()}, accuracy {accuracy:.0%}")
    return figure


@picture
def judge(_theme: str) -> Any:
    ways = [one for one in fitted(RMSC, digits, 10).choices_ if "score" in one]
    figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    for shift, name in enumerate(("agreement", "strength", "score")):
        places = np.arange(len(ways)) + 0.26 * (shift - 1)
        ax.bar(places, [way[name] for way in ways], 0.24, label=name, color=cluster_look(shift).colour)
    names = [way["way"] + (" (taken)" if way["taken"] else "") for way in ways]
    ax.set(xticks=np.arange(len(ways)), xticklabels=names, ylim=(0, 1), ylabel="0 to 1")
    ax.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.18))
    return figure


@picture
def links(_theme: str) -> Any:
    counts = (2, 3, 4, 5, 6, 8, 12, 20, 40)
    y = digits()[1]
    models = [fitted(BMSC, digits, 10, n_links=count, cut="spectral") for count in counts]
    graphs = [model.affinity_matrix_.tocoo() for model in models]
    wrong = [one.data[y[one.row] != y[one.col]].sum() / one.data.sum() for one in graphs]
    return _two_lines(counts, "n_links", models, "weight of links between classes", wrong)


@picture
def sparsity(_theme: str) -> Any:
    prices = (1e-4, 3e-4, 1e-3, 2e-3, 3e-3, 5e-3)
    y = digits()[1]
    models = [fitted(BMSC, digits, 10, sparsity=price) for price in prices]
    wrong = [subspace_preserving_error(model.representation_matrix_, y) for model in models]
    figure = _two_lines(prices, "sparsity", models, "weight of Z on wrong samples", wrong)
    labels = [
        f"{price:g}\n{model.representation_matrix_.nnz / len(y):.0f}"
        for price, model in zip(prices, models, strict=True)
    ]
    figure.axes[0].set(xticklabels=labels, xlabel="sparsity, and below it the nonzeros of a row of Z")
    return figure


@picture
def n_clusters(_theme: str) -> Any:
    """How real the clusters are, for every number of them."""
    numbers = range(2, 15)
    figure, axes = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained", sharey=True)
    for ax, (name, data) in zip(axes, {"5 subspaces": clean_subspaces, "10 digits": digits}.items(), strict=True):
        structure = [fitted(BMSC, data, number).structure_ for number in numbers]
        ax.plot(numbers, structure, "o-", ms=4, color=cluster_look(0).colour)
        ax.set(title=name, xlabel="n_clusters", ylim=(0, 1.05))
    axes[0].set(ylabel="structure_")
    return figure


def _two_lines(values: Any, name: str, models: Any, other: str, wrong: Any) -> Any:
    """Accuracy and an error against a parameter, on digits."""
    accuracy = [clustering_accuracy(digits()[1], model.labels_) for model in models]
    figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    ax.plot(values, accuracy, "o-", ms=4, color=cluster_look(0).colour, label="accuracy")
    ax.plot(values, wrong, "s--", ms=4, color=cluster_look(1).colour, label=other)
    ax.set(xscale="log", xlabel=name, ylim=(0, 1.02), xticks=values, xticklabels=values)
    ax.minorticks_off()
    ax.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, 1.18))
    return figure


def sample_report(path: Path) -> None:
    """A report of digits, for the page that explains reports."""
    X, y = digits()
    images = (load_digits().images[: len(y)] * (255 / 16)).astype(np.uint8)
    fitted(RMSC, digits, 10).report(path, X, y=y, images=images, title="500 handwritten digits")


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")  # some pictures show settings that a fit warns of
    for name, draw in PICTURES.items():
        for theme in THEMES:
            path = folder / f"{name}-{theme}.png"
            if not path.exists():
                with plt.rc_context(style(theme)):
                    draw(theme).savefig(path, dpi=140)
                plt.close("all")
    if not (folder / "sample-report.html").exists():
        sample_report(folder / "sample-report.html")


if __name__ == "__main__":
    main()
