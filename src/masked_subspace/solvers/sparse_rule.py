"""A label-free λ for the sparse solver: the one whose solution keeps a wanted number of candidates.

With few, similar candidates the first step of Algorithm 1 spreads its weight evenly, so a quantile of its entries (the
rule for the dense solver) leaves nearly all of them in. Small problems are cheap to solve to the end: here λ is found
by a bracketed search on a seeded sample of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from masked_subspace.solvers.result import AdmmSettings
from masked_subspace.solvers.sparse_block import IndexArray, SparseProblem, small_problems, solve_admm

FloatArray = npt.NDArray[np.floating[Any]]

_ROWS = 128
_STEPS = 14
_CLOSE_ENOUGH = 0.03
# More samples than this share must not lose all their links: they would fall out of the graph.
_MOST_EMPTY = 0.01


@dataclass
class _Bracket:
    """Prices that keep too many and too few links, and how many links they keep (None: not tried)."""

    low: float
    high: float
    at_low: float | None = None
    at_high: float | None = None

    def narrow(self, price: float, kept: float, *, too_high: bool) -> None:
        if too_high:
            self.high, self.at_high = price, kept
        else:
            self.low, self.at_low = price, kept

    def next_price(self, wanted: float, fold: float) -> float:
        """Between two tried ends where a line in log λ has the wanted number; from one end `fold` times further."""
        if self.at_low is None:
            return max(self.high / fold, self.middle() if self.high / fold <= self.low else 0.0)
        if self.at_high is None:
            return min(self.low * fold, self.middle() if self.low * fold >= self.high else np.inf)
        if not self.at_high < wanted < self.at_low:
            return self.middle()
        share = np.clip((self.at_low - wanted) / (self.at_low - self.at_high), 0.1, 0.9)
        return float(self.low * (self.high / self.low) ** share)

    def middle(self) -> float:
        return float(np.sqrt(self.low * self.high))


class CandidateRule:
    """Finds λ for any first penalty on a seeded sample of the small problems, whose products are formed once."""

    def __init__(self, X: FloatArray, candidates: IndexArray, seed: int = 0) -> None:
        n = len(X)
        samples = np.sort(np.random.default_rng(seed).choice(n, min(n, _ROWS), replace=False)).astype(np.int32)
        template = AdmmSettings(sparsity=0.0)
        problem = SparseProblem(X, candidates, (template,), (None,), None, (1,), samples=samples)
        self._small = small_problems(problem, 0, len(samples))
        self._most = 0.5 * float(self._small.energy.mean())  # above ½‖x‖² no link is worth its price
        self._seen: list[tuple[float, float, float]] = []  # links kept, log penalty, log price

    def sparsity(self, links: float, settings: AdmmSettings) -> float:
        """λ that keeps about `links` candidates a sample when solved without a mask under these settings.

        The search starts where earlier ones point to, and then needs small steps only.
        """
        wanted = min(links, 0.9 * (self._small.columns.shape[1] - 1))
        bracket = _Bracket(1e-7 * self._most, self._most)
        guess = self._first_guess(wanted, settings.penalty)
        price, fold = (bracket.middle(), 3.0) if guess is None else (guess, 1.2)
        for _ in range(_STEPS):
            kept, empty = self._kept(replace(settings, sparsity=price))
            self._seen.append((kept, np.log(settings.penalty), np.log(price)))
            if empty <= _MOST_EMPTY and abs(kept - wanted) <= _CLOSE_ENOUGH * wanted:
                return price
            bracket.narrow(price, kept, too_high=kept < wanted or empty > _MOST_EMPTY)
            price, fold = bracket.next_price(wanted, fold), min(3.0, fold**1.5)
        return bracket.low

    def _first_guess(self, wanted: float, penalty: float) -> float | None:
        """log λ as a plane over links and log penalty, through what was seen near the wanted number (least squares)."""
        seen = np.array([one for one in self._seen if 0.5 * wanted < one[0] < 2 * wanted])
        if len(seen) == 0:
            return None
        mean = seen.mean(axis=0)
        slopes = np.linalg.lstsq(seen[:, :2] - mean[:2], seen[:, 2] - mean[2], rcond=1e-6)[0]
        guess = mean[2] + slopes @ ([wanted, np.log(penalty)] - mean[:2])
        return float(np.exp(np.clip(guess, seen[:, 2].min() - 1, seen[:, 2].max() + 1)))

    def _kept(self, settings: AdmmSettings) -> tuple[float, float]:
        """Mean number of links, and the share of samples that have none."""
        plain = replace(settings, noise=None, outliers=None)
        counts = solve_admm(self._small, plain, np.zeros_like(self._small.g), 1).counts
        return float(counts.mean()), float(np.mean(counts == 0))
