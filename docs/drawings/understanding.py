"""Subspaces in pictures, and how it works: a toy of three dimensions beside 500 digits."""

from __future__ import annotations

import itertools
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from drawings import picture
from drawings.samples import (
    clean_subspaces,
    digits,
    faces,
    few_noisy_subspaces,
    fitted,
    noisy_subspaces,
    plane_and_lines,
    wine,
)
from drawings.space import bare, flats
from masked_subspace import BMSC, RMSC
from masked_subspace.baselines import LRR, LSR, SSC, EnSC
from masked_subspace.masks import ConsensusMask, LabelMask
from masked_subspace.metrics import clustering_accuracy, match_labels, subspace_preserving_error
from masked_subspace.plots import THEMES, plot_affinity, plot_embedding, plot_map

VIEWS = ("plain", "root", "whitened", "homogeneous", "standardized")


@picture
def subspaces(theme: str) -> Any:
    X, y = plane_and_lines()
    found = {
        "the truth": y,
        "k-means": KMeans(3, n_init=10, random_state=0).fit_predict(X),
        "RMSC": fitted(RMSC, plane_and_lines, 3).labels_,
    }
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.1), subplot_kw={"projection": "3d"})
    figure.subplots_adjust(left=0, right=1, bottom=0, top=0.92, wspace=0)
    for ax, (name, labels) in zip(axes, found.items(), strict=True):
        flats(bare(ax, theme), X, y)
        _points(ax, X, match_labels(y, labels))
        ax.set(title=name if labels is y else f"{name}: accuracy {clustering_accuracy(y, labels):.0%}")
    return figure


@picture
def rebuild(theme: str) -> Any:
    figure, ax = plt.subplots(figsize=(4, 4), layout="constrained")
    model = fitted(BMSC, clean_subspaces, 5)
    plot_affinity(abs(model.representation_matrix_), clean_subspaces()[1], ax=ax, theme=theme)
    ax.set(title="|Z|: row i rebuilds sample i")
    return figure


@picture
def combination(_theme: str) -> Any:
    """One digit, the three others with which BMSC rebuilds it most, and what they give together."""
    X, sample = digits()[0], 345
    row = abs(fitted(BMSC, digits, 10).representation_matrix_[[sample]].toarray()[0])
    others = np.argsort(-row)[:3]
    shares = np.linalg.lstsq(X[others].T, X[sample], rcond=None)[0]
    shown = [X[sample], *X[others], shares @ X[others]]
    names = [
        "a digit",
        *(f"{sign}{share:.2f} ×" for sign, share in zip(("", "+ ", "+ "), shares, strict=True)),
        "added up",
    ]
    figure, axes = plt.subplots(1, 5, figsize=(7, 1.7), layout="constrained")
    for ax, image, name in zip(axes, shown, names, strict=True):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[], title=name)
    return figure


@picture
def coefficients(theme: str) -> Any:
    """What five methods ask of the coefficients, on the same samples."""
    y = few_noisy_subspaces()[1]
    figure, axes = plt.subplots(1, 5, figsize=(10, 2.6), layout="constrained")
    for ax, method in zip(axes, (BMSC, SSC, EnSC, LSR, LRR), strict=True):
        Z = fitted(method, few_noisy_subspaces, 5).representation_matrix_
        plot_affinity(abs(Z), y, ax=ax, theme=theme)
        wrong = subspace_preserving_error(Z, y)
        ax.set(title=f"{method.__name__}: {Z.nnz / len(y):.0f} links,\n{wrong:.0%} wrong", xlabel="", ylabel="")
    return figure


@picture
def flow(theme: str) -> Any:
    """The way of a fit: forward from samples to labels, back by the mask only."""
    look = THEMES[theme]
    figure, ax = plt.subplots(figsize=(8.4, 1.9), layout="constrained")
    names = ("samples", "view", "representation Z", "graph", "cut", "labels")
    places = (0.04, 0.17, 0.37, 0.57, 0.72, 0.88)
    box = {"boxstyle": "round,pad=0.5", "fc": look.ground, "ec": look.soft}
    arrow = {"arrowstyle": "-|>", "lw": 1, "shrinkA": 4, "shrinkB": 4}
    texts = [
        ax.text(place, 0.72, name, ha="center", va="center", color=look.ink, bbox=box)
        for place, name in zip(places, names, strict=True)
    ]
    for left, right in itertools.pairwise(texts):
        ends = {"patchA": left.get_bbox_patch(), "patchB": right.get_bbox_patch()}
        ax.annotate(
            "", right.get_position(), left.get_position(), arrowprops={**arrow, **ends, "color": look.soft}, zorder=0
        )
    ax.text(0.625, 0.16, "mask", ha="center", va="center", color=look.warning, bbox={**box, "ec": look.warning})
    # The way back: down from the labels to the mask, and from the mask up to the representation.
    for corners in ([(0.88, 0.56), (0.88, 0.16), (0.66, 0.16)], [(0.59, 0.16), (0.37, 0.16), (0.37, 0.56)]):
        ax.plot(*zip(*corners[:2], strict=True), color=look.warning, lw=1, zorder=0)
        ends = {**arrow, "shrinkA": 0, "shrinkB": 0, "color": look.warning}
        ax.annotate("", corners[2], corners[1], arrowprops=ends, zorder=0)
    ax.set(xlim=(-0.03, 0.95), ylim=(0, 1))
    ax.set_axis_off()
    return figure


