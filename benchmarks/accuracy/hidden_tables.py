"""Tables whose features are made from a few hidden numbers, as measurements of one thing are; see `clouds.py hidden`.

`factors`: every feature is a sum of a few factors, plus noise; classes differ in the means of some factors.
`functions`: features are noisy functions (a random network of two to four layers) of hidden numbers; a class is a
cluster of these, two such clusters, or a region that a further function cuts out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

Table = tuple[str, Any, Any]
SAMPLES, FEATURES = (200, 400, 800), (5, 8, 12, 16, 20, 25, 30, 40, 60)
_SHAPES = (
    np.tanh,
    np.sin,
    lambda a: a,
    lambda a: np.maximum(a, 0),
    lambda a: a * np.abs(a),
    lambda a: 1 / (1 + np.exp(-2 * a)),
)
_UNITS, _LEAST_SHARE = 12, 0.05


def hidden_tables(seed: int) -> Iterator[Table]:
    """One of each."""
    rng = np.random.default_rng(70_000 + seed)
    yield factors(rng)
    yield functions(rng)


def _classes(rng: np.random.Generator, n: int) -> Any:
    k = int(rng.integers(2, 8))
    shares = np.maximum(rng.dirichlet(np.ones(k) * rng.choice([2, 50])), 0.06)
    return rng.choice(k, n, p=shares / shares.sum())


def factors(rng: np.random.Generator) -> Table:
    n, d = int(rng.choice(SAMPLES)), int(rng.choice(FEATURES))
    r, y = int(rng.integers(2, min(d, 8) + 1)), _classes(rng, n)
    means = rng.normal(size=(y.max() + 1, r)) * rng.choice([1.0, 1.7, 2.5]) * (rng.random(r) < 0.7)
    spread = np.sort(rng.uniform(0.3, 1.5, r))[::-1] * rng.choice([1.0, 2.0])
    widths = rng.uniform(0.5, 1.6, y.max() + 1) if rng.random() < 0.4 else np.ones(y.max() + 1)
    noise = rng.standard_t(4, (n, r)) if rng.random() < 0.3 else rng.standard_normal((n, r))
    loads = rng.normal(size=(r, d)) * (rng.random((r, d)) < rng.choice([0.3, 1.0]))
    X = (means[y] + noise * spread * widths[y][:, None]) @ loads / np.sqrt(r)
    X += rng.uniform(0.2, 1.0) * rng.standard_normal((n, d))
    change = str(rng.choice(["none", "scales", "exp", "round", "clip"]))
    if change == "scales":
        X = X * 10 ** rng.uniform(-2, 2, d)
    elif change == "exp":
        X = np.exp(0.5 * X)
    elif change == "round":
        X = np.round(X)
    elif change == "clip":
        X = np.clip(X, -1, 1)
    return "factors", X, y


def functions(rng: np.random.Generator) -> Table:
    n, d, r = int(rng.choice(SAMPLES)), int(rng.choice(FEATURES)), int(rng.integers(3, 9))
    y, hidden = _classes(rng, n), rng.standard_normal((n, r))
    kind = str(rng.choice(["cluster", "two clusters", "region"], p=[0.45, 0.3, 0.25]))
    if kind == "cluster":
        hidden = hidden + (rng.normal(size=(y.max() + 1, r)) * rng.choice([1.0, 1.6, 2.4]))[y]
    elif kind == "two clusters":
        centres = rng.normal(size=(2 * (y.max() + 1), r)) * rng.choice([1.6, 2.4])
        hidden = 0.8 * hidden + centres[2 * y + rng.integers(0, 2, n)]
    layers, last = [hidden], hidden
    for _ in range(int(rng.integers(1, 4))):
        weights = rng.normal(size=(last.shape[1], _UNITS)) / np.sqrt(last.shape[1]) * rng.uniform(0.8, 2)
        sums = last @ weights + 0.5 * rng.normal(size=_UNITS)
        last = np.column_stack([_shape(rng)(column) for column in sums.T]) + 0.1 * rng.standard_normal((n, _UNITS))
        layers.append(last)
    pool = np.hstack(layers)
    if kind == "region":
        y = (_shape(rng)(last @ rng.normal(size=(_UNITS, y.max() + 1)))).argmax(axis=1)
        kept = np.isin(y, np.flatnonzero(np.bincount(y) >= _LEAST_SHARE * n))
        pool, y = pool[kept], np.unique(y[kept], return_inverse=True)[1]
        if y.max() == 0:  # one region holds them all
            return functions(rng)
    X = np.column_stack([_feature(rng, pool) for _ in range(d)])
    return "functions", X * 10 ** rng.uniform(-1.5, 1.5, d) if rng.random() < 0.5 else X, y


def _shape(rng: np.random.Generator) -> Any:
    return _SHAPES[int(rng.integers(len(_SHAPES)))]


def _feature(rng: np.random.Generator, pool: Any) -> Any:
    """One or two hidden columns and noise; some features are exponentials, rounded, or yes and no."""
    feature = pool[:, rng.integers(pool.shape[1])] * rng.choice([1, -1])
    if rng.random() < 0.5:
        feature = feature + rng.normal() * pool[:, rng.integers(pool.shape[1])]
    deviation = feature.std() or 1.0
    feature = feature + rng.choice([0.1, 0.3, 1.0]) * deviation * rng.standard_normal(len(feature))
    kind = rng.random()
    if kind < 0.15:
        return np.exp(feature / deviation)
    if kind < 0.25:
        return np.round(2 * feature / deviation)
    return (feature > np.quantile(feature, rng.uniform(0.2, 0.8))).astype(float) if kind < 0.32 else feature
