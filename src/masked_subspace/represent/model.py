"""Algorithm 1 on one page; its settings and what `"auto"` means for each; what every solver returns.

Samples are rows: X is n × d, row i of Z rebuilds sample i, G = XXᵀ. With the hard mask Mʰ (0 where a pair is forbidden,
as the diagonal always is), prices w_ij = γ·(Mˢ_ij)² of the soft mask, and a price λ for each nonzero, the problem is

    min ½‖X − ZX‖² + ½ Σ w_ij C_ij² + λ‖Q‖₀   subject to   Z = Mʰ⊙C,  Z = Q        (`eq:gmsc`; `eq:bmsc` with w = 0)

and, with `affine`, Z1 = 1. Multipliers U1, U2 of the two constraints and a penalty μ give, from zeros and μ = μ₀:

    Z  = (G − U1 + μ Mʰ⊙C + U2 + μQ)(G + 2μI)⁻¹              Eq:b-Z, with Z1 = 1: Eq:affine-Z (`affine.py`)
    C  = (U1 + μZ)⊙Mʰ / (w + μ)                              Eq:C   (Eq:b-C where w = 0)
    Q  = H_τ(Z − U2/μ),  τ = √(2λ/μ)                         Eq:b-Q (H_τ keeps entries above τ in magnitude)
    U1 += μ(Z − Mʰ⊙C);   U2 += μ(Q − Z);   μ *= p
    until max(|ΔC|∞, |ΔZ|∞, |ΔQ|∞) < tol, or T iterations

`eq:gmsc-n` explains part of X by noise ε and outliers O: with R = X − ZX after each Z step

    ε = (R − O)/(1 + 2λ₁);   O = H_√(2λ₂)(R − ε);   X − ε − O is the target of the next Z step (G becomes (X − ε − O)Xᵀ)

Rows of Z never meet but in the shared factorisation, so all three implementations work on blocks of rows.

| formula | `dense/blocked.py`: every entry | `dense/lazy.py` | `sparse/kernels.py` |
|---|---|---|---|
| Eq:b-Z | `step`, loop 1 of `masked_step` | `_advance_directions` | `_solve_shifted` (`_solve_factored`) |
| Eq:affine-Z | `AffineStep.shift` in `step` | left to the blocked pass | `_solve_factored` |
| Eq:C, U1 | loop 2 of `masked_step` | `_advance_kappa`, `_update_entries` | loop 1 of `_masked_step` |
| Eq:b-Q, U2 | loop 3 of `masked_step` | `_update_entries`, `scan`, `insert` | loop 2 of `_masked_step` |
| ε, O | `residual_step`, `ResidualModel` | left to the blocked pass | `_residual_step` |
| μ, τ | `continuation` | `continuation` | `admm_rows` |
| stop | `run_lockstep`, `run_freezing` | the same, `exact_change` | `admm_rows`, `_solve_in_step` |
| λ‖Q‖₀ in the objective | its cost in `step` | its cost in `step` | the last line of a sample in `admm_rows` |
| Q as it is returned | `finish`: entries of T above τ | `finish` | `compress_rows` |

Who puts another threshold in the place of H_τ changes the rows Eq:b-Q, ε and O, μ and τ, and the last two. That H_τ
keeps an entry as it is, and that λ is paid for each entry, is assumed in four more places: below
(`FirstStep` turns a quantile of |Z| into λ = μ₀τ²/2; `CandidateStep` knows that above λ = ½‖x‖² no entry is worth its
price), `dense/near_ties.py` (a jump at τ), `rows/cleaning.py` (O and its λ₂), and bench/plain.py.

Two rules find the λ that leaves about so many links a sample: `FirstStep` for the dense solver, from its factorisation,
and `CandidateStep` for the sparse one, from a sample of its small problems. Both answer for any penalty μ₀; each is
explained and measured in docs: accuracy.

bench/plain.py has the same formulas with an explicit inverse, one line each; every solver is compared with it
(tests/reference.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import sqrt
from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse

from masked_subspace._common.rows import drawn_by_content
from masked_subspace._common.sparse.implicit import ImplicitRows, Rows
from masked_subspace._common.types import FloatArray, IndexArray, Record

if TYPE_CHECKING:
    from masked_subspace.represent.dense.spectrum import Spectrum
    from masked_subspace.represent.sparse.block import Products

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


@dataclass(frozen=True)
class AdmmSettings:
    """The numbers of Algorithm 1, under our names; the paper's letter stands beside each."""

    sparsity: float  # λ, the price of one nonzero
    mask_weight: float = 1.0  # γ, the weight of ½‖Mˢ⊙C‖²; 1 is the paper
    penalty: float = 0.1  # μ₀, where the continuation starts
    penalty_growth: float = 1.1  # p
    max_iter: int = 200  # T
    tol: float = 1e-6
    noise: float | None = None  # λ₁; None: no ε
    outliers: float | None = None  # λ₂; None: no O
    affine: bool = False  # rows of Z sum to 1 (`affine.py`)

    @property
    def has_residual_model(self) -> bool:
        """Whether this is GMSC-n (`eq:gmsc-n`) and not GMSC."""
        return self.noise is not None or self.outliers is not None


