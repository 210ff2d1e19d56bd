"""The sets on which methods are compared: images, tables, motions, genes, sound, text; each with its trials."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from masked_subspace.datasets import load, load_protocol

TABLES = {"iris": "load_iris", "wine": "load_wine", "breast-cancer": "load_breast_cancer"}
FILES = ("palm", "isolet", "tox171", "lymphoma", "pcmac")
NAMES = (
    "mnist-1000", "usps-1000", "usps-random-1000", "orl", "coil20", "coil100", "usps", "mnist-10000", "digits",
    *TABLES, *(f"{name}-standardized" for name in TABLES), *FILES, "motions",
)  # fmt: skip


def _file(name: str) -> Any:
    return np.load(Path(os.environ["MASKED_SUBSPACE_DATA"]) / f"{name}.npz", allow_pickle=False)


def _table(name: str) -> tuple[Any, Any]:
    data = getattr(datasets, TABLES[name.removesuffix("-standardized")])()
    X = data.data
    if name.endswith("-standardized"):
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, data.target


def _draw(name: str, size: int, trial: int) -> tuple[Any, Any]:
    stored = load(name)
    chosen = np.random.default_rng(trial).choice(len(stored.target), size, replace=False)
    return stored.data[chosen], stored.target[chosen]


def trials_of(name: str, trials: int, first: int = 0) -> Iterator[tuple[str, int, Any, Any]]:
    """(case, trial, samples, classes). Draws change with the trial; fixed sets get another seed."""
    if name == "motions":
        stored = _file("hopkins-motions")
        for sequence in sorted({key.split("/")[0] for key in stored.files}):
            yield sequence, 0, stored[f"{sequence}/x"].astype(np.float64), stored[f"{sequence}/s"].ravel()
        return
    for trial in range(first, first + trials):
        if name in ("mnist-1000", "usps-1000", "orl", "coil20", "coil100"):
            part = load_protocol(name, trial) if name == "mnist-1000" else load_protocol(name)
            X, y = part.data, part.target
        elif name == "usps-random-1000":
            X, y = _draw("usps", 1000, trial)
        elif name == "mnist-10000":
            X, y = _draw("mnist", 10_000, trial)
        elif name in ("usps", "digits"):
            part = load(name)
            X, y = part.data, part.target
        elif name.removesuffix("-standardized") in TABLES:
            X, y = _table(name)
        else:
            stored = _file(name)
            X, y = stored["X"], stored["y"].ravel()
        yield name, trial, np.asarray(X, dtype=np.float32 if X.dtype != np.float64 else np.float64), y
