"""What the paper leaves open: BMSC with the paper's λ under both scales of rows, three μ₀ and both p.

    python benchmarks/accuracy/open_choices.py [DATASET …]

Prints accuracy and links a sample for each; the settings called `paper` were chosen from this table.
"""

from __future__ import annotations

import itertools
import sys
import time
import warnings

import numpy as np

from masked_subspace import BMSC
from masked_subspace.experiments.compute import load_trial
from masked_subspace.experiments.settings import resolve
from masked_subspace.metrics import clustering_accuracy

SETS = ("orl", "usps-1000", "mnist-1000", "coil20")
SPARSITY = {name: resolve("paper", "bmsc", name).parameters["sparsity"] for name in SETS}
TRIALS = {"mnist-1000": (0, 1)}
SCALES = {"unit rows": True, "pixels 0..1": False}


def measure(dataset: str, normalize: bool, start: float, growth: float) -> tuple[float, float]:
    """Accuracy and links a sample, means over the set's trials; μ₀ is `start` times the mean squared row norm."""
    scores, links = [], []
    for trial in TRIALS.get(dataset, (0,)):
        data = load_trial(dataset, trial)
        size = 1.0 if normalize else float((data.X**2).sum(axis=1).mean())
        model = BMSC(
            data.n_clusters, sparsity=SPARSITY[dataset], penalty=start * size, penalty_growth=growth, center=False,
            normalize=normalize, affinity="symmetric", solver="dense", n_components=data.n_clusters, random_state=0,
            n_jobs=1,
        )  # fmt: skip
        model.fit(data.X)
        scores.append(clustering_accuracy(data.target, model.labels_))
        links.append(model.representation_matrix_.nnz / len(data.X))
    return float(np.mean(scores)), float(np.mean(links))


def main(datasets: list[str]) -> None:
    warnings.simplefilter("ignore")
    for dataset in datasets or SETS:
        for (scale, normalize), start, growth in itertools.product(SCALES.items(), (0.1, 1.0, 15.0), (2.0, 1.1)):
            began = time.process_time()
            accuracy, links = measure(dataset, normalize, start, growth)
            spent = time.process_time() - began
            setting = f"{dataset:12} {scale:12} mu0={start:<5} p={growth}"
            print(f"{setting}  {accuracy:.3f}  {links:6.1f} links  {spent:5.1f} s CPU")


if __name__ == "__main__":
    main(sys.argv[1:])
