"""
Your own graph
==============

You have a graph already: citations, distances, another method's affinity. ``cluster_graph`` cuts it.
``affinity="precomputed"`` does the same with an estimator's manners: certainty, memberships, known pairs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits
from sklearn.neighbors import kneighbors_graph

from masked_subspace import RMSC, cluster_graph
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.plots import plot_map

digits = load_digits()
X, y = digits.data[:800], digits.target[:800]

# %%
# A graph of nearest neighbours, made by scikit-learn. It must be symmetric and have no negative weights.

nearest = kneighbors_graph(X, 5)
graph = nearest.maximum(nearest.T).tocsr()

# %%
# Three cuts of the same graph.

labels = {
    "scikit-learn's spectral": SpectralClustering(10, affinity="precomputed", random_state=0).fit_predict(graph),
    "cluster_graph, spectral": cluster_graph(graph, 10, cut="spectral", random_state=0),
    "cluster_graph, auto": cluster_graph(graph, 10, random_state=0),
}
for name, found in labels.items():
    print(f"{name:24} accuracy {clustering_accuracy(y, found):.2f}")

# %%
# As an estimator, with two known pairs: the two samples in most doubt, each beside a sample of its class.

model = RMSC(10, affinity="precomputed", random_state=0).fit(graph)
print(f"structure {model.structure_:.2f}, least certain sample {model.certainty_.argmin()}")
doubtful = np.argsort(model.certainty_)[:2]
partners = [np.flatnonzero(y == y[sample])[0] for sample in doubtful]
told = RMSC(10, affinity="precomputed", constraints="hard", random_state=0)
told.fit(graph, must_link=np.column_stack([doubtful, partners]))
print("pairs kept:", bool((told.labels_[doubtful] == told.labels_[partners]).all()))

figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
for ax, (name, classes) in zip(axes, {"clusters": None, "digits": y}.items(), strict=True):
    plot_map(model, classes, ax=ax, names=classes is None)
    ax.set_title(name)
plt.show()