@picture
def unit_length(theme: str) -> Any:
    """The first step of every view, on the toy."""
    X, y = plane_and_lines()
    figure = plt.figure(figsize=(7, 3.2))
    figure.subplots_adjust(left=0, right=1, bottom=0, top=0.92, wspace=0)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for place, (name, rows) in enumerate({"samples": X, "at unit length": unit}.items()):
        ax = bare(figure.add_subplot(1, 2, place + 1, projection="3d"), theme)
        if rows is X:
            flats(ax, X, y)
        _points(ax, rows, y)
        ax.set(title=name)
    return figure


@picture
def views(_theme: str) -> Any:
    """What each view does to three kinds of data."""
    kinds = {"digits": (digits, 10), "faces": (faces, 20), "wine": (wine, 3)}
    figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
    for shift, (kind, (data, k)) in enumerate(kinds.items()):
        scores = [clustering_accuracy(data()[1], fitted(BMSC, data, k, view=name).labels_) for name in VIEWS]
        ax.bar(np.arange(5) + 0.27 * (shift - 1), scores, 0.25, label=kind, color=f"C{shift}")
    ax.set(xticks=range(5), xticklabels=VIEWS, ylim=(0, 1), ylabel="accuracy of BMSC")
    ax.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.2))
    return figure


@picture
def graph(theme: str) -> Any:
    X, y = plane_and_lines()
    figure = plt.figure(figsize=(9, 3.3), layout="constrained")
    ax = bare(figure.add_subplot(1, 3, 1, projection="3d"), theme)
    _points(ax, X, y)
    links = fitted(BMSC, plane_and_lines, 3).affinity_matrix_.tocoo()
    for a, b in zip(links.row, links.col, strict=True):
        if a < b:
            wrong = y[a] != y[b]
            colour = THEMES[theme].warning if wrong else THEMES[theme].soft
            ax.plot(*X[[a, b]].T, color=colour, lw=0.5, alpha=0.8 if wrong else 0.5)
    share = links.data[y[links.row] != y[links.col]].sum() / links.data.sum()
    ax.set(title=f"toy: {share:.0%} of the weight is wrong")
    y = digits()[1]
    for place, (kind, name) in enumerate({"symmetric": "all links", "top-k": "the four strongest"}.items()):
        ax = figure.add_subplot(1, 3, place + 2)
        model = fitted(BMSC, digits, 10, affinity=kind, n_links=4)
        plot_affinity(model.affinity_matrix_, y, ax=ax, theme=theme)
        ax.set(title=f"digits, {name}: {clustering_accuracy(y, model.labels_):.0%}")
    return figure


@picture
def mask(theme: str) -> Any:
    """Prices on the toy as one sample sees them, and two masks of digits."""
    X = plane_and_lines()[0]
    toy = LabelMask(fitted(BMSC, plane_and_lines, 3).labels_, 3)
    figure = plt.figure(figsize=(9, 3.3), layout="constrained")
    ax = bare(figure.add_subplot(1, 3, 1, projection="3d"), theme)
    edge = {"edgecolors": THEMES[theme].soft, "linewidths": 0.4}  # the lowest price is dark, and so is a dark page
    image = ax.scatter(*X.T, c=toy.block(0, 1)[0], s=9, cmap="cividis", vmin=1 / 3, vmax=3, depthshade=False, **edge)
    ax.scatter(*X[:1].T, marker="*", s=130, color=THEMES[theme].warning, depthshade=False)
    ax.set(title="toy: prices for the star")
    y = digits()[1]
    order = np.argsort(y, kind="stable")
    labelings = [fitted(BMSC, digits, 10, view=name).labels_[order] for name in VIEWS]
    masks = {"one labelling": LabelMask(labelings[0], 3), "agreement of five": ConsensusMask(labelings, 3)}
    axes = [figure.add_subplot(1, 3, place) for place in (2, 3)]
    for ax, (name, one) in zip(axes, masks.items(), strict=True):
        ax.imshow(one.block(0, len(y)), cmap="cividis", vmin=1 / 3, vmax=3)
        ax.set(title=f"digits, {name}", xlabel="sample, sorted")
    figure.colorbar(image, ax=axes, label="price of a link")
    return figure


