"""
Text: Python's own docstrings as sparse TF-IDF
==============================================

Every module of Python's library explains its functions. Which module is an explanation from? Words become counts,
counts become TF-IDF, a sparse matrix of a few thousand columns. It is never made dense.
"""

import contextlib
import importlib
import inspect
import pkgutil

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.feature_extraction.text import TfidfVectorizer

from masked_subspace import RMSC
from masked_subspace.metrics import clustering_accuracy, normalized_mutual_info
from masked_subspace.plots import plot_affinity, plot_confusion

# %%
# Explanations of at least twelve words, from five packages of the standard library.


def explanations(package):
    """The docstrings of all functions, classes and methods of a package."""
    root = importlib.import_module(package)
    modules = [root]
    for part in pkgutil.iter_modules(root.__path__, f"{package}."):
        with contextlib.suppress(ImportError):  # parts for another system
            modules += [] if part.name.endswith("__main__") else [importlib.import_module(part.name)]
    found = set()
    for module in modules:
        for thing in vars(module).values():
            if (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__.startswith(package):
                methods = filter(inspect.isfunction, vars(thing).values()) if inspect.isclass(thing) else ()
                found.update(one.__doc__ or "" for one in (thing, *methods))
    return sorted(text for text in found if len(text.split()) >= 12)


packages = ("asyncio", "email", "logging", "multiprocessing", "unittest")
texts = {name: explanations(name)[:150] for name in packages}
y = np.repeat(np.arange(len(packages)), [len(own) for own in texts.values()])
documents = [text for own in texts.values() for text in own]
for name, own in texts.items():
    print(f"{name:16} {len(own)} explanations")

# %%
# Rare words and words of every text are left out.

vectorizer = TfidfVectorizer(stop_words="english", min_df=3, max_df=0.3, sublinear_tf=True)
X = vectorizer.fit_transform(documents)
used = np.diff(X.indptr) > 0  # a text of rare words only has nothing to compare
X, y = X[used], y[used]
print(f"{X.shape[0]} texts, {X.shape[1]} words, {X.nnz / X.shape[0]:.0f} words a text")

# %%
# RMSC takes the sparse matrix as it is.

model = RMSC(len(packages), random_state=0).fit(X)
simple = KMeans(len(packages), n_init=10, random_state=0).fit(X)
for name, labels in (("RMSC", model.labels_), ("k-means", simple.labels_)):
    accuracy, shared = clustering_accuracy(y, labels), normalized_mutual_info(y, labels)
    print(f"{name:8} accuracy {accuracy:.2f}, NMI {shared:.2f}")
print(f"structure {model.structure_:.2f}")

# %%
# Explanations share a style across packages, so no method gets all of them.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
plot_affinity(model.affinity_matrix_, y, ax=axes[0])
plot_confusion(y, model.labels_, ax=axes[1])
axes[1].set(yticks=range(len(packages)), yticklabels=packages)
plt.show()

# %%
# The words that tell each cluster from the rest.

words = vectorizer.get_feature_names_out()
for cluster in range(len(packages)):
    own = model.labels_ == cluster
    excess = np.asarray(X[own].mean(axis=0) - X[~own].mean(axis=0)).ravel()
    print(f"cluster {cluster}:", ", ".join(words[np.argsort(-excess)[:8]]))
