"""Whether the judge takes the same way on a sample of the data as on all of it.

    python benchmarks/accuracy/judge_on_a_sample.py --sets usps mnist-10000 --trials 2

For each set: the way taken on all samples, and on seeded samples of other sizes (2,000 is the library's), with scores.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from masked_subspace import RMSC
from masked_subspace._common.progress import SilentEvents
from masked_subspace.estimators import rmsc
from masked_subspace.estimators.base import Task

sys.path.append(str(Path(__file__).parents[1]))
from peers.sets import NAMES, trials_of


def scores(X: Any, n_clusters: int, seed: int, most: int) -> dict[str, float]:
    """The score of every way on at most so many samples, best first."""
    rmsc.JUDGED_SAMPLES, rmsc.JUDGED_A_CLUSTER = most, 0
    model = RMSC(n_clusters, random_state=seed, n_jobs=1)
    model.n_clusters_ = n_clusters
    return {way.family.name: way.score for way in model._judge(Task(X, None, False, seed, 1, SilentEvents()))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=["usps", "mnist-10000", "coil100"], choices=NAMES)
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 2_000, 4_000])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print("| set, trial | samples | all | " + " | ".join(f"{size:,}" for size in options.sizes) + " |")
    print("|---|---|---|" + "---|" * len(options.sizes))
    for name in options.sets:
        for case, trial, X, y in trials_of(name, options.trials):
            k, rows = len(np.unique(y)), np.asarray(X, dtype=np.float32)
            sizes = [len(rows), *(size for size in options.sizes)]
            found = [scores(rows, k, trial, size) if size <= len(rows) else {} for size in sizes]
            cells = [", ".join(f"{way} {score:.2f}" for way, score in one.items()) or "–" for one in found]
            print(f"| {case}, {trial} | {len(rows):,} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
