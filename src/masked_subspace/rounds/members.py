"""The fixed, label-free prior from which the members of a consensus are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from masked_subspace._common.types import FloatArray
from masked_subspace.represent.model import AdmmSettings
from masked_subspace.represent.sparsity import (
    LINKS_A_SAMPLE,
    MASK_WEIGHT,
    PENALTY,
    SparsityRule,
    mean_square,
)

# Additive recurrence: multiples of these, modulo 1, fill the cube evenly however many are drawn.
_STEPS = np.array([0.6180339887, 0.7548776662, 0.5698402910])


@dataclass(frozen=True)
class Member:
    """One way to see the data: a view, settings of Algorithm 1, and how many links a sample has in the graph."""

    view: str
    settings: AdmmSettings
    n_links: int


def draw_members(
    X: FloatArray,
    count: int,
    template: AdmmSettings,
    seed: int,
    *,
    rule: SparsityRule,
    view: str = "plain",
    links: Sequence[int] = (3, 4, 5),
    first: int = 0,
    one_setting: bool = False,
    weight_floor: float = 0.0,
) -> list[Member]:
    """Members `first` … `first + count − 1` of the prior, for rows X.

    In units of the mean squared row norm: μ₀ = 10^(½ … 3/2), γ = 10^(−2 … 0.3), λ by `rule` for a level of 4 … 10
    (links a sample of the dense solver, a quarter of the candidates that stay in the sparse one), p = 2; the graphs
    keep `links` a sample, in turn. With `one_setting` all members have the settings of one graph (μ₀ = 15, six links,
    γ = .01) and differ in links only. `weight_floor` lifts γ where a mask must be followed, and `template` gives what
    the prior leaves open (noise, outliers, tolerance).
    """
    scale = mean_square(X)
    offset = np.random.default_rng(seed).uniform(size=3)

    def settings(penalty: float, level: float, weight: float) -> AdmmSettings:
        return replace(
            template,
            sparsity=rule.sparsity(penalty * scale, level),
            mask_weight=max(weight, weight_floor) * scale,
            penalty=penalty * scale,
            penalty_growth=2.0,
            max_iter=min(60, template.max_iter),
            tol=max(1e-5, template.tol),
        )

    def of_prior(index: int) -> AdmmSettings:
        u = (offset + (index + 1) * _STEPS) % 1
        return settings(10 ** (0.5 + u[0]), 4 + 6 * u[1], 10 ** (-2 + 2.3 * u[2]))

    if one_setting:
        drawn, start = [settings(PENALTY, LINKS_A_SAMPLE, MASK_WEIGHT)] * count, 0
    else:
        drawn, start = [of_prior(index) for index in range(first, first + count)], first
    return [Member(view, one, links[(start + place) % len(links)]) for place, one in enumerate(drawn)]
