"""
Shapes and subspaces: who finds what
====================================

The famous picture of clusterings shows shapes in a plane. Here are three of them beside four kinds of subspaces. No
method wins every row. Choose by what your data are like.
"""

import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.decomposition import PCA
from umap import UMAP

from masked_subspace import BMSC, RMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.metrics import clustering_accuracy, match_labels

# %%
# Three shapes in a plane, and subspaces: independent ones, ones that share a direction, affine ones, and many that do
# not have room to be independent.

common = {"dim": 3, "ambient": 20, "per_subspace": 60, "noise": 0.03, "random_state": 0}
crowded = {**common, "ambient": 8}
subspaces = {
    "subspaces": make_subspaces(4, **common),
    "sharing a direction": make_subspaces(4, arrangement="intersecting", **common),
    "affine": make_subspaces(4, affine=True, **common),
    "crowded": make_subspaces(6, **crowded),
}
sets = {
    "blobs": make_blobs(240, centers=4, random_state=3),
    "moons": make_moons(240, noise=0.06, random_state=0),
    "rings": make_circles(240, noise=0.04, factor=0.5, random_state=0),
    **{name: (one.data, one.target) for name, one in subspaces.items()},
}

# %%
# Each method gets the number of clusters, if it takes one. UMAP makes a map, and HDBSCAN or k-means clusters the map;
# here it is k-means, so that it knows the number too.


class MapThenMeans:
    """UMAP to two dimensions, then k-means. 200 steps are enough for so few samples."""

    def __init__(self, n_clusters):
        self.n_clusters = n_clusters

    def fit_predict(self, X):
        places = UMAP(random_state=0, n_jobs=1, n_epochs=200).fit_transform(X)
        return KMeans(self.n_clusters, n_init=10, random_state=0).fit_predict(places)


methods = {
    "k-means": lambda k: KMeans(k, n_init=10, random_state=0),
    "HDBSCAN": lambda _: HDBSCAN(min_cluster_size=15, copy=True),
    "UMAP": MapThenMeans,
    "BMSC": lambda k: BMSC(k, random_state=0),
    "RMSC": lambda k: RMSC(k, random_state=0),
}
for make in methods.values():  # compile what is compiled, outside the count
    make(2).fit_predict(sets["subspaces"][0])
figure, axes = plt.subplots(len(sets), len(methods), figsize=(9, 12), layout="constrained")
for row, (name, (X, y)) in zip(axes, sets.items(), strict=True):
    places = X if X.shape[1] == 2 else PCA(2).fit_transform(X)
    for ax, make in zip(row, methods.values(), strict=True):
        begun = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of low structure: right for shapes that are no subspaces
            labels = make(len(np.unique(y))).fit_predict(X)
        seconds = time.process_time() - begun
        found = match_labels(y, labels)
        for k in np.unique(found):
            own = places[found == k]
            ax.scatter(*own.T, s=4, color="silver" if k < 0 else f"C{k}")
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"{clustering_accuracy(y, labels):.0%}, {seconds:.1f} s", fontsize=9)
    row[0].set_ylabel(name)
for ax, method in zip(axes[0], methods, strict=True):
    ax.set_title(f"{method}\n{ax.get_title()}", fontsize=9)
plt.show()

# %%
# **Shapes.** k-means finds blobs, HDBSCAN blobs and moons, UMAP all three. So does RMSC, which takes longest. For
# shapes in a plane there are quicker tools. BMSC sees nothing but directions, and fails.
#
# **Subspaces.** In two dimensions they look like one heap. k-means and HDBSCAN see it as one too, but for affine ones,
# which lie apart. UMAP finds those that do not come near each other. Where subspaces share a direction, or are too many
# for the room there is, only the masked methods find them.
