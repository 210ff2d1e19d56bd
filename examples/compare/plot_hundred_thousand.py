"""
100,000 samples
===============

The call is the same as for a hundred. Each sample looks at its 64 nearest only, and the graph is cut by modularity,
so time and memory grow in proportion to the number of samples.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from masked_subspace import BMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.metrics import clustering_accuracy

# %%
# Ten subspaces of dimension four in twenty dimensions, mixed and noisy. Single precision is enough.


def samples(n):
    """About n samples of ten subspaces, in random order."""
    return make_subspaces(
        10, dim=4, ambient=20, per_subspace=n // 10, noise=0.02, shuffle=True, dtype="float32", random_state=0
    )


first = BMSC(10, solver="sparse", random_state=0).fit(samples(3000).data)  # compiles, outside the count

# %%
# Three sizes, the largest 100,000.

sizes, seconds, accuracy = (10_000, 30_000, 100_000), [], []
for n in sizes:
    data = samples(n)
    begun = time.process_time()
    model = BMSC(10, random_state=0).fit(data.data)
    seconds.append(time.process_time() - begun)
    accuracy.append(clustering_accuracy(data.target, model.labels_))
    print(f"{n:7,} samples: {seconds[-1]:5.1f} CPU seconds, accuracy {accuracy[-1]:.3f}")

figure, ax = plt.subplots(figsize=(5.6, 3), layout="constrained")
ax.plot(sizes, seconds, "o-", label="measured")
ax.plot(sizes, np.array(sizes) * seconds[0] / sizes[0], ":", color="gray", label="in proportion")
ax.set(xscale="log", yscale="log", xlabel="samples", ylabel="CPU seconds")
ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
ax.set_yticks(seconds, [f"{value:.1f}" for value in seconds])
ax.minorticks_off()
ax.legend()
plt.show()

# %%
# What stays in memory: the samples and about five links for each of them.

graph = model.affinity_matrix_
size = (graph.data.nbytes + graph.indices.nbytes + graph.indptr.nbytes) / 1e6
print(f"samples {data.data.nbytes / 1e6:.0f} MB, graph {size:.0f} MB; all pairs would be {4e-9 * 1e5**2:.0f} GB")

# %%
# Samples need not fit in memory: a memory map or a dask array goes through the same call. :doc:`/guide/large_data`
# shows both.
