"""What a fit of sparse samples costs: documents of several topics, as TF-IDF.

    python benchmarks/scaling/sparse_input.py --samples 20000 --features 20000 --entries 100 --method BMSC

Each document draws words from its topic and from what all documents share, both with a Zipf law. Prints one line of
JSON: CPU and wall seconds of the fit, peak memory of the process, what X itself takes sparse and would take dense,
accuracy, and the cost of `predict`. Kernels are compiled on a small problem before the clock runs.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings

import numpy as np
from scipy.sparse import csr_array, diags_array

import masked_subspace
from masked_subspace._common.peak_memory import peak_bytes
from masked_subspace.metrics import clustering_accuracy, normalized_mutual_info


def documents(n_samples, n_features, n_entries, n_topics, seed, own=0.3, dtype=np.float32):
    """TF-IDF rows of unit length and their topics; a share `own` of the words drawn comes from the topic."""
    rng = np.random.default_rng(seed)
    topic = rng.permutation(np.arange(n_samples) % n_topics)
    words_a_topic = max(20, n_features // n_topics)
    vocabulary = [rng.choice(n_features, words_a_topic, replace=False) for _ in range(n_topics)]
    drawn = int(1.3 * n_entries)
    from_topic = rng.random((n_samples, drawn)) < own
    words = rng.permutation(n_features)[_zipf(rng, n_features, (n_samples, drawn))]
    places = _zipf(rng, words_a_topic, (n_samples, drawn))
    for k in range(n_topics):
        here = (topic == k)[:, None] & from_topic
        words[here] = vocabulary[k][places[here]]
    rows = np.repeat(np.arange(n_samples), drawn)
    counts = csr_array((np.ones(len(rows), dtype=dtype), (rows, words.ravel())), shape=(n_samples, n_features))
    counts.sum_duplicates()
    frequency = np.bincount(counts.indices, minlength=n_features)
    counts.data = (1 + np.log(counts.data)) * np.log((1 + n_samples) / (1 + frequency))[counts.indices]
    lengths = np.sqrt(np.asarray(counts.multiply(counts).sum(axis=1)).ravel())
    return csr_array(diags_array(1 / lengths) @ counts).astype(dtype), topic


def _zipf(rng, size, shape):
    """Ranks 0 … size − 1 with probability falling as 1/(rank + 20)."""
    weight = 1 / (np.arange(size) + 20)
    return np.searchsorted(np.cumsum(weight) / weight.sum(), rng.random(shape)).clip(max=size - 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=20_000)
    parser.add_argument("--entries", type=int, default=100)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--method", default="BMSC")
    parser.add_argument("--jobs", type=int, default=None)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dense", action="store_true", help="fit the same rows as an array, for comparison")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    method = getattr(masked_subspace, arguments.method)
    n = arguments.samples
    drawn, topics = documents(n + 1_000, arguments.features, arguments.entries, arguments.topics, arguments.seed)
    X, topic, new, truth = drawn[:n], topics[:n], drawn[n:], topics[n:]
    small, _ = documents(2_100, 500, 20, 3, 0)
    method(3, random_state=0, n_jobs=arguments.jobs).fit(small).predict(small[:5] * 0.5)
    given = X.toarray() if arguments.dense else X
    wall, cpu = time.perf_counter(), time.process_time()
    model = method(arguments.topics, random_state=0, n_jobs=arguments.jobs).fit(given)
    fitted = time.perf_counter() - wall, time.process_time() - cpu
    wall = time.perf_counter()
    predicted = model.predict(new)
    seconds = time.perf_counter() - wall
    print(
        json.dumps(
            {
                "method": arguments.method,
                "samples": X.shape[0],
                "features": X.shape[1],
                "entries_a_row": round(X.nnz / X.shape[0], 1),
                "wall_s": round(fitted[0], 1),
                "cpu_s": round(fitted[1], 1),
                "predict_1000_s": round(seconds, 2),
                "peak_memory_mb": round(peak_bytes() / 2**20),
                "x_sparse_mb": round((X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 2**20),
                "x_dense_mb": round(X.shape[0] * X.shape[1] * X.dtype.itemsize / 2**20),
                "accuracy": round(clustering_accuracy(topic, model.labels_), 4),
                "nmi": round(normalized_mutual_info(topic, model.labels_), 4),
                "accuracy_of_new": round(clustering_accuracy(truth, predicted), 4),
            }
        )
    )


if __name__ == "__main__":
    main()
