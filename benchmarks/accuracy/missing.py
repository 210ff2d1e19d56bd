"""Accuracy against the share of entries that are missing: `missing="ignore"`, and three ways to impute before a fit.

    python benchmarks/accuracy/missing.py run --sets subspaces orl coil20 --seeds 3
    python benchmarks/accuracy/missing.py table
    python benchmarks/accuracy/missing.py plot

Each entry is unknown with the same probability, independently. All four are followed by the same estimator with its
default settings. The imputers are scikit-learn's: SimpleImputer, KNNImputer (5 neighbours) and IterativeImputer; the
last one is slow on images and is held to 20 features for each feature and 5 rounds. `error` is the root mean square
error of the estimates in standard deviations of the entries.

Results are lines of JSON, one for each fit; what is there is not run again. MASKED_SUBSPACE_DATA names the folder of
the image sets.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from masked_subspace import BMSC, RMSC
from masked_subspace.datasets import load_protocol, make_subspaces
from masked_subspace.metrics import clustering_accuracy

sys.path.append(str(Path(__file__).parents[1]))
from records import append_record, cell, load_records, standard_error

SETS = {"subspaces": 4, "noisy subspaces": 8, "orl": 40, "coil20": 20}
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
ESTIMATORS = {"BMSC": BMSC, "RMSC": RMSC}
OURS = 'missing="ignore"'
METHODS = (OURS, "mean", "k-NN", "iterative")
DEFAULT_RESULTS = Path("benchmark-results/missing.jsonl")


def samples(name: str, seed: int) -> tuple[Any, Any]:
    """Complete samples and their classes; subspaces are drawn anew for each seed."""
    if name == "subspaces":
        data = make_subspaces(random_state=seed)
    elif name == "noisy subspaces":
        data = make_subspaces(8, 4, 50, 50, noise=0.05, random_state=seed)
    else:
        data = load_protocol(name)
    return np.asarray(data.data), data.target


def imputed(X: Any, method: str, seed: int) -> Any:
    """X without NaN."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

    if method == "mean":
        imputer: Any = SimpleImputer()
    elif method == "k-NN":
        imputer = KNNImputer()
    else:
        imputer = IterativeImputer(n_nearest_features=min(20, X.shape[1] - 1), max_iter=5, random_state=seed)
    return imputer.fit_transform(X).astype(X.dtype)


def one_fit(X: Any, truth: Any, hidden: Any, method: str, estimator: Any) -> dict[str, Any]:
    """Accuracy, error of the estimates, CPU seconds of the estimates and of all."""
    known = np.where(hidden, np.nan, X).astype(X.dtype)
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if method == OURS:
            filled = estimator.set_params(missing="ignore").fit(known).completed_ if hidden.any() else X
            if not hidden.any():
                estimator.fit(X)
        else:
            filled = imputed(known, method, estimator.random_state) if hidden.any() else X
            estimator.fit(filled)
    record = {
        "accuracy": clustering_accuracy(truth, estimator.labels_),
        "cpu_seconds": round(time.process_time() - began, 2),
    }
    if hidden.any():
        spread = np.std(X - X.mean(axis=0))
        record["error"] = float(np.sqrt(np.mean((filled - X)[hidden] ** 2)) / spread)
    return record


def run(path: Path, names: list[str], methods: list[str], shares: list[float], which: str, seeds: range) -> None:
    done = {(r["set"], r["estimator"], r["method"], r["share"], r["seed"]) for r in load_records(path)}
    for seed in seeds:
        for name in names:
            X, truth = samples(name, seed)
            for share in shares:
                hidden = np.random.default_rng([seed, round(100 * share)]).random(X.shape) < share
                # With nothing missing the four are one.
                for method in methods if share else [OURS]:
                    if (name, which, method, share, seed) in done:
                        continue
                    estimator = ESTIMATORS[which](SETS[name], random_state=seed, n_jobs=1)
                    key = {"set": name, "estimator": which, "method": method, "share": share, "seed": seed}
                    record = key | one_fit(X, truth, hidden, method, estimator)
                    append_record(path, record)


def summary(records: list[dict[str, Any]], value: str) -> dict[tuple[str, str, str, float], tuple[float, float, int]]:
    """(set, estimator, method, share) → (mean, standard error, seeds)."""
    runs: dict[tuple[str, str, str, float], list[float]] = defaultdict(list)
    for record in records:
        for method in METHODS if record["share"] == 0 else (record["method"],):
            if value in record:
                runs[record["set"], record["estimator"], method, record["share"]].append(record[value])
    return {key: (float(np.mean(values)), standard_error(values), len(values)) for key, values in runs.items()}


def print_table(path: Path, value: str) -> None:
    found = summary(load_records(path), value)
    for name in SETS:
        for which in ESTIMATORS:
            shares = sorted({key[3] for key in found if key[:2] == (name, which)})
            if not shares:
                continue
            lines = [f"| {name}, {which}: {value} | " + " | ".join(f"{share:.0%}" for share in shares) + " | seeds |"]
            lines.append("|---" * (len(shares) + 2) + "|")
            for method in METHODS:
                entries = [found.get((name, which, method, share)) for share in shares]
                most = max((entry[2] for entry in entries if entry), default=0)
                lines.append(f"| {method} | " + " | ".join(cell(entry) for entry in entries) + f" | {most} |")
            print("\n".join(lines) + "\n")


def plot(path: Path, folder: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    found = summary(load_records(path), "accuracy")
    panels = sorted({key[:2] for key in found}, key=lambda panel: (list(ESTIMATORS).index(panel[1]), panel[0]))
    figure, axes = plt.subplots(1, len(panels), figsize=(3.4 * len(panels), 3.2), squeeze=False, sharey=True)
    for axis, (name, which) in zip(axes[0], panels, strict=True):
        for number, method in enumerate(METHODS):
            curve = {s: found[name, which, method, s] for s in SHARES if (name, which, method, s) in found}
            means, errors = [one[0] for one in curve.values()], [one[1] for one in curve.values()]
            axis.errorbar(list(curve), means, errors, marker="o", ms=3, color=f"C{number}", label=method)
        axis.set(title=f"{name}, {which}", xlabel="share missing", ylim=(0, 1.02))
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("accuracy")
    axes[0][0].legend(fontsize=8, frameon=False)
    figure.tight_layout()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "missing.png", dpi=130)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("run", "table", "plot"))
    parser.add_argument("--results", type=Path, default=DEFAULT_RESULTS)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--shares", nargs="+", type=float, choices=SHARES, default=list(SHARES))
    parser.add_argument("--estimator", choices=ESTIMATORS, default="BMSC")
    parser.add_argument("--value", choices=("accuracy", "error", "cpu_seconds"), default="accuracy")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--images", type=Path, default=Path("docs/images"))
    given = parser.parse_args()
    if given.action == "run":
        run(given.results, given.sets, given.methods, given.shares, given.estimator, range(given.seeds))
    elif given.action == "table":
        print_table(given.results, given.value)
    else:
        plot(given.results, given.images)


if __name__ == "__main__":
    main()
