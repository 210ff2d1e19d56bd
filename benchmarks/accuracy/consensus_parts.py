"""What each part of the consensus is worth: the default without it, on every set, paired by trial, resumable.

    python benchmarks/accuracy/consensus_parts.py --results consensus_parts.jsonl --trials 5
    python benchmarks/accuracy/consensus_parts.py --results consensus_parts.jsonl --table

A variant changes who votes and nothing else: ways are judged by the agreement of the same cuts as in the default fit.
Each line of the results is one fit: variant, set, trial, accuracy, CPU seconds.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from accuracy import table
from masked_subspace import RMSC
from masked_subspace.estimators import rmsc
from masked_subspace.label.labeler import Cut
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.rounds import defaults, judge
from peers.sets import trials_of
from records import append_record, load_records

SETS = (
    "mnist-1000", "usps-1000", "usps-random-1000", "orl", "coil20", "digits", "iris", "wine-standardized",
    "breast-cancer-standardized", "palm", "isolet", "tox171", "coil100", "usps",
)  # fmt: skip
Cuts = Callable[[str, int, int], list[Cut]]


def only(*cuts: Cut) -> Cuts:
    return lambda _cut, _n_samples, _n_clusters: list(cuts)


def none_finer(cut: str, n_samples: int, n_clusters: int) -> list[Cut]:
    """The default's cuts at K only."""
    kinds = dict.fromkeys(one.kind for one in defaults.cuts_for(cut, n_samples, n_clusters))
    return [Cut(kind) for kind in kinds]


def same_links(n_links: int | str, n_samples: int, n_clusters: int) -> tuple[int, int, int]:
    middle = defaults.links_for(n_links, n_samples, n_clusters)[1]
    return middle, middle, middle


def no_more_links(_n_samples: int, _n_clusters: int) -> tuple[int, ...]:
    return ()


FIRST_VIEWS: Mapping[str, Sequence[str]] = {name: views[:1] for name, views in judge.FAMILIES.items()}

# What takes the place of a function or a constant of the package while the variant is fitted.
VARIANTS: dict[str, list[tuple[Any, str, Any]]] = {
    "default": [],
    "spectral votes only": [(rmsc, "cuts_for", only(Cut("spectral")))],
    "modularity votes at K only": [(rmsc, "cuts_for", only(Cut("modularity")))],
    "no cut finer than K": [(rmsc, "cuts_for", none_finer)],
    "all cuts, 1.5 K and 2 K too": [
        (rmsc, "cuts_for", only(Cut("spectral"), *(Cut("modularity", fineness) for fineness in (1.0, 1.5, 2.0))))
    ],
    "one view a way": [(judge, "FAMILIES", FIRST_VIEWS)],
    "one number of links": [(rmsc, "links_for", same_links), (rmsc, "wider_links_for", no_more_links)],
    "no wider links": [(rmsc, "wider_links_for", no_more_links)],
}


def labels_of(variant: str, X: Any, n_clusters: int, seed: int) -> Any:
    with ExitStack() as changes:
        for change in VARIANTS[variant]:
            changes.enter_context(patch.object(*change))
        return RMSC(n_clusters, random_state=seed, n_jobs=1).fit_predict(X)


def run(results: Path, sets: Sequence[str], trials: int) -> None:
    done = {(r["variant"], r["set"], r["trial"]) for r in load_records(results)}
    for name in sets:
        for _, trial, X, y in trials_of(name, trials):
            for variant in VARIANTS:
                if (variant, name, trial) in done:
                    continue
                began = time.process_time()
                accuracy = clustering_accuracy(y, labels_of(variant, X, len(np.unique(y)), trial))
                record = {"variant": variant, "set": name, "trial": trial, "accuracy": accuracy}
                append_record(results, {**record, "cpu": time.process_time() - began})
                print(f"{name} {trial} {variant}: {accuracy:.3f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=Path("consensus_parts.jsonl"))
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if not options.table:
        run(options.results, options.sets, options.trials)
    print(table(options.results, VARIANTS, SETS))


if __name__ == "__main__":
    main()
