"""Whole default fits of RMSC beside scikit-learn's k-means on the same rows, in one run, one thread each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import KMeans

from masked_subspace._common.types import FloatArray
from masked_subspace.bench.measure import Row, bench_rows, timed
from masked_subspace.parallel.engine import limited_threads


@dataclass(frozen=True)
class FitCase:
    """A default fit; `goal` is the most CPU seconds it may take for one of `KMeans(K, n_init=10)`."""

    name: str
    n_clusters: int
    quick: bool = False
    goal: float | None = None

    def rows(self) -> FloatArray:
        if self.name == "digits":
            return bench_rows(1000)[0]
        n, d = (390, 58) if self.name == "motions" else (10_000, 50)
        return generated(n, d, self.n_clusters)


_ROUNDS = 5
_SHORTEST = 1e-3  # seconds: a clock tells no less

FIT_CASES = (
    FitCase("digits", 10, quick=True, goal=5.0),
    FitCase("motions", 3, quick=True),
    FitCase("subspaces", 20),
)


def generated(n_samples: int, n_features: int, n_subspaces: int) -> FloatArray:
    """Subspaces of dimension 4, one after the other, with noise of a hundredth of their length."""
    rng = np.random.default_rng(0)
    rows = np.empty((n_samples, n_features))
    for part in np.array_split(np.arange(n_samples), n_subspaces):
        rows[part] = rng.normal(size=(len(part), 4)) @ rng.normal(size=(4, n_features))
    rows += 0.01 * rows.std() * rng.normal(size=rows.shape)
    return rows


def _cpu_seconds(model: BaseEstimator, X: FloatArray) -> float:
    return timed(partial(model.fit, X), 1)[1]["cpu"]


def fits(*, quick: bool) -> list[Row]:
    """One row a case; nothing is compiled on the clock."""
    return [measured(case) for case in FIT_CASES if case.quick or not quick]


def measured(case: FitCase) -> Row:
    """CPU seconds of both in the round with the median ratio, that ratio, and which way the fit took."""
    from masked_subspace import RMSC

    X = case.rows()
    ours = RMSC(case.n_clusters, random_state=0, n_jobs=1)
    peer = KMeans(case.n_clusters, n_init=10, random_state=0)
    with limited_threads(1):
        ours.fit(X[:: max(1, len(X) // 2_000)])  # what a first fit compiles
        # One after the other and again: a shared machine is slow for seconds at a time, and then for both.
        rounds = [[_cpu_seconds(model, X) for model in (ours, peer)] for _ in range(_ROUNDS if case.quick else 1)]
    own, their = sorted(rounds, key=lambda one: one[0] / max(one[1], _SHORTEST))[len(rounds) // 2]
    way = next((record["way"] for record in ours.choices_ if record["taken"]), "")
    return {
        "fit": case.name,
        "n": len(X),
        "d": X.shape[1],
        "seconds": own,
        "peer_seconds": their,
        "ratio": own / max(their, _SHORTEST),
        "goal": case.goal,
        "way": way,
    }


def too_slow(rows: list[Row], share: float = 1.0) -> list[Row]:
    """Fits whose ratio is above their goal over `share`."""
    return [row for row in rows if row["goal"] is not None and row["ratio"] > row["goal"] / share]


def fit_line(row: Row) -> str:
    """One row as text."""
    goal = "–" if row["goal"] is None else f"{row['goal']:g}"
    mark = "  MISSED" if too_slow([row]) else ""
    return (
        f"{row['fit'] + ' × ' + str(row['d']):32}{row['n']:>6}{row['seconds']:>9.2f}{row['peer_seconds']:>10.2f}"
        f"{row['ratio']:>8.1f}{goal:>7}  {row['way']}{mark}"
    )
