"""Which numbers of clusters are tried: all small ones, ever wider steps, and those near the best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from masked_subspace._common.types import FloatArray

# Every number up to here is tried; above, steps of 12 %, and then at most so many near the best.
_EVERY_UP_TO, _STEP, _NEAR_THE_BEST = 21, 1.12, 20
# Each fourth of these comes first: of a family that finds nothing there again the others are not tried, nor are those
# between two that have less than half of the best score.
_SKIPPED, _HALF = 4, 0.5


def first_numbers(low: int, high: int) -> list[int]:
    """Every number up to 21, or of a short range, then in steps of 12 %."""
    numbers = set(range(low, min(high, max(low, _EVERY_UP_TO)) + 1)) | {low, high}
    value = float(max(low, _EVERY_UP_TO))
    while value < high:
        numbers.add(int(value))
        value = max(value + 1, value * _STEP)
    return sorted(numbers - {1} if high > 1 else numbers)


def between_neighbours(tried: Sequence[int], score: FloatArray, flat: float) -> list[int]:
    """Numbers between the neighbours of those within `flat` of the best score: all, or so many of them evenly."""
    good = np.flatnonzero(score >= score.max() - flat * abs(score.max()))
    ends = [(tried[max(0, place - 1)], tried[min(place + 1, len(tried) - 1)]) for place in good.tolist()]
    new = sorted({k for below, above in ends for k in range(below, above)} - set(tried))
    even = np.linspace(0, len(new) - 1, min(len(new), _NEAR_THE_BEST)).round().astype(int)
    return [new[place] for place in even.tolist()]


def every_fourth(tried: Sequence[int]) -> list[int]:
    """The numbers that come first."""
    return [*tried[:1], *tried[1::_SKIPPED]]


def promising(tried: Sequence[int], scores: Sequence[Sequence[float]]) -> list[int]:
    """Every fourth number, and those beside one with at least half of the best score; all of them where a family finds
    nothing again. `scores` has those of every fourth number, a list for each family."""
    some = every_fourth(tried)
    best = [max(of_family) for of_family in scores]
    if min(best) <= 0:
        return list(tried)
    good = [
        any(of_family[place] >= _HALF * most for of_family, most in zip(scores, best, strict=True))
        for place in range(len(some))
    ]
    above = np.searchsorted(some, tried)
    kept = [good[max(place - 1, 0)] or good[min(place, len(some) - 1)] for place in above.tolist()]
    return [k for k, keep in zip(tried, kept, strict=True) if keep or k in some]
