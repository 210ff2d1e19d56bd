"""Whether memberships mean what they say, and how new samples are best given to clusters.

    python benchmarks/accuracy/calibration.py --results calibration.jsonl --trials 5
    python benchmarks/accuracy/calibration.py --results calibration.jsonl --table

A sample counts as right if its cluster's class, in the best one-to-one matching of clusters and classes, is its own.
The expected calibration error is the mean distance between the largest membership and the share that is right, in ten
bins. By chance it is above 0 for memberships that are right: "chance" is its mean if every sample were right with just
the probability that is said. Cases that are in the results already are not computed again. Labels are looked at here
and nowhere else.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from threadpoolctl import threadpool_limits

from masked_subspace import RMSC
from masked_subspace.datasets import make_subspaces

sys.path.append(str(Path(__file__).parents[1]))
from peers.sets import NAMES, trials_of
from records import append_record, load_records

BINS = 10
SIMULATED = 200


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
    """The curve in ten bins, its error, and what that would be by chance."""
    sure = memberships.max(axis=1)
    place = np.minimum((sure * BINS).astype(int), BINS - 1)
    curve = [
        {"samples": int(inside.sum()), "sure": float(sure[inside].mean()), "right": float(right[inside].mean())}
        for inside in (place == number for number in range(BINS))
        if inside.any()
    ]
    error = sum(one["samples"] * abs(one["sure"] - one["right"]) for one in curve) / len(sure)
    return {
        "sure": float(sure.mean()),
        "right": float(right.mean()),
        "error": error,
        "chance": error_by_chance(sure, place),
        "curve": curve,
    }


def error_by_chance(sure: Any, place: Any) -> float:
    """The error of memberships that are calibrated, with as many samples in each bin."""
    rng = np.random.default_rng(0)
    off = (rng.random((SIMULATED, len(sure))) < sure) - sure
    return float(sum(np.abs(off[:, place == number].sum(axis=1)).mean() for number in range(BINS)) / len(sure))


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
    """One row a set: means over trials, and the error of each trial."""
    records = load_records(path)
    names = list(dict.fromkeys(one["set"] for one in records))
    print("| set | of | sure | right | error | each trial | by chance |\n|" + "---|" * 7)
    for name in names:
        for key, of in (("fitted", "`memberships_`"), ("new", "`predict_proba`")):
            cases = [one[key] for one in records if one["set"] == name]
            means = [f"{np.mean([case[value] for case in cases]):.3f}" for value in ("sure", "right", "error")]
            each = ", ".join(f"{case['error']:.3f}" for case in cases)
            print(
                f"| {name} | {of} | " + " | ".join(means) + f" | {each} | {np.mean([c['chance'] for c in cases]):.3f} |"
            )
    print('\n| set | fitted half | new half, "vote" | new half, "subspace" |\n|---|---|---|---|')
    for name in names:
        cases = [one for one in records if one["set"] == name]
        print(
            f"| {name} | " + " | ".join(f"{np.mean([c[k] for c in cases]):.3f}" for k in ("half", "vote", "subspace"))
        )
    for one in records:
        if one["trial"] == 0:
            for key in ("fitted", "new"):
                curve = ", ".join(f"{b['sure']:.2f} → {b['right']:.2f} ({b['samples']})" for b in one[key]["curve"])
                print(f"\n{one['set']}, {key}: {curve}")


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
    done = {(record["set"], record["trial"]) for record in load_records(options.results)}
    with threadpool_limits(1):
        for name in options.sets:
            for trial in range(options.trials):
                if (name, trial) not in done:
                    record = study(name, trial)
                    append_record(options.results, record)
                    print(name, trial, record["fitted"]["error"], record["new"]["error"], flush=True)


if __name__ == "__main__":
    main()
