"""The prior from which members of one given view draw settings: evenly over the ranges of rounds/defaults.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from masked_subspace.represent.model import AdmmSettings
from masked_subspace.rounds.defaults import PRIOR_OF_LEVEL, PRIOR_OF_PENALTY, PRIOR_OF_WEIGHT

# Additive recurrence: multiples of these, modulo 1, fill the cube evenly however many are drawn.
_STEPS = np.array([0.6180339887, 0.7548776662, 0.5698402910])
_PRIOR = (PRIOR_OF_PENALTY, PRIOR_OF_LEVEL, PRIOR_OF_WEIGHT)


def of_prior(
    first: int, count: int, seed: int, settings: Callable[[float, float, float], AdmmSettings]
) -> list[AdmmSettings]:
    """`settings(μ₀, level, γ)` for the draws `first` … `first + count − 1`."""
    offset = np.random.default_rng(seed).uniform(size=3)

    def drawn(index: int) -> AdmmSettings:
        shares = (offset + (index + 1) * _STEPS) % 1
        power, level, power_of_weight = (
            low + (high - low) * share for (low, high), share in zip(_PRIOR, shares, strict=True)
        )
        return settings(10**power, level, 10**power_of_weight)

    return [drawn(index) for index in range(first, first + count)]
