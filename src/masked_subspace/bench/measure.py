"""Timing: our solver, the plain one, and how far they agree. CPU seconds decide; wall seconds stand beside them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal, TypeVar

import numpy as np
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

from masked_subspace._common.peak_memory import peak_bytes, reset_peak
from masked_subspace._common.types import Array, FloatArray, Record
from masked_subspace.bench.cases import Case
from masked_subspace.bench.plain import plain_iterations
from masked_subspace.parallel.engine import limited_threads
from masked_subspace.represent.dense.solve import solve_dense
from masked_subspace.represent.model import SolverResult

Outcome = TypeVar("Outcome")

Row = Record
_PASSES: tuple[Literal["lazy", "blocked"], ...] = ("lazy", "blocked")


@contextmanager
def stopwatch() -> Iterator[dict[str, float]]:
    """Seconds of this process: {"cpu", "wall"}."""
    seconds: dict[str, float] = {}
    wall, cpu = time.perf_counter(), time.process_time()
    yield seconds
    seconds["cpu"], seconds["wall"] = time.process_time() - cpu, time.perf_counter() - wall


def bench_rows(n_samples: int, seed: int = 0) -> tuple[FloatArray, Array]:
    """`n_samples` random MNIST images as unit rows of raw pixels (float32), and their digits."""
    from masked_subspace.datasets import load

    images = load("mnist", download=False)
    if len(images.data) < n_samples:
        raise ValueError(
            f"{n_samples} samples are asked for but {images.origin} has {len(images.data)}; set MASKED_SUBSPACE_DATA "
            "to a folder with the whole mnist.npz."
        )
    chosen = np.random.default_rng(seed).permutation(len(images.data))[:n_samples]
    X = images.data[chosen].astype(np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True), images.target[chosen]


def measure(case: Case, X: FloatArray, y: Array, *, repeats: int) -> Row:
    """One row of the table."""
    row: Row = {"case": case.name, "n": case.n_samples, "goal": case.goal}
    mask = case.soft_mask(y)
    warm_up(case, X, y)
    memory_before = reset_peak()
    result, seconds = timed(lambda: solve_dense(X, case.settings, soft_mask=mask), repeats)
    row |= {"seconds": seconds["cpu"], "wall_seconds": seconds["wall"], "n_iter": result.n_iter}
    row |= {"converged": result.converged, "path": result.details["path"], "links": result.representation.nnz / len(X)}
    row["megabytes"] = max(0, peak_bytes() - memory_before) / 1e6
    row |= {"most_seconds": case.most_seconds, "most_megabytes": case.most_megabytes}
    if case.plain_iterations != 0:
        row |= measure_plain(case, X, y, result)
        row["ratio"] = row["plain_seconds"] / row["seconds"]
    row["met"] = _is_met(row, 1.0)
    return row


def measure_plain(case: Case, X: FloatArray, y: Array, ours: SolverResult) -> Row:
    """Seconds of the plain solver. A sample of iterations is scaled to the number our solver needed.

    All plain iterations do the same dense work, and both solvers stop at the same test.
    """
    mask = case.soft_mask(y)
    prices = 0.0 if mask is None else mask.block(0, len(X)).astype(np.float64)
    iterations = plain_iterations(X.astype(np.float64), case.settings, prices)
    each: list[float] = []
    Q = np.zeros((0, 0))
    with limited_threads(limits=1):
        while case.plain_iterations is None or len(each) < case.plain_iterations:
            with stopwatch() as seconds:
                step = next(iterations, None)
            if step is None:
                break
            Q = step.Q
            each.append(seconds["cpu"])
    if case.plain_iterations is not None:
        return {"plain_seconds": statistics.median(each) * ours.n_iter, "plain_sampled": len(each)}
    return {"plain_seconds": sum(each), "plain_n_iter": len(each), **agreement(ours.representation, csr_array(Q), X, y)}


def agreement(ours: csr_array, plain: csr_array, X: FloatArray, y: Array) -> Row:
    """ARI of the two partitions and the share of links that only one of the two has."""
    from masked_subspace.label.labeler import Evidence, GraphLabeler

    n_clusters = len(np.unique(y))
    labeler = GraphLabeler(n_clusters)
    labels = [labeler.label(Z.astype(np.float64), Evidence(X), seed=0).labels for Z in (ours, plain)]
    only_one = ((ours != 0).astype(int) - (plain != 0).astype(int)).count_nonzero()
    return {"ari": float(adjusted_rand_score(*labels)), "support_difference": only_one / max(1, plain.nnz)}


def warm_up(case: Case, X: FloatArray, y: Array) -> None:
    """Compile what the case needs: either pass (the lazy one may give up and leave its work to the other), in the rows'
    own type, and in float64, in which near-ties are decided again."""
    few = slice(0, 64)
    for path in _PASSES:
        for dtype in (X.dtype, np.dtype(np.float64)):
            solve_dense(X[few].astype(dtype), case.settings, soft_mask=case.soft_mask(y[few]), path=path)


def timed(action: Callable[[], Outcome], repeats: int) -> tuple[Outcome, dict[str, float]]:
    """The last outcome and the median seconds."""
    runs = []
    for _ in range(repeats):
        with stopwatch() as seconds:
            outcome = action()
        runs.append(seconds)
    return outcome, {key: statistics.median(run[key] for run in runs) for key in ("cpu", "wall")}


def _is_met(row: Row, share: float) -> bool:
    """Whether the row reaches this share of each of its goals."""
    enough = row["goal"] is None or row["ratio"] >= share * row["goal"]
    quick = row["most_seconds"] is None or row["seconds"] * share <= row["most_seconds"]
    small = row["most_megabytes"] is None or row["megabytes"] * share <= row["most_megabytes"]
    return bool(enough and quick and small)


def missed(rows: list[Row], share: float) -> list[Row]:
    """Rows that do not reach `share` of their goals."""
    return [row for row in rows if not _is_met(row, share)]
