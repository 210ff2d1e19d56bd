"""Numbers of a fit: rounds, candidates for the number of clusters, clusters against classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from masked_subspace.plots.themes import axes_or_new, dressed, shades_of, theme_of


def plot_n_clusters(model: Any, score: str = "score", *, ax: Any = None, theme: str = "light") -> Any:
    """The score of every number of clusters that was tried, and the one that was taken.

    Parameters
    ----------
    model : fitted estimator or list of dict
        An estimator with `n_clusters_scores_`, or such records: `n_clusters` and scores by name.
    score : str, default="score"
        Which of the scores is drawn.
    ax : matplotlib Axes or None, default=None
        Where to draw; None: on new ones of a figure of its own.
    theme : {"light", "dark"}, default="light"
        Colours of the picture: light prints well, dark goes with a dark page.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on; `ax.figure.savefig("picture.png")` writes it.

    Raises
    ------
    ValueError
        If the records have no such score, or there are none.

    Examples
    --------
    >>> from masked_subspace.plots import plot_n_clusters
    >>> records = [{"n_clusters": 2, "score": 0.5}, {"n_clusters": 3, "score": 0.9}]
    >>> plot_n_clusters(records).texts[0].get_text()
    '3 taken'
    """
    records = list(getattr(model, "n_clusters_scores_", model if isinstance(model, Sequence) else ()))
    known = sorted({key for record in records for key in record} - {"n_clusters"})
    if score not in known:
        held = ", ".join(known) or 'nothing; fit with n_clusters="auto" or a range'
        raise ValueError(f"score={score!r} is not in n_clusters_scores_, which has {held}.")
    points = sorted((record["n_clusters"], record[score]) for record in records if record.get(score) is not None)
    taken = getattr(model, "n_clusters_", max(points, key=lambda point: point[1])[0])
    look = theme_of(theme)
    ax = axes_or_new(ax, (4.8, 3.0))
    ax.plot(*zip(*points, strict=True), "o-", color=look.accent, lw=1.5, ms=4)
    ax.axvline(taken, color=look.warning, lw=1, ls=":")
    ax.annotate(
        f"{taken} taken",
        (taken, 0.03),
        xycoords=("data", "axes fraction"),
        xytext=(4, 0),
        textcoords="offset points",
        fontsize=8,
        color=look.ink,
        bbox={"boxstyle": "square,pad=0.1", "fc": look.ground, "ec": "none"},  # the curve passes here
    )
    ax.set(xlabel="number of clusters", ylabel=score.replace("_", " "))
    ax.xaxis.get_major_locator().set_params(integer=True)  # there are no 2.5 clusters
    return dressed(ax, look)


def plot_convergence(history: Any, quantity: str = "objective", *, ax: Any = None, theme: str = "light") -> Any:
    """A quantity over rounds, or its trace over the iterations of every round, one line each.

    The penalty grows from one iteration to the next (a continuation), so an objective trace may rise on its way.

    Parameters
    ----------
    history : fitted estimator or list of dict
        An estimator with `history_`, or that list.
    quantity : str, default="objective"
        A key of the records; one that ends with "_trace" has a value for each iteration.
    ax : matplotlib Axes or None, default=None
        Where to draw; None: on new ones of a figure of its own.
    theme : {"light", "dark"}, default="light"
        Colours of the picture: light prints well, dark goes with a dark page.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on; `ax.figure.savefig("picture.png")` writes it.

    Raises
    ------
    ValueError
        If the records have no such quantity, or there are none.

    Examples
    --------
    >>> from masked_subspace import BMSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> from masked_subspace.plots import plot_convergence
    >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
    >>> model = BMSC(3, random_state=0).fit(X)
    >>> plot_convergence(model, "objective_trace").get_xlabel()
    'iteration'
    """
    records = history.history_ if hasattr(history, "history_") else history
    if not records or quantity not in records[0]:
        known = ", ".join(records[0]) if records else "nothing"
        raise ValueError(f"quantity={quantity!r} is not in the history, which has {known}")
    look = theme_of(theme)
    ax = axes_or_new(ax, (4.8, 3.0))
    if quantity.endswith("_trace"):
        for number, record in enumerate(records, start=1):
            ax.plot(np.arange(1, len(record[quantity]) + 1), record[quantity], lw=1.3, label=f"round {number}")
        ax.set(xlabel="iteration", ylabel=quantity.removesuffix("_trace"))
        ax.legend(frameon=False, fontsize=8, labelcolor=look.ink)
    else:
        rounds = np.arange(1, len(records) + 1)
        ax.plot(rounds, [record[quantity] for record in records], "o-", color=look.accent, lw=1.5, ms=4)
        ax.set(xlabel="round", ylabel=quantity.replace("_", " "), xticks=rounds)
    return dressed(ax, look)


def plot_confusion(
    labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike, *, ax: Any = None, theme: str = "light"
) -> Any:
    """Clusters against classes, the clusters in the order of the best one-to-one matching.

    Parameters
    ----------
    labels_true : array-like of shape (n_samples,)
        Known classes, the rows of the picture.
    labels_pred : array-like of shape (n_samples,)
        Clusters, its columns.
    ax : matplotlib Axes or None, default=None
        Where to draw; None: on new ones of a figure of its own.
    theme : {"light", "dark"}, default="light"
        Colours of the picture: light prints well, dark goes with a dark page.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on; `ax.figure.savefig("picture.png")` writes it.

    Examples
    --------
    >>> from masked_subspace.plots import plot_confusion
    >>> [text.get_text() for text in plot_confusion([0, 0, 1, 1], [1, 1, 0, 1]).texts]
    ['2', '1', '1']
    """
    from scipy.optimize import linear_sum_assignment
    from sklearn.metrics.cluster import contingency_matrix

    counts = np.asarray(contingency_matrix(labels_true, labels_pred))
    rows, columns = linear_sum_assignment(counts, maximize=True)
    rest = np.setdiff1d(np.arange(counts.shape[1]), columns)
    order = np.concatenate([columns[np.argsort(rows)], rest])
    ax = axes_or_new(ax)
    look = theme_of(theme)
    ax.imshow(np.sqrt(counts[:, order]), cmap=shades_of(look))
    if max(counts.shape) <= 20:
        for (row, column), count in np.ndenumerate(counts[:, order]):
            if count:
                colour = look.ground if count > counts.max() / 3 else look.ink
                ax.text(column, row, str(count), ha="center", va="center", fontsize=7, color=colour)
    ax.set(xlabel="cluster", ylabel="class")
    return dressed(ax, look)
