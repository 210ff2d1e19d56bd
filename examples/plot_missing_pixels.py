"""
Missing pixels: cluster what is left
====================================

Half of the pixels of every digit are unknown. ``missing="ignore"`` estimates them from digits that look alike where
both are known, and clusters the digits as usual.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.impute import KNNImputer, SimpleImputer

from masked_subspace import BMSC
from masked_subspace.metrics import clustering_accuracy

digits = load_digits()
X, y = digits.data[:500], digits.target[:500]
hidden = np.random.default_rng(0).random(X.shape) < 0.5
known = np.where(hidden, np.nan, X)

model = BMSC(10, missing="ignore", random_state=0).fit(known)
print(f"{model.n_missing_} of {known.size} pixels are unknown")

# %%
# ``completed_`` has the estimates. How good they are was tested on known pixels that were hidden for the purpose:
# ``missing_error_`` is their error, 1 being that of each pixel's mean.

print(f"error of hidden pixels: {model.missing_error_:.2f}")
figure, axes = plt.subplots(3, 10, figsize=(8, 2.8), layout="constrained")
for column, digit in enumerate(np.unique(y)):
    sample = np.flatnonzero(y == digit)[1]
    for line, rows in zip(axes, (known, model.completed_, X), strict=True):
        line[column].imshow(rows[sample].reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        line[column].set(xticks=[], yticks=[])
for line, name in zip(axes, ("known", "estimated", "truth"), strict=True):
    line[0].set_ylabel(name)
for axis in axes[0]:
    axis.set_facecolor("tab:orange")
plt.show()

# %%
# Imputing first and clustering then is the other way. The mean of each pixel blurs the digits; the mean of the five
# nearest digits is better; the subspaces of the nearest digits are what these methods look for anyway.

errors, accuracies = {}, {}
for name, filled in {
    "mean": SimpleImputer().fit_transform(known),
    "k-NN": KNNImputer().fit_transform(known),
    "ignore": model.completed_,
}.items():
    errors[name] = np.sqrt(np.mean((filled - X)[hidden] ** 2))
    labels = model.labels_ if name == "ignore" else BMSC(10, random_state=0).fit_predict(filled)
    accuracies[name] = clustering_accuracy(y, labels)
    print(f"{name:8} error of a pixel (0 to 16): {errors[name]:.2f}   accuracy: {accuracies[name]:.3f}")

# %%
# New digits may have unknown pixels too.

new, truth = digits.data[500:600].copy(), digits.target[500:600]
new[np.random.default_rng(1).random(new.shape) < 0.5] = np.nan
names = [np.bincount(y[model.labels_ == k], minlength=10).argmax() for k in range(10)]
print(f"{np.mean(np.take(names, model.predict(new)) == truth):.0%} of 100 new digits go to a cluster of their kind")
