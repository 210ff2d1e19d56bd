"""
Your own representer in the bilevel frame
=========================================

``BilevelClustering`` joins any representer with any labeler by a mask. Here the representer is ridge regression, in ten
lines. The frame gives it rounds, a graph, a cut and scikit-learn's manners.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array

from masked_subspace import BilevelClustering
from masked_subspace.datasets import make_subspaces
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.plots import plot_affinity
from masked_subspace.represent.model import SolverResult

# %%
# A representer has a method ``prepare``, which sees the samples once, and returns an object with ``represent``, which
# is asked in every round with another mask. It returns a matrix Z whose row i rebuilds sample i, and a record of the
# solver; a closed form has little to tell.


class Ridge:
    """Each sample from all others, with a price on the squares of the coefficients."""

    def __init__(self, price=0.1):
        self.price = price

    def prepare(self, X, **_):
        self.X = X
        return self

    def represent(self, soft_mask, progress=None):  # noqa: ARG002 (the frame's signature)
        n = len(self.X)
        gram = self.X @ self.X.T
        prices = np.ones((n, n)) if soft_mask is None else soft_mask.block(0, n) ** 2
        Z = np.zeros((n, n))
        for i in range(n):
            others = np.arange(n) != i
            system = gram[np.ix_(others, others)] + self.price * np.diag(prices[i, others])
            Z[i, others] = np.linalg.solve(system, gram[others, i])
        cost = 0.5 * np.square(self.X - Z @ self.X).sum() + 0.5 * self.price * (prices * Z**2).sum()
        return SolverResult(
            csr_array(Z),
            n_iter=1,
            converged=True,
            stopping_value=0.0,
            mask_residual=0.0,
            sparsity_residual=0.0,
            objective=np.array([cost]),
            seconds=0.0,
        )


# %%
# Three subspaces. One round, then up to three with the mask of the labels: they stop when it no longer changes.

data = make_subspaces(3, dim=3, ambient=15, per_subspace=40, noise=0.08, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
for ax, rounds in zip(axes, (1, 3), strict=True):
    model = BilevelClustering(Ridge(), n_clusters=3, max_rounds=rounds, random_state=0).fit(data.data)
    accuracy = clustering_accuracy(data.target, model.labels_)
    plot_affinity(model.affinity_matrix_, data.target, ax=ax)
    ax.set_title(f"rounds: {model.n_rounds_}, accuracy {accuracy:.2f}")
plt.show()
