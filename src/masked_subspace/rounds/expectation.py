"""Gaussian mixtures by expectation and maximization, for tables: what scikit-learn's `GaussianMixture` finds.

    r_ik = π_k N(x_i; m_k, Σ_k) / Σ_l π_l N(x_i; m_l, Σ_l),   π, m and Σ the weighted shares, means and covariances

from the clusters of k-means on, until the mean log-likelihood moves by less than 1e-3; of several starts the likeliest.
Starts, steps and the stop are scikit-learn's, so that the components are the same ones. A table has a few hundred rows
and a few features, where checks and dispatch take four fifths of the time of `GaussianMixture`: counting clusters fits
dozens of mixtures.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

from masked_subspace._common.types import FloatArray, IntArray

_TOL, _MOST_STEPS = 1e-3, 100
# No component is quite empty.
_NONE = 10 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Mixture:
    """Components: their shares, their means, and triangles T_k with T_k Tᵀ_k = Σ_k⁻¹; one triangle if Σ is shared."""

    shares: FloatArray
    means: FloatArray
    triangles: FloatArray

    @classmethod
    def of(cls, rows: FloatArray, parts: FloatArray, *, shared: bool, ridge: float) -> Mixture:
        """The likeliest one if row i belongs to component k by the part r_ik; `ridge` is added to every variance."""
        sizes = parts.sum(axis=0) + _NONE
        means = parts.T @ rows / sizes[:, None]
        if shared:
            covariances = ((rows.T @ rows - (sizes * means.T) @ means) / sizes.sum())[None]
        else:
            covariances = np.stack(
                [
                    (part * (rows - mean).T) @ (rows - mean) / size
                    for part, mean, size in zip(parts.T, means, sizes, strict=True)
                ]
            )
        lower = np.linalg.cholesky(covariances + ridge * np.eye(rows.shape[1]))
        return cls(sizes / sizes.sum(), means, np.linalg.inv(lower).transpose(0, 2, 1))

    def log_joint(self, rows: FloatArray) -> FloatArray:
        """n × K: log π_k + log N(x_i; m_k, Σ_k)."""
        found = np.empty((len(rows), len(self.means)))
        turned = rows @ self.triangles[0] if len(self.triangles) == 1 else None
        for place, mean in enumerate(self.means):
            triangle = self.triangles[place if turned is None else 0]
            white = (rows @ triangle if turned is None else turned) - mean @ triangle
            found[:, place] = -0.5 * np.einsum("ij,ij->i", white, white) + np.log(np.diagonal(triangle)).sum()
        constant = -0.5 * rows.shape[1] * np.log(2 * np.pi)
        joint: FloatArray = found + (np.log(self.shares) + constant)
        return joint

    def labels(self, rows: FloatArray) -> IntArray:
        """The most probable component of each row."""
        labels: IntArray = self.log_joint(rows.astype(np.float64, copy=False)).argmax(axis=1).astype(np.int32)
        return labels


def likeliest_mixture(
    rows: FloatArray, n_clusters: int, *, shared: bool, ridge: float, starts: int, seed: int
) -> Mixture:
    """The best of some starts."""
    rows = rows.astype(np.float64, copy=False)
    state = np.random.RandomState(seed)  # the kind that scikit-learn draws from
    found = [_from_means(rows, n_clusters, state, shared=shared, ridge=ridge) for _ in range(starts)]
    return max(found, key=lambda one: one[1])[0]


def _from_means(
    rows: FloatArray, n_clusters: int, state: np.random.RandomState, *, shared: bool, ridge: float
) -> tuple[Mixture, float]:
    """A mixture from one k-means start, and the mean log-likelihood before its last step."""
    nearest = KMeans(n_clusters, n_init=1, random_state=state).fit(rows).labels_
    model = Mixture.of(rows, np.eye(n_clusters)[nearest], shared=shared, ridge=ridge)
    likelihood = -np.inf
    for _ in range(_MOST_STEPS):
        joint = model.log_joint(rows)
        largest = joint.max(axis=1, keepdims=True)
        parts = np.exp(joint - largest)
        total = parts.sum(axis=1, keepdims=True)
        before, likelihood = likelihood, float((largest + np.log(total)).mean())
        model = Mixture.of(rows, parts / total, shared=shared, ridge=ridge)
        if abs(likelihood - before) < _TOL:
            break
    return model, likelihood
