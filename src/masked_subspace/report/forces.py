"""The forces of the map: linked samples attract each other, random ones repel (after McInnes, Healy and Melville 2018).

The attraction is the gradient of log(1 + d²), the repulsion that of −log(1 − 1/(1 + d²)), over random pairs.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from masked_subspace._common.types import Array

_REPELLED = 4  # random samples that push, for every pull


@njit(cache=True)
def _sweep(places: Array, first: Array, second: Array, weight: Array, rate: float, state: np.uint64) -> np.uint64:
    n = places.shape[0]
    for link in range(len(first)):
        i, j = first[link], second[link]
        dx, dy = places[i, 0] - places[j, 0], places[i, 1] - places[j, 1]
        squared = dx * dx + dy * dy
        pull = rate * weight[link] * min(2.0 / (1.0 + squared), 0.5)
        places[i, 0] -= pull * dx
        places[i, 1] -= pull * dy
        places[j, 0] += pull * dx
        places[j, 1] += pull * dy
        for side in range(2):
            one = i if side == 0 else j
            for _ in range(_REPELLED // 2):
                # xorshift: the same numbers everywhere, without a shared generator
                state ^= state << np.uint64(13)
                state ^= state >> np.uint64(7)
                state ^= state << np.uint64(17)
                other = np.int64(state % np.uint64(n))
                if other == one:
                    continue
                dx, dy = places[one, 0] - places[other, 0], places[one, 1] - places[other, 1]
                squared = dx * dx + dy * dy
                push = rate * weight[link] * 2.0 / ((0.05 + squared) * (1.0 + squared))
                places[one, 0] += min(max(push * dx, -1.0), 1.0)
                places[one, 1] += min(max(push * dy, -1.0), 1.0)
    return state


def pull_and_push(places: Array, first: Array, second: Array, weight: Array, sweeps: int) -> Array:
    """Move the n × 2 `places` by all links, `sweeps` times with steps that shrink to nothing."""
    places = np.array(places, dtype=np.float64)
    state = np.uint64(88172645463325252)
    for sweep in range(sweeps):
        state = np.uint64(_sweep(places, first, second, weight, 1.0 - sweep / sweeps, state))
    return places
