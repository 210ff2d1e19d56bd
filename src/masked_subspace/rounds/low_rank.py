"""The closed form for low-dimensional data: Z = U_r U_rᵀ, the solution of min ‖Z‖_* subject to X = ZX on the r leading
directions (Costeira & Kanade 1998; Liu et al. 2013).

Motions of rigid bodies lie in subspaces of dimension at most four, so all of them together have a rank of a few times
K, and U_r U_rᵀ is zero between independent motions. How many directions are signal is not known: every rank from 2K to
5K is tried, and the one whose graph has the clearest gap after K eigenvalues is taken,

    gap = (1 − λ_{K+1}) / (1 − λ_K + ε),   λ the eigenvalues of D^-½ W D^-½, W = |M Mᵀ|⁴, M = U_r with unit rows.

On 79 sequences of Hopkins155 this has a mean error of .9 % (docs). Where the gap is not clear another way is taken.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.progress import Events
from masked_subspace._common.rows import (
    drawn_by_content,
    eigenpairs,
    eigenvalues,
    largest_eigenpairs,
    leading_eigenpairs,
    products_of,
    unit_rows,
)
from masked_subspace._common.sparse.implicit import ImplicitRows, Rows
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.label.agreement import agreement_with, prediction_strength
from masked_subspace.label.graph import normalized_graph, symmetrize
from masked_subspace.label.kmeans import RESTARTS_OF_A_RANK
from masked_subspace.label.labeler import Evidence, Labeling, graph_with_pairs, label_rows
from masked_subspace.label.number_of_clusters import Number
from masked_subspace.masks.base import SoftMask
from masked_subspace.represent.model import SolverResult
from masked_subspace.represent.neighbors.search import find_candidates
from masked_subspace.rounds.recursion import Outcome
from masked_subspace.rows.preparation import VIEWS, Preparation

# Ranks in clusters, how many of them at most, and the gap from which the way is taken: motions have 1.87 and more,
# images at most 1.26 (docs).
LOWEST, HIGHEST, MOST_RANKS, CLEAR_GAP = 2, 5, 10, 1.8
# With a smaller gap than this, and where its clusters foretell each other by less, the largest score decides. Of 79
# motion sequences, tables and generated ones it is so with six; three gain (one motion 24 points, wine 2), none loses.
_SURE_GAP, _SURE_STRENGTH = 2.5, 0.9
# The way is looked at only where the directions beyond 5K hold less than this share of the energy.
NEGLIGIBLE = 1e-3
# The number of clusters is read from the gap up to six, or ten where X has room for ten planes, and only where it is so
# clear: motions have 3.5 and more, tables at most 2.7 (docs/findings/number_of_clusters.md). So many ranks are tried.
_MOST_MOTIONS, _MOST_SUBSPACES, _CLEAR_NUMBER, _RANKS_OF_NUMBERS = 6, 10, 3.0, 16
_POWER = 4
_EPSILON = 1e-3
_ROUNDING = 1e-8
# Up to here every pair of samples is compared; above, each with its nearest.
_ALL_PAIRS = 600
_NEIGHBOURS = 64
# Rows on which energy and strength are measured.
_SAMPLED = 1_000
# Of more samples than are compared in pairs, so many say whether the gap is clear: of the 79 sequences of Hopkins155
# none loses its gap so. More clusters than this are no motions: the ranks would be those of any data (COIL100 spent 127
# of 163 s here), and the other ways find independent subspaces too.
_JUDGED, _MOST_CLUSTERS = 300, 20


@dataclass(frozen=True)
class Rank:
    """The cut of one rank."""

    rank: int
    gap: float
    graph: csr_array
    vectors: FloatArray


def ranks_for(n_clusters: int, most: int) -> list[int]:
    """Ranks 2K … 5K, evenly in their logarithm, none above `most`."""
    count = min(MOST_RANKS, (HIGHEST - LOWEST) * n_clusters + 1)
    wanted = np.geomspace(LOWEST * n_clusters, HIGHEST * n_clusters, count)
    return sorted({min(most, round(one)) for one in wanted})


def power_graph_of(rows: FloatArray) -> csr_array:
    """|M Mᵀ|⁴ without its diagonal, of all pairs or of each sample's nearest."""
    n = len(rows)
    if n <= _ALL_PAIRS:
        return csr_array(_powers_of_pairs(rows))
    found = find_candidates(rows, min(_NEIGHBOURS, n - 1))
    source = np.repeat(np.arange(n), found.shape[1])
    weight = np.abs(np.einsum("ij,ij->i", rows[source], rows[found.ravel()])) ** _POWER
    return symmetrize(csr_array((weight, (source, found.ravel())), shape=(n, n)))


def _powers_of_pairs(rows: FloatArray) -> FloatArray:
    """|M Mᵀ|⁴ of all pairs."""
    W = np.abs(rows @ rows.T) ** _POWER
    np.fill_diagonal(W, 0)
    # What is below 1e-8 of the largest is rounding and cannot move an eigenvector visibly.
    W[_ROUNDING * W.max() > W] = 0
    powers: FloatArray = (W + W.T) / 2
    return powers


