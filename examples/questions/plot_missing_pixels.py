"""
Missing pixels
==============

Entries that nobody measured are NaN. ``missing="ignore"`` treats them as unknown: they are estimated from the subspaces
of the samples before the fit. Beside it stand two ways to fill them in first.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.impute import KNNImputer, SimpleImputer

from masked_subspace import BMSC
from masked_subspace.metrics import clustering_accuracy

digits = load_digits()
X, y = digits.data[:400], digits.target[:400]
hidden = np.random.default_rng(0).random(X.shape)


def without(share):
    """The digits with this share of their pixels unknown."""
    return np.where(hidden < share, np.nan, X)


# %%
# The same fit on three versions of the data. Where too little is left, a fit warns that its clusters may not be real.
# The curves say it, so we leave the warnings out.

warnings.simplefilter("ignore", UserWarning)
shares = (0.0, 0.2, 0.4, 0.6)
ways = {
    "missing='ignore'": lambda data: BMSC(10, missing="ignore", random_state=0).fit_predict(data),
    "k-NN imputation": lambda data: BMSC(10, random_state=0).fit_predict(KNNImputer().fit_transform(data)),
    "mean imputation": lambda data: BMSC(10, random_state=0).fit_predict(SimpleImputer().fit_transform(data)),
}
scores = {name: [clustering_accuracy(y, way(without(share))) for share in shares] for name, way in ways.items()}
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for (name, accuracy), mark in zip(scores.items(), ("o-", "s--", "^:"), strict=True):
    ax.plot(shares, accuracy, mark, label=name)
    print(f"{name:17}", "  ".join(f"{one:.2f}" for one in accuracy))
ax.set(xlabel="share of pixels that are unknown", ylabel="accuracy", ylim=(0, 1))
ax.legend()
plt.show()

# %%
# What the methods have to work with: digits with four of ten pixels unknown.

figure, axes = plt.subplots(2, 8, figsize=(9, 2.4), layout="constrained")
for column, sample in zip(axes.T, range(8), strict=True):
    for ax, picture in zip(column, (without(0.4), X), strict=True):
        ax.imshow(picture[sample].reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
        ax.set_facecolor("#d9b8a8")
for ax, name in zip(axes[:, 0], ("known", "true"), strict=True):
    ax.set_ylabel(name)
plt.show()

# %%
# ``missing="error"`` is the default: nobody should lose entries without knowing.

try:
    BMSC(10).fit(without(0.2))
except ValueError as error:
    print(error)
