"""The spectral cut in blocks: eigenvectors, k-means from a sample of the rows, labels of all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import BoolArray, FloatArray, IndexArray, IntArray
from masked_subspace.distributed.eigen import leading_eigenvectors
from masked_subspace.distributed.graph import BlockGraph, normalized
from masked_subspace.distributed.lloyd import centre_sums, moved_centres, nearest_centre
from masked_subspace.distributed.pieces import placed_samples
from masked_subspace.distributed.tasks import Result, Workers, task

# Of each cluster the sum and the number of its rows; Σ of their squared distances; Σ of the rows and of their squares.
PlacedSums = tuple[FloatArray, IntArray, float, FloatArray, float]

# ‖Sv − λv‖ at which a vector is good enough, as in `label.graph`.
_TOLERANCE, _TOLERANCE_LARGE, _LARGE = 1e-4, 1e-3, 20_000
# As in label/kmeans.py, which the client does not import: compiled code would take memory there (a test compares them).
_SAMPLE, _SAMPLE_A_CLUSTER = 20_000, 500
_LLOYD_STEPS = 30
_LLOYD_TOLERANCE = 1e-4  # mean squared move of the centres, in units of the rows' variance, as in scikit-learn


def spectral_cut(
    workers: Workers,
    graph: BlockGraph,
    rows: list[Result],
    n_clusters: int,
    n_components: int | str | None,
    seed: int,
) -> tuple[list[Result], list[Result]]:
    """Labels of each part, and which of its samples have one (the others follow their nearest)."""
    wanted = workers.fetch([task(vectors_wanted)(n_components, n_clusters)])[0]
    placed = workers.keep(placed_samples(graph, n_clusters, max(wanted, n_clusters)))
    counted = workers.fetch([task(count_true)(flags) for flags in placed])
    n_placed = sum(counted)
    if n_placed < max(n_clusters, 0.5 * graph.n_samples):
        # Most samples are isolated: the rows themselves say more than the graph does.
        everyone = [task(np.ones)(size, dtype=bool) for size in graph.sizes]
        return cluster_blocks(workers, rows, everyone, graph.sizes, n_clusters, seed), everyone
    S = normalized(graph)
    soft = n_clusters if n_components == "auto" else None
    values, vectors = leading_eigenvectors(
        workers,
        S.with_blocks(workers.keep(S.blocks)),
        placed,
        min(wanted, n_placed),
        seed=seed,
        tol=_TOLERANCE if n_placed <= _LARGE else _TOLERANCE_LARGE,
        weigh_for=soft,
    )
    embedded = workers.keep([task(embedding_rows)(one, values, soft) for one in vectors])
    return cluster_blocks(workers, embedded, placed, graph.sizes, n_clusters, seed), placed


def vectors_wanted(n_components: int | str | None, n_clusters: int) -> int:
    """How many eigenvectors are computed: as many as given (None: K), or all that the soft choice looks at."""
    from masked_subspace.label.graph import vectors_to_weigh

    return vectors_to_weigh(n_clusters) if n_components == "auto" else int(n_components or n_clusters)


def count_true(flags: BoolArray) -> int:
    """How many flags are set."""
    return int(flags.sum())


def embedding_rows(vectors: FloatArray, values: FloatArray, n_clusters: int | None) -> FloatArray:
    """Unit rows of the vectors, weighted softly if a number of clusters says for how many."""
    from masked_subspace._common.rows import unit_rows
    from masked_subspace.label.graph import weighted

    return unit_rows(vectors if n_clusters is None else weighted(vectors, values, n_clusters))


def cluster_blocks(
    workers: Workers, rows: list[Result], placed: list[Result], sizes: list[int], n_clusters: int, seed: int
) -> list[Result]:
    """k-means on the placed rows: restarts on a seeded sample, then Lloyd sums over all rows from the best centres."""
    if n_clusters == 1:
        return workers.keep([task(np.zeros)(size, dtype=np.int32) for size in sizes])
    wanted = max(_SAMPLE, _SAMPLE_A_CLUSTER * n_clusters)
    sample = [
        task(sampled_rows)(one, flags, share, seed, p)
        for p, (one, flags, share) in _shares(rows, placed, sizes, wanted)
    ]
    (best,) = workers.keep([task(best_centres)(sample, n_clusters, seed)])
    for _ in range(_LLOYD_STEPS):
        sums = [task(placed_sums)(one, flags, best) for one, flags in zip(rows, placed, strict=True)]
        new = task(moved_centres)(sums, best)
        best, moved = workers.keep([new, task(relative_move)(new, best, sums)])
        if workers.fetch([moved])[0] <= _LLOYD_TOLERANCE:
            break
    labels = workers.keep([task(nearest_labels)(one, best) for one in rows])
    return _none_empty(workers, labels, placed, n_clusters)


def _none_empty(workers: Workers, labels: list[Result], placed: list[Result], n_clusters: int) -> list[Result]:
    """Labels in which every cluster has a sample: where fewer than K rows differ, the largest clusters give some away.

    Without this, whether equal rows fall to one centre or to two would be decided by rounding.
    """
    noted = [task(cluster_counts)(one, flags, n_clusters) for one, flags in zip(labels, placed, strict=True)]
    counts = np.array(workers.fetch(noted))
    moves: dict[int, list[tuple[int, int]]] = {}
    for empty in np.flatnonzero(counts.sum(axis=0) == 0):
        giver = int(counts.sum(axis=0).argmax())
        part = int(counts[:, giver].argmax())
        if counts[:, giver].sum() < 2:
            break
        moves.setdefault(part, []).append((giver, int(empty)))
        counts[part, giver] -= 1
        counts[part, empty] += 1
    if not moves:
        return labels
    return workers.keep(
        [
            task(given_away)(one, flags, np.array(moves.get(p, []), dtype=np.int64).reshape(-1, 2))
            for p, (one, flags) in enumerate(zip(labels, placed, strict=True))
        ]
    )


def cluster_counts(labels: IndexArray, placed: BoolArray, n_clusters: int) -> IntArray:
    """How many placed samples of a part each cluster has."""
    return np.bincount(labels[placed], minlength=n_clusters)


def given_away(labels: IndexArray, placed: BoolArray, moves: IntArray) -> IndexArray:
    """For each move (from, to) the first placed sample of a cluster goes to another."""
    labels = labels.copy()
    for giver, taker in moves:
        labels[np.flatnonzero(placed & (labels == giver))[0]] = taker
    return labels


def _shares(
    rows: list[Result], placed: list[Result], sizes: list[int], wanted: int
) -> Iterator[tuple[int, tuple[Result, Result, int]]]:
    """Every part gives its share of a sample."""
    share = min(1.0, wanted / sum(sizes))
    return enumerate(
        (one, flags, int(np.ceil(share * size))) for one, flags, size in zip(rows, placed, sizes, strict=True)
    )


def sampled_rows(rows: FloatArray, placed: BoolArray, count: int, seed: int, part: int) -> FloatArray:
    """So many placed rows of a part, drawn with the seed."""
    return rows[sampled_places(placed, count, seed, part)]


def sampled_places(placed: BoolArray, count: int, seed: int, part: int) -> npt.NDArray[np.int64]:
    """Which placed samples of a part are drawn."""
    places = np.flatnonzero(placed)
    drawn = np.random.default_rng([seed, part]).choice(len(places), min(count, len(places)), replace=False)
    return np.sort(places[drawn])


def best_centres(sample: list[FloatArray], n_clusters: int, seed: int) -> FloatArray:
    """Centres of the best of several restarts of k-means."""
    from masked_subspace.label.kmeans import RESTARTS_ON_SAMPLE, cluster_means, cluster_rows

    rows = np.concatenate(sample).astype(np.float64)
    labels = cluster_rows(rows, n_clusters, seed, RESTARTS_ON_SAMPLE)
    return cluster_means(rows, labels, n_clusters)


def placed_sums(rows: FloatArray, placed: BoolArray, centres: FloatArray) -> PlacedSums:
    """The Lloyd sums of the placed rows, and the sums of the rows' squares."""
    inside = rows if placed.all() else rows[placed]
    squares = float(np.einsum("ij,ij->", inside, inside, dtype=np.float64))
    return (*centre_sums(inside, centres), inside.sum(axis=0, dtype=np.float64), squares)


def relative_move(new: FloatArray, old: FloatArray, sums: list[PlacedSums]) -> float:
    """Σ of the centres' squared moves in units of the mean variance of a column."""
    count = sum(int(one[1].sum()) for one in sums)
    mean = np.sum([one[3] for one in sums], axis=0) / count
    variance = (sum(one[4] for one in sums) / count - float(mean @ mean)) / len(mean)
    return float(((new - old) ** 2).sum() / max(variance, np.finfo(float).tiny))


def nearest_labels(rows: FloatArray, centres: FloatArray) -> IndexArray:
    """The nearest centre of each row."""
    return nearest_centre(rows, centres)[0]
