"""What is measured, and how fast it has to be."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from masked_subspace._common.types import Array, Record
from masked_subspace.masks.base import SoftMask
from masked_subspace.masks.soft import ConsensusMask, LabelMask
from masked_subspace.represent.model import AdmmSettings

Mask = Literal["none", "labels", "array"]


@dataclass(frozen=True)
class Case:
    """One model on one number of samples, with the least ratio plain / ours that is good enough."""

    name: str
    n_samples: int
    goal: float | None = None  # ratio of CPU seconds
    mask: Mask = "none"
    options: Record = field(default_factory=dict)
    plain_iterations: int | None = None  # how many to time; None: a full run, which also shows the agreement
    most_seconds: float | None = None  # goal where the plain solver is out of reach
    most_megabytes: float | None = None

    @property
    def settings(self) -> AdmmSettings:
        return AdmmSettings(**{"sparsity": 1e-3, **self.options})

    def soft_mask(self, labels: Array) -> SoftMask | None:
        """`labels` are the true ones: how good the mask is does not change what an iteration costs."""
        if self.mask == "none":
            return None
        if self.mask == "labels":
            return LabelMask(labels, 1.1)
        return ConsensusMask([labels, np.arange(len(labels)) % 7, np.arange(len(labels)) % 3], 1.1)


_NOISE = {"noise": 1.0, "outliers": 0.02}
_GOALS = {
    "BMSC": {1000: 15.0, 2000: 35.0, 4000: 100.0},
    "GMSC, label mask": {1000: 10.0, 2000: 25.0, 4000: 60.0},
    "GMSC, n × n mask": {1000: 4.0, 2000: 7.0, 4000: 12.0},
    "GMSC-n": {1000: 4.0, 2000: 7.0, 4000: 12.0},
}
_MODELS: dict[str, tuple[Mask, Record]] = {
    "BMSC": ("none", {}),
    "GMSC, label mask": ("labels", {}),
    "GMSC, n × n mask": ("array", {}),
    "GMSC-n": ("none", _NOISE),
}
_COMPARED = ("BMSC", "GMSC, label mask")
_REGIMES: dict[str, Record] = {
    "p=2": {"penalty_growth": 2.0},
    "p=1.5": {"penalty_growth": 1.5},
    "λ=1e-4": {"sparsity": 1e-4},
    "μ₀=1": {"penalty": 1.0},
    "μ₀=15, p=2": {"penalty": 15.0, "penalty_growth": 2.0, "sparsity": 5.5e-4},
}


def model_cases(sizes: tuple[int, ...], full_run_up_to: int, sampled: int) -> list[Case]:
    """The table of models and sizes. Up to `full_run_up_to` samples the plain solver runs to its end for the models
    whose agreement is asked for; else `sampled` of its iterations are timed."""

    def count(name: str, n: int) -> int | None:
        return None if n <= full_run_up_to and name in _COMPARED else sampled

    return [
        Case(name, n, _GOALS[name].get(n), mask, options, count(name, n))
        for n in sizes
        for name, (mask, options) in _MODELS.items()
    ]


def regime_cases(n_samples: int, sampled: int) -> list[Case]:
    """Other settings, in which nothing may be slower than five times the plain solver's speed."""
    regimes = [Case(f"BMSC, {name}", n_samples, 5.0, "none", options, sampled) for name, options in _REGIMES.items()]
    with_mask = [
        Case(f"GMSC label mask, {name}", n_samples, 5.0, "labels", _REGIMES[name], sampled)
        for name in ("p=2", "μ₀=15, p=2")
    ]
    return regimes + with_mask


def large_cases() -> list[Case]:
    """Sizes at which only our own seconds and memory have a goal."""
    return [
        Case("BMSC", 10000, mask="none", plain_iterations=0, most_seconds=70.0, most_megabytes=500.0),
        Case("GMSC, label mask", 10000, mask="labels", plain_iterations=0, most_seconds=110.0),
    ]
