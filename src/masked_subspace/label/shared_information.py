"""What two labelings share beyond chance: the adjusted mutual information, and the score of a number of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from masked_subspace._common.types import IntArray

# θ of the score: the share of what a split says that must be found again (docs/findings/number_of_clusters.md).
_PRICE = 0.65


@dataclass(frozen=True)
class SharedInformation:
    """What two labelings share: the adjusted mutual information, and the information above chance."""

    agreement: float
    information: float

    @property
    def score(self) -> float:
        return (self.agreement - _PRICE) * self.information

    @classmethod
    def of(cls, pairs: Sequence[tuple[IntArray, IntArray]], rng: np.random.Generator) -> SharedInformation:
        entropy, shared, chance = 0.0, 0.0, 0.0
        for a, b in pairs:
            known = entropy_of(np.bincount(a)) + entropy_of(np.bincount(b))
            entropy += known / 2
            shared += known - _joint_entropy(a, b)
            chance += known - _joint_entropy(a, rng.permutation(b))
        above = max(entropy - chance, np.finfo(float).tiny)
        return cls((shared - chance) / above, above / len(pairs))


def entropy_of(counts: IntArray) -> float:
    """Of the shares that these counts are."""
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())


def _joint_entropy(a: IntArray, b: IntArray) -> float:
    return entropy_of(np.bincount(a.astype(np.int64) * (int(b.max()) + 1) + b))
