"""What parameters do to a result: links, sparsity, masks, members, doubt, the number of clusters."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from drawings import picture
from drawings.samples import clean_subspaces, digits, fitted, noisy_subspaces
from masked_subspace import BMSC, GMSC, RMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.masks import LabelMask
from masked_subspace.metrics import clustering_accuracy, match_labels, subspace_preserving_error
from masked_subspace.plots import plot_n_clusters


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
def mask_weight(_theme: str) -> Any:
    """What a mask does to a result, by its weight and by how many of its labels are right."""
    X, y = noisy_subspaces()
    rng = np.random.default_rng(0)
    weights = (0.01, 0.1, 0.3, 1, 3, 10)
    figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    for share, line in ((0, "o-"), (0.3, "s--"), (0.8, "^:")):
        labels = np.where(rng.random(len(y)) < share, rng.integers(0, 5, len(y)), y)
        told = LabelMask(labels, 3)
        models = [GMSC(5, soft_mask=told, mask_weight=weight, random_state=0).fit(X) for weight in weights]
        accuracy = [clustering_accuracy(y, model.labels_) for model in models]
        ax.plot(weights, accuracy, line, ms=4, label=f"{share:.0%} drawn anew" if share else "all labels right")
    ax.set(xscale="log", xlabel="mask_weight", ylabel="accuracy of GMSC", ylim=(0, 1.05))
    ax.set_xticks(weights, [f"{weight:g}" for weight in weights])
    ax.minorticks_off()
    ax.legend(loc="lower left")
    return figure


@picture
def affine(_theme: str) -> Any:
    """Affine subspaces with little room: three ways to look at them."""
    ways = {
        "plain": {"view": "plain"},
        "plain, affine=True": {"view": "plain", "affine": True},
        "lifted": {"view": "lifted"},
    }
    sets = {"6 lines in 4 dimensions": (6, 1, 4), "4 planes in 5": (4, 2, 5), "5 planes in 10": (5, 2, 10)}
    figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    for shift, (way, chosen) in enumerate(ways.items()):
        scores = []
        for k, dim, ambient in sets.values():
            data = make_subspaces(k, dim, ambient, 60, noise=0.02, affine=True, random_state=0)
            scores.append(clustering_accuracy(data.target, BMSC(k, random_state=0, **chosen).fit(data.data).labels_))
        ax.bar(np.arange(3) + 0.27 * (shift - 1), scores, 0.25, label=way, color=f"C{shift}")
    ax.set(xticks=range(3), xticklabels=sets, ylim=(0, 1), ylabel="accuracy of BMSC")
    ax.legend(ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.2))
    return figure


@picture
def more_members(_theme: str) -> Any:
    counts = (1, 2, 3, 5, 9, 15)
    y = digits()[1]
    fits = [[fitted(RMSC, digits, 10, seed=seed, members=count) for count in counts] for seed in range(3)]
    accuracy = np.array([[clustering_accuracy(y, model.labels_) for model in line] for line in fits])
    figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    ax.plot(range(len(counts)), accuracy.T, "o", ms=4, color="C0", alpha=0.6)
    ax.plot(range(len(counts)), accuracy.mean(axis=0), "-", color="C0")
    ax.set(xlabel="members", ylabel="accuracy", ylim=(0.85, 1), xticks=range(len(counts)), xticklabels=counts)
    return figure


@picture
def min_certainty(_theme: str) -> Any:
    """What is kept, and how much of it is right."""
    y, model = digits()[1], fitted(RMSC, digits, 10)
    right = match_labels(y, model.labels_) == y
    limits = np.linspace(0, 0.95, 20)
    kept = [model.certainty_ >= limit for limit in limits]
    figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    ax.plot(limits, [right[own].mean() for own in kept], "o-", ms=4, label="share right, of those kept")
    ax.plot(limits, [own.mean() for own in kept], "s--", ms=4, label="share kept")
    ax.set(xlabel="min_certainty", ylim=(0, 1.05))
    ax.legend(loc="lower left")
    return figure


@picture
def n_clusters(theme: str) -> Any:
    """The score of every number of clusters that was tried."""
    figure, axes = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
    for ax, (name, data) in zip(axes, {"5 subspaces": clean_subspaces, "10 digits": digits}.items(), strict=True):
        plot_n_clusters(fitted(RMSC, data, "auto"), ax=ax, theme=theme)
        ax.set(title=name)
    return figure


def _two_lines(values: Any, name: str, models: Any, other: str, wrong: Any) -> Any:
    """Accuracy and an error against a parameter, on digits."""
    accuracy = [clustering_accuracy(digits()[1], model.labels_) for model in models]
    figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    ax.plot(values, accuracy, "o-", ms=4, color="C0", label="accuracy")
    ax.plot(values, wrong, "s--", ms=4, color="C1", label=other)
    ax.set(xscale="log", xlabel=name, ylim=(0, 1.02), xticks=values, xticklabels=values)
    ax.minorticks_off()
    ax.legend(ncols=2, loc="upper center", bbox_to_anchor=(0.5, 1.18))
    return figure
