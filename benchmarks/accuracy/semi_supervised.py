"""Accuracy against the share of known labels: RMSC with and without them, and two peers.

    python benchmarks/accuracy/semi_supervised.py run --sets orl usps-1000 --seeds 10
    python benchmarks/accuracy/semi_supervised.py table
    python benchmarks/accuracy/semi_supervised.py plot

Peers: LabelSpreading of scikit-learn (k-NN kernel; six settings, the best one of each set and share counts, chosen with
labels in its favour) and PCKMeans of `active-semi-supervised-clustering`, which is needed for this script only:
`pip install --no-deps active-semi-supervised-clustering`.

Results are lines of JSON, one for each fit; what is there is not run again. MASKED_SUBSPACE_DATA names the folder of
the sets. Labelled samples are drawn uniformly, so some classes have none; the seed draws them (and the data, on MNIST).
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.semi_supervised import LabelSpreading

from masked_subspace import GMSC, RMSC
from masked_subspace.datasets import load_protocol
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.rows.preparation import VIEWS, Preparation

sys.path.append(str(Path(__file__).parents[1]))
from pictures import save_with_legend_below
from records import append_record, cell, load_records, standard_error

SETS = {"mnist-1000": 10, "usps-1000": 10, "orl": 40, "coil20": 20, "coil100": 100}
SHARES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1)
DEFAULT_RESULTS = Path("benchmark-results/semi_supervised.jsonl")
FIRST_MNIST_TRIAL = 10  # settings were looked at on draws 0 to 3
CURVES = {
    "RMSC": "RMSC, labels given",
    "RMSC free": "RMSC, no labels",
    "GMSC": "GMSC, labels given",
    "GMSC free": "GMSC, no labels",
    "LabelSpreading": "LabelSpreading, best of 6",
    "PCKMeans": "PCKMeans",
}
Fit = Callable[[Any, Any, int, int], Any]


def known_labels(truth: Any, share: float, seed: int) -> Any:
    """The truth where it is given away, −1 elsewhere."""
    rng = np.random.default_rng(1000 + seed)
    given = rng.choice(len(truth), round(share * len(truth)), replace=False)
    labels = np.full(len(truth), -1)
    labels[given] = truth[given]
    return labels


def masked(cls: Any, X: Any, labels: Any, k: int, seed: int, **settings: Any) -> Any:
    known = labels if (labels >= 0).any() else None
    return cls(k, random_state=seed, n_jobs=1, **settings).fit(X, partial_labels=known).labels_


def free(cls: Any, X: Any, labels: Any, k: int, seed: int, **settings: Any) -> Any:
    return masked(cls, X, np.full_like(labels, -1), k, seed, **settings)


def rows_of(X: Any) -> Any:
    return Preparation.learn(X, VIEWS["plain"]).apply(X)


def label_spreading(X: Any, labels: Any, k: int, seed: int, *, neighbours: int, alpha: float) -> Any:  # noqa: ARG001
    model = LabelSpreading(kernel="knn", n_neighbors=neighbours, alpha=alpha, max_iter=300)
    return model.fit(rows_of(X), labels).transduction_


def pairwise_kmeans(X: Any, labels: Any, k: int, seed: int) -> Any:
    """PCKMeans on 50 principal components (it loops in Python), with every pair that the labels imply."""
    from active_semi_clustering.semi_supervised.pairwise_constraints import PCKMeans

    rows = PCA(50, random_state=0).fit_transform(rows_of(X))
    given = np.flatnonzero(labels >= 0)
    if len(given) == 0:
        return KMeans(k, n_init=10, random_state=seed).fit_predict(rows)
    pairs = list(combinations(given.tolist(), 2))
    together = [(i, j) for i, j in pairs if labels[i] == labels[j]]
    apart = [(i, j) for i, j in pairs if labels[i] != labels[j]]
    np.random.seed(seed)  # noqa: NPY002 - the package draws from the global generator
    return PCKMeans(k, max_iter=20).fit(rows, ml=together, cl=apart).labels_


METHODS: dict[str, Fit] = {
    "RMSC": partial(masked, RMSC),
    "RMSC free": partial(free, RMSC),
    "GMSC": partial(masked, GMSC, solver="sparse"),
    "GMSC free": partial(free, GMSC, solver="sparse"),
    "PCKMeans": pairwise_kmeans,
    **{
        f"LabelSpreading k={k} alpha={alpha}": partial(label_spreading, neighbours=k, alpha=alpha)
        for k in (5, 7, 10)
        for alpha in (0.2, 0.9)
    },
}


def shares_of(method: str) -> tuple[float, ...]:
    if method.endswith("free"):
        return SHARES[:1]
    return SHARES[1:] if method.startswith("Label") or method in ("RMSC", "GMSC") else SHARES


def run(path: Path, sets: list[str], methods: list[str], seeds: range) -> None:
    done = {(r["set"], r["seed"], r["share"], r["method"]) for r in load_records(path)}
    for seed in seeds:
        for name in sets:
            data = load_protocol(name, FIRST_MNIST_TRIAL + seed if name.startswith("mnist") else 0)
            for method in methods:
                for share in shares_of(method):
                    if (name, seed, share, method) in done:
                        continue
                    record = one_fit(method, data.data, data.target, SETS[name], share, seed)
                    append_record(path, {"set": name, "seed": seed, **record})


def one_fit(method: str, X: Any, truth: Any, k: int, share: float, seed: int) -> dict[str, Any]:
    labels = known_labels(truth, share, seed)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = METHODS[method](X, labels, k, seed)
    unknown = labels < 0
    return {
        "share": share,
        "method": method,
        "accuracy": clustering_accuracy(truth, found),
        "accuracy_unlabelled": clustering_accuracy(truth[unknown], found[unknown]),
        "cpu_seconds": round(time.process_time() - began, 2),
    }


def curves(records: list[dict[str, Any]], value: str) -> dict[str, dict[str, dict[float, tuple[float, float, int]]]]:
    """set → curve → share → (mean, standard error, seeds). Runs without labels stand at every share."""
    runs: dict[tuple[str, str, float], list[float]] = defaultdict(list)
    for record in records:
        everywhere = record["share"] == 0 and (record["method"].endswith("free"))
        for share in SHARES if everywhere else (record["share"],):
            runs[record["set"], record["method"], share].append(record[value])
        if everywhere:
            runs[record["set"], record["method"].removesuffix(" free"), 0.0].append(record[value])
    table: dict[str, Any] = defaultdict(lambda: defaultdict(dict))
    for (name, method, share), values in runs.items():
        curve = "LabelSpreading" if method.startswith("Label") else method
        entry = (float(np.mean(values)), standard_error(values), len(values))
        if share not in table[name][curve] or entry[0] > table[name][curve][share][0]:
            table[name][curve][share] = entry
    return table


def print_table(path: Path, value: str) -> None:
    table = curves(load_records(path), value)
    for name in SETS:
        if name not in table:
            continue
        lines = [f"| {name} | " + " | ".join(f"{100 * share:g} %" for share in SHARES) + " | seeds |"]
        lines.append("|---" * (len(SHARES) + 2) + "|")
        for curve in CURVES:
            row = table[name].get(curve, {})
            if not row:
                continue
            cells = [cell(row.get(share)) for share in SHARES]
            seeds = max((entry[2] for entry in row.values()), default=0)
            lines.append(f"| {curve} | " + " | ".join(cells) + f" | {seeds} |")
        print("\n".join(lines) + "\n")


def plot(path: Path, folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    table = curves(load_records(path), "accuracy")
    names = [name for name in SETS if name in table]
    figure, axes = plt.subplots(1, len(names), figsize=(3.1 * len(names), 3.2), squeeze=False)
    positions = {share: place for place, share in enumerate(SHARES)}
    for axis, name in zip(axes[0], names, strict=True):
        for number, (curve, label) in enumerate(CURVES.items()):
            row = dict(sorted(table[name].get(curve, {}).items()))
            if row:
                line = "--" if curve.endswith("free") else "-"
                style = {"ls": line, "marker": "o", "ms": 3, "color": f"C{number}", "label": label}
                x = [positions[share] for share in row]
                axis.errorbar(x, [e[0] for e in row.values()], [e[1] for e in row.values()], **style)
        axis.set(title=name, xlabel="labels known, %", ylim=(0, 1))
        axis.set_xticks(range(len(SHARES)), [f"{100 * share:g}" for share in SHARES])
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("accuracy")
    save_with_legend_below(figure, axes, folder / "semi_supervised", columns=6, room=0.08)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("run", "table", "plot"))
    parser.add_argument("--results", type=Path, default=DEFAULT_RESULTS)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--unlabelled", action="store_true", help="table: accuracy on the unlabelled samples only")
    parser.add_argument("--images", type=Path, default=Path("docs/images"))
    given = parser.parse_args()
    if given.action == "run":
        run(given.results, given.sets, given.methods, range(given.first_seed, given.seeds))
    elif given.action == "table":
        print_table(given.results, "accuracy_unlabelled" if given.unlabelled else "accuracy")
    else:
        plot(given.results, given.images)


if __name__ == "__main__":
    main()
