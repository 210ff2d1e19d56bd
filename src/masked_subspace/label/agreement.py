"""How far labelings agree: two of them, many of them, and one with what its own clusters predict.

Two: the adjusted Rand index. Many: their consensus, without ever writing their agreement down. With H the n × Σ K_m
one-hot matrix of M labelings, the share of them that puts i and j together is P = HHᵀ/M. Its normalised eigenvectors
are left singular vectors of D^-½H/√M, so they come from a Σ K_m × Σ K_m matrix: linear in n. Where Σ K_m is larger than
n they come from the n × n one. One: clusters of a part of the samples become affine subspaces, which foretell the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_array, hstack

from masked_subspace._common.rows import content_order, eigenpairs, largest_eigenpairs, unit_rows, with_fixed_signs
from masked_subspace._common.sparse.implicit import ImplicitRows, Rows
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.label.graph import vectors_to_weigh, weighted

# γ: of 1, 1.25, 1.5 and 2 the best for new samples of digits, USPS, generated subspaces and MNIST draws other than
# those reported; fitted samples alone would ask for 1.75 (docs/findings/calibration.md).
_DOUBT = 1.25
# γ for new samples where the votes are those of one view, or of distances, which agree more easily than views do: o
# counts as if a second vote had to say so too.
DOUBT_OF_ONE_VIEW = 2.0
# By how much a sample's own cluster leads where another has the same share.
_HAIR = 1e-5  # that float32 keeps
_LEAD = 1e-9
# The mean and, as columns, orthonormal directions.
AffineSubspace: TypeAlias = tuple[FloatArray, FloatArray]
_ENERGY = 0.9
_MOST_DIRECTIONS = 9
# Half of a cluster of fewer than ten samples says little of the other half: these are split in four.
_SMALL, _FOLDS_OF_SMALL = 10, 4
# How often: few samples are split more often, so that about as many are predicted. Of ORL's 400 samples three
# splits leave the score of a way uncertain by .03, more than the two best ways differ, and eight by .01.
_PREDICTED, _FEWEST_SPLITS, _MOST_SPLITS = 3_200, 3, 16
# More features than this are first reduced to their leading principal directions: the yardstick stays, at less cost.
_MOST_FEATURES = 100


def membership(labelings: Sequence[IntArray]) -> csr_array:
    """H: one column for each cluster of each labeling."""
    n = len(labelings[0])
    parts = [
        csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, int(labels.max()) + 1)) for labels in labelings
    ]
    return csr_array(hstack(parts, format="csr"))


def consensus_embedding(labelings: Sequence[IntArray], n_clusters: int) -> FloatArray:
    """Unit rows whose distances say how often two samples were put together.

    Samples on which all labelings agree, most of them, have one row: a row a of A that stands there w times is the row
    √w a once in any product.
    """
    each, place, count = np.unique(np.stack(labelings, axis=1), axis=0, return_inverse=True, return_counts=True)
    H = membership(list(each.T))
    scale = 1 / np.sqrt(len(labelings))
    degree = H @ (H.T @ count) * scale**2
    often = np.sqrt(count)
    A = csr_array(H.multiply((often * scale / np.sqrt(degree))[:, None]))
    # The smaller of the two products: many votes with many clusters have more columns than there are different samples.
    few_samples = A.shape[0] < A.shape[1]
    values, found = eigenpairs((A @ A.T if few_samples else A.T @ A).toarray())
    wanted = min(vectors_to_weigh(n_clusters), len(values))
    values, found = values[::-1][:wanted], found[:, ::-1][:, :wanted]
    kept = values > 1e-10
    values, found = values[kept], found[:, kept]
    vectors = (found if few_samples else (A @ found) / np.sqrt(values)) / often[:, None]
    return unit_rows(weighted(vectors, values, n_clusters))[place.ravel()]


def _mean_agreement(labels: IntArray, labelings: Sequence[IntArray], n_clusters: int) -> FloatArray:
    """n × K: mean P of each sample with the samples of each cluster."""
    H = membership(labelings)
    own = csr_array((np.ones(len(labels)), labels, np.arange(len(labels) + 1)), shape=(len(labels), n_clusters))
    size = np.maximum(np.bincount(labels, minlength=n_clusters), 1)
    shares: FloatArray = np.asarray((H @ (H.T @ own)).toarray()) / (len(labelings) * size)
    return shares


def shares_of_votes(labels: IntArray, labelings: Sequence[IntArray], n_clusters: int) -> FloatArray:
    """Memberships: how far the labelings put each sample with each cluster, rows summing to 1."""
    shares = _mean_agreement(labels, labelings, n_clusters)
    total = shares.sum(axis=1, keepdims=True)
    return shares / np.where(total > 0, total, 1)


def shares_beside_others(
    labels: IntArray, labelings: Sequence[IntArray], others: Sequence[Sequence[IntArray]], n_clusters: int
) -> FloatArray:
    """Memberships where other families of views have voted too: the mean of what the labelings say and of what the
    family says whose votes are nearest to the labels.

    Votes of one family err together and are too sure; those of another family are worse than the labels and too timid.
    A vote of the own family gives a sample to the cluster that most samples of its cell have; one of another family
    gives it to all clusters that they have, by their shares.
    """
    nearest = max(
        (_shares_of_cells(labels, votes, n_clusters, whole=False) for votes in others),
        key=lambda shares: float(shares[np.arange(len(labels)), labels].mean()),
    )
    beside: FloatArray = (_shares_of_cells(labels, labelings, n_clusters, whole=True) + nearest) / 2
    return beside


def _shares_of_cells(labels: IntArray, labelings: Sequence[IntArray], n_clusters: int, *, whole: bool) -> FloatArray:
    """n × K: mean over labelings of the shares of the clusters among the samples that one puts with a sample; `whole`:
    1 for the largest of them."""
    total = np.zeros((len(labels), n_clusters))
    for vote in labelings:
        table = np.zeros((int(vote.max()) + 1, n_clusters))
        np.add.at(table, (vote, labels), 1)
        if whole:
            shares = np.eye(n_clusters)[table.argmax(axis=1)]
        else:
            shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
        total += shares[vote]
    mean: FloatArray = total / len(labelings)
    return mean


def agreement_with(labels: IntArray, labelings: Sequence[IntArray]) -> FloatArray:
    """For each sample, how far the labelings agree on its cluster: mean P over its own cluster, less the next best.

    1 means that every labeling puts it with its cluster's samples and with nobody else.
    """
    n_clusters = int(labels.max()) + 1
    shares = _mean_agreement(labels, labelings, n_clusters)
    rows = np.arange(len(labels))
    mine = shares[rows, labels].copy()
    shares[rows, labels] = -1
    rest = np.maximum(shares.max(axis=1), 0) if n_clusters > 1 else np.zeros(len(labels))
    certainty: FloatArray = np.clip(mine - rest, 0, 1)
    return certainty


def with_own_first(shares: FloatArray, labels: IntArray) -> FloatArray:
    """Shares whose largest entry is the sample's own cluster: where another is larger, the two change places."""
    shares = shares.copy()
    rows = np.arange(len(labels))
    first = shares.argmax(axis=1)
    own, largest = shares[rows, labels].copy(), shares[rows, first].copy()
    shares[rows, first] = own
    shares[rows, labels] = largest + _LEAD
    ordered: FloatArray = shares / shares.sum(axis=1, keepdims=True)
    return ordered


