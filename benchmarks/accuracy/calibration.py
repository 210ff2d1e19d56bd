"""Whether memberships mean what they say, and how new samples are best given to clusters.

    python benchmarks/accuracy/calibration.py --results calibration.jsonl --sets digits mnist-1000 orl subspaces
    python benchmarks/accuracy/calibration.py --results calibration.jsonl --table

A sample counts as right if its cluster's class, in the best one-to-one matching of clusters and classes, is its own.
The expected calibration error is the mean distance between the largest membership and the share that is right, in ten
bins. Cases that are in the results already are not computed again. Labels are looked at here and nowhere else.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from masked_subspace import RMSC
from masked_subspace.datasets import make_subspaces

sys.path.insert(0, str(Path(__file__).parents[1] / "peers"))
from sets import NAMES, trials_of

BINS = 10


def samples_of(name: str, trial: int) -> tuple[Any, Any]:
    if name == "subspaces":
        made = make_subspaces(8, noise=0.1, random_state=trial)
        return made.data, made.target
    _, _, X, y = next(trials_of(name, 1, trial))
    return X, y


def matching(labels: Any, classes: Any, n_clusters: int) -> Any:
    """The class of each cluster, one to one."""
    table = np.zeros((n_clusters, n_clusters))
    np.add.at(table, (labels, classes), 1)
    return linear_sum_assignment(-table)[1]


def reliability(memberships: Any, right: Any) -> dict[str, Any]:
    """The curve in ten bins and its error."""
    sure = memberships.max(axis=1)
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    curve = [
        {"samples": int(inside.sum()), "sure": float(sure[inside].mean()), "right": float(right[inside].mean())}
        for inside in (place == number for number in range(BINS))
        if inside.any()
    ]
    error = sum(one["samples"] * abs(one["sure"] - one["right"]) for one in curve) / len(sure)
    return {"sure": float(sure.mean()), "right": float(right.mean()), "error": error, "curve": curve}


def study(name: str, trial: int) -> dict[str, Any]:
    """All samples fitted, for `memberships_`; half of them fitted and the other half new, for the rest."""
    X, y = samples_of(name, trial)
    classes = np.unique(y, return_inverse=True)[1]
    n_clusters = int(classes.max()) + 1
    order = np.random.default_rng(trial).permutation(len(X))
    X, classes = X[order], classes[order]
    model = RMSC(n_clusters, random_state=trial, n_jobs=1).fit(X)
    of = matching(model.labels_, classes, n_clusters)
    record = {"set": name, "trial": trial, "fitted": reliability(model.memberships_, of[model.labels_] == classes)}
    half = len(X) // 2
    model = RMSC(n_clusters, random_state=trial, n_jobs=1).fit(X[:half])
    of = matching(model.labels_, classes[:half], n_clusters)
    new, told = X[half:], classes[half:]
    voted, nearest = model.predict(new), model.predict(new, method="subspace")
    record["new"] = reliability(model.predict_proba(new), of[voted] == told)
    record["vote"], record["subspace"] = float(np.mean(of[voted] == told)), float(np.mean(of[nearest] == told))
    record["half"] = float(np.mean(of[model.labels_] == classes[:half]))
    return record


def table(path: Path) -> None:
    print("| set | memberships_: sure / right / error | predict_proba, new samples: the same |\n|---|---|---|")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for one in records:
        parts = [
            f"{one[key]['sure']:.3f} / {one[key]['right']:.3f} / {one[key]['error']:.3f}" for key in ("fitted", "new")
        ]
        print(f"| {one['set']}, {one['trial']} | {parts[0]} | {parts[1]} |")
    print('\n| set | fitted half | new half, "vote" | new half, "subspace" |\n|---|---|---|---|')
    for one in records:
        print(f"| {one['set']}, {one['trial']} | {one['half']:.3f} | {one['vote']:.3f} | {one['subspace']:.3f} |")
    for one in records:
        curve = ", ".join(
            f"{bin_['sure']:.2f} → {bin_['right']:.2f} ({bin_['samples']})" for bin_ in one["fitted"]["curve"]
        )
        print(f"\n{one['set']}, {one['trial']}: {curve}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("calibration.jsonl"))
    parser.add_argument("--sets", nargs="+", default=["digits", "mnist-1000", "orl", "subspaces"])
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    unknown = set(options.sets) - {"subspaces", *NAMES}
    if unknown:
        parser.error(f"unknown sets: {', '.join(sorted(unknown))}")
    if options.table:
        table(options.results)
        return
    warnings.simplefilter("ignore")
    stored = options.results.read_text().splitlines() if options.results.exists() else []
    done = {(record["set"], record["trial"]) for record in map(json.loads, stored)}
    with threadpool_limits(1):
        for name in options.sets:
            for trial in range(options.trials):
                if (name, trial) not in done:
                    record = study(name, trial)
                    with options.results.open("a") as stream:
                        stream.write(json.dumps(record) + "\n")
                    print(name, trial, record["fitted"]["error"], record["new"]["error"], flush=True)


if __name__ == "__main__":
    main()
