"""
Shapes and subspaces: who finds what
====================================

The famous picture of clusterings shows shapes in a plane. Here are two of them beside three kinds of subspaces. No
method wins every row. Choose by what your data are like.
"""

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.decomposition import PCA

from masked_subspace import RMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.metrics import clustering_accuracy, match_labels

# %%
# Two shapes in a plane, and subspaces: independent ones, ones that share a direction, affine ones.

common = {"dim": 3, "ambient": 20, "per_subspace": 60, "noise": 0.03, "random_state": 0}
subspaces = {
    "subspaces": make_subspaces(4, **common),
    "sharing a direction": make_subspaces(4, arrangement="intersecting", **common),
    "affine subspaces": make_subspaces(4, affine=True, **common),
}
sets = {
    "blobs": make_blobs(240, centers=4, random_state=3),
    "moons": make_moons(240, noise=0.06, random_state=0),
    **{name: (one.data, one.target) for name, one in subspaces.items()},
}

# %%
# Each method gets the number of clusters, if it takes one.

methods = {
    "k-means": lambda k: KMeans(k, n_init=10, random_state=0),
    "HDBSCAN": lambda _: HDBSCAN(min_cluster_size=15, copy=True),
    "RMSC": lambda k: RMSC(k, random_state=0),
}
figure, axes = plt.subplots(len(sets), len(methods), figsize=(8, 12), layout="constrained")
for row, (name, (X, y)) in zip(axes, sets.items(), strict=True):
    places = X if X.shape[1] == 2 else PCA(2).fit_transform(X)
    for ax, (method, make) in zip(row, methods.items(), strict=True):
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a warning of low structure is right for shapes that are no subspaces
            labels = make(len(np.unique(y))).fit_predict(X)
        seconds = time.perf_counter() - begun
        ax.scatter(*places.T, c=match_labels(y, labels), s=6, cmap="tab10", vmin=-1, vmax=8)
        ax.set(xticks=[], yticks=[], title=f"{method}: {clustering_accuracy(y, labels):.0%}, {seconds:.1f} s")
    row[0].set_ylabel(name)
plt.show()

# %%
# Blobs belong to k-means, moons to HDBSCAN. Subspaces look like one heap in two dimensions, and neither of the two can
# part them.
