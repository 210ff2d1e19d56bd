"""The fixed, label-free prior from which the members of a consensus are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from masked_subspace.represent.model import AdmmSettings, FloatArray
from masked_subspace.represent.sparsity import CandidateStep, FirstStep, mean_square

# Additive recurrence: multiples of these, modulo 1, fill the cube evenly however many are drawn.
_STEPS = np.array([0.6180339887, 0.7548776662, 0.5698402910])


@dataclass(frozen=True)
class Member:
    """One way to look at the data: settings of Algorithm 1, and how many links of each sample enter the graph."""

    settings: AdmmSettings
    n_links: int


def draw_members(
    X: FloatArray,
    count: int,
    template: AdmmSettings,
    seed: int,
    *,
    n_links: int = 4,
    first: int = 0,
    weight_floor: float = 0.0,
    rule: FirstStep | CandidateStep | None = None,
) -> list[Member]:
    """Members `first` … `first + count − 1` of the prior, for rows X.

    In units of the mean squared row norm: μ₀ = 10^(½ … 3/2), γ = 10^(−2 … 0.3), λ by `rule` for a level of 4 … 10
    (links a sample of the dense solver, a quarter of the candidates that stay in the sparse one), p = 2; the graph
    keeps `n_links` − 1, `n_links` or `n_links` + 1 links a sample. `weight_floor` lifts γ where a mask must be heard,
    `rule` is the dense solver's unless given, and `template` gives what the prior leaves open (noise, outliers,
    tolerance).
    """
    scale = mean_square(X)
    rule = rule or FirstStep(X, seed)
    offset = np.random.default_rng(seed).uniform(size=3)
    members = []
    for index in range(first, first + count):
        u = (offset + (index + 1) * _STEPS) % 1
        penalty = 10 ** (0.5 + u[0]) * scale
        settings = AdmmSettings(
            sparsity=rule.sparsity(penalty, 4 + 6 * u[1]),
            mask_weight=max(10 ** (-2 + 2.3 * u[2]), weight_floor) * scale,
            penalty=penalty,
            penalty_growth=2.0,
            max_iter=min(60, template.max_iter),
            tol=max(1e-5, template.tol),
            noise=template.noise,
            outliers=template.outliers,
            affine=template.affine,
        )
        members.append(Member(settings, max(1, n_links - 1 + index % 3)))
    return members


def settings_of(members: Sequence[Member]) -> list[AdmmSettings]:
    return [member.settings for member in members]
