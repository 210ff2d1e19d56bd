"""Label-free settings: what `"auto"` means. Each rule is explained and measured in docs/accuracy.md."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from masked_subspace._common.symmetric_eigen import eigenpairs
from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.sparse.rule import CandidateRule

FloatArray = npt.NDArray[np.floating[Any]]

PENALTY = 15.0
MASK_WEIGHT = 0.01
LINKS_A_SAMPLE = 6.0
_ROWS = 512
_COLUMNS = 8192
_KEPT_A_LINK = 4.0


def mean_square(X: FloatArray) -> float:
    """Mean ‖x‖². Prices and penalties scale with it, so that rows in another unit give the same result."""
    return float(np.einsum("ij,ij->", X, X, dtype=np.float64) / len(X))


def default_penalty(X: FloatArray) -> float:
    return PENALTY * mean_square(X)


def default_mask_weight(X: FloatArray) -> float:
    return MASK_WEIGHT * mean_square(X)


def quantile_sparsity(X: FloatArray, penalty: float, seed: int, links: float = LINKS_A_SAMPLE) -> float:
    """λ that leaves about `links` entries a sample after the first step."""
    return FirstStep(X, seed).sparsity(penalty, links)


class FirstStep:
    """The first iteration of Algorithm 1 on a seeded sample of rows, for any penalty.

    From zero it has Z = G (G + 2μ₀I)⁻¹ (`Eq:b-Z`) and keeps |Z| > τ = √(2λ/μ₀) (`Eq:b-Q`); so λ = μ₀τ²/2 with τ the
    (1 − links/n) quantile of the entries off the diagonal. τ lies halfway between two entries, so that rounding cannot
    decide which of them is kept. One eigendecomposition of the smaller Gram matrix serves every μ₀.
    """

    def __init__(self, X: FloatArray, seed: int) -> None:
        n, d = X.shape
        rng = np.random.default_rng(seed)
        self.rows = np.sort(rng.choice(n, min(n, _ROWS), replace=False))
        # Entries are sampled in columns too: the quantile is that of all entries.
        self.cols = np.sort(rng.choice(n, min(n, _COLUMNS), replace=False))
        if d <= n:
            values, V = eigenpairs((X.T @ X).astype(np.float64))
            V = V.astype(X.dtype)
            self._left, self._right = X[self.rows] @ V, X[self.cols] @ V
            self._numerator = np.ones_like(values)
        else:
            values, V = eigenpairs((X @ X.T).astype(np.float64))
            V = V.astype(X.dtype)
            self._left, self._right = V[self.rows], V[self.cols]
            self._numerator = values
        self._values = np.maximum(values, 0)
        self._n = n

    def sparsity(self, penalty: float, links: float = LINKS_A_SAMPLE) -> float:
        """λ for about `links` entries a sample."""
        weight = (self._numerator / (self._values + 2 * penalty)).astype(self._left.dtype)
        Z = np.abs((self._left * weight) @ self._right.T)
        off_diagonal = Z[self.rows[:, None] != self.cols[None, :]]
        kept = int(np.clip(round(off_diagonal.size * links / self._n), 1, off_diagonal.size - 1))
        tau = float(np.partition(off_diagonal, [-kept - 1, -kept])[[-kept - 1, -kept]].mean())
        return max(penalty * tau**2 / 2, float(np.finfo(self._left.dtype).tiny))


class CandidateStep:
    """The same question for the sparse solver, asked of the end instead of the first step: see `CandidateRule`.

    On candidates that are all alike the first step says nothing. Four links at the end for one of the dense rule's was
    chosen by accuracy on one large set, MNIST's scattering features (docs/scaling.md).
    """

    def __init__(self, X: FloatArray, candidates: npt.NDArray[np.int32], seed: int) -> None:
        self._rule = CandidateRule(X, candidates, seed)

    def sparsity(self, penalty: float, links: float = LINKS_A_SAMPLE) -> float:
        """λ for about `4·links` candidates a sample at the end."""
        settings = AdmmSettings(sparsity=0.0, penalty=penalty, penalty_growth=2.0, max_iter=60)
        return self._rule.sparsity(_KEPT_A_LINK * links, settings)
