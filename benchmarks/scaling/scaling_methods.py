"""What `scaling.py` measures: our estimators, the plain controls, and three ways to search for neighbours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

Fit = Callable[..., Any]
Search = Callable[[np.ndarray, int, int], np.ndarray]


def bmsc(X: np.ndarray, clusters: int, seed: int, threads: int, **parameters: Any) -> Any:
    from masked_subspace import BMSC

    return BMSC(clusters, random_state=seed, n_jobs=threads, **parameters).fit(X)


def rmsc(X: np.ndarray, clusters: int, seed: int, threads: int, **parameters: Any) -> Any:
    from masked_subspace import RMSC

    return RMSC(clusters, random_state=seed, n_jobs=threads, **parameters).fit(X)


def neighbour_graph(X: np.ndarray, clusters: int, seed: int, threads: int) -> np.ndarray:
    """The control: 5 nearest by cosine, every link 1, the same spectral step."""
    from scipy.sparse import csr_array

    from masked_subspace.label.graph import symmetrize
    from masked_subspace.label.labeler import Evidence, label_graph
    from masked_subspace.represent.neighbors.search import find_candidates
    from masked_subspace.rows.preparation import VIEWS, Preparation

    rows = np.asarray(X, dtype=np.float32)
    rows = Preparation.learn(rows, VIEWS["plain"]).apply(rows)
    near = find_candidates(rows, 5, n_threads=threads, random_state=seed)
    n = len(rows)
    links = csr_array((np.ones(5 * n, dtype=np.float32), near.ravel(), np.arange(0, 5 * n + 1, 5)), shape=(n, n))
    return label_graph(symmetrize(links), clusters, "auto", Evidence(rows), seed).labels


def k_means(X: np.ndarray, clusters: int, seed: int, threads: int) -> np.ndarray:  # noqa: ARG001
    from sklearn.cluster import KMeans

    return KMeans(clusters, n_init=10, random_state=seed).fit(np.asarray(X, dtype=np.float32)).labels_


def baseline(name: str) -> Fit:
    def fit(X: np.ndarray, clusters: int, seed: int, threads: int) -> Any:
        from masked_subspace import baselines

        return getattr(baselines, name)(clusters, random_state=seed, n_jobs=threads).fit(
            np.asarray(X, dtype=np.float32)
        )

    return fit


METHODS: dict[str, Fit] = {
    "BMSC-sparse": partial(bmsc, solver="sparse"),
    "BMSC-dense": partial(bmsc, solver="dense"),
    "RMSC-1": partial(rmsc, members=1),
    "RMSC": rmsc,
    "5-NN graph": neighbour_graph,
    "k-means": k_means,
    "EnSC": baseline("EnSC"),
    "SSCOMP": baseline("SSCOMP"),
}


def exact(X: np.ndarray, m: int, threads: int) -> np.ndarray:
    from masked_subspace.represent.neighbors.search import find_candidates

    return find_candidates(X, m, search="exact", n_threads=threads)


def inverted_file(X: np.ndarray, m: int, threads: int) -> np.ndarray:
    from masked_subspace.represent.neighbors.search import find_candidates

    return find_candidates(X, m, search="approximate", n_threads=threads)


def faiss_inverted_file(X: np.ndarray, m: int, threads: int) -> np.ndarray:
    """256 lists, 8 probed, inner product: the setting that worked in faiss."""
    import faiss

    faiss.omp_set_num_threads(threads)
    n_lists = min(256, len(X) // 40)
    index = faiss.IndexIVFFlat(faiss.IndexFlatIP(X.shape[1]), X.shape[1], n_lists, faiss.METRIC_INNER_PRODUCT)
    index.train(X)
    index.add(X)
    index.nprobe = 8
    return index.search(X, m + 1)[1]


def nearest_neighbour_descent(X: np.ndarray, m: int, threads: int) -> np.ndarray:
    from pynndescent import NNDescent

    return NNDescent(X, n_neighbors=m + 1, metric="cosine", random_state=0, n_jobs=threads).neighbor_graph[0]


SEARCHES: dict[str, Search] = {
    "exact": exact,
    "inverted file": inverted_file,
    "faiss IVF": faiss_inverted_file,
    "pynndescent": nearest_neighbour_descent,
}


def recall(X: np.ndarray, found: np.ndarray, n_checked: int = 1000) -> float:
    """Share of the 64 nearest by |cosine| that were found, on evenly spread samples; itself does not count."""
    places = np.linspace(0, len(X) - 1, n_checked).astype(int)
    shares = []
    for i in places.tolist():
        similarity = np.abs(X @ X[i])
        similarity[i] = -1
        nearest = np.argpartition(-similarity, 64)[:64]
        shares.append(len(np.intersect1d(nearest, found[i])) / 64)
    return round(float(np.mean(shares)), 4)
