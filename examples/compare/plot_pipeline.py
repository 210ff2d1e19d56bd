"""
Pipelines and grid search
=========================

Everything here is a scikit-learn clusterer: it can be cloned, put in a ``Pipeline`` and searched over. Most people
need no search. If you do one, say what is searched for: known labels of some samples, or the clusterer's own
``score``.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from masked_subspace import BMSC
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.preprocessing import PCAFeatures

digits = load_digits()
X, y = digits.data[:500], digits.target[:500]

# %%
# A pipeline: features first, clusters second.

pipeline = make_pipeline(PCAFeatures(30), BMSC(10, random_state=0))
print(pipeline.fit_predict(X)[:20])

# %%
# A clustering has nothing to predict on samples held out, so the whole set is fitted each time: one split in which all
# samples are both training and test.

everything = [(np.arange(len(X)), np.arange(len(X)))]
grid = {"bmsc__n_links": [3, 5, 8, 12], "bmsc__view": ["plain", "whitened", "standardized"]}

# %%
# Search by the labels of 60 samples that somebody looked at. Only these are scored.

known = np.random.default_rng(0).choice(len(X), 60, replace=False)


def right_on_known(model, X, y):  # noqa: ARG001 (scikit-learn's signature of a scorer)
    """Accuracy on the samples that were looked at."""
    return clustering_accuracy(y[known], model[-1].labels_[known])


search = GridSearchCV(pipeline, grid, scoring=right_on_known, cv=everything).fit(X, y)
best = search.best_estimator_[-1]
print(search.best_params_)
print(f"60 known samples: {search.best_score_:.2f}; all samples: {clustering_accuracy(y, best.labels_):.2f}")

# %%
# What the search saw.

scores = search.cv_results_["mean_test_score"].reshape(4, 3)
figure, ax = plt.subplots(figsize=(5.6, 3.2), layout="constrained")
ax.imshow(scores, cmap="cividis", aspect="auto")
for (row, column), score in np.ndenumerate(scores):
    ax.text(column, row, f"{score:.2f}", ha="center", va="center", color="white" if score < scores.mean() else "black")
ax.set(xticks=range(3), xticklabels=grid["bmsc__view"], yticks=range(4), yticklabels=grid["bmsc__n_links"])
ax.set(xlabel="view", ylabel="n_links", title="accuracy on 60 known samples")
plt.show()

# %%
# Without labels ``score`` compares two ways to label samples. It needs no ``scoring`` argument. It is a weak guide:
# here is how far it agrees with the truth over the same grid.

free = GridSearchCV(pipeline, grid, cv=everything).fit(X)
own = free.cv_results_["mean_test_score"]
print(f"correlation with accuracy on the known samples: {np.corrcoef(own, scores.ravel())[0, 1]:.2f}")
