"""Pictures as functions: each draws on the Axes it is given, or on new ones, and returns them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array, issparse

from masked_subspace._common.types import Array, MatrixLike, RecordView
from masked_subspace.report.layout import graph_map
from masked_subspace.report.palette import MARKERS, UNASSIGNED_COLOUR, Look, class_look, cluster_look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure
    from sklearn.base import BaseEstimator

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


def _shades(theme: Theme) -> Colormap:
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("affinity", theme.shades)


def _dressed(ax: Axes, theme: Theme) -> Axes:
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


def new_figure(width: float, height: float, dpi: int = 100) -> Figure:
    """A matplotlib figure of its own, without pyplot's global state."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("drawing needs matplotlib: pip install 'masked-subspace[report]'") from error
    return Figure(figsize=(width, height), layout="constrained", dpi=dpi)


def _axes(ax: Axes | None, size: tuple[float, float] = (4.2, 4.2)) -> Axes:
    return new_figure(*size).subplots() if ax is None else ax


def plot_affinity(
    affinity: MatrixLike | BaseEstimator,
    labels: npt.ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    zoom: tuple[int, int] | None = None,
    theme: str = "light",
) -> Axes:
    """The affinity matrix sorted by `labels`, √-scaled; `zoom=(start, stop)` shows only those sorted positions.

    `affinity` is a matrix (dense or sparse) or a fitted estimator, whose labels then sort it.
    """
    if (fitted := getattr(affinity, "affinity_matrix_", None)) is not None:
        labels = getattr(affinity, "labels_", None) if labels is None else labels
        affinity = fitted
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


def plot_embedding(
    embedding: npt.ArrayLike | BaseEstimator,
    labels: npt.ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    theme: str = "light",
) -> Axes:
    """The first two principal axes of an embedding (or of a fitted estimator's), coloured by `labels`."""
    if (fitted := getattr(embedding, "embedding_", None)) is not None:
        labels = getattr(embedding, "labels_", None) if labels is None else labels
        embedding = fitted
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
    model: BaseEstimator,
    classes: npt.ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    theme: str = "light",
    names: bool = True,
) -> Axes:
    """The map of the report: samples laid out by the graph of a fitted estimator, clusters by colour and shape.

    With `classes` the marks show these instead, in the classes' own palette. `names` writes each cluster's label at its
    middle sample.
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
        ax.text(
            at[0], at[1], str(cluster), ha="center", va="center", fontsize=8, weight="bold", color=look.ink, bbox=box
        )
    ax.set(xticks=[], yticks=[], xlim=(-1.06, 1.06), ylim=(-1.06, 1.06), aspect="equal")
    return _dressed(ax, look)


def _scatter(ax: Axes, points: Array, groups: Array, look_of: Callable[[int], Look] = cluster_look) -> None:
    """One collection a group, so that each has its colour and shape; −1 (no cluster) is gray."""
    size = float(np.clip(6000 / max(len(points), 1), 2, 16))
    for k, group in enumerate(np.unique(groups)):
        look: Look = look_of(k)
        colour = UNASSIGNED_COLOUR if groups.dtype.kind in "if" and group < 0 else look.colour
        own = points[groups == group]
        ax.scatter(
            own[:, 0], own[:, 1], s=size, marker=MARKERS[look.shape], color=colour, linewidths=0, label=str(group)
        )


def plot_n_clusters(
    model: BaseEstimator, score: str = "score", *, ax: Axes | None = None, theme: str = "light"
) -> Axes:
    """The score of every number of clusters that was tried, and the one that was taken.

    `model` is an estimator fitted with `n_clusters="auto"` or a range, or its `n_clusters_scores_`.
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


def plot_convergence(
    history: Sequence[RecordView] | BaseEstimator,
    quantity: str = "objective",
    *,
    ax: Axes | None = None,
    theme: str = "light",
) -> Axes:
    """A quantity of `history_` over rounds; a `…_trace` over the iterations of every round, one line each.

    The penalty grows from one iteration to the next (a continuation), so an objective trace may rise on its way.
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
    labels_true: npt.ArrayLike, labels_pred: npt.ArrayLike, *, ax: Axes | None = None, theme: str = "light"
) -> Axes:
    """Clusters against classes, the clusters in the order of the best one-to-one matching."""
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


def plot_accuracy_against_pairs(
    accuracy: npt.ArrayLike, pair_accuracy: npt.ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Figure 1: the accuracy over pairs (BCA) of clusterings against their accuracy (CA), in per cent."""
    ax = _axes(ax, (4.4, 4.0))
    ax.plot([0, 100], [0, 100], color=_SOFT, lw=0.8, ls=":")
    ax.scatter(np.asarray(accuracy), np.asarray(pair_accuracy), s=14, color=_BLUE, alpha=0.6, linewidths=0)
    ax.set(xlabel="CA %", ylabel="BCA %", xlim=(0, 101), ylim=(0, 101))
    return ax


def plot_same_class(labels: npt.ArrayLike, order: npt.ArrayLike, *, ax: Axes | None = None) -> Axes:
    """The 0/1 matrix of who shares a cluster, samples in the given order."""
    names = np.asarray(labels)[np.asarray(order)]
    step = max(1, len(names) // _CELLS)
    names = names[::step]
    ax = _axes(ax)
    ax.imshow(names[:, None] == names[None, :], cmap="cividis", interpolation="nearest")
    ax.set(xticks=[], yticks=[])
    return ax


def plot_pair(images: Sequence[Array], *, title: str = "", ax: Axes | None = None) -> Axes:
    """Two images side by side."""
    ax = _axes(ax, (2.4, 1.4))
    gap = np.full((images[0].shape[0], max(1, images[0].shape[1] // 12)), np.nan)
    ax.imshow(np.hstack([images[0], gap, images[1]]).astype(float), cmap="gray")
    ax.set_axis_off()
    ax.set_title(title, fontsize=8)
    return ax


def plot_framework(*, ax: Axes | None = None) -> Axes:
    """Figure 2: the bilevel frame as a flow; nothing but the mask travels back."""
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
