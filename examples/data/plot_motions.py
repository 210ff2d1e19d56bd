"""
Motions: which points move together
===================================

A camera follows points on moving bodies. Each point is one sample: its x and y in every frame. Points of one rigid
body lie in an affine subspace of dimension three, whatever the body does. So motions can be told apart without
knowing shapes.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from masked_subspace import RMSC
from masked_subspace.metrics import clustering_accuracy, match_labels

# %%
# A scene: a ball, a rod and the background turn and move, each in its own way. The camera is orthographic: it keeps two
# of three coordinates.

rng = np.random.default_rng(0)
frames = 20
ball = rng.standard_normal((80, 3))
ball /= np.linalg.norm(ball, axis=1, keepdims=True)
rod = rng.uniform(-1, 1, (60, 3)) * [1.6, 0.2, 0.2]
wall = rng.uniform(-2, 2, (90, 3)) * [1, 1, 0.5] + [0, 0, 3]


def turned(points, axis, angle, shift):
    """Points turned about an axis by an angle, then shifted: Rodrigues' formula."""
    axis = np.asarray(axis) / np.linalg.norm(axis)
    across = np.cross(axis, points)
    along = np.outer(points @ axis, axis)
    return points * np.cos(angle) + across * np.sin(angle) + along * (1 - np.cos(angle)) + shift


steps = np.linspace(0, 1, frames)
tracks = [
    np.hstack([turned(points, axis, speed * t, t * np.asarray(way))[:, :2] for t in steps])
    for points, axis, speed, way in (
        (ball, (0, 1, 0.3), 2.5, (0.8, 0.2, 0)),
        (rod, (0.2, 0.4, 1), 1.8, (-0.6, 0.5, 0)),
        (wall, (1, 0, 0.1), 0.3, (0.2, -0.1, 0)),
    )
]
X = np.vstack(tracks) + 0.01 * rng.standard_normal((230, 2 * frames))
y = np.repeat([0, 1, 2], [80, 60, 90])

# %%
# Such data are of low rank: four for each motion. RMSC sees this and takes its closed form.

model = RMSC(3, random_state=0).fit(X)
simple = KMeans(3, n_init=10, random_state=0).fit(X)
print("way taken:", [choice["way"] for choice in model.choices_ if choice["taken"]])

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), layout="constrained", sharex=True, sharey=True)
for ax, (name, labels) in zip(
    axes, {"truth": y, "k-means": simple.labels_, "RMSC": model.labels_}.items(), strict=True
):
    found = match_labels(y, labels)
    for k in range(3):
        own = X[found == k]
        ax.plot(own[:, ::2].T, own[:, 1::2].T, color=f"C{k}", lw=0.4, alpha=0.6)
        ax.scatter(own[:, -2], own[:, -1], s=7, color=f"C{k}", zorder=3)
    accuracy = clustering_accuracy(y, labels)
    ax.set(xticks=[], yticks=[], aspect="equal", title=name if labels is y else f"{name}: {accuracy:.0%}")
plt.show()

# %%
# The subspaces say so too: three dimensions for each body.

for k, one in enumerate(model.subspaces_):
    print(f"cluster {k}: {one.size} points, dimension {one.dim}, explains {one.explained:.1%}")

# %%
# Real sequences: the Hopkins155 benchmark cannot be shipped. If ``hopkins-motions.npz`` lies in the folder that
# ``MASKED_SUBSPACE_DATA`` names, its first sequences are clustered here.

path = Path(os.environ.get("MASKED_SUBSPACE_DATA", ".")) / "hopkins-motions.npz"
if path.exists():
    with np.load(path, allow_pickle=False) as stored:
        for name in sorted({key.split("/")[0] for key in stored.files})[:6]:
            points, motion = stored[f"{name}/x"], stored[f"{name}/s"]
            labels = RMSC(len(np.unique(motion)), random_state=0).fit_predict(points)
            print(f"{name:14} {len(points):4} points, error {1 - clustering_accuracy(motion, labels):.1%}")
else:
    print("hopkins-motions.npz is not here: nothing more to show")
