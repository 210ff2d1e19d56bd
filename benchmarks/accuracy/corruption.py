"""Accuracy against corruption: v1, v2 with cleaned samples, SSC with outliers, LRR, and the plain k-NN graph.

    python benchmarks/accuracy/corruption.py run --sets orl coil20 --seeds 5
    python benchmarks/accuracy/corruption.py table
    python benchmarks/accuracy/corruption.py plot

Corruptions (the level is what the axis shows):
    pixels  each pixel replaced with this probability by a uniform value of the set's range
    blocks  a square that covers this share of the image, anywhere in it, filled with such values
    noise   Gaussian noise of this many standard deviations of the set's pixels

Results are lines of JSON, one for each fit; what is there is not run again. MASKED_SUBSPACE_DATA names the folder of
the sets. No setting depends on the level or the set. GMSC and RMSC weigh their eigenvectors; SSC and the k-NN graph are
run with K plain ones and, as "weighted", with the same spectral step.
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

from masked_subspace import GMSC, RMSC
from masked_subspace.baselines import LRR, SSC, NeighborGraph
from masked_subspace.datasets import load_protocol
from masked_subspace.metrics import clustering_accuracy

sys.path.append(str(Path(__file__).parents[1]))
from pictures import save_with_legend_below
from records import append_record, cell, load_records, standard_error

SETS = {"orl": 40, "coil20": 20}
LEVELS = {"pixels": (0.0, 0.05, 0.1, 0.2, 0.4), "blocks": (0.05, 0.1, 0.2, 0.4), "noise": (0.2, 0.5, 1.0)}
DEFAULT_RESULTS = Path("benchmark-results/corruption.jsonl")
METHODS: dict[str, Callable[[int, int], Any]] = {
    "GMSC v1": lambda k, seed: GMSC(k, solver="sparse", random_state=seed, n_jobs=1),
    "GMSC v2": lambda k, seed: GMSC(k, solver="sparse", outliers="auto", random_state=seed, n_jobs=1),
    "RMSC v1": lambda k, seed: RMSC(k, random_state=seed, n_jobs=1),
    "RMSC v2": lambda k, seed: RMSC(k, outliers="auto", random_state=seed, n_jobs=1),
    "RMSC v1, whitened": lambda k, seed: RMSC(k, view="whitened", random_state=seed, n_jobs=1),
    "RMSC v2, whitened": lambda k, seed: RMSC(k, view="whitened", outliers="auto", random_state=seed, n_jobs=1),
    "SSC with outliers": lambda k, seed: SSC(k, outliers=20.0, random_state=seed, n_jobs=1),
    "SSC with outliers, weighted": lambda k, seed: SSC(
        k, outliers=20.0, n_components="auto", random_state=seed, n_jobs=1
    ),
    # The default λ = .18 belongs to other data; 1 is what serves ORL (docs/findings/baselines.md).
    "LRR": lambda k, seed: LRR(k, noise_weight=1.0, random_state=seed, n_jobs=1),
    "k-NN graph": lambda k, seed: NeighborGraph(k, random_state=seed, n_jobs=1),
    "k-NN graph, weighted": lambda k, seed: NeighborGraph(k, n_components="auto", random_state=seed, n_jobs=1),
}


def corrupted(X: Any, shape: tuple[int, int], kind: str, level: float, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    X = np.array(X, dtype=np.float32)
    low, high = X.min(), X.max()
    if level == 0:
        return X
    if kind == "noise":
        return X + np.float32(level * X.std()) * rng.standard_normal(X.shape, dtype=np.float32)
    if kind == "pixels":
        hit = rng.random(X.shape) < level
    else:
        hit = np.zeros((len(X), *shape), dtype=bool)
        height, width = (round(np.sqrt(level) * side) for side in shape)
        for image in hit:
            top, left = rng.integers(0, shape[0] - height + 1), rng.integers(0, shape[1] - width + 1)
            image[top : top + height, left : left + width] = True
        hit = hit.reshape(X.shape)
    X[hit] = rng.uniform(low, high, int(hit.sum()))
    return X


def run(path: Path, sets: list[str], methods: list[str], kinds: list[str], most: float, seeds: range) -> None:
    done = {(r["set"], r["method"], r["kind"], r["level"], r["seed"]) for r in load_records(path)}
    for seed in seeds:
        for name in sets:
            data = load_protocol(name)
            for kind in kinds:
                for level in (one for one in LEVELS[kind] if one <= most):
                    X = corrupted(data.data, tuple(data.images_shape), kind, level, seed)
                    for method in methods:
                        if (name, method, kind, level, seed) not in done:
                            key = {"set": name, "method": method, "kind": kind, "level": level, "seed": seed}
                            record = key | one_fit(METHODS[method](SETS[name], seed), X, data.target)
                            append_record(path, record)


def one_fit(estimator: Any, X: Any, truth: Any) -> dict[str, Any]:
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = estimator.fit(X).labels_
    return {
        "accuracy": clustering_accuracy(truth, labels),
        "cpu_seconds": round(time.process_time() - began, 2),
    }


def summary(records: list[dict[str, Any]]) -> dict[tuple[str, str, str, float], tuple[float, float, int]]:
    """(set, kind, method, level) → (mean, standard error, seeds). Level 0 is the same for every kind."""
    runs: dict[tuple[str, str, str, float], list[float]] = defaultdict(list)
    for record in records:
        for kind in LEVELS if record["level"] == 0 else (record["kind"],):
            runs[record["set"], kind, record["method"], record["level"]].append(record["accuracy"])
    return {key: (float(np.mean(values)), standard_error(values), len(values)) for key, values in runs.items()}


def levels_of(kind: str) -> list[float]:
    return sorted({0.0, *LEVELS[kind]})


def print_table(path: Path, kinds: list[str]) -> None:
    found = summary(load_records(path))
    for name in SETS:
        for kind in kinds:
            levels = levels_of(kind)
            lines = [f"| {name}, {kind} | " + " | ".join(f"{level:g}" for level in levels) + " | seeds |"]
            lines.append("|---" * (len(levels) + 2) + "|")
            for method in METHODS:
                entries = [found.get((name, kind, method, level)) for level in levels]
                if not any(entries[1:]):
                    continue
                cells = [cell(entry) for entry in entries]
                lines.append(f"| {method} | " + " | ".join(cells) + f" | {max(e[2] for e in entries if e)} |")
            if len(lines) > 2:
                print("\n".join(lines) + "\n")


def plot(path: Path, kinds: list[str], folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    found = summary(load_records(path))
    kinds = [kind for kind in kinds if any(key[1] == kind and key[3] > 0 for key in found)]
    figure, axes = plt.subplots(len(SETS), len(kinds), figsize=(3 + 3.5 * len(kinds), 2.9 * len(SETS)), squeeze=False)
    for line, name in zip(axes, SETS, strict=True):
        for axis, kind in zip(line, kinds, strict=True):
            for number, method in enumerate(METHODS):
                curve = {level: found.get((name, kind, method, level)) for level in levels_of(kind)}
                known = {level: entry for level, entry in curve.items() if entry}
                if len(known) > 1:
                    values = list(known.values())
                    means, errors = [e[0] for e in values], [e[1] for e in values]
                    axis.errorbar(list(known), means, errors, marker="o", ms=3, color=f"C{number}", label=method)
            axis.set(title=f"{name}, {kind}", ylim=(0, 1))
            axis.grid(alpha=0.3)
    save_with_legend_below(figure, axes, folder / "corruption", columns=3, room=0.1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("run", "table", "plot"))
    parser.add_argument("--results", type=Path, default=DEFAULT_RESULTS)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--kinds", nargs="+", choices=LEVELS, default=list(LEVELS))
    parser.add_argument("--most", type=float, default=1.0, help="leave out levels above this")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--images", type=Path, default=Path("docs/images"))
    given = parser.parse_args()
    if given.action == "run":
        run(given.results, given.sets, given.methods, given.kinds, given.most, range(given.seeds))
    elif given.action == "table":
        print_table(given.results, given.kinds)
    else:
        plot(given.results, given.kinds, given.images)


if __name__ == "__main__":
    main()
