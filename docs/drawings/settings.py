"""What parameters do to a result: links, sparsity, the number of clusters."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt

from drawings import picture
from drawings.samples import clean_subspaces, digits, fitted
from masked_subspace import BMSC, RMSC
from masked_subspace.metrics import clustering_accuracy, subspace_preserving_error
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
