"""What else is measured beside the table: peers, threads, rounds, the spectral step, importing, growth with n."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from masked_subspace._common.types import Record
from masked_subspace.bench.cases import Case
from masked_subspace.bench.measure import Row, bench_rows, measure, stopwatch, timed, warm_up
from masked_subspace.represent.dense.solve import solve_dense

GROWTH_SIZES = (500, 1000, 2000, 4000, 8000)


def peers(sizes: tuple[int, ...], seed: int = 0) -> list[Row]:
    """scikit-learn's SpectralClustering and KMeans on the same rows, beside our solver."""
    from sklearn.cluster import KMeans, SpectralClustering

    from masked_subspace.parallel.engine import limited_threads

    rows: list[Row] = []
    for n in sizes:
        X, _ = bench_rows(n, seed)
        for model in (
            SpectralClustering(10, affinity="nearest_neighbors", random_state=seed),
            KMeans(10, n_init=10, random_state=seed),
        ):
            with limited_threads(limits=1), stopwatch() as seconds:
                model.fit(X)
            rows.append({"peer": type(model).__name__, "n": n, **seconds})
    return rows


def threads(n_samples: int) -> Row:
    """Wall and CPU seconds of one and two threads."""
    X, y = bench_rows(n_samples)
    case = Case("BMSC", n_samples)
    warm_up(case, X, y)
    runs = {
        count: timed(lambda count=count: solve_dense(X, case.settings, n_threads=count), 3)[1]  # type: ignore[misc]
        for count in (1, 2)
    }
    return {
        "n": n_samples,
        "one": runs[1],
        "two": runs[2],
        "speed_up": runs[1]["wall"] / runs[2]["wall"],
    }


ROUNDS_SETTINGS: dict[str, Record] = {
    "μ₀=.1, p=1.1": {"sparsity": 1e-3, "penalty": 0.1, "penalty_growth": 1.1, "max_iter": 300},
    "μ₀=15, p=2": {"sparsity": 5.5e-4, "penalty": 15.0, "penalty_growth": 2.0},
}


def rounds(n_samples: int, repeats: int = 3) -> list[Row]:
    """CPU seconds of the paper's RMSC with one and with five rounds, and the share of a fit that labeling
    (affinity, eigenvectors, k-means) takes."""
    from masked_subspace import RMSC

    X, _ = bench_rows(n_samples)
    found: list[Row] = []
    for name, options in ROUNDS_SETTINGS.items():
        models = {
            count: RMSC(10, members=1, max_rounds=count, mask_tol=0.0, random_state=0, n_jobs=1) for count in (1, 5)
        }
        row: Row = {"n": n_samples, "settings": name}
        for count, model in models.items():
            model.set_params(**options).fit(X[:300])
            _, seconds = timed(lambda model=model: model.fit(X), repeats)  # type: ignore[misc]
            beside = sum(record["seconds"] - record["solver_seconds"] for record in model.history_)
            row |= {f"seconds_{count}": seconds["cpu"], f"n_rounds_{count}": int(model.n_rounds_)}
            row[f"labeling_share_{count}"] = beside / seconds["wall"]
        found.append(row | {"ratio": row["seconds_5"] / row["seconds_1"]})
    return found


def import_seconds() -> float:
    """Wall seconds of `import masked_subspace` in a new interpreter, without those of starting it."""

    def started(statement: str) -> float:
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        return time.perf_counter() - begin

    return min(started("import masked_subspace") for _ in range(3)) - min(started("pass") for _ in range(3))


def isolated(case: Case) -> Row:
    """Measure a case in a process of its own, so that its peak of memory is its own."""
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_measure_fresh, case).result()


def _measure_fresh(case: Case) -> Row:
    X, y = bench_rows(case.n_samples)
    return measure(case, X, y, repeats=1)


def growth(sizes: tuple[int, ...] = GROWTH_SIZES) -> Record:
    """Seconds and memory of BMSC from the smallest to the largest n, and their slopes on logarithmic axes."""
    points = [isolated(Case("BMSC", n, plain_iterations=0)) for n in sizes]
    logs = np.log([[point["n"], point["seconds"], max(point["megabytes"], 1.0)] for point in points])
    slopes = [float(np.polyfit(logs[:, 0], logs[:, column], 1)[0]) for column in (1, 2)]
    keys = ("n", "seconds", "wall_seconds", "megabytes", "n_iter")
    return {
        "points": [{key: point[key] for key in keys} for point in points],
        "seconds_slope": slopes[0],
        "memory_slope": slopes[1],
    }
