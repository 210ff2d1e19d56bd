"""What large fits cost and how well they cluster: time, CPU time, peak memory and accuracy, each in its own process.

    python benchmarks/scaling/scaling.py features FILE.npy  scattering features of MNIST, PCA 150 (about six minutes)
    python benchmarks/scaling/scaling.py mnist --features FILE.npy --seeds 5
    python benchmarks/scaling/scaling.py mnist --seeds 5            raw pixels
    python benchmarks/scaling/scaling.py synthetic --samples 1000000 --seeds 5
    python benchmarks/scaling/scaling.py growth                     10,000 to 1,000,000 samples
    python benchmarks/scaling/scaling.py search --features FILE.npy ours, faiss and pynndescent
    python benchmarks/scaling/scaling.py exactness --seeds 10       sparse against dense on draws of 1,000 digits
    python benchmarks/scaling/scaling.py crossover --seeds 3        the same on draws of 500 to 10,000

Every line printed is a JSON record; `--out FILE` appends it there too. `--method` picks what is fitted (see METHODS),
`--threads` how many threads. JIT warm-up happens before the clock starts. MASKED_SUBSPACE_DATA names the folder of the
sets.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scaling_methods import METHODS, SEARCHES, recall

sys.path.append(str(Path(__file__).parents[1]))
from records import append_record

STAGES = {
    "candidates": "find_candidates",
    "sparsity": "settings_for",
    "solve": "solve_sparse_many",
    "affinity": "affinity_matrix",
    "eigenvectors": "leading_eigenpairs",
    "k-means": "cluster_rows",
}

CROSSOVER = (500, 1000, 2000, 3000, 5000, 7000, 10_000)


def measured(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """The result of some work, its wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, {
        "wall": round(time.perf_counter() - wall, 3),
        "cpu": round(time.process_time() - cpu, 3),
        "load": round(os.getloadavg()[0], 1),
    }


def peak_megabytes() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


def digits(features: str | None) -> tuple[np.ndarray, np.ndarray]:
    from masked_subspace.datasets import load

    bunch = load("mnist")
    return (np.asarray(bunch.data) if features is None else np.load(features)), np.asarray(bunch.target)


def subspaces(n: int, seed: int, folder: str, noise: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Twenty subspaces of dimension 5 in R^50, noise of a share (10 %) of the signal's norm, in a file."""
    from masked_subspace.datasets import make_subspaces

    bunch = make_subspaces(
        20, 5, 50, n // 20, noise=noise / np.sqrt(50), random_state=seed, shuffle=True, dtype=np.float32,
        out=Path(folder) / "rows.npy",
    )  # fmt: skip
    return bunch.data, bunch.target


def child(task: dict[str, Any]) -> dict[str, Any]:
    """One measurement, in a process of its own."""
    from masked_subspace.metrics import clustering_accuracy, normalized_mutual_info

    with tempfile.TemporaryDirectory() as folder:
        if task["data"] == "subspaces":
            X, y = subspaces(task["samples"], task["seed"], folder)
            clusters = 20
        else:
            X, y = digits(task["features"])
            clusters = 10
        if task["rows"]:
            kept = np.sort(np.random.default_rng(task["seed"]).choice(len(X), task["rows"], replace=False))
            X, y = X[kept], y[kept]
        if task["method"] in SEARCHES:
            return search_record(task, X)
        fit = partial(METHODS[task["method"]], **task.get("set", {}))
        fit(np.asarray(X[:1500]), clusters, 0, task["threads"])
        before = peak_megabytes()
        profile = cProfile.Profile(timer=time.process_time)
        model, cost = measured(lambda: profile.runcall(fit, X, clusters, task["seed"], task["threads"]))
        labels = getattr(model, "labels_", model)
        return cost | {
            "stages": cpu_of_stages(profile),
            "accuracy": round(float(clustering_accuracy(y, labels)), 4),
            "nmi": round(float(normalized_mutual_info(y, labels)), 4),
            "peak_mb": peak_megabytes(),
            "mb_before": before,
            "rounds": getattr(model, "n_rounds_", None),
            "round_seconds": [round(one["seconds"], 2) for one in getattr(model, "history_", [])],
            "links": round(model.representation_matrix_.nnz / len(X), 2)
            if hasattr(model, "representation_matrix_")
            else None,
        }


def cpu_of_stages(profile: cProfile.Profile) -> dict[str, float]:
    """CPU seconds below the function that is each stage."""
    spent = dict.fromkeys(STAGES, 0.0)
    for (_, _, function), (_, _, _, cumulative, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        for stage, name in STAGES.items():
            if function == name:
                spent[stage] += cumulative
    return {stage: round(seconds, 2) for stage, seconds in spent.items()}


def search_record(task: dict[str, Any], X: np.ndarray) -> dict[str, Any]:
    X = np.asarray(X, dtype=np.float32) - X.mean(axis=0, dtype=np.float64).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    find = SEARCHES[task["method"]]
    find(X[:3000], 64, task["threads"])
    found, cost = measured(lambda: find(X, 64, task["threads"]))
    return cost | {"peak_mb": peak_megabytes(), "recall": recall(X, found)}


def run(task: dict[str, Any], out: Path | None, timeout: float, cpu_limit: int) -> dict[str, Any]:
    """Start a child for the task and write its record down. It may use `cpu_limit` CPU seconds, and `timeout` by the
    clock."""
    # The threads asked for are our own; BLAS and OpenMP under them would only get in each other's way.
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    command = [sys.executable, __file__, "child", "--task", json.dumps(task)]
    try:
        done = subprocess.run(
            command, env=os.environ | dict.fromkeys(names, "1"), capture_output=True, text=True, timeout=timeout,
            check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu_limit, cpu_limit)),
        )  # fmt: skip
        lines = done.stdout.strip().splitlines()
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            lines, done.stderr = [], f"no result after {cpu_limit} CPU s"
        result = json.loads(lines[-1]) if done.returncode == 0 and lines else {"failed": done.stderr.strip()[-300:]}
    except subprocess.TimeoutExpired:
        result = {"failed": f"no result after {timeout:.0f} s"}
    record = {key: value for key, value in task.items() if value not in (None, {})} | result
    if record.get("features"):
        record["features"] = Path(record["features"]).name
    print(json.dumps(record), flush=True)
    if out is not None:
        append_record(out, record)
    return record