def cut_of_rank(directions: FloatArray, rank: int, n_clusters: int, seed: int) -> Rank:
    """The graph of the first `rank` directions, its K leading eigenvectors and its gap."""
    W = power_graph_of(unit_rows(directions[:, :rank]))
    values, vectors = _spectrum(W, n_clusters + 1, seed)
    return Rank(rank, _gap(values, n_clusters), W, unit_rows(vectors[:, :n_clusters]))


def _spectrum(W: csr_array, count: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """The `count` leading eigenpairs of D^-½ W D^-½."""
    S, wanted = normalized_graph(W), min(count, W.shape[0])
    if W.shape[0] <= _ALL_PAIRS:
        return largest_eigenpairs(S.toarray(), wanted)
    return leading_eigenpairs(S, wanted, seed=seed)


def _leading_values(rows: FloatArray, count: int, seed: int) -> FloatArray:
    """The values of `_spectrum` of the graph of these rows, without writing all pairs as a sparse graph."""
    if len(rows) > _ALL_PAIRS:
        return _spectrum(power_graph_of(rows), count, seed)[0]
    W = _powers_of_pairs(rows)
    degree = W.sum(axis=1)
    scale = 1 / np.sqrt(np.where(degree > 0, degree, 1))
    return eigenvalues(scale[:, None] * W * scale)[::-1][:count]


def _gap(values: FloatArray, n_clusters: int) -> float:
    following = float(values[n_clusters]) if len(values) > n_clusters else 1.0
    return (1 - following) / (1 - float(values[n_clusters - 1]) + _EPSILON)


def cuts_of_ranks(directions: FloatArray, n_clusters: int, seed: int) -> list[Rank]:
    """All ranks, the clearest gap first."""
    ranks = ranks_for(n_clusters, directions.shape[1])
    found = [cut_of_rank(directions, rank, n_clusters, seed) for rank in ranks]
    return sorted(found, key=lambda one: -one.gap)


def clearest_cuts(X: FloatArray, n_clusters: int, seed: int, *, asked: bool) -> tuple[Preparation, list[Rank]] | None:
    """Cuts of the closed form, the clearest gap first; None where the data are not of low rank.

    Unless the way was `asked` for, many samples are looked at only if the gap of a sample is clear: otherwise the
    cuts are those of the sample, and their gap says that the way is not to be taken.
    """
    if not asked and n_clusters > _MOST_CLUSTERS:
        return None
    if not asked and len(X) > _ALL_PAIRS:
        found = clearest_cuts(_sample(X, seed), n_clusters, seed, asked=False)
        if found is None or found[1][0].gap < CLEAR_GAP:
            return found
    cuts = [
        (preparation, cuts_of_ranks(directions, n_clusters, seed))
        for preparation, directions in low_rank_rows(X, HIGHEST * n_clusters, only_if_low=not asked)
    ]
    return max(cuts, key=lambda one: one[1][0].gap, default=None)


def _sample(X: FloatArray, seed: int) -> FloatArray:
    return X[drawn_by_content(X, _JUDGED, np.random.default_rng(seed))]


def gaps_of_numbers(directions: FloatArray, low: int, high: int, seed: int) -> dict[int, float]:
    """The clearest gap after K eigenvalues, for each K; ranks serve every K whose 2K … 5K they lie in."""
    gaps = dict.fromkeys(range(low, high + 1), 0.0)
    most = directions.shape[1]
    ranks = sorted({min(most, round(rank)) for rank in np.geomspace(LOWEST * low, HIGHEST * high, _RANKS_OF_NUMBERS)})
    for rank in ranks:
        values = _leading_values(unit_rows(directions[:, :rank]), high + 1, seed)
        for number in gaps:
            fits = LOWEST * number <= rank <= HIGHEST * number or rank == most <= LOWEST * number
            if fits and number < len(values):
                gaps[number] = max(gaps[number], _gap(values, number))
    return gaps


def number_of_low_rank(X: FloatArray, low: int, high: int, seed: int, *, only_if_low: bool) -> Number | None:
    """The number with the clearest gap; None where the data are not of low rank or no gap is very clear.

    In fewer features than six independent planes have directions a gap says nothing of the number: of six clouds in
    three features it tells two. Up to ten are counted where ten planes have room.
    """
    low, high = max(2, low), min(high, len(X) - 1)
    if low >= high or (only_if_low and X.shape[1] < 2 * _MOST_MOTIONS):
        return None
    if only_if_low and len(X) > _ALL_PAIRS:
        X = _sample(X, seed)
    gaps = _gaps_of_samples(X, low, min(high, _MOST_MOTIONS), seed, only_if_low=only_if_low)
    if X.shape[1] >= 2 * _MOST_SUBSPACES:
        least, most = max(low, _MOST_MOTIONS + 1), min(high, _MOST_SUBSPACES)
        gaps |= _gaps_of_samples(X, least, most, seed, only_if_low=only_if_low)
    ranked = sorted(gaps, key=lambda number: -gaps[number])
    if not ranked or (only_if_low and gaps[ranked[0]] < _CLEAR_NUMBER):
        return None
    candidates = [number for number in ranked if number == ranked[0] or gaps[number] >= CLEAR_GAP]
    records = [{"n_clusters": number, "score": gap} for number, gap in gaps.items()]
    return Number(ranked[0], candidates[:3], records)


def _gaps_of_samples(X: FloatArray, low: int, high: int, seed: int, *, only_if_low: bool) -> dict[int, float]:
    """The clearest gap of each number, through the origin or not; nothing where the data are not of low rank."""
    if low > high:
        return {}
    prepared = low_rank_rows(X, HIGHEST * high, only_if_low=only_if_low)
    found = [gaps_of_numbers(directions, low, high, seed) for _, directions in prepared]
    return {number: max(gaps[number] for gaps in found) for number in range(low, high + 1)} if found else {}


@dataclass(frozen=True)
class ClosedForm:
    """One round without a mask: the rank with the clearest gap labels, the others say how sure that is."""

    directions: FloatArray
    cuts: list[Rank]
    n_clusters: int
    evidence: Evidence
    seed: int

    def play(self, _number: int, _mask: SoftMask | None, _events: Events) -> Outcome:
        started = time.perf_counter()
        labelings = [self._labeling(one) for one in self.cuts]
        best = labelings[0]
        votes = [labeling.labels for labeling in labelings]
        details = {"ranks": [{"rank": one.rank, "gap": one.gap} for one in self.cuts]}
        solution = self._solution(time.perf_counter() - started)
        return Outcome(solution, best, None, float("nan"), details, votes, agreement_with(best.labels, votes))

    def _labeling(self, one: Rank) -> Labeling:
        W = one.graph if self.evidence.known is None else graph_with_pairs(one.graph, self.evidence.known)
        placed = np.ones(W.shape[0], dtype=bool)
        labels = label_rows(one.vectors, placed, W, self.n_clusters, self.evidence, self.seed, RESTARTS_OF_A_RANK)
        return Labeling(labels, W, one.vectors)

    def _solution(self, seconds: float) -> SolverResult:
        """Z = U_r U_rᵀ on the links of the graph."""
        best = self.cuts[0]
        U = self.directions[:, : best.rank]
        rows = np.repeat(np.arange(len(U)), np.diff(best.graph.indptr))
        data = np.einsum("ij,ij->i", U[rows], U[best.graph.indices])
        Z = csr_array((data, best.graph.indices, best.graph.indptr), shape=best.graph.shape)
        return SolverResult(Z, 1, True, 0.0, 0.0, 0.0, np.zeros(1), seconds)


def low_rank_rows(X: FloatArray, most: int, *, only_if_low: bool) -> list[tuple[Preparation, FloatArray]]:
    """The leading directions U of the rows, at most `most` of them, and how new rows get there: for subspaces through
    the origin, and with a constant column for those that are not.

    With `only_if_low`, nothing where the directions left out hold more than a thousandth of the energy: the data are
    not of low rank.
    """
    homogeneous = Preparation.learn(X, VIEWS["homogeneous"])
    if only_if_low and energy_beyond(homogeneous.apply(X), most) > NEGLIGIBLE:
        return []
    lifted = VIEWS["low-rank"]
    learnt = [Preparation.learn(X, view, directions=most) for view in (replace(lifted, lift=False), lifted)]
    return [(one, one.apply(X)) for one in learnt]


def is_sure(gap: float, directions: Rows, labels: IntArray, n_clusters: int) -> bool:
    """Whether these labels of a clear gap are taken without asking for other ways."""
    return gap >= _SURE_GAP or own_strength(directions, labels, n_clusters) >= _SURE_STRENGTH


def own_strength(directions: Rows, labels: IntArray, n_clusters: int) -> float:
    """Prediction strength along the leading directions, evened out: motions differ in some that hold little energy."""
    assert isinstance(directions, np.ndarray)  # of sparse samples, too
    chosen = drawn_by_content(directions, _SAMPLED, np.random.default_rng(0))
    return prediction_strength(unit_rows(directions[chosen]), labels[chosen], n_clusters)


def energy_beyond(rows: FloatArray, count: int) -> float:
    """Share of the energy outside the first `count` principal directions."""
    n, d = rows.shape
    if min(n, d) <= count:
        return 0.0
    if n > _SAMPLED:
        rows = rows[drawn_by_content(rows, _SAMPLED, np.random.default_rng(0))]
    by_features = d <= len(rows) and not isinstance(rows, ImplicitRows)
    small = rows.T @ rows if by_features else products_of(rows, rows)
    values = np.maximum(eigenpairs(small)[0], 0)
    return float(values[:-count].sum() / values.sum())
