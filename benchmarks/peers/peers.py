"""Our defaults beside the methods people have at hand, on every kind of data, in one run; resumable.

    python benchmarks/peers/peers.py run --results peers.jsonl --sets iris wine --methods RMSC k-means --trials 5
    python benchmarks/peers/peers.py table --results peers.jsonl         # and distances: how far behind the best
    python benchmarks/peers/peers.py run --results unseen.jsonl --unseen # sets that took no part in any choice

Every method gets the number of clusters and nothing else. Each line of the results is one fit: set, case, trial,
method, accuracy, NMI, ARI, CPU seconds, memory (the most the fit took above what the process had), processor. EVoC and
HDBSCAN leave samples out: these go with their nearest labelled neighbour. Packages that are not installed are skipped
and named.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sets import NAMES, trials_of
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KNeighborsClassifier, kneighbors_graph
from unseen import UNSEEN, trials_of_unseen

from masked_subspace import BMSC, RMSC, baselines
from masked_subspace._common.peak_memory import peak_bytes, reset_peak
from masked_subspace._common.provenance import code_version, processor
from masked_subspace.label.labeler import Evidence, label_graph
from masked_subspace.metrics import clustering_accuracy, normalized_mutual_info

sys.path.append(str(Path(__file__).parents[1]))
from records import append_record, load_records

Method = Callable[[Any, int, int], Any]


def filled(X: Any, labels: Any) -> Any:
    """Samples without a cluster go with their nearest labelled one."""
    labels = np.asarray(labels)
    inside = labels >= 0
    if inside.all() or not inside.any():
        return np.maximum(labels, 0)
    return np.where(inside, labels, KNeighborsClassifier(1).fit(X[inside], labels[inside]).predict(X))


def umap_embedding(X: Any, k: int, seed: int) -> Any:  # noqa: ARG001
    from umap import UMAP

    return UMAP(n_components=10, metric="cosine", random_state=seed, n_jobs=1).fit_transform(X)


def evoc(X: Any, k: int, seed: int) -> Any:
    from evoc import EVoC

    model = EVoC(approx_n_clusters=k, random_state=seed)
    return filled(X, model.fit_predict(np.asarray(X, dtype=np.float32)))


def neighbour_modularity(X: Any, k: int, seed: int) -> Any:
    """The fair control of our modularity cut: the same cut of a plain 5-NN graph of unit rows."""
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    rows = X / np.where(norms > 0, norms, 1)
    graph = kneighbors_graph(rows, min(5, len(rows) - 1))
    return label_graph((graph + graph.T).tocsr() * 0.5, k, "auto", Evidence(rows), seed, cut="modularity").labels


def ours(cls: Any) -> Method:
    return lambda X, k, seed: cls(k, random_state=seed, n_jobs=1).fit_predict(X)


METHODS: dict[str, Method] = {
    "RMSC": ours(RMSC),
    "BMSC": ours(BMSC),
    "k-means": lambda X, k, seed: KMeans(k, n_init=10, random_state=seed).fit_predict(X),
    "Gaussian mixture": lambda X, k, seed: GaussianMixture(
        k, covariance_type="full" if X.shape[1] < 30 else "diag", n_init=3, random_state=seed
    ).fit_predict(X),
    "Ward": lambda X, k, _: AgglomerativeClustering(k).fit_predict(X),
    "HDBSCAN": lambda X, k, _: filled(X, HDBSCAN(min_cluster_size=max(5, len(X) // (5 * k))).fit_predict(X)),
    "spectral clustering": lambda X, k, seed: SpectralClustering(
        k, affinity="nearest_neighbors", random_state=seed
    ).fit_predict(X),
    "UMAP + k-means": lambda X, k, seed: KMeans(k, n_init=10, random_state=seed).fit_predict(
        umap_embedding(X, k, seed)
    ),
    "UMAP + mixture": lambda X, k, seed: GaussianMixture(k, random_state=seed).fit_predict(umap_embedding(X, k, seed)),
    "UMAP + HDBSCAN": lambda X, k, seed: filled(
        X, HDBSCAN(min_cluster_size=max(5, len(X) // (5 * k))).fit_predict(umap_embedding(X, k, seed))
    ),
    "EVoC": evoc,
    "5-NN graph, modularity": neighbour_modularity,
    "LSR": ours(baselines.LSR),
    "SSC": ours(baselines.SSC),
    "EnSC": ours(baselines.EnSC),
}


def run(options: argparse.Namespace) -> None:
    results = Path(options.results)
    done = {tuple(record[key] for key in ("case", "trial", "method")) for record in load_records(results)}
    missing: set[str] = set()
    for name in options.sets:
        trials = trials_of_unseen if name in UNSEEN else trials_of
        for case, trial, X, y in trials(name, options.trials, options.first):
            for method in options.methods:
                if (case, trial, method) in done or method in missing:
                    continue
                before, started = reset_peak(), time.process_time()
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        labels = METHODS[method](X, len(np.unique(y)), trial)
                except ModuleNotFoundError as error:
                    missing.add(method)
                    print(f"{method} is skipped: {error}")
                    continue
                record = {
                    "set": name, "case": case, "trial": trial, "method": method,
                    "accuracy": clustering_accuracy(y, labels), "nmi": normalized_mutual_info(y, labels),
                    "ari": adjusted_rand_score(y, labels), "cpu_seconds": time.process_time() - started,
                    "peak_mb": (peak_bytes() - before) >> 20,
                    "n": len(y), "processor": processor(), "code": code_version(),
                }  # fmt: skip
                append_record(results, record)
                print(
                    f"{case:24s} {trial:3d} {method:22s} {record['accuracy']:.3f} {record['cpu_seconds']:.1f} s",
                    flush=True,
                )


def accuracies(path: Path) -> dict[tuple[str, str], list[float]]:
    """Accuracy in % of every run, by set and method."""
    cells: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in load_records(path):
        cells[record["set"], record["method"]].append(100 * record["accuracy"])
    return cells


def table(options: argparse.Namespace) -> None:
    """One run as it is, several as mean ± standard deviation; the best of a set in bold."""
    cells = accuracies(Path(options.results))
    methods = [method for method in options.methods if any(method == key[1] for key in cells)]
    print("| set | " + " | ".join(methods) + " |\n|---|" + "---|" * len(methods))
    for name in options.sets:
        row = [cells.get((name, method), []) for method in methods]
        best = max((float(np.mean(of)) for key, of in cells.items() if key[0] == name), default=0.0)
        if any(row):
            print(f"| {name} | " + " | ".join(shown(cell, best) for cell in row) + " |")


def shown(cell: list[float], best: float) -> str:
    if not cell:
        return "–"
    text = f"{cell[0]:.1f}" if len(cell) == 1 else f"{np.mean(cell):.1f} ± {np.std(cell):.1f}"
    return f"**{text}**" if float(np.mean(cell)) >= best - 1e-9 else text


def distances(options: argparse.Namespace) -> None:
    """How far each method is behind the best of a set, over the sets on which it ran; CPU seconds and memory."""
    cells = accuracies(Path(options.results))
    means = {key: float(np.mean(of)) for key, of in cells.items() if key[0] in options.sets}
    best = {name: max(value for (of, _), value in means.items() if of == name) for name, _ in means}
    costs: dict[str, list[float]] = defaultdict(list)
    for record in load_records(Path(options.results)):
        if record["set"] in best:
            costs[record["method"]].append(record["cpu_seconds"])
    behind = {
        method: [best[name] - value for (name, of), value in means.items() if of == method]
        for method in options.methods
        if method in costs
    }
    print("| method | mean, points | worst | CPU s, median |\n|---|---|---|---|")
    for method, points in sorted(behind.items(), key=lambda one: float(np.mean(one[1]))):
        cost = float(np.median(costs[method]))
        print(f"| {method} | {np.mean(points):.1f} | {max(points):.1f} | {cost:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("run", "table", "distances"))
    parser.add_argument("--results", default="peers.jsonl")
    parser.add_argument("--sets", nargs="+", default=list(NAMES), choices=(*NAMES, *UNSEEN))
    parser.add_argument("--unseen", dest="sets", action="store_const", const=list(UNSEEN), help="the sets of unseen.py")
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--first", type=int, default=0, help="the first trial: keep draws that chose a rule apart")
    options = parser.parse_args()
    {"run": run, "table": table, "distances": distances}[options.what](options)


if __name__ == "__main__":
    main()
