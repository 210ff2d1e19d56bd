"""v2 with a cleaned dictionary: gross errors are estimated, taken out of the samples, and the samples used again.

`eq:gmsc-n` takes the outliers O out of the *target* X − O, while the dictionary stays X: every corrupted entry goes on
rebuilding other samples. Here both sides are X − O,

    min ½‖(X − O) − Z(X − O)‖² + λ‖Z‖₀ + … + λ₂‖O‖₀,

by rounds: Z from the cleaned samples (Algorithm 1 on candidates); its coefficients fitted anew on the entries that are
not suspected; O = H_τ(residual), τ = √(2λ₂), which puts the rebuilt value in place of an outlier. λ₂ needs no label: τ
is a multiple of the residuals' robust standard deviation.

A large residual alone also marks what is merely hard to rebuild, such as the edge of a turning object. So an entry is
an outlier only if the neighbours differ as well: it must also lie outside the values that samples much like it have
there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.rows import unit_rows
from masked_subspace._common.types import BoolArray, FloatArray, IntArray
from masked_subspace.parallel.engine import thread_count
from masked_subspace.represent.neighbors.search import find_candidates
from masked_subspace.represent.representer import MaskedRepresenter

ROUNDS = 3
THRESHOLD = 5.0
NEIGHBOURS = 5
# An outlier lies outside its neighbours' values by more than this share of τ.
_OUTSIDE = 0.5
# |cosine| from which a neighbour's own values say what is usual for a sample.
_ALIKE = 0.7
# Neighbours are themselves noisy: without a little ridge their coefficients grow to cancel each other's errors.
_RIDGE = 0.1
_SAMPLED = 1_000_000
# √(1 − 2qφ(q)/.8) with q the .9 quantile of the standard normal: the root mean square of its smaller four fifths.
_TRIMMED_GAUSSIAN = 0.6616


@dataclass(frozen=True)
class Cleaned:
    """Samples without their gross errors: X = samples + outliers."""

    samples: FloatArray
    outliers: csr_array
    price: float  # λ₂ of the last round


def clean_samples(
    X: FloatArray,
    *,
    center: bool = True,
    seed: int = 0,
    n_jobs: int | None = None,
    rounds: int = ROUNDS,
    threshold: float = THRESHOLD,
) -> Cleaned:
    """O and X − O, without looking at labels."""
    mean = X.mean(axis=0) if center else np.zeros(X.shape[1], dtype=X.dtype)
    target = X - mean
    cleaned = target.copy()
    lowest, highest = target.min(axis=0), target.max(axis=0)
    # A constant feature is rebuilt without error and says nothing about how large errors are.
    varies = highest > lowest
    if not varies.any():
        return Cleaned(X.copy(), csr_array(X.shape, dtype=X.dtype), 0.0)  # all samples are the same: none stands out
    trusted = np.ones(X.shape, dtype=bool)
    tau = 0.0
    for _ in range(rounds):
        rows = unit_rows(cleaned)
        Z = MaskedRepresenter(solver="sparse", n_jobs=n_jobs).prepare(rows, seed=seed).represent(None).representation
        # No rebuilt value leaves the range that its feature has.
        rebuilt = np.clip(rebuild(Z, cleaned, target, trusted), lowest, highest)
        residual = target - rebuilt
        tau = threshold * robust_deviation(residual if varies.all() else residual[:, varies], seed)
        if tau == 0:
            break  # most of what varies is rebuilt exactly: no scale by which an error could be called gross
        nearest = find_candidates(rows, min(NEIGHBOURS, len(rows) - 1), n_threads=thread_count(n_jobs))
        # O = H_τ(X − Z(X − O)): hard thresholding (`eq:gmsc-n`, step O), where no neighbour shows such a value
        trusted = np.abs(residual) <= tau
        trusted |= distance_to_range(nearest, cleaned, target) <= _OUTSIDE * tau
        cleaned = np.where(trusted, target, rebuilt)
    outliers = csr_array(np.where(trusted, 0, target - cleaned))
    return Cleaned((cleaned + mean).astype(X.dtype, copy=False), outliers, tau**2 / 2)


def rebuild(Z: csr_array, dictionary: FloatArray, target: FloatArray, trusted: BoolArray) -> FloatArray:
    """Each target from the dictionary rows that Z chose for it, coefficients by ridge least squares on trusted entries.

    The refit undoes the shrinkage of Z and keeps an outlier from bending its own reconstruction.
    """
    rebuilt = np.zeros_like(target)
    for i in range(len(target)):
        chosen = Z.indices[Z.indptr[i] : Z.indptr[i + 1]]
        entries = trusted[i]
        atoms = dictionary[chosen]
        known = atoms[:, entries]
        gram = known @ known.T
        size = float(np.trace(gram))
        if size == 0:
            continue
        gram[np.diag_indices(len(chosen))] += _RIDGE * size / len(chosen)
        rebuilt[i] = np.linalg.solve(gram, known @ target[i, entries]) @ atoms
    return rebuilt


def distance_to_range(nearest: IntArray, dictionary: FloatArray, target: FloatArray) -> FloatArray:
    """How far each entry lies outside the values of those neighbours that are alike; infinite where there are none.

    Each neighbour is made as long as the sample and put on its side: ±x are one point of a subspace.
    """
    outside = np.full_like(target, np.inf)
    lengths = np.linalg.norm(dictionary, axis=1)
    for i, chosen in enumerate(nearest):
        products = dictionary[chosen] @ dictionary[i]
        alike = np.abs(products) > _ALIKE * lengths[i] * lengths[chosen]
        if alike.any():
            scale = np.sign(products[alike]) * lengths[i] / lengths[chosen[alike]]
            values = scale[:, None] * dictionary[chosen[alike]]
            outside[i] = np.maximum(values.min(axis=0) - target[i], target[i] - values.max(axis=0))
    return np.maximum(outside, 0)


def robust_deviation(residual: FloatArray, seed: int) -> float:
    """The standard deviation of a Gaussian with the same smaller four fifths of |residual|.

    The median alone fails on images with a flat background, where it is near zero.
    """
    flat = np.abs(residual).ravel()
    if len(flat) > _SAMPLED:
        flat = flat[np.random.default_rng(seed).integers(0, len(flat), _SAMPLED)]
    smaller = flat[flat <= np.quantile(flat, 0.8)].astype(np.float64)
    return float(np.sqrt(np.mean(smaller**2))) / _TRIMMED_GAUSSIAN
