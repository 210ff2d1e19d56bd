"""Ablations of RMSC's label-free defaults: every variant on every set, paired by trial, resumable.

    python benchmarks/accuracy/accuracy.py --results accuracy.jsonl --trials 5
    python benchmarks/accuracy/accuracy.py --results accuracy.jsonl --table

Each line of the results is one fit: variant, set, trial, accuracy, NMI, CPU seconds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from neighbours import neighbour_graph

from masked_subspace import GMSC, RMSC
from masked_subspace.datasets import load_protocol
from masked_subspace.label.agreement import consensus_embedding
from masked_subspace.label.kmeans import cluster_rows
from masked_subspace.label.labeler import Evidence, label_graph
from masked_subspace.metrics import clustering_accuracy, normalized_mutual_info
from masked_subspace.rows.preparation import VIEWS, Preparation

sys.path.append(str(Path(__file__).parents[1]))
from records import append_record, load_records

SETS = {"mnist-1000": 10, "usps-1000": 10, "usps-random-1000": 10, "orl": 40, "coil20": 20, "coil100": 100}
Fit = Callable[[Any, int, int], Any]


def rmsc(**settings: Any) -> Fit:
    return lambda X, k, seed: RMSC(k, random_state=seed, n_jobs=1, **settings).fit_predict(X)


def gmsc(**settings: Any) -> Fit:
    return lambda X, k, seed: GMSC(k, random_state=seed, n_jobs=1, solver="sparse", **settings).fit_predict(X)


def _rows(X: Any, view: str = "plain") -> Any:
    return Preparation.learn(X, VIEWS[view]).apply(X)


def neighbours(components: Any) -> Fit:
    """One plain 5-NN cosine graph, same spectral step."""

    def fit(X: Any, k: int, seed: int) -> Any:
        rows = _rows(X)
        return label_graph(neighbour_graph(rows, 5, 1), k, components, Evidence(rows), seed).labels

    return fit


def neighbour_consensus(count: int, most: int = 10, picked: bool = False) -> Fit:
    """The fair control: as many plain k-NN graphs (k = 3 … most), same embedding and consensus, perhaps same view."""

    def fit(X: Any, k: int, seed: int) -> Any:
        rows = _rows(X, RMSC(k, random_state=seed, n_jobs=1).fit(X).view_ if picked else "plain")
        voted = [
            label_graph(
                neighbour_graph(rows, 3 + i % (most - 2), 1), k, "auto", Evidence(rows), seed + i, n_init=5
            ).labels
            for i in range(count)
        ]
        return cluster_rows(consensus_embedding(voted, k), k, seed)

    return fit


VARIANTS: dict[str, Fit] = {
    "default": rmsc(),
    "one round": rmsc(max_rounds=1),
    "three rounds": rmsc(max_rounds=3),
    "3 members": rmsc(members=3),
    "plain view": rmsc(view="plain"),
    "K eigenvectors": rmsc(n_components=None),
    "one member, own labels as mask": rmsc(members=1),
    "GMSC": gmsc(),
    "GMSC, K eigenvectors": gmsc(n_components=None),
    "5-NN graph": neighbours("auto"),
    "5-NN graph, K eigenvectors": neighbours(None),
    "9 k-NN graphs": neighbour_consensus(9),
    "9 k-NN graphs, picked view": neighbour_consensus(9, picked=True),
    "9 k-NN graphs (k = 3, 4, 5), picked view": neighbour_consensus(9, most=5, picked=True),
}


def run(results: Path, sets: list[str], variants: list[str], trials: range) -> None:
    done = {(r["variant"], r["set"], r["trial"]) for r in load_records(results)}
    for name in sets:
        for trial in trials:
            data = load_protocol(name, trial)
            for variant in variants:
                if (variant, name, trial) in done:
                    continue
                began = time.process_time()
                labels = VARIANTS[variant](data.data.astype(np.float32), SETS[name], trial)
                record = {
                    "variant": variant,
                    "set": name,
                    "trial": trial,
                    "accuracy": clustering_accuracy(data.target, labels),
                    "nmi": normalized_mutual_info(data.target, labels),
                    "cpu": time.process_time() - began,
                }
                append_record(results, record)
                print(f"{name} {trial} {variant}: {record['accuracy']:.3f} ({record['cpu']:.1f} s)", flush=True)


def table(results: Path, variants: Iterable[str] = VARIANTS, known: Iterable[str] = SETS) -> str:
    """Mean ± std in percent, and below it the paired difference to the default with its standard error."""
    records = load_records(results)
    sets = [name for name in known if any(r["set"] == name for r in records)]
    by = {(r["variant"], r["set"], r["trial"]): 100 * r["accuracy"] for r in records}
    lines = ["| variant | " + " | ".join(sets) + " |", "|---" * (len(sets) + 1) + "|"]
    for variant in variants:
        cells = []
        for name in sets:
            values = {t: a for (v, s, t), a in by.items() if v == variant and s == name}
            if not values:
                cells.append("–")
                continue
            text = f"{np.mean(list(values.values())):.1f} ± {np.std(list(values.values())):.1f}"
            pairs = [a - by["default", name, t] for t, a in values.items() if ("default", name, t) in by]
            if variant != "default" and len(pairs) > 1:
                text += f" ({np.mean(pairs):+.1f} ± {np.std(pairs, ddof=1) / np.sqrt(len(pairs)):.1f})"
            cells.append(text)
        lines.append(f"| {variant} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("accuracy.jsonl"))
    parser.add_argument("--sets", nargs="+", default=[name for name in SETS if name != "coil100"], choices=list(SETS))
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if not options.table:
        run(options.results, options.sets, options.variants, range(options.first, options.first + options.trials))
    print(table(options.results))


if __name__ == "__main__":
    main()
