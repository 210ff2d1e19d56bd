"""A label-free λ for the sparse solver: the one whose solution keeps a wanted number of candidates.

With few, similar candidates the first step of Algorithm 1 spreads its weight evenly, so a quantile of its entries (the
rule for the dense solver) leaves nearly all of them in. Small problems are cheap to solve to the end: here λ is found
by bisection on a seeded sample of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.sparse.block import IndexArray, SparseProblem, check_range, small_problems, solve_admm

FloatArray = npt.NDArray[np.floating[Any]]

_ROWS = 128
_STEPS = 14
_CLOSE_ENOUGH = 0.03
# More samples than this share must not lose all their links: they would fall out of the graph.
_MOST_EMPTY = 0.01


class CandidateRule:
    """Finds λ for any first penalty on a seeded sample of the small problems, whose products are formed once."""

    def __init__(self, X: FloatArray, candidates: IndexArray, seed: int = 0) -> None:
        check_range(X)
        n = len(X)
        samples = np.sort(np.random.default_rng(seed).choice(n, min(n, _ROWS), replace=False)).astype(np.int32)
        template = AdmmSettings(sparsity=0.0)
        problem = SparseProblem(X, candidates, (template,), (None,), None, (1,), samples=samples)
        self._small = small_problems(problem, 0, len(samples))
        self._most = 0.5 * float(self._small.energy.mean())  # above ½‖x‖² no link is worth its price

    def sparsity(self, links: float, settings: AdmmSettings) -> float:
        """λ that keeps about `links` candidates a sample when solved without a mask under these settings."""
        wanted = min(links, 0.9 * (self._small.columns.shape[1] - 1))
        low, high = 1e-7 * self._most, self._most
        middle = low
        for _ in range(_STEPS):
            middle = float(np.sqrt(low * high))
            kept, empty = self._kept(replace(settings, sparsity=middle))
            if empty <= _MOST_EMPTY and abs(kept - wanted) <= _CLOSE_ENOUGH * wanted:
                return middle
            if kept < wanted or empty > _MOST_EMPTY:
                high = middle
            else:
                low = middle
        return low

    def _kept(self, settings: AdmmSettings) -> tuple[float, float]:
        """Mean number of links, and the share of samples that have none."""
        plain = replace(settings, noise=None, outliers=None)
        counts = solve_admm(self._small, plain, np.zeros_like(self._small.g), 1).counts
        return float(counts.mean()), float(np.mean(counts == 0))
