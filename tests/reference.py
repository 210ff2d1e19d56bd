"""The end of Algorithm 1 as written out plainly in bench/plain.py. The solvers' yardstick."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masked_subspace.bench.plain import Array, plain_iterations
from masked_subspace.represent.model import AdmmSettings


@dataclass(frozen=True)
class PlainResult:
    Z: Array
    C: Array
    Q: Array
    noise: Array
    outliers: Array
    n_iter: int
    converged: bool
    stopping_value: float


def plain_admm(
    X: Array,
    settings: AdmmSettings,
    *,
    prices: Array | float = 0.0,
    allowed: npt.NDArray[np.bool_] | None = None,
) -> PlainResult:
    """BMSC (prices 0), GMSC and, when `settings` has noise or outliers, GMSC-n, with the hard mask `allowed`."""
    for n_iter, last in enumerate(plain_iterations(X, settings, prices, allowed), start=1):  # noqa: B007
        pass
    *values, change = last
    return PlainResult(*values, n_iter, change < settings.tol, change)
