"""Samples and their graph: matrix, embedding, map."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array, issparse

from masked_subspace._common.matrices import mean_cells
from masked_subspace._common.types import Array
from masked_subspace.plots.themes import axes_or_new, dressed, shades_of, theme_of
from masked_subspace.report.layout import graph_map, homes
from masked_subspace.report.palette import MARKERS, class_look, cluster_looks
from masked_subspace.report.scoring import in_clusters

_CELLS = 400
_MOST_LINES = 24


def plot_affinity(
    affinity: Any,
    labels: npt.ArrayLike | None = None,
    *,
    ax: Any = None,
    zoom: tuple[int, int] | None = None,
    theme: str = "light",
) -> Any:
    """The affinity matrix sorted by labels, on a square-root scale.

    Parameters
    ----------
    affinity : array or sparse array of shape (n_samples, n_samples), or a fitted estimator
        The matrix; of an estimator its `affinity_matrix_`, sorted by its `labels_`.
    labels : array-like of shape (n_samples,) or None, default=None
        What the samples are sorted by; None: the labels of the estimator, or the order of the matrix.
    ax : matplotlib Axes or None, default=None
        Where to draw; None: on new ones of a figure of its own.
    zoom : tuple of two int or None, default=None
        First and last of the sorted positions to show; None: all.
    theme : {"light", "dark"}, default="light"
        Colours of the picture: light prints well, dark goes with a dark page.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on; `ax.figure.savefig("picture.png")` writes it.

    Examples
    --------
    >>> from masked_subspace import BMSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> from masked_subspace.plots import plot_affinity
    >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
    >>> model = BMSC(3, random_state=0).fit(X)
    >>> plot_affinity(model).get_xlabel()
    'sample, sorted'
    """
    if hasattr(affinity, "affinity_matrix_"):
        labels = affinity.labels_ if labels is None else labels
        affinity = affinity.affinity_matrix_
    matrix = csr_array(affinity) if issparse(affinity) else csr_array(np.asarray(affinity))
    n = matrix.shape[0]
    order = np.arange(n) if labels is None else np.argsort(np.asarray(labels), kind="stable")
    start, stop = zoom or (0, n)
    entries = coo_array(matrix[order][:, order][start:stop, start:stop])
    picture = mean_cells(entries.row, entries.col, np.abs(entries.data), entries.shape[0], _CELLS)
    ax = axes_or_new(ax)
    positive = picture[picture > 0]
    top = float(np.quantile(positive, 0.98)) if positive.size else 1.0
    look = theme_of(theme)
    extent = (start, stop, stop, start)
    ax.imshow(np.sqrt(np.minimum(picture, top)), cmap=shades_of(look), extent=extent, interpolation="nearest")
    if labels is not None:
        edges = np.cumsum(np.bincount(np.unique(labels, return_inverse=True)[1]))[:-1]
        edges = edges[(edges > start) & (edges < stop)]
        for edge in edges if len(edges) <= _MOST_LINES else ():  # more lines than that hide what they part
            ax.axhline(edge, color=look.soft, lw=0.3)
            ax.axvline(edge, color=look.soft, lw=0.3)
    ax.set(xlabel="sample, sorted", ylabel="sample, sorted")
    return dressed(ax, look)


def plot_embedding(embedding: Any, labels: npt.ArrayLike | None = None, *, ax: Any = None, theme: str = "light") -> Any:
    """The first two principal axes of an embedding, coloured by labels.

    Parameters
    ----------
    embedding : array of shape (n_samples, n_vectors), or a fitted estimator
        The rows to draw; of an estimator its `embedding_`, coloured by its `labels_`.
    labels : array-like of shape (n_samples,) or None, default=None
        Colours and shapes of the marks; None: the labels of the estimator, or one colour.
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
    >>> from masked_subspace import BMSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> from masked_subspace.plots import plot_embedding
    >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
    >>> model = BMSC(3, random_state=0).fit(X)
    >>> len(plot_embedding(model).collections)  # one for each cluster
    3
    """
    if hasattr(embedding, "embedding_"):
        labels = embedding.labels_ if labels is None else labels
        embedding = embedding.embedding_
    rows = np.asarray(embedding, dtype=float)
    centred = rows - rows.mean(axis=0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    points = centred @ axes.T
    if points.shape[1] == 1:
        points = np.column_stack([points, np.zeros(len(points))])
    ax = axes_or_new(ax, (4.8, 3.6))
    _scatter(ax, points, np.zeros(len(points), dtype=int) if labels is None else np.asarray(labels), theme)
    ax.set(xlabel="axis 1", ylabel="axis 2")
    return dressed(ax, theme_of(theme))


def plot_map(
    model: Any, classes: npt.ArrayLike | None = None, *, ax: Any = None, theme: str = "light", names: bool = True
) -> Any:
    """The map of the report: samples laid out by their graph, clusters by colour and shape.

    Parameters
    ----------
    model : fitted estimator
        With `labels_`, `affinity_matrix_` and `embedding_`.
    classes : array-like of shape (n_samples,) or None, default=None
        What the marks show, in the classes' own palette; None: the clusters.
    ax : matplotlib Axes or None, default=None
        Where to draw; None: on new ones of a figure of its own.
    theme : {"light", "dark"}, default="light"
        Colours of the picture: light prints well, dark goes with a dark page.
    names : bool, default=True
        Whether each cluster's label is written at its middle sample.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on; `ax.figure.savefig("picture.png")` writes it.

    Examples
    --------
    >>> from masked_subspace import BMSC
    >>> from masked_subspace.datasets import make_subspaces
    >>> from masked_subspace.plots import plot_map
    >>> X = make_subspaces(n_subspaces=3, per_subspace=20, random_state=0).data
    >>> model = BMSC(3, random_state=0).fit(X)
    >>> [text.get_text() for text in plot_map(model).texts]
    ['0', '1', '2']
    """
    look = theme_of(theme)
    labels = np.asarray(model.labels_)
    embedding = np.asarray(model.embedding_, dtype=float)
    places = graph_map(csr_array(model.affinity_matrix_), embedding, homes(embedding, labels))
    ax = axes_or_new(ax, (5.2, 5.2))
    if classes is None:
        _scatter(ax, places, labels, theme)
    else:
        _scatter(ax, places, np.asarray(classes), theme, as_classes=True)
    for cluster in np.unique(labels[in_clusters(labels)]) if names else ():  # who is in no cluster has no one place
        own = places[labels == cluster]
        at = own[((own - np.median(own, axis=0)) ** 2).sum(axis=1).argmin()]
        box = {"boxstyle": "round,pad=0.15", "fc": look.ground, "ec": "none", "alpha": 0.75}
        ax.text(*at, str(cluster), ha="center", va="center", fontsize=8, weight="bold", color=look.ink, bbox=box)
    ax.set(xticks=[], yticks=[], xlim=(-1.06, 1.06), ylim=(-1.06, 1.06), aspect="equal")
    return dressed(ax, look)


def _scatter(ax: Any, points: Array, groups: Array, theme: str, as_classes: bool = False) -> None:
    """One collection a group, so that each has its colour and shape; −1 (no cluster) is gray."""
    size = float(np.clip(6000 / max(len(points), 1), 2, 16))
    names = np.unique(groups)
    numbers = names.tolist() if groups.dtype.kind in "if" else list(range(len(names)))
    looks = [class_look(k) for k in range(len(names))] if as_classes else cluster_looks(numbers)
    for group, look in zip(names, looks, strict=True):
        own = points[groups == group]
        marker, colour = MARKERS[look.shape], look.colour_in(theme)
        ax.scatter(own[:, 0], own[:, 1], s=size, marker=marker, color=colour, linewidths=0, label=str(group))
