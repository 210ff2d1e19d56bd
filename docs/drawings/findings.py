"""Findings, drawn from stored runs: nothing is fitted here."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from drawings import picture
from masked_subspace.plots import THEMES

STORED = Path(__file__).parent.parent.parent / "benchmarks"
PAGES = Path(__file__).parent.parent / "findings"
LARGER = ("usps", "mnist-10000", "coil100")  # a table of their own: few methods were run on them


@picture
def peers(theme: str) -> Any:
    """How far each method is behind the best of each set, and in the mean."""
    found = defaultdict(list)
    for line in (STORED / "peers" / "peers.jsonl").read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        if one["set"] not in LARGER:
            found[one["method"], one["set"]].append(100 * one["accuracy"])
    accuracy = {key: np.mean(values) for key, values in found.items()}
    best = {name: max(value for (_, of), value in accuracy.items() if of == name) for _, name in accuracy}
    behind = defaultdict(list)
    for (method, name), value in accuracy.items():
        behind[method].append(best[name] - value)
    methods = sorted(behind, key=lambda method: np.mean(behind[method]))
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    for row, method in enumerate(methods):
        ax.plot(behind[method], np.full(len(behind[method]), row), "o", ms=4, color="C0", alpha=0.45, mew=0)
        ax.plot(np.mean(behind[method]), row, "|", ms=13, mew=2.5, color=THEMES[theme].warning)
    ax.set(yticks=range(len(methods)), yticklabels=methods, xlabel="points behind the best of a set", xlim=(-2, 85))
    ax.invert_yaxis()
    ax.grid(axis="x", alpha=0.3)
    return figure


def tables(page: str) -> dict[str, dict[str, list[tuple[float, float]]]]:
    """The tables of a record: by the name in the first cell, of each row the levels and their means, in percent."""
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for block in re.findall(r"(?:^\|.*\|\n)+", (STORED / "accuracy" / page).read_text(encoding="utf-8"), re.MULTILINE):
        (name, *levels), _, *rows = (
            [cell.strip() for cell in line.strip("|\n").split("|")] for line in block.splitlines()
        )
        numbers = [(place, float(level.strip(" %"))) for place, level in enumerate(levels) if level != "seeds"]
        found[name] = {
            method: [(level, float(cells[place].split()[0])) for place, level in numbers if cells[place] != "–"]
            for method, *cells in rows
        }
    return found


def _lines(ax: Any, methods: dict[str, tuple[str, str]], curves: dict[str, list[tuple[float, float]]]) -> None:
    for method, (line, colour) in methods.items():
        if len(curves.get(method, ())) > 1:
            ax.plot(*zip(*curves[method], strict=True), line, ms=3, color=colour, label=method)


@picture
def corruption(_theme: str) -> Any:
    """Accuracy against the share of wrong entries."""
    methods = {
        "RMSC v2": ("o-", "C0"),
        "RMSC v1": ("s--", "C1"),
        "SSC with outliers": ("^:", "C2"),
        "LRR": ("v:", "C3"),
        "k-NN graph": ("d-.", "C4"),
    }
    found = tables("corruption.md")
    figure, axes = plt.subplots(2, 3, figsize=(9, 4.6), layout="constrained", sharey=True)
    for line, name in zip(axes, ("orl", "coil20"), strict=True):
        for ax, kind in zip(line, ("pixels", "blocks", "noise"), strict=True):
            _lines(ax, methods, found[f"{name}, {kind}"])
            ax.set(title=f"{name}, {kind}", ylim=(0, 102))
        line[0].set_ylabel("accuracy, %")
    for ax, label in zip(axes[1], ("share of wrong pixels", "share covered", "noise"), strict=True):
        ax.set_xlabel(label)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


@picture
def known_labels(_theme: str) -> Any:
    """Accuracy against the share of known labels."""
    methods = {
        "RMSC": ("o-", "C0"),
        "RMSC free": ("-", "C0"),
        "GMSC": ("s--", "C1"),
        "LabelSpreading": ("^:", "C2"),
        "PCKMeans": ("v:", "C3"),
    }
    found = tables("semi_supervised.md")
    figure, axes = plt.subplots(2, 3, figsize=(9, 4.6), layout="constrained", sharey=True)
    shares = (0, 0.5, 1, 2, 5, 10)
    for ax, (name, curves) in zip(axes.flat, found.items(), strict=False):
        placed = {method: [(shares.index(share), value) for share, value in curve] for method, curve in curves.items()}
        free = placed.pop("RMSC free")
        ax.plot(*zip(*free, strict=True), ":", color="C0", alpha=0.7, label="RMSC, no labels")
        _lines(ax, methods, placed)
        ax.set(title=name, ylim=(0, 102), xticks=range(6), xticklabels=[f"{share:g}" for share in shares])
    for ax in axes[:, 0]:
        ax.set_ylabel("accuracy, %")
    for ax in axes.flat[2:5]:
        ax.set_xlabel("labels known, %")
    axes[1, 2].set_axis_off()
    axes[1, 2].legend(*axes[0, 0].get_legend_handles_labels(), loc="center")
    return figure


@picture
def exact_growth(_theme: str) -> Any:
    """CPU seconds and memory of the exact solver against the number of samples: the numbers that its page names."""
    page = " ".join((PAGES / "performance.md").read_text(encoding="utf-8").split())
    told = re.search(r"\*\*Growth\*\* of BMSC .*? \(CPU s: ([\d., ]+); MB above the data: ([\d., ]+)\)", page)
    assert told is not None, "performance.md no longer names the growth of BMSC"
    sizes = (500, 1000, 2000, 4000, 8000)
    figure, axes = plt.subplots(1, 2, figsize=(7, 2.8), layout="constrained")
    for ax, numbers, name in zip(axes, told.groups(), ("CPU seconds", "MB above the data"), strict=True):
        values = [float(number) for number in numbers.split(",")]
        ax.plot(sizes, values, "o-", color="C0")
        ax.set(xscale="log", yscale="log", xlabel="samples", ylabel=name)
        ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
        ax.set_yticks(values, [f"{value:g}" for value in values])
        ax.minorticks_off()
    return figure
