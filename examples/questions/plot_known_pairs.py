"""
Known pairs: ask about the samples in doubt
===========================================

A person can often say whether two samples belong together. Which should they be asked about? A natural choice are those
with the lowest ``certainty_``: their labels are most often wrong.
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
# We ask about the samples in doubt, and for comparison about as many drawn at random, in five draws.


def accuracy_after(samples):
    """Accuracy on all samples, once those have been asked about."""
    must, cannot = answers(free, samples)
    told = BMSC(10, constraints="hard", random_state=0).fit(X, must_link=must, cannot_link=cannot)
    return clustering_accuracy(y, told.labels_)


counts = (10, 40, 80)
doubtful = np.argsort(free.certainty_)
drawn = [np.random.default_rng(seed).permutation(len(X)) for seed in range(5)]
start = clustering_accuracy(y, free.labels_)
in_doubt = [start, *(accuracy_after(doubtful[:count]) for count in counts)]
at_random = np.array([[start, *(accuracy_after(order[:count]) for count in counts)] for order in drawn])

figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.plot((0, *counts), in_doubt, "o-", label="samples in doubt")
ax.plot((0, *counts), at_random.mean(axis=0), "s--", label="at random, mean of five draws")
ax.fill_between((0, *counts), at_random.min(axis=0), at_random.max(axis=0), alpha=0.2, color="C1", label="their range")
ax.set(xlabel="samples asked about", ylabel="accuracy")
ax.legend(frameon=False)
plt.show()

# %%
# On these digits any answers help. Those about samples in doubt pay once many are asked about; before that a draw at
# random can be as good or better.

# %%
# With ``constraints="hard"`` no pair is violated.

must, cannot = answers(free, doubtful[:80])
model = BMSC(10, constraints="hard", random_state=0).fit(X, must_link=must, cannot_link=cannot)
together = all(model.labels_[a] == model.labels_[b] for a, b in must)
apart = all(model.labels_[a] != model.labels_[b] for a, b in cannot)
print(f"{len(must)} pairs together: {together}; {len(cannot)} pairs apart: {apart}")
