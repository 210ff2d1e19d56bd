"""The penalties μ₀, pμ₀, p²μ₀, … of Algorithm 1 and the threshold τ = √(2λ/μ) that goes with each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

from masked_subspace.represent.model import AdmmSettings

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
