"""How many clusters, chosen without labels: our number beside those of eigengap, modularity, silhouette and EVoC.

    python benchmarks/accuracy/number_of_clusters.py --results numbers.jsonl --sets iris wine subspaces
    python benchmarks/accuracy/number_of_clusters.py --results numbers.jsonl --table
    python benchmarks/accuracy/number_of_clusters.py --cost

Cases that are in the results already are not computed again. Labels are looked at here and nowhere else.
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
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.metrics import silhouette_score
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from masked_subspace import RMSC
from masked_subspace._common.progress import SilentEvents
from masked_subspace._common.rows import leading_eigenpairs
from masked_subspace.datasets import make_subspaces
from masked_subspace.estimators.base import Task
from masked_subspace.label.graph import affinity_matrix, normalized_graph

sys.path.append(str(Path(__file__).parents[1]))
from peers.sets import NAMES, trials_of
from records import append_record, load_records

DRAWS = 40
MOTIONS = 4  # every fourth sequence
_MOST_SILHOUETTE = 40


def cases_of(name: str) -> Iterator[tuple[str, Any, Any]]:
    """(case, samples, classes)."""
    if name == "subspaces":
        rng = np.random.default_rng(1)
        for draw in range(DRAWS):
            count, noise = int(rng.integers(3, 21)), float(rng.uniform(0, 0.1))
            made = make_subspaces(count, noise=noise, random_state=draw)
            yield f"{draw}: {count} subspaces, noise {noise:.3f}", made.data, made.target
        return
    for place, (case, trial, X, y) in enumerate(trials_of(name, 1)):
        if name != "motions" or place % MOTIONS == 0:
            yield f"{case} {trial}", X, y


def ours(X: Any) -> tuple[dict[str, Any], Any]:
    """What `RMSC("auto")` takes, before anything is clustered; and the links it saw."""
    model = RMSC("auto", random_state=0, n_jobs=1)
    started = time.process_time()
    seed = int(check_random_state(0).randint(2**31 - 1))
    model._set_bounds(len(X), None, hard=False)
    number, seen = model._choose_number(Task(X, None, False, seed, 1, SilentEvents()))
    assert number is not None
    found = {
        "ours": number.n_clusters,
        "candidates": number.candidates,
        "way": "agreement" if seen is not None else "mixtures" if "agreement" in number.records[0] else "gap",
        "seconds": time.process_time() - started,
        "modularity": None
        if seen is None
        else max(number.records, key=lambda record: record["modularity"])["n_clusters"],
    }
    return found, None if seen is None else seen.families[0]


def eigengap(family: Any, most: int) -> int | None:
    """The largest difference of neighbouring eigenvalues of the first view's graph, from 2 on."""
    if family is None:
        return None
    graph = affinity_matrix(family.ballot.solutions[0].representation, "top-k", n_links=5)
    values = leading_eigenpairs(normalized_graph(graph), min(most + 1, graph.shape[0]), seed=0)[0]
    return int(np.argmax(values[1:-1] - values[2:])) + 2


