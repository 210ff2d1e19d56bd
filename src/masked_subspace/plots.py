"""Pictures as functions: each draws on the Axes it is given, or on new ones, and returns them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array, issparse

from masked_subspace._common.types import Array
from masked_subspace.report.layout import graph_map
from masked_subspace.report.palette import MARKERS, UNASSIGNED_COLOUR, Look, class_look, cluster_look

__all__ = [
    "new_figure",
    "plot_accuracy_against_pairs",
    "plot_affinity",
    "plot_confusion",
    "plot_convergence",
    "plot_embedding",
    "plot_framework",
    "plot_map",
    "plot_n_clusters",
    "plot_pair",
    "plot_same_class",
]

_CELLS = 400
_MOST_LINES = 24
_INK, _SOFT, _BLUE, _RED, _WASH = "#1d2127", "#5c6470", "#2f5d8a", "#a8442f", "#f1eee8"


@dataclass(frozen=True)
class Theme:
    """The colours of a picture: light prints well, dark goes with a dark page."""

    ground: str
    ink: str
    soft: str
    accent: str
    warning: str
    shades: tuple[str, ...]  # from nothing to the largest value


THEMES = {
    "light": Theme("#ffffff", _INK, _SOFT, _BLUE, _RED, ("#ffffff", "#9cc3de", "#2a6f9e", "#0d2740")),
    "dark": Theme("#171b20", "#e6e8eb", "#9aa3ae", "#8cb8de", "#e59480", ("#171b20", "#24506f", "#5fa8d3", "#f2f8ff")),
}


def _theme(name: str) -> Theme:
    if name not in THEMES:
        raise ValueError(f"theme={name!r} is not known; choose one of {', '.join(map(repr, THEMES))}.")
    return THEMES[name]


def _shades(theme: Theme) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("affinity", theme.shades)


def _dressed(ax: Any, theme: Theme) -> Any:
    """Ground, frame and texts in the theme's colours; the caller's Axes keep the rest."""
    ax.figure.set_facecolor(theme.ground)
    ax.set_facecolor(theme.ground)
    ax.tick_params(colors=theme.soft, labelsize=8)
    for spine in ax.spines.values():
        spine.set_color(theme.soft)
        spine.set_linewidth(0.6)
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
        text.set_color(theme.ink)
    return ax


def new_figure(width: float, height: float, dpi: int = 100) -> Any:
    """A matplotlib figure of its own, without pyplot's global state.

    Parameters
    ----------
    width : float
        Width in inches.
    height : float
        Height in inches.
    dpi : int, default=100
        Pixels an inch.

    Returns
    -------
    figure : matplotlib Figure
        An empty figure with the constrained layout.

    Raises
    ------
    ImportError
        If matplotlib is not installed (extra `report`).

    Examples
    --------
    >>> from masked_subspace.plots import new_figure
    >>> left, right = new_figure(8, 4).subplots(1, 2)
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'masked-subspace[report]'") from error
    return Figure(figsize=(width, height), layout="constrained", dpi=dpi)


def _axes(ax: Any, size: tuple[float, float] = (4.2, 4.2)) -> Any:
    return new_figure(*size).subplots() if ax is None else ax


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
    picture = _binned(matrix[order][:, order][start:stop, start:stop])
    ax = _axes(ax)
    positive = picture[picture > 0]
    top = float(np.quantile(positive, 0.98)) if positive.size else 1.0
    look = _theme(theme)
    extent = (start, stop, stop, start)
    ax.imshow(np.sqrt(np.minimum(picture, top)), cmap=_shades(look), extent=extent, interpolation="nearest")
    if labels is not None:
        edges = np.cumsum(np.bincount(np.unique(labels, return_inverse=True)[1]))[:-1]
        edges = edges[(edges > start) & (edges < stop)]
        for edge in edges if len(edges) <= _MOST_LINES else ():  # more lines than that hide what they part
            ax.axhline(edge, color=look.soft, lw=0.3)
            ax.axvline(edge, color=look.soft, lw=0.3)
    ax.set(xlabel="sample, sorted", ylabel="sample, sorted")
    return _dressed(ax, look)


