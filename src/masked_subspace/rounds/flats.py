"""Votes of mixtures of subspaces, for tables: lines, planes and flats that cross.

    p(u) = Σ_k π_k c_d |Λ_k|^-½ (uᵀ Λ_k⁻¹ u)^-d/2,   u a row of unit length

the angular central Gaussian of Tyler (1987). Λ_k says in which directions the samples of k lie; a flat Λ_k is a linear
subspace with noise, whatever the lengths of its samples. In few features subspaces cross often, and a sample near a
crossing has its neighbours in several of them: codes and graphs err there, a model of whole subspaces does not. Two
families: linear subspaces of the rows as given, and affine ones, which are linear once rows have a constant entry.

By expectation and maximization, with w_i = uᵢᵀ Λ_k⁻¹ uᵢ:  Λ_k ← Σ_i r_ik uᵢuᵢᵀ / w_i, trace d.

Each vote is fitted to a draw of the samples. One cloud in two or three features gives votes that agree a little, too:
what counts is by how much they agree better than those of a cloud.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from masked_subspace._common.rows import content_order, drawn_by_content, eigenpairs, row_blocks, unit_rows
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.label.agreement import adjusted_rand_index, agreement
from masked_subspace.parallel.engine import limited_threads
from masked_subspace.rounds.mixtures import measured, measured_columns

LINEAR, AFFINE = "linear-mixture", "affine-mixture"
FLATS = (LINEAR, AFFINE)
_VOTES, _CLOUDS, _VOTES_OF_CLOUDS = 6, 3, 4
_SHARE, _MOST_DRAWN = 0.7, 1_000
# Samples a draw must have for each number that a row of all Λ has.
_SAMPLES_A_DIRECTION = 2
# Starts of a vote, their first steps, how many go on, and their most steps. 24 starts find ten planes in ten features a
# little more often, at twice the cost.
_STARTS, _FIRST_STEPS, _KEPT, _MOST_STEPS, _TOL = 10, 6, 2, 60, 1e-4
# Added to Λ, which has a trace of d: noise of 3 % is not resolved further. At a start the samples are few.
_RIDGE, _RIDGE_OF_STARTS = 1e-3, 0.05
# A start takes so many samples about each of K: d + 1, or a quarter of a cluster.
_PART_OF_A_CLUSTER = 4
# Where two votes agree less than this the family could not lead, and no more are asked for.
_HOPELESS = 0.3
_NONE = 1e-12
_ROUNDING = 1e-12
# Samples from which the subspaces are learnt that new ones go to.
_LEARNT = 5_000


def suits_flats(X: FloatArray, n_clusters: int) -> bool:
    """Whether subspaces can cross in the table X, and it has enough samples for the directions of so many of them."""
    return X.shape[1] > 1 and bool(_drawn(len(X)) >= _SAMPLES_A_DIRECTION * X.shape[1] * n_clusters)


def flat_votes(X: FloatArray, n_clusters: int, name: str, seed: int) -> list[IntArray]:
    """Labels of all samples by each of some mixtures, every one fitted to a draw of its own."""
    return _votes(_directions(X, name), n_clusters, seed, _VOTES)


def beyond_clouds(agreed: float, X: FloatArray, n_clusters: int, name: str, seed: int) -> float:
    """How far votes agree beyond those of single clouds with the mean and the covariance of X: 0 as much, 1 wholly."""
    rows, rng = measured(np.asarray(X, dtype=np.float64)), np.random.default_rng(seed)
    values, directions = eigenpairs(np.cov(rows, rowvar=False))
    shape = (directions * np.sqrt(np.maximum(values, 0))) @ directions.T  # whatever the signs of the directions
    count, chance = min(len(rows), round(_MOST_DRAWN / _SHARE)), 0.0
    for _ in range(_CLOUDS):
        cloud = rows.mean(axis=0) + rng.standard_normal((count, rows.shape[1])) @ shape
        chance = max(chance, agreement(_votes(_directions(cloud, name), n_clusters, seed, _VOTES_OF_CLOUDS)))
    return max(0.0, (agreed - chance) / (1 - chance)) if chance < 1 else 0.0


@dataclass(frozen=True, eq=False)
class Directions:
    """How rows become directions, rows of unit length whose subspaces through the origin are meant."""

    columns: IntArray  # those that are measured
    mean: FloatArray
    scale: FloatArray
    affine: bool

    @classmethod
    def learn(cls, X: FloatArray, name: str) -> Directions:
        rows = np.asarray(X, dtype=np.float64)
        columns = measured_columns(rows)
        rows, affine = rows[:, columns], name == AFFINE
        mean = rows.mean(axis=0) if affine else np.zeros(len(columns))
        size = np.sqrt(np.mean((rows - mean) ** 2, axis=0))
        # What is left of a constant column is rounding.
        kept = size > _ROUNDING * np.abs(rows).max(axis=0, initial=0)
        return cls(columns, mean, np.where(kept, 1 / np.where(kept, size, 1), 0), affine)

    def apply(self, X: FloatArray) -> FloatArray:
        rows = (np.asarray(X, dtype=np.float64)[:, self.columns] - self.mean) * self.scale
        return unit_rows(np.column_stack([rows, np.ones(len(rows))]) if self.affine else rows)


@dataclass(eq=False)
class FlatsOfFit:
    """The subspaces of clusters that were found as a whole, learnt when new samples first ask."""

    X: FloatArray
    labels: IntArray
    name: str
    learnt: tuple[Directions, Flats] | None = None

    def shares_of(self, X: FloatArray) -> FloatArray:
        """n × K: how probable each cluster is for new samples."""
        if self.learnt is None:
            seen, drawn = (
                Directions.learn(self.X, self.name),
                drawn_by_content(self.X, _LEARNT, np.random.default_rng(0)),
            )
            model = Flats.of_labels(seen.apply(self.X[drawn]), self.labels[drawn], int(self.labels.max()) + 1)
            self.learnt = seen, model
        directions, model = self.learnt
        shares: FloatArray = model.shares_of(directions.apply(X)).astype(X.dtype)
        return shares


def _directions(X: FloatArray, name: str) -> FloatArray:
    return Directions.learn(X, name).apply(X)


def _votes(rows: FloatArray, n_clusters: int, seed: int, votes: int) -> list[IntArray]:
    # Draws are by content, and in its order: permuted samples get the same votes.
    order, rng = content_order(rows), np.random.default_rng(seed)
    found: list[IntArray] = []
    with limited_threads(1):
        while len(found) < votes:
            drawn = rows[order[rng.choice(len(rows), _drawn(len(rows)), replace=False)]]
            found.append(_likeliest(drawn, n_clusters, rng).labels(rows))
            if len(found) == 2 and adjusted_rand_index(*found) < _HOPELESS:
                break
    return found


def _drawn(n_samples: int) -> int:
    return min(_MOST_DRAWN, round(_SHARE * n_samples))


@dataclass(frozen=True)
class Flats:
    """Components: their shares π_k and triangles T_k with T_k Tᵀ_k = Λ_k⁻¹."""

    shares: FloatArray
    triangles: FloatArray

    @classmethod
    def of_labels(cls, rows: FloatArray, labels: IntArray, n_clusters: int) -> Flats:
        """The likeliest ones if every row belongs to its cluster."""
        rows, parts = rows.astype(np.float64, copy=False), np.eye(n_clusters)[labels].T
        shares = parts.sum(axis=1) + _NONE
        model = cls.of(shares, (parts[:, None, :] * rows.T) @ rows, _RIDGE)
        for _ in range(_FIRST_STEPS):
            model = cls.of(shares, ((parts / model.sizes(rows))[:, None, :] * rows.T) @ rows, _RIDGE)
        return model

    def shares_of(self, rows: FloatArray) -> FloatArray:
        """n × K: how probable each component is, rows summing to 1."""
        shares = np.empty((len(rows), len(self.shares)))
        for start, stop in self._blocks(rows):
            joint = self.log_joint(self.sizes(rows[start:stop]))
            parts = np.exp(joint - joint.max(axis=0))
            shares[start:stop] = (parts / parts.sum(axis=0)).T
        return shares

    def _blocks(self, rows: FloatArray) -> Iterator[tuple[int, int]]:
        return row_blocks(len(rows), len(self.shares) * rows.shape[1])

    @classmethod
    def of(cls, shares: FloatArray, scatters: FloatArray, ridge: float) -> Flats:
        d = scatters.shape[-1]
        trace = np.maximum(np.trace(scatters, axis1=1, axis2=2), _NONE)
        lower = np.linalg.cholesky(d * scatters / trace[:, None, None] + ridge * np.eye(d))
        return cls(shares / shares.sum(), np.linalg.inv(lower).transpose(0, 2, 1))

    def sizes(self, rows: FloatArray) -> FloatArray:
        """K × n: uᵀ Λ_k⁻¹ u."""
        white = rows @ self.triangles
        sizes: FloatArray = np.maximum(np.einsum("kij,kij->ki", white, white), _NONE)
        return sizes

    def log_joint(self, sizes: FloatArray) -> FloatArray:
        """K × n: log π_k + log p(u | k) + a constant."""
        halved = np.log(np.diagonal(self.triangles, axis1=1, axis2=2)).sum(axis=1)  # −½ log |Λ_k|
        joint: FloatArray = (np.log(self.shares) + halved)[:, None] - self.triangles.shape[1] / 2 * np.log(sizes)
        return joint

    def labels(self, rows: FloatArray) -> IntArray:
        """The most probable component of each row."""
        labels = np.empty(len(rows), dtype=np.int32)
        for start, stop in self._blocks(rows):
            labels[start:stop] = self.log_joint(self.sizes(rows[start:stop])).argmax(axis=0)
        return labels

    def improved(self, rows: FloatArray, steps: int) -> tuple[Flats, float]:
        """After at most so many steps, with the mean log-likelihood before the last one."""
        model, likelihood = self, -np.inf
        for _ in range(steps):
            sizes = model.sizes(rows)
            joint = model.log_joint(sizes)
            largest = joint.max(axis=0)
            parts = np.exp(joint - largest)
            total = parts.sum(axis=0)
            before, likelihood = likelihood, float((largest + np.log(total)).mean())
            parts /= total
            scatters = ((parts / sizes)[:, None, :] * rows.T) @ rows
            model = Flats.of(parts.sum(axis=1) + _NONE, scatters, _RIDGE)
            if abs(likelihood - before) < _TOL:
                break
        return model, likelihood


def _likeliest(rows: FloatArray, n_clusters: int, rng: np.random.Generator) -> Flats:
    """Of several starts those that are likeliest after a few steps go on; the likeliest of these."""
    begun = [_start(rows, n_clusters, rng).improved(rows, _FIRST_STEPS) for _ in range(_STARTS)]
    begun.sort(key=_likelihood, reverse=True)
    return max((model.improved(rows, _MOST_STEPS) for model, _ in begun[:_KEPT]), key=_likelihood)[0]


def _likelihood(found: tuple[Flats, float]) -> float:
    return found[1]


def _start(rows: FloatArray, n_clusters: int, rng: np.random.Generator) -> Flats:
    """Around each of K samples the directions of those of the largest |cosine|."""
    n, d = rows.shape
    count = min(n, max(d + 1, n // (_PART_OF_A_CLUSTER * n_clusters)))
    chosen = rng.choice(n, n_clusters, replace=False)
    near = np.argsort(-np.abs(rows[chosen] @ rows.T), axis=1, kind="stable")[:, :count]
    parts = rows[near]
    return Flats.of(np.ones(n_clusters), parts.transpose(0, 2, 1) @ parts, _RIDGE_OF_STARTS)
