"""Generated clusters that have most of their variation in common, like faces under moving light.

    python benchmarks/accuracy/shared_part.py --trials 5

Each class is a subspace of dimension 9 whose basis is one basis common to all plus `own` times a basis of its own;
coefficients are half-Gaussian, as brightness is. The smaller `own`, the more a neighbour is a sample under the same
light rather than one of the same class. No choice of RMSC's defaults was made on these data.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from accuracy import VARIANTS, rmsc
from masked_subspace.baselines import LSR, SSC
from masked_subspace.metrics import clustering_accuracy

DIMENSION, AMBIENT, EACH = 9, 500, 64
CASES = [(10, 1.0, 0.2), (10, 0.6, 0.2), (10, 0.4, 0.1), (10, 0.3, 0.05), (38, 0.6, 0.1)]
METHODS: dict[str, Callable[[Any, int, int], Any]] = {
    "RMSC": rmsc(),
    "RMSC, plain view": rmsc(view="plain"),
    "GMSC": VARIANTS["GMSC"],
    "LSR": lambda X, k, seed: LSR(k, random_state=seed).fit_predict(X),
    "SSC": lambda X, k, seed: SSC(k, random_state=seed).fit_predict(X),
    "5-NN graph": VARIANTS["5-NN graph"],
    "9 k-NN graphs, picked view": VARIANTS["9 k-NN graphs, picked view"],
}


def draw(classes: int, own: float, noise: float, seed: int) -> tuple[Any, Any]:
    """Rows and their classes; `noise` is relative to a row's length."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(DIMENSION, AMBIENT))
    rows = []
    for _ in range(classes):
        basis = common + own * rng.normal(size=common.shape)
        clean = np.maximum(rng.normal(0.5, 1.0, (EACH, DIMENSION)), 0) @ basis
        length = np.linalg.norm(clean, axis=1, keepdims=True) / np.sqrt(AMBIENT)
        rows.append(clean + noise * length * rng.normal(size=clean.shape))
    X = np.vstack(rows)
    return (X - X.min()).astype(np.float32), np.repeat(np.arange(classes), EACH)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=5)
    trials = parser.parse_args().trials
    print("| classes | own part | noise | " + " | ".join(METHODS) + " |\n" + "|---" * (3 + len(METHODS)) + "|")
    for classes, own, noise in CASES:
        cells = []
        for fit in METHODS.values():
            scores = []
            for seed in range(trials):
                X, truth = draw(classes, own, noise, seed)
                scores.append(100 * clustering_accuracy(truth, fit(X, classes, seed)))
            cells.append(f"{np.mean(scores):.1f} ± {np.std(scores):.1f}")
        print(f"| {classes} | {own} | {noise} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
