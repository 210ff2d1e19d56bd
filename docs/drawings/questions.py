"""The pages that answer a question: known labels, noise, missing values, doubt, reports, large data, seeds."""

from __future__ import annotations

import functools
import time
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from drawings import picture
from drawings.samples import digits, fitted, only_noise
from masked_subspace import BMSC, RMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.plots import THEMES, plot_affinity, plot_map
from masked_subspace.report.layout import graph_map


@functools.cache
def _accuracy_with_labels(count: int, seed: int) -> float:
    """Of the digits whose label was not told."""
    X, y = digits()
    told = np.random.default_rng(seed).permutation(len(y))[:count]
    known = np.full(len(y), -1)
    known[told] = y[told]
    model = BMSC(10, random_state=0).fit(X, partial_labels=known if count else None)
    return clustering_accuracy(np.delete(y, told), np.delete(model.labels_, told))


@picture
def known(_theme: str) -> Any:
    counts = (0, 10, 25, 50, 100)
    scores = np.array([[_accuracy_with_labels(count, seed) for seed in range(3)] for count in counts])
    figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    ax.plot(counts, scores, "o", ms=3, color="C0", alpha=0.5)
    ax.plot(counts, scores.mean(axis=1), "-", color="C0")
    ax.set(xlabel="labels that are known, of 500", ylabel="accuracy of the others", ylim=(0.85, 1))
    return figure


@picture
def kinds_of_noise(_theme: str) -> Any:
    """One digit, and the four things that people call noise."""
    rng = np.random.default_rng(0)
    clean = digits()[0][12].reshape(8, 8) / 16
    wrong, lost = clean.copy(), clean.copy()
    spots = rng.permutation(64)
    wrong.flat[spots[:6]] = 1 - np.round(wrong.flat[spots[:6]])
    lost.flat[spots[:24]] = np.nan
    shown = {
        "a sample": clean,
        "every entry\na little off": clean + 0.15 * rng.standard_normal((8, 8)),
        "a few entries\nvery wrong": wrong,
        "entries missing": lost,
        "a sample that\nbelongs nowhere": rng.random((8, 8)),
    }
    figure, axes = plt.subplots(1, 5, figsize=(8, 2.1), layout="constrained")
    for ax, (name, image) in zip(axes, shown.items(), strict=True):
        ax.imshow(image, cmap="gray_r", vmin=0, vmax=1)
        ax.set_facecolor("#d9b8a8")
        ax.set(xticks=[], yticks=[])
        ax.set_title(name, fontsize=9)
    return figure


@functools.cache
def _completed() -> Any:
    X = digits()[0]
    hidden = np.random.default_rng(0).random(X.shape) < 0.4
    return hidden, BMSC(10, missing="ignore", random_state=0).fit(np.where(hidden, np.nan, X)).completed_


@picture
def completed(_theme: str) -> Any:
    X = digits()[0]
    hidden, found = _completed()
    figure, axes = plt.subplots(3, 8, figsize=(8, 3.2), layout="constrained")
    rows = {"known": np.where(hidden, np.nan, X), "estimated": found, "true": X}
    for line, (name, images) in zip(axes, rows.items(), strict=True):
        line[0].set_ylabel(name)
        for ax, image in zip(line, images, strict=False):
            ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
            ax.set(xticks=[], yticks=[])
            ax.set_facecolor("#d9b8a8")
    return figure


@picture
def doubt(theme: str) -> Any:
    """Where on the map samples are in doubt."""
    model = fitted(RMSC, digits, 10)
    figure, axes = plt.subplots(1, 2, figsize=(8, 3.9), layout="constrained")
    plot_map(model, ax=axes[0], theme=theme)
    axes[0].set(title="clusters")
    places = graph_map(model.affinity_matrix_, model.embedding_, model.labels_)
    image = axes[1].scatter(*places.T, c=model.certainty_, s=9, cmap="viridis", vmin=0, vmax=1, linewidths=0)
    axes[1].set(title="certainty_", xticks=[], yticks=[], xlim=axes[0].get_xlim(), ylim=axes[0].get_ylim())
    axes[1].set(aspect="equal")
    figure.colorbar(image, ax=list(axes), shrink=0.8)  # of both, so that they stay of one size
    return figure


