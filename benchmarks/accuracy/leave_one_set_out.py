"""How general RMSC's fixed choices are: choose them on all sets but one, with labels, and judge on the one left out.

    python benchmarks/accuracy/leave_one_set_out.py --results held_out.jsonl --trials 5
    python benchmarks/accuracy/leave_one_set_out.py --results held_out.jsonl --table

Choices: links a sample in the members' graphs, whether the view is picked, and one or two rounds. What the default does
on the held-out set is set beside what the other sets would have chosen, and beside the best choice with its own labels.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from accuracy import SETS
from masked_subspace import RMSC
from masked_subspace.datasets import load_protocol
from masked_subspace.metrics import clustering_accuracy

sys.path.append(str(Path(__file__).parents[1]))
from records import append_record, load_records

LINKS = (3, 4, 5, 6)
VIEWS = ("auto", "plain")
ROUNDS = (1, 2)
DEFAULT = "4 links, auto view, 2 rounds"
JUDGED = ["mnist-1000", "usps-1000", "orl", "coil20", "coil100"]


def name_of(links: int, view: str, rounds: int) -> str:
    return f"{links} links, {view} view, {rounds} rounds"


def run(results: Path, sets: list[str], trials: range) -> None:
    done = {(r["choice"], r["set"], r["trial"]) for r in load_records(results)}
    for name, trial, links, view in product(sets, trials, LINKS, VIEWS):
        if (name_of(links, view, 2), name, trial) in done:
            continue
        data = load_protocol(name, trial)
        model = RMSC(SETS[name], n_links=links, view=view, random_state=trial, n_jobs=1)
        model.fit(data.data.astype(np.float32))
        # Where the picked view is the plain one the two choices are one fit.
        same = VIEWS if view == "auto" and model.view_ == "plain" else (view,)
        for stands_for, rounds in product(same, ROUNDS):
            labels = model.round_labels_[min(rounds, model.n_rounds_) - 1]
            accuracy = clustering_accuracy(data.target, labels)
            choice = name_of(links, stands_for, rounds)
            record = {"choice": choice, "set": name, "trial": trial, "accuracy": accuracy}
            done.add((choice, name, trial))
            append_record(results, record)
            print(f"{name} {trial} {choice}: {accuracy:.3f}", flush=True)


def table(results: Path) -> str:
    """One line a held-out set."""
    by: dict[tuple[str, str], dict[int, float]] = {}
    for record in load_records(results):
        by.setdefault((record["choice"], record["set"]), {})[record["trial"]] = 100 * record["accuracy"]
    choices = [name_of(*one) for one in product(LINKS, VIEWS, ROUNDS)]
    mean = {key: float(np.mean(list(values.values()))) for key, values in by.items()}
    lines = [
        "| held out | chosen on the others | it gives | default gives | default − chosen | own best |",
        "|---" * 6 + "|",
    ]
    for held in JUDGED:
        others = [name for name in JUDGED if name != held]
        chosen = max(choices, key=lambda choice: sum(mean[choice, name] for name in others))
        own = max(choices, key=lambda choice: mean[choice, held])
        gap = [by[DEFAULT, held][t] - by[chosen, held][t] for t in by[DEFAULT, held]]
        error = np.std(gap, ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else 0.0
        lines.append(
            f"| {held} | {chosen} | {mean[chosen, held]:.1f} | {mean[DEFAULT, held]:.1f} | "
            f"{np.mean(gap):+.1f} ± {error:.1f} | {own}: {mean[own, held]:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=JUDGED, choices=JUDGED)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--table", action="store_true", help="print what is there and stop")
    given: Any = parser.parse_args()
    if given.table:
        print(table(given.results))
    else:
        run(given.results, given.sets, range(given.trials))


if __name__ == "__main__":
    main()
