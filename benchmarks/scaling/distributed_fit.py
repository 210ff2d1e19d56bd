"""One fit of synthetic subspaces on a Dask cluster of worker processes on this machine, as one JSON record.

    python benchmarks/scaling/distributed_fit.py --samples 100000
    python benchmarks/scaling/distributed_fit.py --samples 10000000 --folder /a/disk --memory 6.5GB

Twenty subspaces of dimension 5 in R^50, noise 10 % of the signal's norm, in a `.npy` file that the workers read. The
record has accuracy, wall and CPU seconds (client with scheduler, and each worker), peak memory of each process, the
limits that docs: scaling sets for them, and the seconds of each kind of task. Kernels are compiled (or read from
their cache) on the workers before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

N_SUBSPACES, DIM, AMBIENT, NOISE = 20, 5, 50, 0.1


def write_subspaces(path: Path, n: int, seed: int, block: int = 1 << 18) -> None:
    """Rows to `path`, their subspaces to the file beside it, block by block."""
    rng = np.random.default_rng(seed)
    bases = [np.linalg.qr(rng.standard_normal((AMBIENT, DIM)))[0].T for _ in range(N_SUBSPACES)]
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(n, AMBIENT))
    target = np.lib.format.open_memmap(_truth(path), mode="w+", dtype=np.int8, shape=(n,))
    for start in range(0, n, block):
        count = min(block, n - start)
        own = rng.integers(0, N_SUBSPACES, count)
        inside = rng.standard_normal((count, DIM))
        inside /= np.linalg.norm(inside, axis=1, keepdims=True)
        some = NOISE / np.sqrt(AMBIENT) * rng.standard_normal((count, AMBIENT), dtype=np.float32)
        for k, basis in enumerate(bases):
            some[own == k] += (inside[own == k] @ basis).astype(np.float32)
        rows[start : start + count], target[start : start + count] = some, own
    rows.flush()
    target.flush()


def _truth(path: Path) -> Path:
    return path.with_name(path.stem + "-truth.npy")


def cpu_seconds() -> float:
    return time.process_time()


def task_seconds(dask_scheduler: Any) -> dict[str, float]:
    """Seconds of each kind of task, from the scheduler."""
    spent = {name: prefix.all_durations.get("compute", 0.0) for name, prefix in dask_scheduler.task_prefixes.items()}
    return {
        name: round(seconds, 1) for name, seconds in sorted(spent.items(), key=lambda one: -one[1]) if seconds > 0.5
    }


def measured(path: Path, client: Any, options: argparse.Namespace) -> dict[str, Any]:
    from masked_subspace._common.peak_memory import peak_bytes
    from masked_subspace.distributed import fit_distributed, open_rows

    # A small fit first: workers import and compile what they need.
    X = open_rows(path)
    fit_distributed(X[:6000].rechunk((3000, AMBIENT)), N_SUBSPACES, client=client, cut=options.cut, n_parts=3)
    before = client.run(cpu_seconds)
    warm = client.run_on_scheduler(task_seconds)
    wall, cpu = time.perf_counter(), time.process_time()
    result = fit_distributed(
        X, N_SUBSPACES, client=client, cut=options.cut, random_state=options.seed, n_parts=options.parts
    )
    labels = result.compute()
    spent = {name: round(seconds - before.get(name, 0.0), 1) for name, seconds in client.run(cpu_seconds).items()}
    record = {
        "wall": round(time.perf_counter() - wall, 1),
        "client_cpu": round(time.process_time() - cpu, 1),
        "worker_cpu": sorted(spent.values()),
        "client_mb": round(peak_bytes() / 1e6),
        "worker_mb": sorted(round(peak / 1e6) for peak in client.run(peak_bytes).values()),
        "tasks": {
            name: round(seconds - warm.get(name, 0.0), 1)
            for name, seconds in client.run_on_scheduler(task_seconds).items()
        },
    }
    n = len(labels)
    share = 4 * AMBIENT * n / len(record["worker_mb"])
    limits = {"client_limit_mb": round(300 + 16e-6 * n), "worker_limit_mb": round((6 * share + 500e6) / 1e6)}
    # After the clock and the peak of memory: the score loads scikit-learn.
    from masked_subspace.metrics import clustering_accuracy

    truth = np.load(_truth(path), mmap_mode="r")
    return record | limits | {"accuracy": round(float(clustering_accuracy(np.asarray(truth), labels)), 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--cut", default="spectral", choices=("spectral",))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="6.5GB", help="where a worker starts to spill and is started again")
    parser.add_argument("--parts", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where the rows are written; default: a temporary folder")
    parser.add_argument("--out", type=Path, help="append the record to this file too")
    options = parser.parse_args()
    import distributed

    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "rows.npy"
        write_subspaces(path, options.samples, options.seed)
        with (
            distributed.LocalCluster(
                n_workers=options.workers, threads_per_worker=1, memory_limit=options.memory, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            record = measured(path, client, options)
    about = {"samples": options.samples, "cut": options.cut, "workers": options.workers}
    line = json.dumps(about | record | {"load": round(os.getloadavg()[0], 1)})
    print(line, flush=True)
    if options.out is not None:
        with options.out.open("a") as stream:
            stream.write(line + "\n")


if __name__ == "__main__":
    main()
