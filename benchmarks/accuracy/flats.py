"""Lines, planes and flats that cross in few features: RMSC beside other methods, on subspaces that are generated.

    python benchmarks/accuracy/flats.py --draws 5

The mixtures of subspaces (rounds/flats.py) and their constants were chosen with cases like these in sight, on other
draws.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from masked_subspace import BMSC, RMSC
from masked_subspace.baselines import LSR, SSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.metrics import clustering_accuracy

# Features, dimension, subspaces, noise, whether they miss the origin.
CASES = (
    (3, 2, 2, 0.01, False), (3, 2, 3, 0.01, False), (3, 2, 4, 0.02, False), (4, 2, 4, 0.03, False),
    (5, 2, 4, 0.03, False), (6, 3, 5, 0.05, False), (10, 4, 6, 0.05, False), (20, 6, 5, 0.05, False),
    (3, 1, 3, 0.01, True), (3, 1, 4, 0.02, True), (5, 2, 4, 0.02, True), (10, 3, 5, 0.02, True),
)  # fmt: skip
METHODS: dict[str, Callable[[int], Any]] = {
    "RMSC": lambda k: RMSC(k, random_state=0, n_jobs=1),
    "BMSC": lambda k: BMSC(k, random_state=0, n_jobs=1),
    "SSC": lambda k: SSC(k, random_state=0),
    "LSR": lambda k: LSR(k, random_state=0),
    "k-means": lambda k: KMeans(k, n_init=10, random_state=0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| features, dimension, K, noise | " + " | ".join(options.methods) + " | ways | RMSC, CPU s |")
    print("|---|" + "---|" * (len(options.methods) + 2))
    for ambient, dim, k, noise, affine in CASES:
        found: dict[str, list[float]] = {name: [] for name in options.methods}
        ways: Counter[str] = Counter()
        seconds = []
        for draw in range(100, 100 + options.draws):
            data = make_subspaces(
                k, dim=dim, ambient=ambient, per_subspace=70, noise=noise, affine=affine, random_state=draw
            )
            for name in options.methods:
                started = time.process_time()
                model = METHODS[name](k).fit(data.data)
                found[name].append(100 * clustering_accuracy(data.target, model.labels_))
                if name == "RMSC":
                    seconds.append(time.process_time() - started)
                    ways[next(one["way"] for one in model.choices_ if one["taken"])] += 1
        cells = " | ".join(f"{np.mean(one):.1f} ± {np.std(one):.1f}" for one in found.values())
        named = ", ".join(f"{way} {count}" for way, count in ways.most_common())
        title = f"{ambient}, {dim}, {k}, {noise:g}" + (", affine" if affine else "")
        print(f"| {title} | {cells} | {named} | {np.mean(seconds):.1f} |", flush=True)


if __name__ == "__main__":
    main()
