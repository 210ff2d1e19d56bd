"""
New samples, memberships, doubt
===============================

A fit says more than labels. Here are the subspaces, the memberships, labels for new samples, and samples that are left
without a cluster because they are in doubt.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from masked_subspace import RMSC
from masked_subspace.metrics import clustering_accuracy

digits = load_digits()
order = np.random.default_rng(0).permutation(len(digits.data))
seen, unseen = order[:500], order[500:800]
X, y = digits.data[seen], digits.target[seen]
new, new_y = digits.data[unseen], digits.target[unseen]
model = RMSC(10, random_state=0).fit(X)

# %%
# **New samples.** Each is rebuilt from the training samples, and they vote. Or it goes to the nearest subspace.

for method in ("vote", "subspace"):
    print(f"{method:9} accuracy on new samples {clustering_accuracy(new_y, model.predict(new, method=method)):.2f}")
print(f"fit       accuracy in the fit     {clustering_accuracy(y, model.labels_):.2f}")

# %%
# The vote is the default, and both do about as well here. ``predict`` keeps few directions of each cluster; with all
# that stand out from noise, as in ``subspaces_`` below, every cluster would come near every digit.

# %%
# **Memberships.** ``predict_proba`` gives shares that sum to one. Here are the six least clear new digits.

shares = model.predict_proba(new)
unclear = np.argsort(shares.max(axis=1))[:6]
figure, axes = plt.subplots(2, 6, figsize=(9, 3), layout="constrained", height_ratios=(1, 1))
for (above, below), sample in zip(axes.T, unclear, strict=True):
    above.imshow(new[sample].reshape(8, 8), cmap="gray_r")
    above.set_axis_off()
    below.bar(range(10), shares[sample], color="C0")
    below.set(xticks=range(10), ylim=(0, 1), yticks=[])
axes[1, 0].set(yticks=[0, 1], ylabel="share", xlabel="cluster")
plt.show()

# %%
# **Doubt.** With ``min_certainty`` samples below it get −1 instead of a guess. The rest is more often right.

certainty = model.certainty_
limits = np.linspace(0, 0.95, 20)
kept = [(certainty >= limit).mean() for limit in limits]
right = [clustering_accuracy(y[certainty >= limit], model.labels_[certainty >= limit]) for limit in limits]
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.plot(limits, right, "o-", ms=4, label="accuracy of the samples kept")
ax.plot(limits, kept, "s--", ms=4, label="share of samples kept")
ax.set(xlabel="min_certainty", ylim=(0.5, 1.02))
ax.legend(loc="lower left")
plt.show()

# %%
# **Subspaces.** Each cluster has a mean and directions, strongest first. ``dim`` says how many there are.

figure, axes = plt.subplots(3, 10, figsize=(9, 3), layout="constrained")
for column, one in zip(axes.T, model.subspaces_, strict=True):
    parts = [one.mean, *one.basis[:2]]
    for ax in column:
        ax.set(xticks=[], yticks=[])
    for ax, part in zip(column, parts, strict=False):
        ax.imshow(part.reshape(8, 8), cmap="gray_r")
    column[0].set_title(f"dim {one.dim}", fontsize=8)
for ax, name in zip(axes[:, 0], ("mean", "1st", "2nd"), strict=True):
    ax.set_ylabel(name)
plt.show()
