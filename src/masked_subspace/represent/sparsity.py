"""Label-free settings: what `"auto"` means, and every rule for λ. Each is explained and measured in docs: accuracy.

Two rules say which λ leaves about so many links a sample: `FirstStep` for the dense solver, from its factorisation, and
`CandidateStep` for the sparse one, from a sample of its small problems. Both answer for any penalty μ₀.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from masked_subspace._common.rows import drawn_by_content
from masked_subspace._common.sparse.implicit import ImplicitRows, Rows
from masked_subspace._common.types import FloatArray, IndexArray
from masked_subspace.represent.dense.spectrum import Spectrum
from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.sparse.block import Products, SparseProblem, check_range, small_problems, solve_admm

PENALTY = 15.0
MASK_WEIGHT = 0.01
LINKS_A_SAMPLE = 6.0

# FirstStep: so many rows and columns of the first step are looked at.
_ROWS = 512
_COLUMNS = 8192

# CandidateStep
_SMALL_PROBLEMS = 128
_KEPT_A_LINK = 4.0
_CLOSE_ENOUGH = 0.03  # of the links wanted
# More samples than this share must not lose all their links: they would fall out of the graph.
_MOST_EMPTY = 0.01
# Supports are settled long before values are: counts at 1e-3 are those at 1e-6 (measured on MNIST and motions).
_SETTLED = 1e-3
_NARROW = 0.005  # a bracket of ln λ that is not worth dividing, unless it holds a cliff:
_CLIFF = 1e-6  # samples that are nearly copies lose their links together (27 → 1 within .003)
_MOST_SOLVES = 30
# The curve: penalties (in units of the mean squared norm) over the range from which members are drawn.
_CURVE_PENALTIES = 10.0 ** np.array([0.5, 1.0, 1.5])
_CURVE_START = -7  # log2 of the first λ over its upper limit
_CURVE_END = -22


def mean_square(X: Rows) -> float:
    """Mean ‖x‖². Prices and penalties scale with it, so that rows in another unit give the same result."""
    if isinstance(X, ImplicitRows):
        return float(X.squared_lengths.mean())
    return float(np.einsum("ij,ij->", X, X, dtype=np.float64) / len(X))


def default_penalty(X: Rows) -> float:
    return PENALTY * mean_square(X)


def default_mask_weight(X: Rows) -> float:
    return MASK_WEIGHT * mean_square(X)


class SparsityRule(Protocol):
    """λ for a penalty μ₀ and about so many links a sample."""

    def sparsity(self, penalty: float, links: float = LINKS_A_SAMPLE) -> float: ...


class FirstStep:
    """The first iteration of Algorithm 1 on a seeded sample of rows, for any penalty.

    From zero it has Z = G (G + 2μ₀I)⁻¹ (`Eq:b-Z`) and keeps |Z| > τ = √(2λ/μ₀) (`Eq:b-Q`); so λ = μ₀τ²/2 with τ the
    (1 − links/n) quantile of the entries off the diagonal. τ lies halfway between two entries, so that rounding cannot
    decide which of them is kept. The solver's own factorisation (`spectrum`, made here if not given) serves every μ₀.

    If Z is `affine`, Eq:affine-Z adds ν aᵀ to each row. Here (G + 2μ₀I)⁻¹ = (I − Z)/2μ₀, so that a = r/2μ₀ with
    r = 1 − Z1, and row i gets r_i rᵀ / (1ᵀr).
    """

    def __init__(self, X: FloatArray, seed: int, *, spectrum: Spectrum | None = None, affine: bool = False) -> None:
        n = len(X)
        rng = np.random.default_rng(seed)
        self.rows = drawn_by_content(X, _ROWS, rng)
        # Entries are sampled in columns too: the quantile is that of all entries.
        self.cols = drawn_by_content(X, _COLUMNS, rng)
        spectrum = spectrum or Spectrum.of(X)
        self._values = spectrum.values.astype(np.float64)
        self._left, self._right = spectrum.vectors[self.rows], spectrum.vectors[self.cols]
        self._ones = spectrum.vectors.sum(axis=0, dtype=np.float64)
        self._n, self._affine = n, affine

    def sparsity(self, penalty: float, links: float = LINKS_A_SAMPLE) -> float:
        """λ for about `links` entries a sample after the first step; the steps that follow let more of them in."""
        weight = (self._values / (self._values + 2 * penalty)).astype(self._left.dtype)
        Z = (self._left * weight) @ self._right.T
        if self._affine:
            share = weight * self._ones
            left, right = 1 - self._left @ share, 1 - self._right @ share
            Z += np.outer(left, right / (self._n - float(self._ones @ share)))
        off_diagonal = np.abs(Z)[self.rows[:, None] != self.cols[None, :]]
        kept = int(np.clip(round(off_diagonal.size * links / self._n), 1, off_diagonal.size - 1))
        tau = float(np.partition(off_diagonal, [-kept - 1, -kept])[[-kept - 1, -kept]].mean())
        return max(penalty * tau**2 / 2, float(np.finfo(self._left.dtype).tiny))


class CandidateStep:
    """The same question for the sparse solver, asked of the end instead of the first step.

    With few, similar candidates the first step spreads its weight evenly and says nothing. Small problems are cheap to
    solve to the end: a seeded sample of them, whose products are formed once, is solved for trial values of λ until
    the wanted number of candidates stays. Four links at the end for one of the dense rule's was chosen by accuracy on
    one large set, MNIST's scattering features (docs/findings/scaling.md).

    Members of an ensemble ask for many penalties. One curve of links against λ at three penalties, measured where it is
    asked, tells each of them where to look; the answer is still a λ that was tried and kept the links wanted, so that
    it depends on (μ₀, links) and not on who asked before.
    """

    def __init__(
        self,
        X: Rows,
        candidates: IndexArray,
        seed: int = 0,
        *,
        affine: bool = False,
        samples: IndexArray | None = None,
        products: Products | None = None,
    ) -> None:
        """`samples`: whose problems to look at; default: 128 drawn with the seed. `products`: where H may be known."""
        check_range(X)
        if samples is None:
            samples = drawn_by_content(X, _SMALL_PROBLEMS, np.random.default_rng(seed)).astype(np.int32)
        problem = SparseProblem(X, candidates, (), (), None, (), samples=samples, products=products)
        self._small = small_problems(problem, 0, len(samples))
        self._affine = affine
        self._unit = float(self._small.energy.mean())
        self._most = 0.5 * self._unit  # above ½‖x‖² no link is worth its price
        self._curve: dict[tuple[int, int], float] = {}

    def sparsity(self, penalty: float, links: float = LINKS_A_SAMPLE) -> float:
        """λ for about `4·links` candidates a sample at the end."""
        wanted = min(_KEPT_A_LINK * links, 0.9 * (self._small.columns.shape[1] - 1))
        if not self._most > 0:
            return 0.0
        return self._search(penalty, wanted)

    def kept(self, sparsity: float, penalty: float) -> tuple[float, float]:
        """Mean number of links that stay, without a mask, and the share of samples that have none."""
        settings = AdmmSettings(
            sparsity, penalty=penalty, penalty_growth=2.0, max_iter=60, tol=_SETTLED, affine=self._affine
        )
        counts = solve_admm(self._small, settings, np.zeros_like(self._small.g)).counts
        return float(counts.mean()), float(np.mean(counts == 0))

    def _search(self, penalty: float, wanted: float) -> float:
        """Regula falsi on ln λ from where the curve points, inside a bracket that only shrinks."""
        low, high = np.log(1e-7 * self._most), np.log(self._most)
        links_low, links_high = float(self._small.columns.shape[1] - 1), 0.0
        trial, reach = self._guess(penalty, wanted), 0.25
        for count in range(_MOST_SOLVES):
            links, empty = self.kept(float(np.exp(trial)), penalty)
            if empty <= _MOST_EMPTY and abs(links - wanted) <= _CLOSE_ENOUGH * wanted:
                return float(np.exp(trial))
            if links < wanted or empty > _MOST_EMPTY:
                high, links_high = trial, links
            else:
                low, links_low = trial, links
            narrow = high - low < _NARROW
            if narrow and (links_low - links_high <= _CLOSE_ENOUGH * wanted or high - low < _CLIFF):
                break
            # The far end may be seven decades away: near the guess, first a short way, twice as long each time.
            near_low, near_high = max(low, trial - reach), min(high, trial + reach)
            share = np.clip((links_low - wanted) / max(links_low - min(links_high, wanted), 1e-9), 0.1, 0.9)
            if narrow or count % 3 == 2 or empty > _MOST_EMPTY:
                share = 0.5
            inside = low + share * (high - low)
            trial = float(np.clip(inside, near_low, near_high))
            reach *= 2
        return float(np.exp(low))

    def _guess(self, penalty: float, wanted: float) -> float:
        """ln λ where the curve has these links, between its penalties; beyond them the nearest one's."""
        powers = np.log(_CURVE_PENALTIES)
        place = float(np.clip(np.interp(np.log(penalty / self._unit), powers, range(len(powers))), 0, len(powers) - 1))
        low, high = (self._price_on_curve(number, wanted) for number in (int(np.floor(place)), int(np.ceil(place))))
        return float(low + (place - np.floor(place)) * (high - low))

    def _price_on_curve(self, number: int, wanted: float) -> float:
        """ln λ with these links at one penalty of the curve, between λ a factor 2 apart; only these are measured."""
        power = _CURVE_START
        if self._links_at(number, power) > wanted:
            while power < 0 and self._links_at(number, power + 1) > wanted:
                power += 1
        else:
            while power > _CURVE_END and self._links_at(number, power) <= wanted:
                power -= 1
        more, fewer = self._links_at(number, power), self._links_at(number, min(power + 1, 0))
        share = np.clip((more - wanted) / (more - fewer), 0, 1) if more > fewer else 0.0
        return float(np.log(self._most) + (power + share) * np.log(2.0))

    def _links_at(self, number: int, power: int) -> float:
        """Links that stay at a penalty of the curve and λ = 2^power of its upper limit."""
        if (number, power) not in self._curve:
            penalty = float(_CURVE_PENALTIES[number]) * self._unit
            self._curve[number, power] = self.kept(self._most * 2.0**power, penalty)[0]
        return self._curve[number, power]
