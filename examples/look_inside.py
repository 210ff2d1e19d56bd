"""Cluster handwritten digits and look at why: the graphs of three methods, and the digits RMSC is least sure of.

python examples/look_inside.py digits.png
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from masked_subspace import BMSC, GMSC, RMSC
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.plots import plot_affinity

data = load_digits()
figure, axes = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained")
for ax, model in zip(axes, (BMSC(10), GMSC(10), RMSC(10)), strict=False):
    model.set_params(random_state=0).fit(data.data)
    accuracy = clustering_accuracy(data.target, model.labels_)
    plot_affinity(model.affinity_matrix_, labels=data.target, ax=ax)
    ax.set_title(f"{type(model).__name__}: accuracy {accuracy:.1%}")
    print(f"{type(model).__name__}: {accuracy:.3f}")
unsure = np.pad(data.images[np.argsort(model.certainty_)[:25]], ((0, 0), (1, 1), (1, 1)))
axes[3].imshow(unsure.reshape(5, 5, 10, 10).swapaxes(1, 2).reshape(50, 50), cmap="gray_r")
axes[3].set(title="the digits RMSC is least sure of", xticks=[], yticks=[])
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "digits.png", dpi=100)
