"""Memberships that mean what they say, without labels from outside.

Votes of the training samples that rebuild a new one are spread over many clusters, even where the first of them is
right nearly always: as probabilities they are much too timid. Some training samples are therefore rebuilt from the
others, and the power T is taken under which the votes are as sure, in the mean, as they are right about the fitted
labels. What the clusters themselves are worth is not known to votes; the mean share that the training samples' own
clusters have of the votes in the fit bounds the answer.

Members see the same samples in related views, so that they err together: their agreement is surer than it is right.
Where other families of views have voted too, the memberships of training samples are a mean with theirs
(`shares_beside_others`). Where not, and for what new samples are trusted, a sample on whose cluster the share o of the
votes agrees is believed as far as o^(γ − 1). Votes of one view or of distances agree more easily than votes of several
views: for new samples γ is larger there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.rows import content_order
from masked_subspace._common.sparse.implicit import Rows
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.represent.neighbors.listed_rows import ListedRows

_POWERS = np.geomspace(0.5, 16, 61)
# Training samples that are rebuilt, at most, and in how many parts, each from all samples but its own part. One part
# alone has 50 samples of half of ORL, and T is then between 1.8 and 3.6 by chance.
_REBUILT, _PARTS = 400, 4
# No vote at all counts as this share of one.
_NONE = 1e-3


@dataclass(eq=False)
class Remembered:
    """What was learnt when first asked for; the estimator that holds this stays as `fit` left it."""

    sharpening: Sharpening | None = None
    listed: ListedRows | None = None


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
    def learn(cls, rows: Rows, labels: IntArray, n_clusters: int, own_share: float, voters: Voters) -> Sharpening:
        """From the training rows alone: `labels` are those that the fit found, `own_share` is the mean share of the
        votes that they have."""
        trust = (own_share - 1 / n_clusters) / (1 - 1 / n_clusters) if n_clusters > 1 else 1.0
        if len(rows) < _PARTS or n_clusters == 1:
            return cls(1.0, trust)
        votes, own_labels = _foretold(rows, labels, n_clusters, voters)
        right = float((votes.argmax(axis=1) == own_labels).mean())

        def off(power: float) -> float:
            return abs(float(cls(power, 1.0).apply(votes).max(axis=1).mean()) - right)

        return cls(float(min(_POWERS, key=off)), trust)


def _foretold(rows: Rows, labels: IntArray, n_clusters: int, voters: Voters) -> tuple[FloatArray, IntArray]:
    """Votes on some training samples by those outside their part, and the labels that these samples have."""
    asked = content_order(rows)[np.random.default_rng(0).permutation(len(rows))[:_REBUILT]]
    part = np.full(len(rows), -1)
    part[asked] = np.arange(len(asked)) % _PARTS
    votes, found = [], []
    for number in range(_PARTS):
        new, rest = np.flatnonzero(part == number), np.flatnonzero(part != number)
        votes.append(np.asarray(voters(rows[rest], rows[new]) @ np.eye(n_clusters)[labels[rest]]))
        found.append(labels[new])
    return np.concatenate(votes), np.concatenate(found)
