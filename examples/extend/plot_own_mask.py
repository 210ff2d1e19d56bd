"""
Your own mask
=============

A soft mask is a price for each pair of samples. To write one, say what a pair costs. Here samples have a time, and we
believe that neighbours in time rarely change their cluster.
"""

import matplotlib.pyplot as plt
import numpy as np

from masked_subspace import GMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.masks import SoftMask
from masked_subspace.metrics import clustering_accuracy, subspace_preserving_error
from masked_subspace.plots import plot_affinity

# %%
# Four subspaces, one after the other in time, with a lot of noise.

data = make_subspaces(4, dim=4, ambient=20, per_subspace=50, noise=0.2, random_state=1)
X, y = data.data, data.target

# %%
# A mask needs ``n_samples`` and one method. ``at`` gets arrays of sample numbers and returns prices, which
# are never negative.


class TimeMask(SoftMask):
    """Cheap for samples near in time, dear for distant ones."""

    def __init__(self, n_samples, width=25.0, strength=3.0):
        self.n_samples = n_samples
        self.width = width
        self.strength = strength

    def at(self, rows, cols):
        near = np.exp(-np.abs(rows - cols) / self.width)  # 1 beside each other, 0 far apart
        return self.strength ** (1 - 2 * near)


mask = TimeMask(len(X))

# %%
# ``mask_weight`` says how much prices count.

models = {
    "without a mask": GMSC(4, random_state=0),
    "with time": GMSC(4, soft_mask=mask, mask_weight=1, random_state=0),
}
for name, model in models.items():
    model.fit(X)
    wrong = subspace_preserving_error(model.representation_matrix_, y)
    print(f"{name:15} accuracy {clustering_accuracy(y, model.labels_):.2f}, weight on wrong samples {wrong:.2f}")

# %%
# The prices, and the graph without them and with them.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.1), layout="constrained")
axes[0].imshow(mask.block(0, len(X)), cmap="cividis")
axes[0].set(title="prices")
for ax, (name, model) in zip(axes[1:], models.items(), strict=True):
    plot_affinity(model.affinity_matrix_, y, ax=ax)
    ax.set(title=f"graph {name}")
plt.show()
