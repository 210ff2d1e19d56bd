"""The pages of kinds of data: images, text, motions, genes; and what the data sets look like."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from drawings import picture
from drawings.samples import digits, faces, fitted, leukemia
from masked_subspace import RMSC
from masked_subspace.datasets import load
from masked_subspace.plots import THEMES


@picture
def images(_theme: str) -> Any:
    """Clusters as pictures: mean, directions, the surest and the least sure digit."""
    X, model = digits()[0], fitted(RMSC, digits, 10)
    figure, axes = plt.subplots(4, 10, figsize=(8, 3.4), layout="constrained")
    for k, (column, space) in enumerate(zip(axes.T, model.subspaces_, strict=True)):
        own = np.flatnonzero(model.labels_ == k)
        order = own[np.argsort(model.certainty_[own], kind="stable")]
        parts = (space.mean, space.basis[0], X[order[-1]], X[order[0]])
        for ax, part in zip(column, parts, strict=True):
            ax.imshow(part.reshape(8, 8), cmap="gray_r")
            ax.set(xticks=[], yticks=[])
        column[0].set_title(f"{k}", fontsize=9)
    for ax, name in zip(axes[:, 0], ("mean", "direction", "sure", "in doubt"), strict=True):
        ax.set_ylabel(name, rotation=0, ha="right", va="center")
    return figure


@picture
def words(theme: str) -> Any:
    """Documents of three topics, drawn at random: each topic has its words, and all share some."""
    rng = np.random.default_rng(0)
    chances = np.full((3, 120), 0.002)
    for topic in range(3):
        chances[topic, 30 * topic : 30 * topic + 30] = 0.12
    chances[:, 90:] = 0.06
    documents = rng.random((90, 120)) < np.repeat(chances, 30, axis=0)
    figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
    for topic in range(3):
        rows, cols = np.nonzero(documents[30 * topic : 30 * topic + 30])
        ax.scatter(cols, rows + 30 * topic, s=5, marker="s", color=f"C{topic}", linewidths=0)
    for edge in (29.5, 59.5):
        ax.axhline(edge, color=THEMES[theme].soft, lw=0.5)
    for edge in (29.5, 59.5, 89.5):
        ax.axvline(edge, color=THEMES[theme].soft, lw=0.5)
    names = ("words of topic 1", "of topic 2", "of topic 3", "of all")
    ax.set(xticks=(15, 45, 75, 105), xticklabels=names, ylabel="document", xlim=(-1, 120), ylim=(90, -1))
    ax.tick_params(length=0)
    return figure


@picture
def motions(_theme: str) -> Any:
    """Points on a turning disc and a sliding rod, followed over 20 frames."""
    rng = np.random.default_rng(0)
    steps = np.linspace(0, 1, 20)
    radius, angle = np.sqrt(rng.random(50)), 2 * np.pi * rng.random(50)
    disc = [(radius * np.cos(angle + 1.5 * t) + 1.2 * t, radius * np.sin(angle + 1.5 * t)) for t in steps]
    x, height = rng.uniform(-1.5, 1.5, 40), rng.uniform(-0.2, 0.2, 40)
    rod = [(x - 1.2 * t, height - 0.3 * x * t - 1 + t) for t in steps]
    tracks = [np.swapaxes(np.array(one), 1, 2) for one in (disc, rod)]  # frame, point, coordinate
    X = np.vstack([one.swapaxes(0, 1).reshape(one.shape[1], -1) for one in tracks])
    X = X + 0.004 * rng.standard_normal(X.shape)
    labels = RMSC(2, random_state=0).fit_predict(X)
    figure, axes = plt.subplots(1, 3, figsize=(9, 2.2), layout="constrained")
    for ax, frame in zip(axes[:2], (0, 19), strict=True):
        places = X[:, 2 * frame : 2 * frame + 2]
        ax.scatter(*places.T, s=8, color="C3")
        ax.set(title=f"frame {frame + 1}")
    for k in range(2):
        own = X[labels == k]
        axes[2].plot(own[:, ::2].T, own[:, 1::2].T, color=f"C{k}", lw=0.5, alpha=0.7)
    axes[2].set(title="tracks, by cluster of RMSC")
    for ax in axes:
        ax.set(xticks=[], yticks=[], aspect="equal", xlim=(-3, 2.6), ylim=(-1.7, 1.5))
    return figure


@picture
def genes(theme: str) -> Any:
    """The 60 genes that vary most, samples sorted by kind."""
    logs, kinds = leukemia()
    order = np.argsort(kinds, kind="stable")
    chosen = logs[:, np.argsort(logs.std(axis=0))[-60:]][order]
    standard = (chosen - chosen.mean(axis=0)) / chosen.std(axis=0)
    first = np.argsort(standard[kinds[order] == "AML"].mean(axis=0))
    figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
    image = ax.imshow(standard[:, first], cmap="RdBu_r", vmin=-2, vmax=2, aspect="auto", interpolation="nearest")
    names, counts = np.unique(kinds, return_counts=True)
    ends = np.cumsum(counts)
    for end in ends[:-1]:
        ax.axhline(end - 0.5, color=THEMES[theme].ink, lw=1)
    ax.set(yticks=ends - counts / 2 - 0.5, yticklabels=names, xticks=[], xlabel="gene")
    figure.colorbar(image, ax=ax, label="standard deviations")
    return figure


@picture
def sets(_theme: str) -> Any:
    """A few images of the sets that packages carry."""
    mnist = load("mnist", download=False)
    shown = {
        "digits": (digits()[0], (8, 8)),
        "mnist": (mnist.data[:: len(mnist.data) // 10], mnist.images_shape),
        "orl": (faces()[0][::10], (32, 32)),
    }
    figure, axes = plt.subplots(3, 10, figsize=(8, 2.7), layout="constrained")
    for line, (name, (rows, shape)) in zip(axes, shown.items(), strict=True):
        line[0].set_ylabel(name, rotation=0, ha="right", va="center")
        for ax, row in zip(line, rows, strict=False):
            ax.imshow(np.asarray(row).reshape(shape), cmap="gray" if name == "orl" else "gray_r")
            ax.set(xticks=[], yticks=[])
    return figure
