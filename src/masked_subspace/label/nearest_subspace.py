"""New rows go to the cluster whose affine subspace is nearest, in the view in which the clusters were found.

How many directions a cluster keeps decides everything. All that stand out from white noise (label/subspaces.py) are
right where clusters are flat, and far too many for pixels: 40 directions of 64 rebuild any digit. The directions that
hold four fifths of the energy, nine at most, are right for images and too few for subspaces of many dimensions. The
clusters themselves say which of the two it is: they keep all directions above noise if three quarters of the
training rows tell the clusters of the rest better so (docs/findings/calibration.md, "Votes or subspaces").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from masked_subspace._common.rows import content_order, drawn_by_content, row_blocks
from masked_subspace._common.sparse.implicit import SEEN_DIRECTIONS, ImplicitRows, LeadingDirections, Rotation, Rows
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.label.agreement import AffineSubspace, squared_distances
from masked_subspace.label.subspaces import principal_directions, signal_dimension

_FOLDS, _SPLITS = 4, 3
# All directions above noise are kept where they tell this share of the rows more: on small tables the two rules differ
# by less from one split to the next.
_CLEARLY = 0.01
# Rows by which a rule is chosen, and rows of a cluster that give its directions, at most.
_COMPARED, _MOST_MEMBERS = 5_000, 2_000
_ENERGY, _MOST_DIRECTIONS = 0.8, 9

# variances from large to small, members, features -> directions that are kept
Rule = Callable[[FloatArray, int, int], int]


def of_most_energy(variances: FloatArray, n_members: int, n_features: int) -> int:
    """Four fifths of the energy, nine directions and half of the features at most."""
    share = np.cumsum(variances) / max(float(variances.sum()), np.finfo(float).tiny)
    most = min(_MOST_DIRECTIONS, n_members - 1, n_features // 2)
    return min(int(np.searchsorted(share, _ENERGY)) + 1, most)


# The first rule is that of `subspaces_`, here in the view of the fit.
RULES: dict[str, Rule] = {"above noise": signal_dimension, "most energy": of_most_energy}


@dataclass(frozen=True, eq=False)
class NearestSubspace:
    """One affine subspace a cluster; `clusters` are those that have samples."""

    rule: str
    clusters: IntArray
    subspaces: list[AffineSubspace]
    n_clusters: int
    rotation: Rotation | None  # what makes arrays of rows that are not written out

    @classmethod
    def learn(cls, rows: Rows, labels: IntArray, n_clusters: int, n_features: int) -> NearestSubspace:
        """From the training rows and the clusters that the fit gave them; `n_features` is their width as arrays."""
        rotation = None
        if isinstance(rows, ImplicitRows):
            # Beyond its leading directions a row is as far from one cluster as from another.
            rotation = LeadingDirections.of(rows, SEEN_DIRECTIONS).rotation()
            rows = rotation.apply(rows)
        rule = _rule_for(rows, labels, n_clusters, n_features)
        found = _Directions.of_clusters(rows, labels, n_clusters)
        subspaces = [one.subspace(RULES[rule], n_features) for one in found.values()]
        return cls(rule, np.array(list(found)), subspaces, n_clusters, rotation)

    def labels(self, rows: Rows) -> IntArray:
        """The nearest cluster of each row."""
        nearest: IntArray = np.empty(len(rows), dtype=np.int64)
        for start, stop in row_blocks(len(rows), rows.shape[1]):
            part = rows[start:stop]
            block = self.rotation.apply(part) if self.rotation is not None else part  # type: ignore[arg-type]
            distance = squared_distances(np.asarray(block, dtype=np.float64), self.subspaces)
            nearest[start:stop] = self.clusters[distance.argmin(axis=1)]
        return nearest


@dataclass(frozen=True, eq=False)
class _Directions:
    """The mean of a cluster's members and all directions about it, as rows."""

    mean: FloatArray
    variances: FloatArray
    directions: FloatArray
    n_members: int

    @classmethod
    def of_clusters(cls, rows: FloatArray, labels: IntArray, n_clusters: int) -> dict[int, _Directions]:
        """Of each cluster that has members."""
        members = {cluster: np.flatnonzero(labels == cluster) for cluster in range(n_clusters)}
        return {cluster: cls._of(rows[places]) for cluster, places in members.items() if len(places)}

    @classmethod
    def _of(cls, members: FloatArray) -> _Directions:
        drawn = drawn_by_content(members, _MOST_MEMBERS, np.random.default_rng(0))
        members = np.asarray(members[drawn], dtype=np.float64)
        mean = members.mean(axis=0)
        return cls(mean, *principal_directions(members - mean), len(members))

    def subspace(self, rule: Rule, n_features: int) -> AffineSubspace:
        kept = min(rule(self.variances, self.n_members, n_features), len(self.variances))
        # A cluster that keeps none is its mean: one direction of no length takes nothing from a distance.
        return self.mean, self.directions[:kept].T if kept > 0 else np.zeros((len(self.mean), 1))


def _rule_for(rows: FloatArray, labels: IntArray, n_clusters: int, n_features: int) -> str:
    """The rule under which the rows of three folds tell the clusters of the fourth most often; few directions in
    doubt."""
    rng = np.random.default_rng(0)
    drawn = drawn_by_content(rows, _COMPARED, rng)
    rows, labels = rows[drawn], labels[drawn]
    order = content_order(rows)
    right = dict.fromkeys(RULES, 0)
    for _ in range(_SPLITS):
        fold = np.empty(len(rows), dtype=np.int64)
        fold[order] = rng.permutation(len(rows)) % _FOLDS
        for left_out in range(min(_FOLDS, len(rows))):
            train = fold != left_out
            found = _Directions.of_clusters(rows[train], labels[train], n_clusters)
            clusters, others = np.array(list(found)), np.asarray(rows[~train], dtype=np.float64)
            for name, rule in RULES.items():
                distance = squared_distances(others, [one.subspace(rule, n_features) for one in found.values()])
                right[name] += int((clusters[distance.argmin(axis=1)] == labels[~train]).sum())
    more = right["above noise"] - right["most energy"]
    return "above noise" if more > _CLEARLY * _SPLITS * len(rows) else "most energy"
