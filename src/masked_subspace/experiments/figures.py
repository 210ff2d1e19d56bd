"""The paper's figures from our own runs: CA against BCA, the frame, pairs as images, matrices with zoomed parts."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from masked_subspace import plots
from masked_subspace.experiments.compute import load_trial
from masked_subspace.experiments.graphs import DRAWN_METHODS, graphs_of
from masked_subspace.experiments.pair_study import PairStudy
from masked_subspace.experiments.results import Results
from masked_subspace.experiments.settings import dataset_title, method_title, paper_entry
from masked_subspace.report.record import Figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

_DPI = 130


def _png(figure: MatplotlibFigure) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", metadata={"Software": None})
    return stream.getvalue()


def figure1(results: Results) -> Figure:
    """CA against BCA of every clustering in the database, and the one nearest the paper's example as a matrix."""
    rows = results.all_done()
    accuracy = 100 * np.array([row["accuracy"] for row in rows])
    over_pairs = 100 * np.array([row["bca"] for row in rows])
    canvas = plots.new_figure(10.5, 3.6, _DPI)
    left, middle, right = canvas.subplots(1, 3)
    plots.plot_accuracy_against_pairs(accuracy, over_pairs, ax=left)
    printed = paper_entry("figure1")
    left.scatter(
        [printed["accuracy"]], [printed["pair_accuracy"]], marker="x", color="#a8442f", label="paper's example"
    )
    left.legend(frameon=False, fontsize=8)
    text = (
        f"{len(rows)} clusterings of our runs. BCA is flattering when there are many clusters: with K equal classes, "
        "calling every pair different is right for a share of about 1 − 1/K."
    )
    if rows:
        ten = [index for index, row in enumerate(rows) if row["n_clusters"] == 10] or range(len(rows))
        nearest = min(ten, key=lambda index: abs(accuracy[index] - printed["accuracy"]))
        row = rows[nearest]
        target = load_trial(row["dataset"], row["trial"]).target
        labels = np.frombuffer(zlib.decompress(row["labels"]), dtype="<i4")
        order = np.argsort(target, kind="stable")
        plots.plot_same_class(target, order, ax=middle).set_title("same class", fontsize=9)
        plots.plot_same_class(labels, order, ax=right).set_title("same cluster", fontsize=9)
        text += (
            f" Right: {method_title(row['method'])} on {dataset_title(row['dataset'])}, CA {accuracy[nearest]:.1f} %, "
            f"BCA {over_pairs[nearest]:.1f} %; in the middle the classes."
        )
    for ax in (middle, right) if not rows else ():
        ax.set_axis_off()
    return Figure("Figure 1: accuracy and accuracy over pairs", _png(canvas), text)


def figure2() -> Figure:
    """The frame."""
    canvas = plots.new_figure(8.4, 2.4, _DPI)
    plots.plot_framework(ax=canvas.subplots())
    text = "The bilevel frame: a representer and a labeler, joined by a soft mask. Nothing but the mask travels back."
    return Figure("Figure 2: the frame", _png(canvas), text)


def figure3(studies: Sequence[PairStudy], trial: int = 0) -> Figure:
    """The pairs of Table 3 as images."""
    canvas = plots.new_figure(2.5 * len(studies), 3.4, _DPI)
    axes = canvas.subplots(2, len(studies), squeeze=False)
    for column, one in enumerate(studies):
        data = load_trial(one.dataset, trial)
        shape = data.images_shape
        for row, same in enumerate((True, False)):
            at = one.example(same)
            images = [data.X[index].reshape(shape) for index in (one.rows[at], one.columns[at])]
            values = " → ".join(f"{one.values[method][at]:.3f}" for method in DRAWN_METHODS)
            kind = "same class" if same else "different classes"
            plots.plot_pair(images, title=f"{dataset_title(one.dataset)}, {kind}\n{values}", ax=axes[row, column])
    text = "The pairs of Table 3; the numbers are their affinities under BMSC → GMSC → RMSC."
    return Figure("Figure 3: pairs", _png(canvas), text)


def figure4(results: Results, setting: str, dataset: str = "coil20", *, threads: int = 1) -> Figure:
    """The affinity matrices of BMSC, GMSC and RMSC, samples sorted by class, with a zoomed part below each."""
    data = load_trial(dataset, 0)
    graphs = {
        method: graphs_of(method, setting, dataset, results, threads=threads).own_affinity for method in DRAWN_METHODS
    }
    n_zoomed = max(2, len(data.target) // 10)
    canvas = plots.new_figure(10.5, 7.0, _DPI)
    axes = canvas.subplots(2, 3)
    for column, method in enumerate(DRAWN_METHODS):
        graph = graphs[method]
        links = graph.nnz / graph.shape[0]
        title = f"{method_title(method).removesuffix('-v1')}: {links:.1f} links a sample"
        plots.plot_affinity(graph, data.target, ax=axes[0, column]).set_title(title, fontsize=9)
        plots.plot_affinity(graph, data.target, ax=axes[1, column], zoom=(0, n_zoomed))
    text = (
        f"The affinity on {dataset_title(dataset)} under the setting {setting}, sorted by class; below, the first "
        f"{n_zoomed} samples. Shades follow the square root, up to the 98 % quantile of each matrix."
    )
    return Figure("Figure 4: affinity matrices", _png(canvas), text)
