"""Memberships that mean what they say, without labels from outside.

Votes of the training samples that rebuild a new one are spread over many clusters, even where the first of them is
right nearly always: as probabilities they are much too timid. Some training samples are therefore rebuilt from the
others, and the power T is taken under which their votes foretell their clusters best. What the clusters themselves are
worth is not known to votes; the mean membership of the training samples in their own clusters bounds the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.sparse.implicit import Rows
from masked_subspace._common.types import FloatArray, IntArray

_POWERS = np.geomspace(1, 16, 25)
# Training samples that are rebuilt from the others, at most, and at most this share of them.
_REBUILT, _REBUILT_SHARE = 400, 0.25
# No vote at all counts as this share of one.
_NONE = 1e-3


@dataclass(eq=False)
class Remembered:
    """What was learnt when first asked for; the estimator that holds this stays as `fit` left it."""

    sharpening: Sharpening | None = None


Voters = Callable[[Rows, Rows], csr_array]  # (rows that vote, new rows) -> shares of the votes


@dataclass(frozen=True)
class Sharpening:
    """p ∝ v^T for votes v, mixed with equal shares so that nothing is surer than the training samples are."""

    power: float
    trust: float

    def apply(self, votes: FloatArray) -> FloatArray:
        raised = (votes + _NONE / votes.shape[1]) ** self.power
        sharp = raised / raised.sum(axis=1, keepdims=True)
        mixed: FloatArray = self.trust * sharp + (1 - self.trust) / votes.shape[1]
        return mixed.astype(votes.dtype)

    @classmethod
    def learn(cls, rows: Rows, labels: IntArray, memberships: FloatArray, voters: Voters) -> Sharpening:
        """From the training rows alone: `labels` are those that the fit found."""
        n_clusters = memberships.shape[1]
        own = float(memberships[np.arange(len(labels)), labels].mean())
        trust = (own - 1 / n_clusters) / (1 - 1 / n_clusters) if n_clusters > 1 else 1.0
        asked = np.random.default_rng(0).permutation(len(rows))
        count = min(_REBUILT, int(_REBUILT_SHARE * len(rows)))
        if count == 0 or n_clusters == 1:
            return cls(1.0, trust)
        new, rest = asked[:count], asked[count:]
        votes = np.asarray(voters(rows[rest], rows[new]) @ np.eye(n_clusters)[labels[rest]])

        def surprise(power: float) -> float:
            told = cls(power, 1.0).apply(votes)[np.arange(count), labels[new]]
            return float(-np.log(np.maximum(told, 1e-12)).mean())

        return cls(float(min(_POWERS, key=surprise)), trust)
