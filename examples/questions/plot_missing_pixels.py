"""
Missing pixels
==============

Entries that nobody measured are NaN. A fit refuses them: nobody should lose entries without knowing. Fill them in
first; scikit-learn has ways, and they differ much.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import make_pipeline

from masked_subspace import BMSC
from masked_subspace.metrics import clustering_accuracy

digits = load_digits()
X, y = digits.data[:400], digits.target[:400]
hidden = np.random.default_rng(0).random(X.shape)


def without(share):
    """The digits with this share of their pixels unknown."""
    return np.where(hidden < share, np.nan, X)


# %%
# The same fit after three ways to fill in.

shares = (0.0, 0.2, 0.4, 0.6)
ways = {
    "k-NN": KNNImputer(),
    "median": SimpleImputer(strategy="median"),
    "mean": SimpleImputer(),
}
scores = {}
warnings.simplefilter("ignore", UserWarning)  # of low structure, where too much is unknown
for name, imputer in ways.items():
    model = make_pipeline(imputer, BMSC(10, random_state=0))
    scores[name] = [clustering_accuracy(y, model.fit_predict(without(share))) for share in shares]
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for (name, accuracy), mark in zip(scores.items(), ("o-", "s--", "^:"), strict=True):
    ax.plot(shares, accuracy, mark, label=name)
    print(f"{name:8}", "  ".join(f"{one:.2f}" for one in accuracy))
ax.set(xlabel="share of pixels that are unknown", ylabel="accuracy", ylim=(0, 1))
ax.legend()
plt.show()

# %%
# What the methods have to work with: digits with four of ten pixels unknown, and what ``completed_`` makes of them.

model = BMSC(10, missing="ignore", random_state=0).fit(without(0.4))
print(f"{model.n_missing_} pixels estimated; error of hidden ones {model.missing_error_:.2f}, 1 being that of means")
figure, axes = plt.subplots(3, 8, figsize=(9, 3.6), layout="constrained")
for column, sample in zip(axes.T, range(8), strict=True):
    for ax, picture in zip(column, (without(0.4), model.completed_, X), strict=True):
        ax.imshow(picture[sample].reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
        ax.set_facecolor("#d9b8a8")
for ax, name in zip(axes[:, 0], ("known", "estimated", "true"), strict=True):
    ax.set_ylabel(name)
plt.show()

# %%
# Without filling in, the error names the first unknown entry.

try:
    BMSC(10).fit(without(0.2))
except ValueError as error:
    print(error)
