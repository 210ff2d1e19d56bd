"""Small clusters: what the judge takes with and without its yardstick of evened-out directions, and what is best.

    python benchmarks/accuracy/small_clusters.py --results small.jsonl      # resumable; then --table

Parts of sets with so many samples of so many classes, faces under lights that do not exist (lights.py), and a few whole
sets. Labels are looked at here and nowhere else.
"""

from __future__ import annotations

import argparse
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from judge_study import ways_of
from lights import faces

from masked_subspace.rounds import judge
from peers.sets import trials_of
from records import append_record, load_records

LIGHTS = (
    (15, 11, 0.5, 1), (10, 21, 0.4, 1), (10, 13, 0.5, 1), (10, 10, 0.5, 2), (38, 20, 0.4, 1), (20, 40, 0.4, 1),
    (20, 8, 0.5, 1),
)  # fmt: skip
# Samples of a class, and how many classes if not all.
PARTS: tuple[tuple[str, int, int | None], ...] = (
    ("orl", 5, None), ("orl", 7, None), ("orl", 10, 15), ("palm", 8, 20), ("palm", 20, 20), ("coil20", 10, None),
    ("coil20", 20, None), ("digits", 15, None), ("isolet", 8, None), ("isolet", 20, None), ("usps-1000", 11, None),
    ("usps-1000", 30, None), ("tox171", 20, None),
)  # fmt: skip
WHOLE = ("tox171", "lymphoma", "digits", "orl", "usps-1000", "coil20", "palm", "isolet", "mnist-1000")


def part_of(X: Any, y: Any, each: int, n_classes: int | None, draw: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(draw)
    classes = np.unique(y) if n_classes is None else rng.choice(np.unique(y), n_classes, replace=False)
    chosen = np.concatenate(
        [rng.choice(np.flatnonzero(y == one), min(each, int((y == one).sum())), replace=False) for one in classes]
    )
    return X[chosen], np.unique(y[chosen], return_inverse=True)[1]


def cases(draws: int) -> Iterator[tuple[str, int, Any, Any]]:
    for draw in range(draws):
        for light in LIGHTS:
            yield "lights {} × {}, {}, {}".format(*light), draw, *faces(*light, draw)
    for name, each, n_classes in PARTS:
        X, y = next(trials_of(name, 1))[2:]
        title = f"{name}, {each} of each class" + (f" of {n_classes}" if n_classes else "")
        for draw in range(draws):
            yield title, draw, *part_of(X, y, each, n_classes, draw)
    for name in WHOLE:
        for _, trial, X, y in trials_of(name, 2):
            yield name, trial, X, y


def score(way: dict[str, Any], strength: float) -> float:
    """The judge's score, with another strength in the place of its own."""
    of_one_view = way["views"] == 1 and way["way"] != judge.TOPICS
    handicap = judge._ONE_VIEW if of_one_view else judge._HANDICAPS.get(way["way"], 1.0)
    return float(way["agreement"] * strength / handicap)


RULES: dict[str, Callable[[dict[str, Any]], float]] = {
    "as given": lambda way: score(way, way["strength"]),
    "both": lambda way: score(way, (way["strength"] + way["evened_strength"]) / 2),
    "evened out": lambda way: score(way, way["evened_strength"]),
}


def table(path: Path) -> None:
    found: dict[str, list[list[float]]] = defaultdict(list)
    for record in load_records(path):
        ways = [way for way in record["ways"] if way.get("strength") is not None]
        found[record["set"]].append(
            [100 * max(ways, key=rule)["accuracy"] for rule in RULES.values()]
            + [100 * max(w["accuracy"] for w in ways)]
        )
    print("| set | " + " | ".join(RULES) + " | best way |\n|---|" + "---|" * (len(RULES) + 1))
    for name, rows in found.items():
        print(f"| {name} ({len(rows)}) | " + " | ".join(f"{one:.1f}" for one in np.mean(rows, axis=0)) + " |")
    means = np.array([np.mean(rows, axis=0) for rows in found.values()])
    regret = means[:, -1:] - means[:, :-1]
    print(
        "\nMean regret, worst: "
        + "; ".join(f"{rule} {of.mean():.1f}, {of.max():.1f}" for rule, of in zip(RULES, regret.T, strict=True))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("small.jsonl"))
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        table(options.results)
        return
    warnings.simplefilter("ignore")
    done = {(record["set"], record["trial"]) for record in load_records(options.results)}
    for name, trial, X, y in cases(options.draws):
        if (name, trial) not in done:
            record = {"set": name, "trial": trial, "ways": ways_of(X, y, trial)}
            append_record(options.results, record)
            print(name, trial, next(way["way"] for way in record["ways"] if way["taken"]), flush=True)


if __name__ == "__main__":
    main()