@dataclass(frozen=True)
class SolverResult:
    """The end of one run of a solver.

    `objective[k]` is the value after iteration k: the data term at Z, the prices at Q; the two agree in the limit.
    """

    representation: csr_array  # Q: equal to Z at convergence, with exact zeros; row i rebuilds sample i
    n_iter: int
    converged: bool
    stopping_value: float  # max(|ΔC|∞, |ΔZ|∞, |ΔQ|∞) of the last iteration
    mask_residual: float  # ‖Z − Mʰ⊙C‖∞
    sparsity_residual: float  # ‖Q − Z‖∞
    objective: FloatArray
    seconds: float
    noise: FloatArray | None = None  # ε of `eq:gmsc-n`, n × d
    outliers: csr_array | None = None  # O of `eq:gmsc-n`, n × d
    details: Record = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not is_finite(self.representation, self.stopping_value, self.objective):
            object.__setattr__(self, "converged", False)


def is_finite(matrix: csr_array | FloatArray, stopping_value: float, objective: FloatArray) -> bool:
    """Whether a result holds numbers only. What does not has not converged, whatever was compared with a tolerance:
    a maximum passes over NaN, and a threshold turns it into a zero."""
    entries = matrix.data if issparse(matrix) else np.asarray(matrix)
    return bool(np.isfinite(stopping_value) and np.isfinite(objective[-1:]).all() and np.isfinite(entries).all())


def squared_weights(mask_weight: float, prices: npt.ArrayLike, dtype: npt.DTypeLike) -> FloatArray:
    """γ·(Mˢ)² in float64; what leaves the range of `dtype` is refused: infinity times a zero coefficient is NaN."""
    with np.errstate(over="ignore"):
        weights: FloatArray = mask_weight * np.square(np.asarray(prices, dtype=np.float64))
    if not np.abs(weights).max(initial=0.0) <= np.finfo(dtype).max:
        raise ValueError(
            f"mask_weight · (soft mask)² leaves the range of {np.dtype(dtype)}; give a smaller mask_strength, smaller "
            "prices, or a smaller mask_weight."
        )
    return weights


_LARGEST_PENALTY = 1e300  # only keeps μ finite; every quantity has long stopped moving there


@dataclass(frozen=True)
class Step:
    """The numbers of one iteration, with those of the iterations before and after it."""

    number: int  # from 0
    mu: float
    mu_last: float
    mu_next: float
    tau: float
    tau_last: float


def continuation(settings: AdmmSettings) -> Iterator[Step]:
    """One `Step` for each of the at most T iterations."""
    mu_last = mu = settings.penalty
    for number in range(settings.max_iter):
        mu_next = min(mu * settings.penalty_growth, _LARGEST_PENALTY)
        tau, tau_last = (sqrt(2 * settings.sparsity / penalty) for penalty in (mu, mu_last))
        yield Step(number, mu, mu_last, mu_next, tau, tau_last)
        mu_last, mu = mu, mu_next


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
        if spectrum is None:
            from masked_subspace.represent.dense.spectrum import Spectrum

            spectrum = Spectrum.of(X)
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
        # Not at the top: the solver that this rule asks takes its settings from this file.
        from masked_subspace.represent.sparse.block import SparseProblem, check_range, small_problems, solve_admm

        check_range(X)
        if samples is None:
            samples = drawn_by_content(X, _SMALL_PROBLEMS, np.random.default_rng(seed)).astype(np.int32)
        problem = SparseProblem(X, candidates, (), (), None, (), samples=samples, products=products)
        self._small, self._solve = small_problems(problem, 0, len(samples)), solve_admm
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
        counts = self._solve(self._small, settings, np.zeros_like(self._small.g)).counts
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
