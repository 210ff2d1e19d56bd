"""SSC-OMP, EnSC and SSC at n = 20,000: seconds, CPU seconds and peak memory of a whole fit.

    python benchmarks/baselines/baselines_scale.py SSCOMP --samples 20000 --threads 2

One method a process, so that the peak belongs to it.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from masked_subspace import baselines
from masked_subspace.datasets import load
from masked_subspace.metrics import clustering_accuracy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", choices=["SSCOMP", "EnSC", "SSC"])
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    data = load("mnist")
    chosen = np.random.default_rng(0).choice(len(data.data), arguments.samples, replace=False)
    X = data.data[chosen].astype(np.float32)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    wall, cpu = time.perf_counter(), time.process_time()
    model = getattr(baselines, arguments.method)(10, random_state=0, n_jobs=arguments.threads).fit(X)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"| {arguments.method} | {arguments.samples} | {model.history_[-1]['solver_seconds']:.0f} | {wall:.0f} | "
        f"{cpu:.0f} | {peak:.2f} ({before:.2f} before the fit) | {model.representation_matrix_.nnz / len(X):.1f} | "
        f"{clustering_accuracy(data.target[chosen], model.labels_):.3f} |"
    )


if __name__ == "__main__":
    main()