def _binned(matrix: csr_array) -> Array:
    """Means over at most 400 × 400 cells."""
    n = matrix.shape[0]
    bins = min(n, _CELLS)
    entries = coo_array(matrix)
    picture = np.zeros((bins, bins))
    np.add.at(picture, (entries.row * bins // n, entries.col * bins // n), np.abs(entries.data))
    heights = np.bincount(np.arange(n) * bins // n, minlength=bins)
    return np.asarray(picture / np.outer(heights, heights))


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
    ax = _axes(ax, (4.8, 3.6))
    _scatter(ax, points, np.zeros(len(points), dtype=int) if labels is None else np.asarray(labels))
    ax.set(xlabel="axis 1", ylabel="axis 2")
    return _dressed(ax, _theme(theme))


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
    look = _theme(theme)
    labels = np.asarray(model.labels_)
    clusters, codes = np.unique(labels, return_inverse=True)
    places = graph_map(csr_array(model.affinity_matrix_), np.asarray(model.embedding_, dtype=float), codes)
    ax = _axes(ax, (5.2, 5.2))
    if classes is None:
        _scatter(ax, places, labels)
    else:
        _scatter(ax, places, np.asarray(classes), class_look)
    for k, cluster in enumerate(clusters if names else ()):
        own = places[codes == k]
        at = own[((own - np.median(own, axis=0)) ** 2).sum(axis=1).argmin()]
        box = {"boxstyle": "round,pad=0.15", "fc": look.ground, "ec": "none", "alpha": 0.75}
        ax.text(*at, str(cluster), ha="center", va="center", fontsize=8, weight="bold", color=look.ink, bbox=box)
    ax.set(xticks=[], yticks=[], xlim=(-1.06, 1.06), ylim=(-1.06, 1.06), aspect="equal")
    return _dressed(ax, look)


def _scatter(ax: Any, points: Array, groups: Array, look_of: Any = cluster_look) -> None:
    """One collection a group, so that each has its colour and shape; −1 (no cluster) is gray."""
    size = float(np.clip(6000 / max(len(points), 1), 2, 16))
    for k, group in enumerate(np.unique(groups)):
        look: Look = look_of(k)
        colour = UNASSIGNED_COLOUR if groups.dtype.kind in "if" and group < 0 else look.colour
        own = points[groups == group]
        ax.scatter(
            own[:, 0], own[:, 1], s=size, marker=MARKERS[look.shape], color=colour, linewidths=0, label=str(group)
        )


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
    look = _theme(theme)
    ax = _axes(ax, (4.8, 3.0))
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
    )
    ax.set(xlabel="number of clusters", ylabel=score.replace("_", " "))
    return _dressed(ax, look)


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
    look = _theme(theme)
    ax = _axes(ax, (4.8, 3.0))
    if quantity.endswith("_trace"):
        for number, record in enumerate(records, start=1):
            ax.plot(np.arange(1, len(record[quantity]) + 1), record[quantity], lw=1.3, label=f"round {number}")
        ax.set(xlabel="iteration", ylabel=quantity.removesuffix("_trace"))
        ax.legend(frameon=False, fontsize=8, labelcolor=look.ink)
    else:
        rounds = np.arange(1, len(records) + 1)
        ax.plot(rounds, [record[quantity] for record in records], "o-", color=look.accent, lw=1.5, ms=4)
        ax.set(xlabel="round", ylabel=quantity.replace("_", " "), xticks=rounds)
    return _dressed(ax, look)


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
    ax = _axes(ax)
    look = _theme(theme)
    ax.imshow(np.sqrt(counts[:, order]), cmap=_shades(look))
    if max(counts.shape) <= 20:
        for (row, column), count in np.ndenumerate(counts[:, order]):
            if count:
                colour = look.ground if count > counts.max() / 3 else look.ink
                ax.text(column, row, str(count), ha="center", va="center", fontsize=7, color=colour)
    ax.set(xlabel="cluster", ylabel="class")
    return _dressed(ax, look)


def plot_accuracy_against_pairs(accuracy: npt.ArrayLike, pair_accuracy: npt.ArrayLike, *, ax: Any = None) -> Any:
    """The accuracy over pairs (BCA) of clusterings against their accuracy (CA): Figure 1 of the paper.

    Parameters
    ----------
    accuracy : array-like of shape (n_clusterings,)
        CA in per cent.
    pair_accuracy : array-like of shape (n_clusterings,)
        BCA in per cent.
    ax : matplotlib Axes or None, default=None
        Where to draw; None: on new ones of a figure of its own.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on; `ax.figure.savefig("picture.png")` writes it.

    References
    ----------
    .. [Song2025] Song & Ling (2025). Masked Subspace Clustering Methods. arXiv 2505.06863.

    Examples
    --------
    >>> from masked_subspace.plots import plot_accuracy_against_pairs
    >>> plot_accuracy_against_pairs([50, 75, 90], [60, 80, 95]).get_ylabel()
    'BCA %'
    """
    ax = _axes(ax, (4.4, 4.0))
    ax.plot([0, 100], [0, 100], color=_SOFT, lw=0.8, ls=":")
    ax.scatter(np.asarray(accuracy), np.asarray(pair_accuracy), s=14, color=_BLUE, alpha=0.6, linewidths=0)
    ax.set(xlabel="CA %", ylabel="BCA %", xlim=(0, 101), ylim=(0, 101))
    return ax


def plot_same_class(labels: npt.ArrayLike, order: npt.ArrayLike, *, ax: Any = None) -> Any:
    """The matrix of 0 and 1 of who shares a cluster.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Clusters.
    order : array-like of int of shape (n_samples,)
        Indices of the samples in the order in which they are drawn.
    ax : matplotlib Axes or None, default=None
        Where to draw; None: on new ones of a figure of its own.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on; `ax.figure.savefig("picture.png")` writes it.

    Examples
    --------
    >>> from masked_subspace.plots import plot_same_class
    >>> len(plot_same_class([0, 1, 0, 1], [0, 2, 1, 3]).images)
    1
    """
    names = np.asarray(labels)[np.asarray(order)]
    step = max(1, len(names) // _CELLS)
    names = names[::step]
    ax = _axes(ax)
    ax.imshow(names[:, None] == names[None, :], cmap="cividis", interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    return ax


def plot_pair(images: Sequence[Array], *, title: str = "", ax: Any = None) -> Any:
    """Two images side by side.

    Parameters
    ----------
    images : sequence of two arrays of shape (height, width)
        The pictures, left and right.
    title : str, default=""
        What stands above them.
    ax : matplotlib Axes or None, default=None
        Where to draw; None: on new ones of a figure of its own.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on; `ax.figure.savefig("picture.png")` writes it.

    Examples
    --------
    >>> from masked_subspace.datasets import load
    >>> from masked_subspace.plots import plot_pair
    >>> digits = load("digits")
    >>> pictures = digits.data.reshape(-1, *digits.images_shape)
    >>> plot_pair(pictures[:2], title="0 and 1").get_title()
    '0 and 1'
    """
    ax = _axes(ax, (2.4, 1.4))
    gap = np.full((images[0].shape[0], max(1, images[0].shape[1] // 12)), np.nan)
    ax.imshow(np.hstack([images[0], gap, images[1]]).astype(float), cmap="gray")
    ax.set_axis_off()
    ax.set_title(title, fontsize=8)
    return ax


def plot_framework(*, ax: Any = None) -> Any:
    """The bilevel frame as a flow, where nothing but the mask travels back: Figure 2 of the paper.

    Parameters
    ----------
    ax : matplotlib Axes or None, default=None
        Where to draw; None: on new ones of a figure of its own.

    Returns
    -------
    ax : matplotlib Axes
        What was drawn on; `ax.figure.savefig("picture.png")` writes it.

    References
    ----------
    .. [Song2025] Song & Ling (2025). Masked Subspace Clustering Methods. arXiv 2505.06863.

    Examples
    --------
    >>> from masked_subspace.plots import plot_framework
    >>> plot_framework().axison
    False
    """
    ax = _axes(ax, (8.4, 2.6))
    boxes: Mapping[str, tuple[float, str]] = {
        "X": (0.05, "samples X"),
        "f": (0.27, "representer f\nmin f(Z, Mˢ)"),
        "phi": (0.50, "affinity φ(Z)"),
        "g": (0.72, "labeler g\nspectral clustering"),
        "y": (0.94, "labels"),
    }
    style = {"boxstyle": "round,pad=0.5", "fc": _WASH, "ec": _SOFT, "lw": 0.8}
    for place, text in boxes.values():
        ax.text(place, 0.68, text, ha="center", va="center", fontsize=9, color=_INK, bbox=style)
    places = [place for place, _ in boxes.values()]
    arrow = {"arrowstyle": "-|>", "color": _INK, "lw": 1.0, "shrinkA": 0, "shrinkB": 0}
    for left, right, gap in zip(
        places, places[1:], ((0.055, 0.08), (0.08, 0.065), (0.065, 0.085), (0.085, 0.04)), strict=False
    ):
        ax.annotate("", (right - gap[1], 0.68), (left + gap[0], 0.68), arrowprops=arrow)
    mask = {**style, "ec": _RED}
    ax.text(0.605, 0.15, "soft mask Mˢ = ψ(labels)", ha="center", va="center", fontsize=9, color=_RED, bbox=mask)
    # The way back: down from the labels to the mask, and from the mask up to the representer.
    for corners in ([(0.94, 0.59), (0.94, 0.15), (0.715, 0.15)], [(0.495, 0.15), (0.27, 0.15), (0.27, 0.56)]):
        ax.plot(*zip(*corners[:2], strict=True), color=_RED, lw=1.0)
        ax.annotate("", corners[2], corners[1], arrowprops={**arrow, "color": _RED})
    ax.set(xlim=(-0.03, 1.03), ylim=(0, 1))
    ax.set_axis_off()
    return ax