def told_nothing(shares: FloatArray, labels: IntArray, rows: IntArray) -> FloatArray:
    """Memberships of which those of some rows are even, their own cluster first by a hair."""
    shares = shares.copy()
    shares[rows] = 1 / (shares.shape[1] + _HAIR)
    shares[rows, labels[rows]] *= 1 + _HAIR
    return shares


def doubted(memberships: FloatArray, labels: IntArray, doubt: float = _DOUBT) -> FloatArray:
    """Memberships m from the votes of members that err together: t m + (1 − t) / K, t = o^(γ − 1), o the own share."""
    own = memberships[np.arange(len(labels)), labels][:, None]
    believed = own ** (doubt - 1)
    mixed: FloatArray = believed * memberships + (1 - believed) / memberships.shape[1]
    return mixed


def adjusted_rand_index(labels_a: IntArray, labels_b: IntArray) -> float:
    """Adjusted Rand index of two labelings: 1 for the same partition, 0 on average for unrelated ones.

        ARI = (Σ_kl C(n_kl, 2) − E) / ((Σ_k C(a_k, 2) + Σ_l C(b_l, 2))/2 − E),   E its mean for random labels

    with n_kl the contingency table and a, b its sums. scikit-learn's takes a millisecond, most of it checks; a judge
    compares thousands of labelings. Labels are not checked here.

    Parameters
    ----------
    labels_a : ndarray of int of shape (n_samples,)
        The first labeling, numbers from 0.
    labels_b : ndarray of int of shape (n_samples,)
        The second labeling, numbers from 0.

    Returns
    -------
    index : float
        1 at most; negative where two labelings agree less than chance would.

    References
    ----------
    .. [Hubert1985] Hubert, L. and Arabie, P. (1985). Comparing partitions. Journal of Classification 2.

    Examples
    --------
    >>> import numpy as np
    >>> from masked_subspace.metrics import adjusted_rand_index
    >>> adjusted_rand_index(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    n, columns = len(labels_a), int(labels_b.max()) + 1
    keys = labels_a.astype(np.int64) * columns + labels_b
    table = np.bincount(keys, minlength=(int(labels_a.max()) + 1) * columns).astype(np.float64).reshape(-1, columns)
    together = ((table**2).sum() - n) / 2
    in_a, in_b = (((table.sum(axis=axis) ** 2).sum() - n) / 2 for axis in (1, 0))
    expected = in_a * in_b / max(n * (n - 1) / 2, 1)
    most = (in_a + in_b) / 2
    return 1.0 if most == expected else float((together - expected) / (most - expected))


def agreement(votes: Sequence[IntArray]) -> float:
    """Mean adjusted Rand index over all pairs of votes; a single vote agrees with itself."""
    pairs = [adjusted_rand_index(a, b) for i, a in enumerate(votes) for b in votes[:i]]
    return float(np.mean(pairs)) if pairs else 1.0


def mean_of_neighbours(votes: list[IntArray]) -> float:
    """Mean adjusted Rand index over neighbouring votes: how far members agree."""
    pairs = list(zip(votes, votes[1:] + votes[:1], strict=True))
    return float(np.mean([adjusted_rand_index(a, b) for a, b in pairs]))


def folds(order: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    """So many folds at random; samples in another order fall into the same ones."""
    fold = np.empty(len(order), dtype=np.int64)
    fold[order] = count * rng.random(len(order))
    return fold


def folds_for(n_samples: int, n_clusters: int) -> int:
    """Into how many parts the samples are split; each is predicted by the others."""
    return _FOLDS_OF_SMALL if n_samples < _SMALL * n_clusters else 2


def splits_for(n_samples: int) -> int:
    """How often the samples are split."""
    return min(_MOST_SPLITS, max(_FEWEST_SPLITS, round(_PREDICTED / n_samples)))


def prediction_strength(samples: FloatArray, labels: IntArray, n_clusters: int, seed: int = 0) -> float:
    """How well the clusters of some samples predict the labels of the others: 0 … 1.

    Samples are split in two, or in four where clusters are small.

    A partition with fewer than K clusters would predict itself; it scores 0.
    """
    if len(np.unique(labels)) < n_clusters:
        return 0.0
    rng, order = np.random.default_rng(seed), content_order(samples)
    count = folds_for(len(labels), n_clusters)
    scores = [
        adjusted_rand_index(labels, predicted_labels(samples, labels, n_clusters, folds(order, count, rng)))
        for _ in range(splits_for(len(labels)))
    ]
    return max(0.0, float(np.mean(scores)))


def predicted_labels(samples: FloatArray, labels: IntArray, n_clusters: int, fold: IntArray) -> IntArray:
    """The nearest cluster of each sample, clusters being affine subspaces that were fitted to the other folds."""
    distance = np.full((len(samples), n_clusters), np.inf)
    for left_out in range(int(fold.max()) + 1):
        train = fold != left_out
        members = [samples[train & (labels == cluster)] for cluster in range(n_clusters)]
        fitted = [cluster for cluster in range(n_clusters) if len(members[cluster]) > 1]
        if fitted:
            others = np.flatnonzero(~train)
            subspaces = _affine_subspaces([members[cluster] for cluster in fitted])
            distance[others[:, None], np.array(fitted)] = squared_distances(samples[others], subspaces)
    nearest: IntArray = distance.argmin(axis=1)
    return nearest


def _affine_subspaces(clusters: list[FloatArray]) -> list[AffineSubspace]:
    """Of each cluster the mean of its rows and, as columns, the directions that hold nine tenths of their energy, nine
    at most. Clusters of one size are computed together: there are many small ones."""
    by_size: dict[int, list[int]] = {}
    for place, rows in enumerate(clusters):
        by_size.setdefault(len(rows), []).append(place)
    found: dict[int, AffineSubspace] = {}
    for places in by_size.values():
        found.update(zip(places, _of_one_size(np.stack([clusters[place] for place in places])), strict=True))
    return [found[place] for place in range(len(clusters))]


def _of_one_size(clusters: FloatArray) -> list[AffineSubspace]:
    """The affine subspaces of a stack of clusters."""
    _, size, width = clusters.shape
    means = clusters.mean(axis=1, keepdims=True)
    centred = clusters - means
    across = centred.transpose(0, 2, 1)
    wide = size <= width
    values, vectors = eigenpairs(centred @ across if wide else across @ centred)
    values, vectors = np.maximum(values[:, ::-1], 0), vectors[:, :, ::-1]
    share = np.cumsum(values, axis=1) / np.maximum(values.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    # In few features nothing would be left outside a subspace that holds the energy: half of them are its own at most.
    most = min(_MOST_DIRECTIONS, size - 1, width // 2)
    ranks = np.minimum((share < _ENERGY).sum(axis=1) + 1, most)
    bases = vectors[:, :, :most]
    if wide:
        bases = across @ bases / np.sqrt(np.maximum(values[:, None, :most], np.finfo(clusters.dtype).tiny))
    return [(mean[0], basis[:, :rank]) for mean, basis, rank in zip(means, bases, ranks, strict=True)]


def squared_distances(rows: FloatArray, subspaces: list[AffineSubspace]) -> FloatArray:
    """‖x − m‖² − ‖Bᵀ(x − m)‖² from each row to each affine subspace (m, B), by two products for all of them."""
    means, bases = np.array([mean for mean, _ in subspaces]), np.hstack([basis for _, basis in subspaces])
    middle = means.mean(axis=0)
    rows, means = rows - middle, means - middle
    along = rows @ bases - np.concatenate([mean @ basis for mean, (_, basis) in zip(means, subspaces, strict=True)])
    starts = np.cumsum([0, *(basis.shape[1] for _, basis in subspaces[:-1])])
    inside = np.add.reduceat(along**2, starts, axis=1) if bases.shape[1] else 0.0
    squared: FloatArray = (rows**2).sum(axis=1)[:, None] - 2 * rows @ means.T + (means**2).sum(axis=1) - inside
    return squared


def leading_rows(
    rows: Rows, width: int | None = None, turned: Callable[[FloatArray], FloatArray] = with_fixed_signs
) -> FloatArray:
    """At most 100 principal directions of the rows, with the signs that `turned` gives directions.

    `width` is that of the rows if None; of sparse samples it is that of arrays like them.
    """
    if isinstance(rows, ImplicitRows):
        return rows.principal(_MOST_FEATURES, center=True)
    width = rows.shape[1] if width is None else width
    if width <= _MOST_FEATURES:
        return rows
    centred: FloatArray = rows - rows.mean(axis=0)
    if width <= len(centred):
        return centred @ turned(_principal_directions(centred))
    values, vectors = largest_eigenpairs(centred @ centred.T, _MOST_FEATURES)
    reduced: FloatArray = vectors * np.sqrt(np.maximum(values, 0))
    return reduced


def _principal_directions(centred: FloatArray) -> FloatArray:
    """At most 100, as columns; a column of zeros, such as the border of images, has no part in any."""
    used = np.flatnonzero(centred.any(axis=0))
    some = centred if len(used) == centred.shape[1] else centred[:, used]
    found = largest_eigenpairs(some.T @ some, _MOST_FEATURES)[1]
    directions = np.zeros((centred.shape[1], found.shape[1]), dtype=found.dtype)
    directions[used] = found
    return directions