@picture
def rounds(theme: str) -> Any:
    """The representation before and after its own labels became a mask; the same for digits in numbers."""
    settings = {"members": 1, "mask_weight": 1, "mask_strength": 2}
    y = noisy_subspaces()[1]
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained", width_ratios=(1, 1, 0.9))
    for ax, count in zip(axes, (1, 2), strict=False):
        Z = fitted(RMSC, noisy_subspaces, 5, max_rounds=count, **settings).representation_matrix_
        plot_affinity(abs(Z), y, ax=ax, theme=theme)
        ax.set(title=f"subspaces, round {count}: {subspace_preserving_error(Z, y):.0%} wrong")
    counts = (1, 2, 3)
    models = [fitted(RMSC, digits, 10, max_rounds=count, **settings) for count in counts]
    y = digits()[1]
    wrong = [subspace_preserving_error(model.representation_matrix_, y) for model in models]
    axes[2].plot(counts, [clustering_accuracy(y, model.labels_) for model in models], "o-", label="accuracy")
    axes[2].plot(counts, wrong, "s--", label="weight on wrong samples")
    axes[2].set(title="digits", xlabel="rounds", xticks=counts, ylim=(0, 1))
    axes[2].legend(loc="center")
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
    bars = ax.bar(range(len(bins)), shares, 0.7, color="C0")
    ax.bar_label(bars, [f"{(places == k).sum()} digits" for k in bins], padding=2, fontsize=8)
    names = [f"{edges[k]:.2g} to {min(edges[k + 1], 1):.2g}" for k in bins]
    ax.set(
        xticks=range(len(bins)), xticklabels=names, ylim=(0, 1.12), xlabel="certainty_", ylabel="share that is right"
    )
    return figure


@picture
def cuts(theme: str) -> Any:
    """The toy where the spectral cut sees it, and one graph of digits cut in two ways."""
    y = digits()[1]
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.4), layout="constrained", width_ratios=(0.8, 1, 1))
    plot_embedding(fitted(BMSC, plane_and_lines, 3), ax=axes[0], theme=theme)
    axes[0].set(title="toy by eigenvectors", xticks=[], yticks=[])
    for ax, cut in zip(axes[1:], ("spectral", "modularity"), strict=True):
        model = fitted(BMSC, digits, 10, cut=cut)
        plot_map(model, ax=ax, theme=theme)
        ax.set(title=f"digits, {cut}: {clustering_accuracy(y, model.labels_):.0%}")
    return figure


@picture
def judge(theme: str) -> Any:
    """Prediction strength on the toy, and what was judged on digits."""
    X = plane_and_lines()[0]
    labels = fitted(BMSC, plane_and_lines, 3).labels_
    seen = np.random.default_rng(0).random(len(X)) < 0.5
    spaces = [np.linalg.svd(X[seen & (labels == k)], full_matrices=False)[2] for k in range(3)]
    dims = [2 if k == labels[0] else 1 for k in range(3)]
    away = [
        np.linalg.norm(X - X @ basis[:dim].T @ basis[:dim], axis=1) for basis, dim in zip(spaces, dims, strict=True)
    ]
    told = np.argmin(away, axis=0)
    figure = plt.figure(figsize=(9, 3.2), layout="constrained")
    grid = figure.add_gridspec(1, 2, width_ratios=(0.8, 1))
    ax = bare(figure.add_subplot(grid[0], projection="3d"), theme)
    ax.scatter(*X[seen].T, s=5, color=THEMES[theme].soft, alpha=0.5, depthshade=False)
    _points(ax, X[~seen], told[~seen])
    right = (told == labels)[~seen].mean()
    ax.set(title=f"toy: grey half predicts {right:.0%} of the other")
    ways = [one for one in fitted(RMSC, digits, 10).choices_ if "score" in one]
    ax = figure.add_subplot(grid[1])
    for shift, name in enumerate(("agreement", "strength", "score")):
        places = np.arange(len(ways)) + 0.26 * (shift - 1)
        # A way that could not lead has no strength, and its score is a bound.
        heights = [way[name] or 0.0 for way in ways]
        shades = [0.35 if name == "score" and way["strength"] is None else 1.0 for way in ways]
        bars = ax.bar(places, heights, 0.24, label=name, color=f"C{shift}")
        for bar, shade in zip(bars, shades, strict=True):
            bar.set_alpha(shade)
    names = [way["way"] + (" (taken)" if way["taken"] else "") for way in ways]
    ax.set(xticks=np.arange(len(ways)), xticklabels=names, ylim=(0, 1.2), yticks=(0, 0.5, 1), title="digits")
    ax.legend(ncols=3, loc="upper center")
    return figure


def _points(ax: Any, X: np.ndarray, labels: np.ndarray) -> None:
    """Samples in the colours of their clusters."""
    for k in range(3):
        ax.scatter(*X[labels == k].T, s=8, color=f"C{k}", depthshade=False)
