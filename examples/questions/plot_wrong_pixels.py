"""
Wrong pixels: take gross errors out
===================================

Some entries are not noisy but wrong: dead pixels, typing errors, something in front of the lens. ``outliers="auto"``
finds them from the residuals and takes them out of the samples.
"""

import matplotlib.pyplot as plt
import numpy as np

from masked_subspace import RMSC
from masked_subspace.datasets import load
from masked_subspace.metrics import clustering_accuracy

faces = load("orl", download=False)
X, y = faces.data / 255, faces.target
rng = np.random.default_rng(0)
wrong = rng.random(X.shape) < 0.1
damaged = np.where(wrong, rng.random(X.shape), X).astype(X.dtype)

# %%
# 40 people; one pixel in ten is replaced by a random value. The wrong pixels are taken out before the views are judged.

plain = RMSC(40, random_state=0).fit(damaged)
model = RMSC(40, outliers="auto", random_state=0).fit(damaged)
for name, one in (("as they are", plain), ("outliers='auto'", model)):
    print(f"{name:16} accuracy {clustering_accuracy(y, one.labels_):.2f}")

# %%
# ``outliers_`` holds what was taken out, as a sparse matrix. The truth is known here, so we can see how much was found.

taken = model.outliers_.toarray()
found = taken != 0
visible = wrong & (np.abs(damaged - X) > 0.2)
print(f"of the pixels that are wrong by more than 0.2, {found[visible].mean():.0%} were found")
print(f"of the pixels that are right, {found[~wrong].mean():.1%} were taken for wrong")

figure, axes = plt.subplots(3, 8, figsize=(9, 3.8), layout="constrained")
for column, sample in zip(axes.T, range(0, 400, 50), strict=True):
    for ax, picture in zip(column, (damaged, damaged - taken, X), strict=True):
        ax.imshow(picture[sample].reshape(faces.images_shape), cmap="gray", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
for ax, name in zip(axes[:, 0], ("damaged", "cleaned", "true"), strict=True):
    ax.set_ylabel(name)
plt.show()

# %%
# Use it where you know that entries are wrong. On clean data it takes true details for errors.
