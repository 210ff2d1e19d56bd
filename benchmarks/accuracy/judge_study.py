"""What the judge sees and what it takes: every way on every set, its scores beside its accuracy, and the regret.

    python benchmarks/accuracy/judge_study.py --results judge.jsonl --sets iris wine orl --trials 3
    python benchmarks/accuracy/judge_study.py --results judge.jsonl --table
    python benchmarks/accuracy/judge_study.py --results judge.jsonl --kinds

Regret is the best way's accuracy less that of the way taken. Labels are looked at here and nowhere else. `--kinds`
leaves one kind of data out: the handicaps of the ways are chosen by accuracy on the other kinds, and judged on it.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from masked_subspace import RMSC
from masked_subspace._common.progress import SilentEvents
from masked_subspace.estimators.base import Task
from masked_subspace.label.labeler import Evidence
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.rounds import judge
from masked_subspace.rounds.flats import FLATS
from masked_subspace.rounds.recursion import consensus

sys.path.append(str(Path(__file__).parents[1]))
from peers.sets import NAMES, trials_of
from records import append_record, load_records


def ways_of(X: Any, y: Any, seed: int) -> list[dict[str, Any]]:
    """One record a way: its scores and the accuracy of its consensus; the closed form where it is taken."""
    k = len(np.unique(y))
    model = RMSC(k, random_state=seed, n_jobs=1).fit(X)
    task = Task(X, None, False, seed, 1, SilentEvents())
    records = []
    for way in model._judge(task, every=True):
        views = len(way.family.views)
        if len(way.labels) == len(y):
            labels = consensus(way.family.ballot, k, Evidence(X), seed).labels
        else:  # the judge saw a sample: the members of this way are asked about all samples
            labels = model._vote(task, way.family.views, way, []).rounds.last.labeling.labels
        scores = {"agreement": way.agreement, "strength": way.strength, "score": way.score, "views": views}
        if way.evened is not None:
            scores["evened_strength"] = way.evened_strength
        records.append({"way": way.family.name, **scores, "accuracy": clustering_accuracy(y, labels)})
    chosen = next(record["way"] for record in model.choices_ if record["taken"])
    if chosen == "low-rank":
        records.append({"way": "low-rank", "score": None, "accuracy": clustering_accuracy(y, model.labels_)})
    for record in records:
        record["taken"] = record["way"] == chosen
    return records


def table(path: Path) -> None:
    lines = load_records(path)
    by_set: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        by_set[line["set"]].append(line)
    print("| set | taken | accuracy taken | best way | regret | scores |\n|---|---|---|---|---|---|")
    regrets = []
    for name, cases in by_set.items():
        taken = [next(way for way in case["ways"] if way["taken"]) for case in cases]
        best = [max(case["ways"], key=lambda way: way["accuracy"]) for case in cases]
        regret = [b["accuracy"] - t["accuracy"] for b, t in zip(best, taken, strict=True)]
        regrets += regret
        scored = "; ".join(f"{way['way']} {way['score']:.2f}" for way in cases[0]["ways"] if way["score"] is not None)
        names = ", ".join(sorted({one["way"] for one in taken})), ", ".join(sorted({one["way"] for one in best}))
        mean = np.mean([one["accuracy"] for one in taken])
        print(f"| {name} ({len(cases)}) | {names[0]} | {mean:.3f} | {names[1]} | {np.mean(regret):.3f} | {scored} |")
    print(f"\nMean regret {np.mean(regrets):.3f}, worst {np.max(regrets):.3f}, {len(regrets)} cases.")


KINDS = {
    "images": ("digits", "orl", "usps-1000", "coil20", "mnist-1000", "usps-random-1000", "palm"),
    "tables": ("iris", "iris-standardized", "wine-standardized", "breast-cancer-standardized"),
    "genes": ("tox171", "lymphoma"),
    "sound": ("isolet",),
    "text": ("pcmac",),
}
# What a way's score is divided by: of one view, ridge, near, mixtures. Those of the library among them.
GRID = list(product((1.0, 1.05, 1.1, 1.15, 1.2, 1.25, 1.3), (1.0, 1.03, 1.06, 1.1), (1.0, 1.1, 1.2), (1.0, 1.1, 1.2)))
LIBRARY = (judge._ONE_VIEW, judge._HANDICAPS.get("ridge", 1.0), judge._NEAR, judge._MIXTURE)
Handicaps = tuple[float, float, float, float]


def handicap(way: dict[str, Any], handicaps: Handicaps) -> float:
    one_view, ridge, near, mixture = handicaps
    if way["way"] in FLATS:
        return 1.0
    by_name = {"ridge": ridge, "near": near, "mixture": mixture, "shared-mixture": mixture}
    return one_view if way["views"] == 1 else by_name.get(way["way"], 1.0)


def accuracy_of(cases: list[dict[str, Any]], take: Callable[[dict[str, Any]], dict[str, Any]]) -> float:
    """Mean over sets of the mean over trials, of the way that is taken of each case."""
    by_set: dict[str, list[float]] = defaultdict(list)
    for case in cases:
        by_set[case["set"]].append(take(case)["accuracy"])
    return float(np.mean([np.mean(found) for found in by_set.values()]))


def accuracy_with(cases: list[dict[str, Any]], handicaps: Handicaps) -> float:
    """The same where the way of the largest score is taken."""

    def score(way: dict[str, Any]) -> float:
        strengths = [way["strength"], way.get("evened_strength", way["strength"])]
        return float(way["agreement"] * np.mean(strengths) / handicap(way, handicaps))

    return accuracy_of(cases, lambda case: max(case["ways"], key=score))


def chosen_on(kinds: list[list[dict[str, Any]]]) -> Handicaps:
    """Of the handicaps with the largest mean over kinds, up to a thousandth, those in the middle."""
    means = np.array([np.mean([accuracy_with(cases, one) for cases in kinds]) for one in GRID])
    best = np.log(np.array(GRID)[means >= means.max() - 1e-3])
    return GRID[int(np.abs(np.log(GRID) - best.mean(axis=0)).sum(axis=1).argmin())]


def leave_kinds_out(path: Path) -> None:
    lines = load_records(path)
    # The closed form is taken by its gap, before any handicap.
    cases = [line for line in lines if not any(way["taken"] and way["way"] == "low-rank" for way in line["ways"])]
    by_kind = {kind: [case for case in cases if case["set"] in sets] for kind, sets in KINDS.items()}
    by_kind = {kind: found for kind, found in by_kind.items() if found}
    print("| left out | handicaps chosen on the others | accuracy with them | with the library's | best way |")
    print("|---|---|---|---|---|")
    for kind, left_out in by_kind.items():
        chosen = chosen_on([found for other, found in by_kind.items() if other != kind])
        best = accuracy_of(left_out, lambda case: max(case["ways"], key=lambda way: way["accuracy"]))
        found, ours = accuracy_with(left_out, chosen), accuracy_with(left_out, LIBRARY)
        numbers = ", ".join(f"{one:g}" for one in chosen)
        print(f"| {kind} ({len(left_out)}) | {numbers} | {100 * found:.1f} | {100 * ours:.1f} | {100 * best:.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("judge.jsonl"))
    parser.add_argument("--sets", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--kinds", action="store_true")
    options = parser.parse_args()
    if options.kinds:
        leave_kinds_out(options.results)
        return
    if options.table:
        table(options.results)
        return
    warnings.simplefilter("ignore")
    for name in options.sets:
        for case, trial, X, y in trials_of(name, options.trials):
            record = {"set": name, "case": case, "trial": trial, "ways": ways_of(X, y, trial)}
            append_record(options.results, record)
            print(
                case,
                trial,
                [(way["way"], round(way["accuracy"], 3), way["taken"]) for way in record["ways"]],
                flush=True,
            )


if __name__ == "__main__":
    main()