def make_features(path: str) -> None:
    from masked_subspace.datasets import load
    from masked_subspace.preprocessing import PCAFeatures, Scattering

    images = np.asarray(load("mnist").data, dtype=np.float32) / 255
    with tempfile.TemporaryDirectory() as folder:
        maps, cost = measured(lambda: Scattering(cache=folder, verbose=True).fit_transform(images))
        print(json.dumps({"step": "scattering"} | cost), flush=True)
        features, cost = measured(lambda: PCAFeatures(150).fit_transform(maps))
        print(json.dumps({"step": "pca"} | cost | {"peak_mb": peak_megabytes()}), flush=True)
        np.save(path, features)


def tasks_of(options: argparse.Namespace) -> list[dict[str, Any]]:
    """The measurements that a command stands for."""
    base = {
        "data": "mnist",
        "features": options.features,
        "samples": None,
        "rows": options.rows,
        "threads": options.threads,
        "set": json.loads(options.set),
    }
    methods = options.method.split(",")
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    if options.command == "search":
        return [base | {"method": name, "seed": 0} for name in SEARCHES]
    if options.command == "exactness":
        return [
            base | {"rows": 1000, "method": name, "seed": s} for name in ("BMSC-sparse", "BMSC-dense") for s in seeds
        ]
    if options.command == "crossover":
        both = ("BMSC-sparse", "BMSC-dense")
        return [base | {"rows": n, "method": name, "seed": s} for n in CROSSOVER for name in both for s in seeds]
    if options.command == "mnist":
        return [base | {"method": name, "seed": seed} for name in methods for seed in seeds]
    sizes = [options.samples] if options.command == "synthetic" else [10_000, 30_000, 100_000, 300_000, 1_000_000]
    synthetic = base | {"data": "subspaces", "features": None}
    return [synthetic | {"samples": n, "method": name, "seed": s} for n in sizes for name in methods for s in seeds]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = ("features", "mnist", "synthetic", "growth", "search", "exactness", "crossover", "child")
    parser.add_argument("command", choices=commands)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--features")
    parser.add_argument("--method", default="BMSC-sparse")
    parser.add_argument("--set", default="{}", help="parameters of the estimator as JSON")
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--rows", type=int, help="a seeded draw of so many samples")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=3600)
    parser.add_argument("--cpu-limit", type=int, default=3600, help="CPU seconds of one measurement")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--task")
    options = parser.parse_args()
    if options.command == "child":
        print(json.dumps(child(json.loads(options.task))))
    elif options.command == "features":
        make_features(options.file)
    else:
        for task in tasks_of(options):
            run(task, options.out, options.timeout, options.cpu_limit)


if __name__ == "__main__":
    main()