def by_silhouette(X: Any) -> int:
    """The number of k-means clusters with the best silhouette, 2 to 40, on standardized features of 1,000 samples."""
    X = np.asarray(X, dtype=np.float64)
    X = X[np.random.default_rng(0).permutation(len(X))[:1000]]
    X = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    numbers = [k for k in (*range(2, 13), 15, 20, 30, _MOST_SILHOUETTE) if k < len(X) // 3]
    return max(numbers, key=lambda k: silhouette_score(X, KMeans(k, n_init=1, random_state=0).fit_predict(X)))


def by_evoc(X: Any) -> int | None:
    try:
        from evoc import EVoC
    except ImportError:
        return None
    labels = EVoC(random_state=0).fit_predict(np.asarray(X, dtype=np.float32))
    return int(labels.max()) + 1


def study(name: str, path: Path, done: set[tuple[str, str]], *, others: bool) -> None:
    for case, X, y in cases_of(name):
        if (name, case) in done:
            continue
        found, family = ours(X)
        record = {"set": name, "case": case, "true": len(np.unique(y)), "samples": len(X), **found}
        record["eigengap"] = eigengap(family, min(200, len(X) // 5))
        if others:
            record |= {"silhouette": by_silhouette(X), "evoc": by_evoc(X)}
        append_record(path, record)
        print(record, flush=True)


def cost_cases() -> dict[str, Any]:
    wine = load_wine().data
    return {
        "wine": wine,
        "iris": load_iris().data,
        "breast cancer": load_breast_cancer().data,
        "three clouds, 150 × 2": make_blobs(150, 2, centers=3, random_state=0)[0],
        "four clouds, 600 × 8": make_blobs(600, 8, centers=4, random_state=0)[0],
        "three subspaces, 90 × 20": make_subspaces(3, 3, 20, 30, random_state=1).data,
        "eight subspaces, 400 × 30, noise .05": make_subspaces(8, noise=0.05, random_state=0).data,
        "wine, standardized": (wine - wine.mean(axis=0)) / wine.std(axis=0),
    }


def timed(n_clusters: int | str, X: Any) -> tuple[float, Any]:
    """CPU seconds, the less of two fits, and the fitted model."""
    seconds = []
    for _ in range(2):
        started = time.process_time()
        model = RMSC(n_clusters, random_state=0, n_jobs=1).fit(X)
        seconds.append(time.process_time() - started)
    return min(seconds), model


def cost() -> None:
    """A fit with K chosen beside one with that K given."""
    for n_clusters in (3, "auto"):
        RMSC(n_clusters, random_state=0, n_jobs=1).fit(load_iris().data)  # a first call compiles and imports
    print("| set | K | chosen | given | ratio | way |\n|" + "---|" * 6)
    for name, X in cost_cases().items():
        chosen, model = timed("auto", X)
        given, _ = timed(model.n_clusters_, X)
        way = next(record["way"] for record in model.choices_ if record["taken"])
        print(
            f"| {name} | {model.n_clusters_} | {chosen:.2f} | {given:.2f} | {chosen / given:.1f} | {way} |", flush=True
        )


RULES = ("ours", "eigengap", "modularity", "silhouette", "evoc")


def shown(cases: list[dict[str, Any]], rule: str) -> str:
    """One number, or of many cases how often it is right."""
    values = [case.get(rule) for case in cases]
    if all(value is None for value in values):
        return "–"
    if len(cases) == 1:
        return str(values[0])
    right = sum(value == case["true"] for value, case in zip(values, cases, strict=True))
    return f"{right} of {sum(value is not None for value in values)} right"


def table(path: Path) -> None:
    by_set: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for record in load_records(path):
        by_set[record["set"]].append(record)
    print("| set | true | ours | candidates | eigengap | modularity | silhouette | EVoC | CPU s |\n|" + "---|" * 9)
    near = named = 0.0
    for name, cases in by_set.items():
        true = str(cases[0]["true"]) if len(cases) == 1 else f"{len(cases)} cases"
        inside = np.mean([abs(case["ours"] - case["true"]) <= 0.2 * case["true"] for case in cases])
        among = np.mean([case["true"] in case["candidates"] for case in cases])
        if name != "subspaces":
            near, named = near + inside, named + among
        candidates = ", ".join(map(str, cases[0]["candidates"])) if len(cases) == 1 else f"true in {among:.0%}"
        seconds = np.mean([case["seconds"] for case in cases])
        rules = [shown(cases, rule) for rule in RULES]
        print(f"| {name} | {true} | {rules[0]} | {candidates} | " + " | ".join(rules[1:]) + f" | {seconds:.1f} |")
    print(f"\nWithin 20 %: {near:.2f} of {len(set(by_set) - {'subspaces'})} sets; true among candidates: {named:.2f}.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("numbers.jsonl"))
    parser.add_argument("--sets", nargs="+", default=["subspaces", *NAMES], choices=["subspaces", *NAMES])
    parser.add_argument("--ours-only", action="store_true", help="leave silhouette and EVoC out")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--cost", action="store_true", help="time fits with K chosen beside fits with it given")
    options = parser.parse_args()
    if options.table:
        table(options.results)
        return
    warnings.simplefilter("ignore")
    if options.cost:
        with threadpool_limits(1):
            cost()
        return
    done = {(record["set"], record["case"]) for record in load_records(options.results)}
    with threadpool_limits(1):
        for name in options.sets:
            study(name, options.results, done, others=not options.ours_only and name != "subspaces")


if __name__ == "__main__":
    main()
