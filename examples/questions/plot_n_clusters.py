"""
How many clusters?
==================

``n_clusters="auto"`` or a range ``(low, high)`` lets the fit choose, without labels. It looks at one set of graphs and
asks which number of clusters different looks at them find again. Where the evidence is split, it names more than one.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from masked_subspace import RMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.plots import plot_n_clusters

# %%
# Three sets: clean subspaces, where the number is plain to see; noisy ones; digits.

clean = make_subspaces(7, dim=3, ambient=30, per_subspace=50, noise=0.02, random_state=0)
noisy = make_subspaces(5, dim=4, ambient=20, per_subspace=60, noise=0.1, random_state=2)
digits = load_digits()
sets = {
    "7 subspaces": (clean.data, clean.target),
    "5 noisy subspaces": (noisy.data, noisy.target),
    "10 digits": (digits.data[:500], digits.target[:500]),
}
models = {}
for name, (X, y) in sets.items():
    model = models[name] = RMSC("auto", random_state=0).fit(X)
    accuracy = clustering_accuracy(y, model.labels_)
    print(f"{name:18} {model.n_clusters_} taken, accuracy {accuracy:.2f}; candidates {model.n_clusters_candidates_}")

# %%
# ``n_clusters_scores_`` has one record for each number tried.

figure, axes = plt.subplots(1, 3, figsize=(9, 2.8), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    plot_n_clusters(model, ax=ax)
    ax.set_title(name)
plt.show()

# %%
# A range says what you already know.

X, y = sets["10 digits"]
model = RMSC((8, 14), random_state=0).fit(X)
print(f"between 8 and 14: {model.n_clusters_} taken, accuracy {clustering_accuracy(y, model.labels_):.2f}")

# %%
# Take the number for a proposal. Look at the candidates in the report before you believe one of them: a class that
# falls into two shapes may well be two clusters.
