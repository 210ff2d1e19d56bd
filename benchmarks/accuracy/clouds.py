"""Generated tables, most of them clouds and not subspaces, and noise: RMSC beside what anyone has at hand.

    python benchmarks/accuracy/clouds.py tables [--draws 3]
    python benchmarks/accuracy/clouds.py random [--draws 40]
    python benchmarks/accuracy/clouds.py hidden [--draws 60]
    python benchmarks/accuracy/clouds.py noise [--draws 100]

`tables` prints accuracy (mean over draws) of RMSC, k-means as given and standardized, and a Gaussian mixture, with the
ways that were taken and `structure_`. `random` does so for tables whose shape, number and nearness of clusters and kind
of features are drawn, `hidden` for tables that are made from a few hidden numbers (hidden_tables.py), with 20 features
and fewer apart from others. `noise` prints how often one cloud (normal, uniform, normal with other scales;
150 to 600 samples, 2 to 50 features, K from 2 to 8) makes the fit warn.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hidden_tables import hidden_tables
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles, make_classification, make_moons
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from masked_subspace import RMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.rounds.defaults import DOUBTFUL_STRUCTURE

Table = tuple[str, Any, Any]


def tables(seed: int) -> Iterator[Table]:
    """(name, samples, classes)."""
    rng = np.random.default_rng(seed)

    def blobs(n: Any, d: int, k: int | None, deviation: Any, **more: Any) -> tuple[Any, Any]:
        X, y = make_blobs(n, d, centers=k, cluster_std=deviation, random_state=seed, **more)
        return X, y

    yield "clouds, 2 features, K = 5", *blobs(500, 2, 5, 1.0)
    yield "clouds, 2 features, K = 3, 150 samples", *blobs(150, 2, 3, 1.0)
    yield "clouds, 10 features, K = 8", *blobs(800, 10, 8, 3.0)
    yield "clouds, 50 features, wide", *blobs(400, 50, 4, 8.0)
    X, y = blobs(600, 8, 4, 1.5)
    yield "clouds, stretched", X @ rng.normal(size=(8, 8)), y
    yield "clouds of 400, 60, 40 and 20", *blobs([400, 60, 40, 20], 6, None, 1.5)
    yield "clouds, features of other scales", X * 10 ** rng.uniform(-2, 2, 8), y
    yield "clouds of other widths", *blobs(500, 5, 4, [0.5, 1, 2, 3])
    X, y = blobs(500, 4, 3, 1.0)
    yield "clouds and 20 features of noise", np.hstack([X, 3 * rng.normal(size=(500, 20))]), y
    yield (
        "make_classification",
        *make_classification(
            600, 20, n_informative=6, n_redundant=6, n_classes=3, n_clusters_per_class=1, class_sep=2, random_state=seed
        ),
    )
    yield "two moons", *make_moons(400, noise=0.06, random_state=seed)
    yield "two circles", *make_circles(400, noise=0.05, factor=0.4, random_state=seed)
    y = rng.integers(0, 4, 500)
    shares = rng.dirichlet(np.full(30, 0.3), 4)
    yield "counts", np.array([rng.multinomial(40, shares[k]) for k in y]).astype(float), y
    yield "yes and no", (rng.random((500, 25)) < rng.beta(0.5, 0.5, size=(4, 25))[y]).astype(float), y
    time = np.linspace(0, 1, 100)
    waves = [np.sin(2 * np.pi * (k + 1) * (time + rng.uniform(0, 0.05))) * rng.uniform(0.5, 1.5) for k in y]
    yield "waves with noise", np.array(waves) + 0.4 * rng.normal(size=(500, 100)), y
    X, y = blobs(400, 6, 4, 0.5, center_box=(-3, 3))
    yield "exponentials of clouds", np.exp(X), y
    data = make_subspaces(n_subspaces=5, per_subspace=60, dim=3, ambient=20, noise=0.1, random_state=seed)
    yield "subspaces", data.data, data.target


def random_tables(seed: int) -> Iterator[Table]:
    """One table: 2 … 6 clusters of one of four shapes that overlap more or less, its features changed in one of five
    ways."""
    rng = np.random.default_rng(1000 + seed)
    k, d, n = int(rng.integers(2, 7)), int(rng.choice([2, 3, 4, 6, 8, 12, 16])), int(rng.choice([150, 300, 600]))
    shares = np.maximum(rng.dirichlet(np.ones(k) * rng.choice([1.5, 50])), 0.06)
    y = rng.choice(k, n, p=shares / shares.sum())
    apart = rng.choice([1.5, 2.5, 4])
    means = rng.normal(size=(k, d)) * apart / np.sqrt(2) * np.sqrt(3 / d) ** 0.5
    shape = rng.choice(["sphere", "ellipse", "same-ellipse", "flat"])
    X, shared = np.empty((n, d)), rng.normal(size=(d, d)) / np.sqrt(d)
    for cluster in range(k):
        inside = y == cluster
        size = int(inside.sum())
        if shape == "flat":
            directions = np.linalg.qr(rng.normal(size=(d, max(1, d // 3))))[0]
            X[inside] = means[cluster] / 2 + 2 * rng.normal(size=(size, directions.shape[1])) @ directions.T
            X[inside] += 0.1 * rng.normal(size=(size, d))
            continue
        cloud = rng.normal(size=(size, d))
        if shape == "sphere":
            cloud *= rng.uniform(0.5, 1.5)
        else:
            cloud = 1.3 * cloud @ (shared if shape == "same-ellipse" else rng.normal(size=(d, d)) / np.sqrt(d))
        X[inside] = means[cluster] + cloud
    change = rng.choice(["none", "scales", "exp", "round", "dummies"])
    if change == "scales":
        X = X * 10 ** rng.uniform(-2, 2, d)
    elif change == "exp":
        X = np.exp(0.6 * X)
    elif change == "round":
        X = np.round(X)
    elif change == "dummies":
        X = np.hstack([X, *(X[:, [at]] + 0.5 * rng.normal(size=(n, 1)) > 0 for at in (0, -1))])
    yield str(shape), X, y


def by_width(seed: int) -> Iterator[Table]:
    """Hidden tables, named by how many features they have."""
    for name, X, y in hidden_tables(seed):
        yield f"{name}, {'up to 20' if X.shape[1] <= 20 else 'more than 20'} features", X, y


def compare(draws: int, tables: Callable[[int], Iterator[Table]]) -> None:
    print("| table | RMSC | k-means | k-means, standardized | mixture | ways | structure_ |")
    print("|" + "---|" * 7)
    found: dict[str, list[Any]] = {}
    for seed in range(draws):
        for name, X, y in tables(seed):
            k = len(np.unique(y))
            model = RMSC(k, random_state=0, n_jobs=1).fit(X)
            way = next(record["way"] for record in model.choices_ if record["taken"])
            deviation = X.std(axis=0)
            scaled = X / np.where(deviation > 0, deviation, 1)
            kind = "full" if X.shape[1] < 15 else "diag"
            labels = [
                model.labels_,
                *(KMeans(k, n_init=10, random_state=0).fit_predict(one) for one in (X, scaled)),
                GaussianMixture(k, covariance_type=kind, n_init=3, random_state=0).fit_predict(X),
            ]
            found.setdefault(name, []).append(([clustering_accuracy(y, one) for one in labels], way, model.structure_))
    for name, runs in found.items():
        accuracy = " | ".join(f"{100 * one:.1f}" for one in np.mean([run[0] for run in runs], axis=0))
        ways = ", ".join(f"{way} {count}" for way, count in Counter(run[1] for run in runs).items())
        print(f"| {name} ({len(runs)}) | {accuracy} | {ways} | {np.mean([run[2] for run in runs]):.2f} |")
    every = np.mean([run[0] for runs in found.values() for run in runs], axis=0)
    print(f"| all | {' | '.join(f'{100 * one:.1f}' for one in every)} | | |")


def noise(draws: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    warned: dict[str, list[bool]] = {}
    for _ in range(draws):
        n, d, k = (int(rng.choice(values)) for values in ([150, 300, 600], [2, 3, 4, 6, 10, 20, 50], [2, 3, 5, 8]))
        kind = str(rng.choice(["normal", "uniform", "other scales"]))
        X = rng.random((n, d)) if kind == "uniform" else rng.normal(size=(n, d))
        if kind == "other scales":
            X = X * 10 ** rng.uniform(-1, 1, d)
        real = RMSC(k, random_state=0, n_jobs=1).fit(X).structure_ >= DOUBTFUL_STRUCTURE
        group = "2 … 3 features" if d < 4 else "4 … 6 features" if d < 10 else "10 … 50 features"
        for name in (group, kind, "all"):
            warned.setdefault(name, []).append(not real)
    for name, of in sorted(warned.items()):
        print(f"{name:18} warned {sum(of)} of {len(of)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["tables", "random", "hidden", "noise"])
    parser.add_argument("--draws", type=int)
    parser.add_argument("--seed", type=int, default=0, help="of the draws of noise")
    options = parser.parse_args()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        if options.what == "tables":
            compare(options.draws or 3, tables)
        elif options.what == "random":
            compare(options.draws or 40, random_tables)
        elif options.what == "hidden":
            compare(options.draws or 60, by_width)
        else:
            noise(options.draws or 100, options.seed)


if __name__ == "__main__":
    main()
