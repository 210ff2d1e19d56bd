"""
Digits: clusters, and why
=========================

500 handwritten digits of 8 × 8 pixels, in ten clusters. Nothing is set but the number of clusters.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from masked_subspace import RMSC
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.plots import plot_affinity, plot_map

digits = load_digits()
X, y = digits.data[:500], digits.target[:500]
model = RMSC(10, random_state=0).fit(X)

# %%
# The first question is whether there are clusters at all. ``structure_`` answers it without labels. The accuracy needs
# them; the fit did not see any.

print(f"structure {model.structure_:.2f}, accuracy {clustering_accuracy(y, model.labels_):.2f}")

# %%
# Several families of views were judged. The one with the highest score was taken.

for choice in model.choices_:
    if "score" in choice:
        print(f"{choice['way']:13} score {choice['score']:.2f}", "taken" if choice["taken"] else "")

# %%
# The graph that was cut, sorted by cluster, and the same graph as a map.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
plot_affinity(model, ax=axes[0])
plot_map(model, ax=axes[1])
plt.show()

# %%
# The digits on which the members agree least. Most of them are hard for a person too.

unsure = np.argsort(model.certainty_)[:10]
figure, axes = plt.subplots(1, 10, figsize=(9, 1.3), layout="constrained")
for ax, sample in zip(axes, unsure, strict=True):
    ax.imshow(digits.images[sample], cmap="gray_r")
    ax.set_title(f"{model.certainty_[sample]:.2f}", fontsize=8)
    ax.set_axis_off()
plt.show()
