"""SSC-OMP, EnSC and SSC on many MNIST digits: seconds, CPU seconds, peak memory and accuracy of a whole fit.

    python benchmarks/baselines/baselines_scale.py SSCOMP --samples 20000 --threads 2
    python benchmarks/baselines/baselines_scale.py EnSC --samples 70000 --features scattering --cache FOLDER

With `--features scattering` the samples are prepared as the authors of EnSC and SSC-OMP do it: scattering coefficients,
500 directions of a PCA without centring, and the published settings. The last columns cut the same graph by modularity,
and by weighted eigenvectors, up to four times as many as clusters.
One method a process, so that the peak belongs to it.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from masked_subspace import baselines, cluster_graph
from masked_subspace._common.peak_memory import peak_bytes, reset_peak
from masked_subspace.datasets import load
from masked_subspace.metrics import clustering_accuracy, normalized_mutual_info
from masked_subspace.preprocessing import PCAFeatures, Scattering

# You, Li, Robinson & Vidal (2016) and You, Robinson & Vidal (2016), as their public code runs MNIST.
PUBLISHED: dict[str, dict[str, Any]] = {
    "EnSC": {"gamma": 200.0, "tau": 0.9, "affinity": "code-neighbors", "n_links": 3},
    # Rows keep their lengths there; at unit length the graph of SSC-OMP has no cut into classes.
    "SSCOMP": {"n_nonzero": 5, "tol": 1e-5, "affinity": "unit-length", "normalize": False},
    "SSC": {},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", choices=sorted(PUBLISHED))
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--features", choices=("pixels", "scattering"), default="pixels")
    parser.add_argument("--cut", default=None, help="how the graph is cut (default: the method's own)")
    parser.add_argument("--cache", type=Path, help="folder that keeps the scattering coefficients")
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    data = load("mnist")
    chosen = np.random.default_rng(0).permutation(len(data.data))[: arguments.samples]
    X = data.data[chosen].astype(np.float32)
    settings: dict[str, Any] = {} if arguments.cut is None else {"cut": arguments.cut}
    if arguments.features == "scattering":
        X = PCAFeatures(500, center=False).fit_transform(Scattering(cache=arguments.cache).fit_transform(X / 255))
        settings |= PUBLISHED[arguments.method]
    before = reset_peak() / 2**30
    wall, cpu = time.perf_counter(), time.process_time()
    model = getattr(baselines, arguments.method)(10, random_state=0, n_jobs=arguments.threads, **settings).fit(X)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    target = data.target[chosen]
    communities = cluster_graph(model.affinity_matrix_, 10, cut="modularity", random_state=0)
    weighted = cluster_graph(model.affinity_matrix_, 10, cut="spectral", n_components="auto", random_state=0)
    print(
        "| method | n | features | solver s | fit s | CPU s | peak GB | atoms a sample | ACC | NMI | ACC, modularity | "
        "ACC, weighted |"
    )
    print(
        f"| {arguments.method} | {arguments.samples} | {arguments.features} | "
        f"{model.history_[-1]['solver_seconds']:.0f} | {wall:.0f} | {cpu:.0f} | "
        f"{peak_bytes() / 2**30:.2f} ({before:.2f} before the fit) | {model.representation_matrix_.nnz / len(X):.1f} | "
        f"{clustering_accuracy(target, model.labels_):.4f} | {normalized_mutual_info(target, model.labels_):.4f} | "
        f"{clustering_accuracy(target, communities):.4f} | {clustering_accuracy(target, weighted):.4f} |"
    )


if __name__ == "__main__":
    main()
