"""How far clusters in few features stand apart from what one cloud would give.

In two or three features any cloud can be cut into K cells that are found again and that predict each other, so that
agreement and prediction strength say little. What a cloud does not have is a gap between the cells: there

    q = (share of links inside clusters − what chance puts there) / (1 − what chance puts there)

over the ten nearest neighbours of each sample. It is compared with q₀, the largest q of k-means on clouds with the same
covariance, normal and uniform: excess = (q − q₀) / (1 − q₀), which is 1 where no link leaves its cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from masked_subspace._common.eigen import eigenpairs
from masked_subspace._common.types import FloatArray, IndexArray, IntArray

_NEIGHBOURS = 10
_CLOUDS = 3  # of each kind
# 60 clouds of 2 … 20 features have an excess of .27 at most, most of them below .1; iris, whose two classes touch, has
# −.01 … .11 and is to count as real (docs/findings/judge.md, "Trust").
_NOTHING, _CLEAR = -0.25, 0.3


def separation(samples: FloatArray, labels: IntArray, seed: int = 0) -> float:
    """0 … 1 for samples with every feature on one scale: 0 where one cloud would be cut as cleanly, 1 at clear gaps."""
    excess = Clouds.like(samples, seed).excess(labels)
    return float(np.clip((excess - _NOTHING) / (_CLEAR - _NOTHING), 0, 1))


@dataclass(frozen=True, eq=False)
class Clouds:
    """Samples and single clouds of their shape, each with the nearest neighbours of its points."""

    near: IndexArray
    clouds: list[tuple[FloatArray, IndexArray]]
    seed: int
    _highest: dict[int, float] = field(default_factory=dict)  # by the number of clusters

    @classmethod
    def like(cls, samples: FloatArray, seed: int = 0) -> Clouds:
        rng = np.random.default_rng(seed)
        centred = samples - samples.mean(axis=0)
        values, vectors = eigenpairs(centred.T @ centred / len(samples))
        shape = vectors * np.sqrt(np.maximum(values, 0))
        clouds = []
        for _ in range(_CLOUDS):
            clouds.append(rng.standard_normal(samples.shape) @ shape.T)
            clouds.append(np.sqrt(12) * (rng.random(samples.shape) - 0.5) @ shape.T)
        return cls(_neighbours(samples), [(cloud, _neighbours(cloud)) for cloud in clouds], seed)

    def excess(self, labels: IntArray) -> float:
        """How much more of the links stay inside these clusters than inside as many of one cloud."""
        highest = self._of_one_cloud(len(np.unique(labels)))
        return (_share_inside(self.near, labels) - highest) / max(1 - highest, 1e-3)

    def _of_one_cloud(self, n_clusters: int) -> float:
        if n_clusters not in self._highest:
            from sklearn.cluster import KMeans

            found = [
                (KMeans(n_clusters, n_init=2, random_state=self.seed).fit_predict(cloud), near)
                for cloud, near in self.clouds
            ]
            self._highest[n_clusters] = max(_share_inside(near, one) for one, near in found)
        return self._highest[n_clusters]


def inside_share(samples: FloatArray, labels: IntArray) -> float:
    """q: 0 for labels at random, 1 where every sample's nearest neighbours are in its cluster."""
    return _share_inside(_neighbours(samples), labels)


def _neighbours(samples: FloatArray) -> IndexArray:
    from sklearn.neighbors import NearestNeighbors

    count = min(_NEIGHBOURS, len(samples) - 1)
    near: IndexArray = NearestNeighbors(n_neighbors=count).fit(samples).kneighbors(return_distance=False)
    return near


def _share_inside(near: IndexArray, labels: IntArray) -> float:
    chance = float(np.square(np.bincount(labels) / len(labels)).sum())
    return (float(np.mean(labels[near] == labels[:, None])) - chance) / max(1 - chance, 1e-12)
