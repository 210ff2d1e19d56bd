"""Links to the nearest samples, for data whose clusters are clouds and not subspaces.

In a few features every sample can be rebuilt from any others, so that a code says nothing of who is near. There

    z_ij = exp(−‖x_i − x_j‖² / σ_i σ_j),   σ_i the distance from x_i to its seventh neighbour

(Zelnik-Manor & Perona 2004) takes the place of the code. A soft mask divides by the squared price of the pair.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from masked_subspace._common.types import FloatArray, IndexArray
from masked_subspace.masks.base import SoftMask
from masked_subspace.represent.model import AdmmSettings, SolverResult
from masked_subspace.represent.representer import Progress

SCALE_NEIGHBOUR = 7


class NoSparsity:
    """Nothing is rebuilt, so that no price has to be found."""

    def sparsity(self, penalty: float, links: float = 0.0) -> float:  # noqa: ARG002
        return 0.0


@dataclass(frozen=True)
class NearestRepresenter:
    """Rows and, for each of them, the samples that may be its nearest; settings of Algorithm 1 have no say."""

    X: FloatArray
    template: AdmmSettings
    candidates: IndexArray

    def sparsity_rule(self, seed: int) -> NoSparsity:  # noqa: ARG002
        return NoSparsity()

    def represent_many(
        self,
        settings: Sequence[AdmmSettings],
        soft_mask: SoftMask | None,
        progress: Progress | None = None,  # noqa: ARG002
    ) -> list[SolverResult]:
        """The same links for every setting."""
        started = time.perf_counter()
        weights = self._weights
        if soft_mask is not None:
            prices = soft_mask.at(np.arange(len(self.X))[:, None], self.candidates)
            weights = weights / np.square(prices).astype(weights.dtype)
        n, m = self.candidates.shape
        known = (self.candidates >= 0).ravel()
        indptr = np.concatenate([[0], np.cumsum(known.reshape(n, m).sum(axis=1))])
        Z = csr_array((weights.ravel()[known], self.candidates.ravel()[known], indptr), shape=(n, n))
        Z.sort_indices()
        one = SolverResult(Z, 1, True, 0.0, 0.0, 0.0, np.zeros(1), time.perf_counter() - started)
        return [one] * len(settings)

    @cached_property
    def _weights(self) -> FloatArray:
        squared = self._squared_distances()
        place = min(SCALE_NEIGHBOUR, squared.shape[1]) - 1
        scale = np.sqrt(np.partition(squared, place, axis=1)[:, place])
        # More copies of a sample than neighbours are looked at: any length will do for them.
        positive = scale[np.isfinite(scale) & (scale > 0)]
        scale = np.where(np.isfinite(scale) & (scale > 0), scale, positive.min(initial=1.0))
        weights: FloatArray = np.exp(-squared / (scale[:, None] * scale[self.candidates])).astype(self.X.dtype)
        return weights

    def _squared_distances(self) -> FloatArray:
        """n × m in float64; infinite where there is no candidate."""
        squared = np.empty(self.candidates.shape)
        _take_squared_distances(self.X, self.candidates, squared)
        return squared


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _take_squared_distances(X, candidates, squared):  # type: ignore[no-untyped-def]
    """Differences, not products: copies are at 0."""
    for i in range(candidates.shape[0]):
        row = X[i]
        for t in range(candidates.shape[1]):
            j = candidates[i, t]
            if j < 0:
                squared[i, t] = np.inf
                continue
            other = X[j]
            total = X.dtype.type(0)
            for k in range(X.shape[1]):
                apart = other[k] - row[k]
                total += apart * apart
            squared[i, t] = total
