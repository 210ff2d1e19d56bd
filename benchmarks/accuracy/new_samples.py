"""Labels of samples that were not fitted: `predict` by votes and by subspaces beside k-NN on the fitted labels.

    python benchmarks/accuracy/new_samples.py --results new.jsonl --sets digits orl iris subspaces --seeds 2
    python benchmarks/accuracy/new_samples.py --results new.jsonl --table

Half of the samples, drawn with the seed, are fitted by `RMSC(K)`; clusters get the classes of that half, one to one,
and the share of the other half whose predicted cluster has their class is printed. The neighbours are those by cosine
in the view that the fit chose, and by distance in the features as given. Motions: every tenth sequence. Cases that are
in the results already are not computed again. Labels are looked at here and nowhere else.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from calibration import matching
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

from masked_subspace import RMSC
from masked_subspace.datasets import make_subspaces

sys.path.append(str(Path(__file__).parents[1]))
from peers.sets import NAMES, trials_of
from records import append_record, load_records

NOISES = (0.0, 0.05, 0.1)
MOTIONS = 10
WAYS = ("half", "vote", "subspace", "1-NN", "5-NN", "5-NN as given")


def cases_of(name: str) -> Iterator[tuple[str, Any, Any]]:
    if name == "subspaces":
        for seed, noise in enumerate(NOISES):
            made = make_subspaces(8, noise=noise, random_state=seed)
            yield f"noise {noise:g}", made.data, made.target
        return
    for place, (case, _, X, y) in enumerate(trials_of(name, 1)):
        if name != "motions" or place % MOTIONS == 0:
            yield case, X, y


def study(X: Any, y: Any, seed: int) -> dict[str, float]:
    classes = np.unique(y, return_inverse=True)[1]
    n_clusters = int(classes.max()) + 1
    order = np.random.default_rng(seed).permutation(len(X))
    X, classes, half = X[order], classes[order], len(X) // 2
    new, told = X[half:], classes[half:]
    model = RMSC(n_clusters, random_state=seed, n_jobs=1).fit(X[:half])
    of = matching(model.labels_, classes[:half], n_clusters)
    rows, new_rows = model._rows, model._preparation.apply(new)

    def neighbours(k: int, train: Any, others: Any, metric: str) -> Any:
        return KNeighborsClassifier(k, metric=metric).fit(train, model.labels_).predict(others)

    began = time.process_time()
    labels = {"vote": model.predict(new)}
    seconds = time.process_time() - began
    labels["subspace"] = model.predict(new, method="subspace")
    labels["1-NN"], labels["5-NN"] = (neighbours(k, rows, new_rows, "cosine") for k in (1, 5))
    labels["5-NN as given"] = neighbours(5, X[:half], new, "euclidean")
    found = {name: float(np.mean(of[one] == told)) for name, one in labels.items()}
    kept = float(np.mean(model.predict(X[:half]) == model.labels_))
    return {
        "half": float(np.mean(of[model.labels_] == classes[:half])),
        **found,
        "kept": kept,
        "seconds": seconds,
    }


def table(path: Path) -> None:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in load_records(path):
        found[record["set"]].append(record)
    print("| set | " + " | ".join(WAYS) + " | fits |\n|" + "---|" * (len(WAYS) + 2))
    means = {name: [float(np.mean([one[way] for one in records])) for way in WAYS] for name, records in found.items()}
    for name, values in means.items():
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in values) + f" | {len(found[name])} |")
    print("| mean | " + " | ".join(f"{value:.3f}" for value in np.mean(list(means.values()), axis=0)) + " | |")
    print("training samples that keep their labels, at least:", min(one["kept"] for of in found.values() for one in of))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("new_samples.jsonl"))
    parser.add_argument("--sets", nargs="+", default=["digits", "orl", "subspaces"], choices=["subspaces", *NAMES])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        table(options.results)
        return
    warnings.simplefilter("ignore")
    done = {(one["set"], one["case"], one["seed"]) for one in load_records(options.results)}
    with threadpool_limits(1):
        for name in options.sets:
            for case, X, y in cases_of(name):
                for seed in range(options.seeds):
                    if (name, case, seed) not in done:
                        record = {"set": name, "case": case, "seed": seed, **study(X, y, seed)}
                        append_record(options.results, record)
                        print(record, flush=True)


if __name__ == "__main__":
    main()
