"""
How many clusters?
==================

Nobody knows it for sure. ``structure_`` says, without labels, how far the clusters of a fit are real. Fit several
numbers and compare it.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from masked_subspace import BMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.metrics import clustering_accuracy

# %%
# Two sets: subspaces, where the number is plain to see, and digits.

subspaces = make_subspaces(7, dim=3, ambient=30, per_subspace=50, noise=0.02, random_state=0)
digits = load_digits()
sets = {
    "7 subspaces": (subspaces.data, subspaces.target),
    "10 digits": (digits.data[:400], digits.target[:400]),
}
numbers = np.arange(3, 15)
structure, accuracy = {}, {}
for name, (X, y) in sets.items():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a wrong number warns of low structure, which is what we are looking for
        models = [BMSC(int(k), random_state=0).fit(X) for k in numbers]
    structure[name] = [model.structure_ for model in models]
    accuracy[name] = [clustering_accuracy(y, model.labels_) for model in models]
    print(f"{name:12} highest structure at {numbers[np.argmax(structure[name])]}")

# %%
# The accuracy needs labels; it is here to check the other line.

figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained", sharey=True)
for ax, name in zip(axes, sets, strict=True):
    ax.plot(numbers, structure[name], "o-", label="structure_")
    ax.plot(numbers, accuracy[name], "s:", label="accuracy")
    ax.set(title=name, xlabel="n_clusters", ylim=(0, 1.05))
axes[0].legend()
plt.show()

# %%
# Subspaces are counted right. For digits the highest value is at few clusters: some large groups are easily found
# again. So ``structure_`` tells that a number is bad. It does not tell which of several good ones is meant. Look at two
# or three of them in the report.
