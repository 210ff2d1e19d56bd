"""Word counts: RMSC beside k-means, on counts as they are and on TF-IDF weights.

    python benchmarks/accuracy/texts.py [--seeds 3] [--sets two-modules pcmac …] [--noise 24]

PC–MAC needs MASKED_SUBSPACE_DATA. The other texts are docstrings of the packages that are installed here, so that their
number hangs on versions; the class is the module. "cells" are generated counts of genes: six kinds of cells, each with
forty genes of its own, depths that vary fourfold, nine in ten entries zero. `--noise` draws texts of one distribution
of words instead and counts the fits that warn.
"""

from __future__ import annotations

import argparse
import importlib
import inspect
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

from masked_subspace import RMSC
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.rounds.defaults import DOUBTFUL_STRUCTURE

MODULES = {
    "two-modules": ["scipy.signal", "scipy.ndimage"],
    "five-packages": ["numpy", "scipy.stats", "pandas", "torch", "matplotlib.pyplot"],
    "ten-modules": [
        "scipy.stats",
        "scipy.signal",
        "scipy.special",
        "scipy.linalg",
        "scipy.sparse",
        "scipy.optimize",
        "scipy.ndimage",
        "scipy.interpolate",
        "scipy.integrate",
        "scipy.spatial.distance",
    ],
}
MOST, SHORTEST = 150, 300  # docstrings of one module, letters of a docstring


def docstrings(modules: list[str]) -> tuple[csr_array, Any]:
    texts: list[str] = []
    classes: list[int] = []
    for number, name in enumerate(modules):
        module = importlib.import_module(name)
        public = (getattr(module, one) for one in dir(module) if not one.startswith("_"))
        found = dict.fromkeys(inspect.getdoc(one) or "" for one in public if callable(one))
        some = [text for text in found if len(text) > SHORTEST][:MOST]
        texts += some
        classes += [number] * len(some)
    counts = csr_array(CountVectorizer(min_df=3, max_df=0.6, stop_words="english").fit_transform(texts)).astype(float)
    enough = np.asarray(counts.sum(axis=1)).ravel() > 5
    return csr_array(counts[enough]), np.array(classes)[enough]


def cells(seed: int = 0) -> tuple[csr_array, Any]:
    rng = np.random.default_rng(seed)
    n, d, kinds, own = 900, 2000, 6, 40
    y = rng.integers(0, kinds, n)
    rates = np.tile(rng.gamma(0.3, 0.15, d), (kinds, 1))
    for kind in range(kinds):
        rates[kind, rng.choice(d, own, replace=False)] *= 6
    depth = rng.uniform(0.5, 2, n)
    return csr_array(rng.poisson(rates[y] * depth[:, None]).astype(float)), y


def pcmac() -> tuple[csr_array, Any]:
    stored = np.load(Path(os.environ["MASKED_SUBSPACE_DATA"]) / "pcmac.npz", allow_pickle=False)
    return csr_array(stored["X"].astype(np.float64)), stored["y"].ravel()


SETS: dict[str, Callable[[], tuple[csr_array, Any]]] = {
    **{name: (lambda modules=modules: docstrings(modules)) for name, modules in MODULES.items()},
    "cells": cells,
    "pcmac": pcmac,
}


def rows(name: str, seeds: int) -> Iterator[str]:
    X, y = SETS[name]()
    K = len(np.unique(y))
    for form, given in (("counts", X), ("TF-IDF", csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(X)))):
        started = time.process_time()
        fits = [RMSC(K, random_state=seed, n_jobs=1).fit(given) for seed in range(seeds)]
        seconds = (time.process_time() - started) / seeds
        ours = [100 * clustering_accuracy(y, fit.labels_) for fit in fits]
        means = [
            100 * clustering_accuracy(y, KMeans(K, n_init=10, random_state=seed).fit_predict(given))
            for seed in range(seeds)
        ]
        ways = ", ".join(sorted({record["way"] for fit in fits for record in fit.choices_ if record["taken"]}))
        yield (
            f"| {name}, {form} | {X.shape[0]} × {X.shape[1]} | {K} | {np.mean(ours):.1f} ± {np.std(ours):.1f} "
            f"| {np.mean(means):.1f} ± {np.std(means):.1f} | {ways} | {seconds:.1f} |"
        )


def warned_of_noise(draws: int) -> str:
    """How many fits of texts without clusters warn."""
    rng = np.random.default_rng(0)
    structures = []
    for _ in range(draws):
        n, d, K = (int(rng.choice(some)) for some in ([150, 300, 600], [200, 500, 1500], [2, 3, 5, 8]))
        words = rng.dirichlet(np.full(d, 0.3))
        counts = [rng.multinomial(rng.integers(8, int(0.08 * d) + 10), words) for _ in range(n)]
        structures.append(RMSC(K, random_state=0).fit(csr_array(np.array(counts, dtype=float))).structure_)
    missed = sorted(round(one, 2) for one in structures if one >= DOUBTFUL_STRUCTURE)
    return f"{draws - len(missed)} of {draws} warn; structure_ of the others: {missed}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--noise", type=int, default=0, metavar="DRAWS")
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    if options.noise:
        print(warned_of_noise(options.noise))
        return
    print("| set | size | K | RMSC | k-means | way | CPU s |\n|---|---|---|---|---|---|---|")
    for name in options.sets:
        for row in rows(name, options.seeds):
            print(row, flush=True)


if __name__ == "__main__":
    main()
