"""Algorithm 1 on one page; what every solver takes and what every solver returns.

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
keeps an entry as it is, and that λ is paid for each entry, is assumed in four more places: `represent/sparsity.py`
(`FirstStep` turns a quantile of |Z| into λ = μ₀τ²/2; `CandidateStep` knows that above λ = ½‖x‖² no entry is worth its
price), `dense/near_ties.py` (a jump at τ), `rows/cleaning.py` (O and its λ₂), and bench/plain.py.

bench/plain.py has the same formulas with an explicit inverse, one line each; every solver is compared with it
(tests/reference.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse

from masked_subspace._common.types import FloatArray, Record


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