@picture
def shares(_theme: str) -> Any:
    """New digits, the clearest and the least clear, with their memberships."""
    model, new = fitted(RMSC, digits, 10), load_digits().data[500:800]
    memberships = model.predict_proba(new)
    order = np.argsort(memberships.max(axis=1), kind="stable")
    chosen = [*order[[-1, len(order) // 2]], *order[:4]]
    figure, axes = plt.subplots(2, 6, figsize=(8, 2.9), layout="constrained")
    for (above, below), sample in zip(axes.T, chosen, strict=True):
        above.imshow(new[sample].reshape(8, 8), cmap="gray_r")
        above.set(xticks=[], yticks=[])
        below.bar(range(10), memberships[sample], color="C0")
        below.set(xticks=range(10), yticks=(0, 1), ylim=(0, 1.02))
        below.tick_params(labelsize=7)
    for ax in axes[1, 1:]:
        ax.set_yticklabels([])
    axes[1, 0].set(ylabel="share", xlabel="cluster")
    return figure


@picture
def verdicts(theme: str) -> Any:
    """A graph with structure beside one without."""
    figure, axes = plt.subplots(1, 2, figsize=(8, 4.1), layout="constrained")
    for ax, (name, data) in zip(axes, {"digits": digits, "pure noise": only_noise}.items(), strict=True):
        model = fitted(RMSC, data, 10)
        plot_affinity(model, ax=ax, theme=theme)
        ax.set(title=f"{name}: structure_ {model.structure_:.2f}")
    return figure


@picture
def three_numbers(_theme: str) -> Any:
    """What to look at first, for digits and for noise: structure_, sizes of clusters, certainty_."""
    figure, axes = plt.subplots(2, 2, figsize=(8, 4), layout="constrained", sharey="row")
    for (above, below), (name, data) in zip(axes.T, {"digits": digits, "pure noise": only_noise}.items(), strict=True):
        model = fitted(RMSC, data, 10)
        above.bar(range(10), np.bincount(model.labels_), color="C0")
        above.set(title=f"{name}: structure_ {model.structure_:.2f}", xticks=range(10), xlabel="cluster")
        below.hist(model.certainty_, np.linspace(0, 1, 21), color="C1")
        below.set(xlabel="certainty_", xlim=(-0.02, 1.02))
    for ax in axes[:, 0]:
        ax.set(ylabel="samples")
    return figure


@functools.cache
def _cpu_seconds(n: int) -> float:
    settings = {"dim": 4, "ambient": 20, "noise": 0.02, "shuffle": True, "dtype": "float32", "random_state": 0}
    X = make_subspaces(10, per_subspace=n // 10, **settings).data
    seconds = []
    for _ in range(2):  # other work on the machine only adds
        begun = time.process_time()
        BMSC(10, solver="sparse", random_state=0, n_jobs=1).fit(X)
        seconds.append(time.process_time() - begun)
    return min(seconds)


@picture
def growth(theme: str) -> Any:
    _cpu_seconds(3_000)  # compiles what is compiled, the cut of more than 2,000 samples too
    sizes = (4_000, 8_000, 16_000, 32_000)
    seconds = [_cpu_seconds(n) for n in sizes]
    figure, ax = plt.subplots(figsize=(6, 2.8), layout="constrained")
    ax.plot(sizes, seconds, "o-", color="C0", label="BMSC, one thread")
    ax.plot(sizes, np.array(sizes) * seconds[0] / sizes[0], ":", color=THEMES[theme].soft, label="in proportion")
    ax.set(xscale="log", yscale="log", xlabel="samples", ylabel="CPU seconds", xticks=sizes)
    ax.set_xticklabels([f"{n:,}" for n in sizes])
    marks = [mark for mark in (0.2, 0.5, 1, 2, 5, 10, 20, 50) if 0.7 * seconds[0] <= mark <= 9 * seconds[0]]
    ax.set_yticks(marks, [f"{mark:g}" for mark in marks])
    ax.minorticks_off()
    ax.legend()
    return figure


@picture
def seeds(_theme: str) -> Any:
    """How alike the labels of five seeds are, with structure and without."""
    figure, axes = plt.subplots(1, 2, figsize=(7, 3), layout="constrained")
    for ax, (name, data) in zip(axes, {"digits": digits, "pure noise": only_noise}.items(), strict=True):
        found = [fitted(RMSC, data, 10, seed=seed).labels_ for seed in range(5)]
        alike = np.array([[adjusted_rand_score(a, b) for b in found] for a in found])
        image = ax.imshow(alike, cmap="cividis", vmin=0, vmax=1)
        for (row, column), value in np.ndenumerate(alike):
            ax.text(column, row, f"{value:.2f}", ha="center", va="center", color="white" if value < 0.5 else "black")
        ax.set(title=name, xlabel="random_state", ylabel="random_state", xticks=range(5), yticks=range(5))
    figure.colorbar(image, ax=axes, label="adjusted Rand index")
    return figure
