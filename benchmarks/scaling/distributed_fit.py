"""One fit of synthetic subspaces on a Dask cluster of worker processes on this machine, as one JSON record.

    python benchmarks/scaling/distributed_fit.py --samples 100000
    python benchmarks/scaling/distributed_fit.py --samples 10000000 --folder /a/disk --memory 6.5GB

Twenty subspaces of dimension 5 in R^50, noise 10 % of the signal's norm, in a `.npy` file that the workers read. The
record has accuracy, wall and CPU seconds (client with scheduler, and each worker), peak memory of each process, the
limits that docs: scaling sets for them, and the CPU seconds of each stage and of each kind of task. Kernels are
compiled (or read from their cache) on the workers before the clock starts.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parents[1]))
from records import append_record

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


# Kinds of tasks by stage; the others are "between tasks" together with what Dask itself spends on the workers.
STAGES: dict[str, tuple[str, ...]] = {
    "read, lists, shuffle": (
        "block_facts", "learn_preparation", "draw_training", "training_rows", "train_in_one", "centre_sums",
        "moved_centres", "first_centres", "unit_length", "probe_block", "home_counts", "make_plan", "looked_into",
        "any_of", "split_block", "gather_part",
    ),
    "candidates": ("search_own", "search_more", "export_lists", "numbers_of"),
    "solve": ("foreign_numbers", "local_numbers", "solve_links", "stack_links", "settings_from", "keyed"),
    "graph": ("transposed_links", "symmetric_block", "halo_counts", "halo_of"),
    "cut": (
        "inner_pieces", "summarized", "scaled_block", "random_rows", "product_block", "cross_sums", "inverse_factor",
        "times", "ritz_pairs", "rotated_rows", "squared_errors", "embedding_rows", "best_centres", "placed_sums",
        "nearest_labels", "cluster_counts", "given_away", "groups_of_block", "cut_groups", "labels_by_group",
        "cluster_degrees", "moved_labels",
    ),
    "labels": ("attached", "first_seen", "cut_by_block", "block_labels", "joined"),
}  # fmt: skip


def timed(function: Callable[..., Any], *arguments: Any) -> Any:
    """A task's result; the CPU seconds of its thread are added to its worker's sums."""
    from distributed import get_worker

    name = getattr(function, "func", function).__name__
    start = time.thread_time()
    try:
        return function(*arguments)
    finally:
        spent = get_worker().__dict__.setdefault("task_cpu", {})
        spent[name] = spent.get(name, 0.0) + time.thread_time() - start


class TimingClient:
    """A client whose tasks are `timed`."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def __getattr__(self, name: str) -> Any:
        return getattr(self.client, name)

    def get(self, graph: dict[str, Any], keys: list[str], sync: bool) -> Any:
        noted = {
            key: (timed, *call) if isinstance(call, tuple) and callable(call[0]) else call
            for key, call in graph.items()
        }
        return self.client.get(noted, keys, sync=sync)


def forget_tasks(dask_worker: Any) -> None:
    dask_worker.task_cpu = {}


def task_cpu(dask_worker: Any) -> dict[str, float]:
    return dict(dask_worker.__dict__.get("task_cpu", {}))


def by_kind_and_stage(client: Any, all_workers: float) -> dict[str, Any]:
    """CPU seconds of every kind of task, and of every stage."""
    kinds: Counter[str] = Counter()
    for spent in client.run(task_cpu).values():
        kinds.update(spent)
    stages = {stage: round(sum(kinds[name] for name in names), 1) for stage, names in STAGES.items()}
    stages["between tasks"] = round(all_workers - sum(stages.values()), 1)
    return {"stages": stages, "tasks": {name: round(cpu, 1) for name, cpu in kinds.most_common() if cpu > 0.5}}


def measured(path: Path, client: Any, options: argparse.Namespace) -> dict[str, Any]:
    from masked_subspace._common.peak_memory import peak_bytes
    from masked_subspace.distributed import fit_distributed, open_rows

    # A small fit first: workers import and compile what they need.
    X = open_rows(path)
    fit_distributed(X[:6000].rechunk((3000, AMBIENT)), N_SUBSPACES, client=client, cut=options.cut, n_parts=3)
    client.run(forget_tasks)
    before = client.run(cpu_seconds)
    wall, cpu = time.perf_counter(), time.process_time()
    timing = TimingClient(client)
    result = fit_distributed(
        X, N_SUBSPACES, client=timing, cut=options.cut, random_state=options.seed, n_parts=options.parts
    )
    labels = result.compute()
    spent = {name: round(seconds - before.get(name, 0.0), 1) for name, seconds in client.run(cpu_seconds).items()}
    record = {
        "wall": round(time.perf_counter() - wall, 1),
        "client_cpu": round(time.process_time() - cpu, 1),
        "worker_cpu": sorted(spent.values()),
        "client_mb": round(peak_bytes() / 1e6),
        "worker_mb": sorted(round(peak / 1e6) for peak in client.run(peak_bytes).values()),
    } | by_kind_and_stage(client, sum(spent.values()))
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
    parser.add_argument("--cut", default="spectral", choices=("spectral", "modularity", "auto"))
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
        # In a process of its own: pages of the file that are written here would count as memory of the client.
        writer = get_context("spawn").Process(target=write_subspaces, args=(path, options.samples, options.seed))
        writer.start()
        writer.join()
        with (
            distributed.LocalCluster(
                n_workers=options.workers, threads_per_worker=1, memory_limit=options.memory, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            record = measured(path, client, options)
    about = {"samples": options.samples, "cut": options.cut, "workers": options.workers}
    record = about | record | {"load": round(os.getloadavg()[0], 1)}
    print(json.dumps(record), flush=True)
    if options.out is not None:
        append_record(options.out, record)


if __name__ == "__main__":
    main()
