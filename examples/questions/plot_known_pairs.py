"""
Known pairs: ask about the samples in doubt
===========================================

A person can often say whether two samples belong together. Which pairs should they be asked about? Those with the
lowest ``certainty_``: there an answer decides most.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from masked_subspace import BMSC
from masked_subspace.metrics import clustering_accuracy

digits = load_digits()
X, y = digits.data[:500], digits.target[:500]
free = BMSC(10, random_state=0).fit(X)

# %%
# The person is played by the true labels. Each question is one sample in doubt beside the most certain sample of each
# cluster: "does this one belong to that one?"


def answers(model, samples):
    """Pairs that belong together and pairs that do not, for the samples asked about."""
    middle = [np.flatnonzero(model.labels_ == k)[model.certainty_[model.labels_ == k].argmax()] for k in range(10)]
    pairs = np.array([(sample, other) for sample in samples for other in middle if sample != other])
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return pairs[same], pairs[~same]


# %%
# We ask about the samples in doubt, and for comparison about as many drawn at random.

counts = (10, 40, 80)
doubtful = np.argsort(free.certainty_)
drawn = np.random.default_rng(0).permutation(len(X))
start = clustering_accuracy(y, free.labels_)
scores = {"in doubt": [start], "at random": [start]}
for name, order in (("in doubt", doubtful), ("at random", drawn)):
    for count in counts:
        must, cannot = answers(free, order[:count])
        model = BMSC(10, constraints="hard", random_state=0).fit(X, must_link=must, cannot_link=cannot)
        scores[name].append(clustering_accuracy(y, model.labels_))

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, marker in (("in doubt", "o-"), ("at random", "s--")):
    ax.plot((0, *counts), scores[name], marker, label=f"samples {name}")
ax.set(xlabel="samples asked about", ylabel="accuracy")
ax.legend(frameon=False)
plt.show()

# %%
# With ``constraints="hard"`` no pair is violated.

together = all(model.labels_[a] == model.labels_[b] for a, b in must)
apart = all(model.labels_[a] != model.labels_[b] for a, b in cannot)
print(f"{len(must)} pairs together: {together}; {len(cannot)} pairs apart: {apart}")
