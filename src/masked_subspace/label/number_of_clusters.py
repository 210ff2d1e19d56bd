"""How many clusters there are, without labels: as many as different looks at the data find again.

Every graph is cut into K clusters for each K of a range. Two looks (two views of the data, or two random halves of the
links) that find the same clusters share information, and the number is taken for which they share most beyond a price:

    score(K) = (a − θ) · (H − E),   a = (I − E) / (H − E)

I is the mutual information of two looks' clusters, H the mean entropy of the clusters, E what I would be if the samples
of one look were shuffled, so that a is the adjusted mutual information (Vinh, Epps & Bailey 2010, with one shuffle in
place of the expectation). Splitting a cluster pays while more than the share θ of what the split says is found again; a
split that each look makes elsewhere costs θ of its entropy. With K true clusters and perfect agreement the score is
(1 − θ)(log K − E); fewer clusters lose entropy, more lose agreement.

A number on which looks agree more than on its neighbours stands alone. Otherwise the score may be flat, and a smaller
number is named beside it: the smallest from .8 of the best on, within 5 % of its score, whose clusters predict each
other as well. They do so as affine subspaces of three quarters of the samples, which tell the clusters of the rest; how
well is the adjusted mutual information of both. Finer clusters say nothing new there.

The family of views that finds most again decides; those that agree more easily decide together. Where others find
nearly as much, their own best numbers are named as candidates: evidence that is split shows there.

Clouds in few features are another matter: one cloud can be cut into any number of cells that are found again. Where
views that see clouds (`Cells`) find most again, the number is that of the largest

    excess(K) · H,

excess being how much more of the links between neighbours stay inside the clusters than inside as many cells of one
cloud (label/separation.py), which is 1 where clusters do not touch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.rows import Positions
from masked_subspace._common.types import FloatArray, IntArray, Record
from masked_subspace.label.agreement import consensus_embedding, predicted_labels
from masked_subspace.label.graph import in_order, keep_largest, put_back, rows_by_maximum, symmetrize
from masked_subspace.label.kmeans import cluster_rows
from masked_subspace.label.modularity import ManyCuts, modularity
from masked_subspace.label.numbers_tried import between_neighbours, every_fourth, first_numbers, promising
from masked_subspace.label.separation import CLEAR, Clouds
from masked_subspace.label.shared_information import SharedInformation, entropy_of
from masked_subspace.parallel.engine import ordered_map

# The flat part, and θ (label/shared_information.py), were chosen on the sets of docs/findings/number_of_clusters.md,
# which says how much depends on them. Scores this much below the best one are as good, for numbers from this share of
# the best on.
_FLAT, _REACH = 0.05, 0.8
# Looks of one view, and graphs of distances, agree more easily than codes of several views: their best score is up to
# 1.25 times that of the others on images and subspaces, where they are the wrong family. On tables, where they are the
# right one, others find nothing.
_LEAD = 1.3
# Families whose best score is this share of the best one's name a candidate.
_FAVOURITE = 0.7
# Of families that see clouds those whose best score is this near to the best one's label together.
_NEAR = 0.85
# A prediction is made from three quarters of the samples: halves of small clusters do not fill their subspaces.
_FOLDS = 4
# Looks: random parts of the links of each view. A view alone is looked at more often.
_LOOKS_OF_ONE_VIEW, _LOOKS_OF_SEVERAL = 4, 2
_LINKS, _LINK_SHARE = 8, 0.5
_ROUNDING = 1e-6
# Pairs of looks that are compared.
_MOST_PAIRS = 12
# Halvings of the range of resolutions: cuts for the score need not be as exact as those that label.
_HALVINGS = 11
# Other numbers are named beside the one taken if their score is so near to the best and they differ by this share.
_CANDIDATE, _OTHER = 0.9, 0.15
_MOST_CANDIDATES = 3
# Numbers of clouds are tried in turn until so many are below half of the best, or of what single clouds reach; others
# are named from this share on.
_PATIENCE, _HALF, _APART, _CLOUD_CANDIDATE = 4, 0.5, 0.3, 0.75
# Share of the links that stay inside clusters, above a single cloud's, from which clusters do not touch.
_DO_NOT_TOUCH = 0.99
# So many numbers above the lowest say which of the families that see clouds finds them again.
_FIRST_CLOUDS = 8


@dataclass(frozen=True)
class Number:
    """The number of clusters that was taken, the numbers with nearly as much evidence, and one record each tried."""

    n_clusters: int
    candidates: list[int]
    records: list[Record]


@dataclass(frozen=True)
class Cells:
    """What tells clusters from the cells of one cloud: some of the samples, and which families see clouds."""

    rows: FloatArray  # every feature on one scale
    places: Positions  # where these stand among all samples
    families: Sequence[int]


def number_of_clusters(
    families: Sequence[Sequence[csr_array]],
    low: int,
    high: int,
    seed: int,
    *,
    samples: Sequence[FloatArray] = (),
    order: Positions | None = None,
    cells: Cells | None = None,
    by_distance: Sequence[int] = (),
    n_threads: int = 1,
) -> Number:
    """The number between `low` and `high` of which the looks find most again.

    A family is a list of links of the same samples, one a view; those whose links are distances are named.
    `samples` are rows on which the clusters must predict each other, in one or more scales. Parts of links and of
    samples are drawn in `order`: one by content makes the number that of the rows in any order.
    """
    if low == high:
        return Number(low, [low], [])
    if order is not None:
        families = [[in_order(links, order) for links in graphs] for graphs in families]
        samples = [rows[order] for rows in samples]
    searches = [
        _Family.of(graphs, seed, n_threads, by_distance=place in by_distance) for place, graphs in enumerate(families)
    ]
    tried = first_numbers(low, high)
    of_clouds = [one for place, one in enumerate(searches) if cells is not None and place in cells.families]
    searches = _hopeful(searches, tried)
    tried = promising(tried, [[one.score(k) for k in every_fourth(tried)] for one in searches])
    for one in searches:
        one.try_all(tried)
    if cells is not None and max(searches, key=lambda one: max(one.score(k) for k in tried)) in of_clouds:
        return _number_of_clouds(_nearly_best(searches, tried), low, high, cells, seed, order)
    lead = _leading(searches, tried)
    near = between_neighbours(tried, np.array([lead.score(k) for k in tried]), _FLAT)
    lead.try_all(near)
    numbers = sorted({*tried, *near})
    found = np.array([lead.score(k) for k in numbers])
    predicted = cache(lambda k: _prediction(lead.looks, k, samples, seed))
    records = [{"n_clusters": k, **lead.records[k], "score": lead.score(k)} for k in numbers]
    agreement = [record["agreement"] for record in records]
    coarser = numbers[_coarsest(numbers, found, agreement, predicted)] if samples else None
    favourites = _favourites(searches, tried, _FAVOURITE * float(found.max()))
    taken = int(found.argmax())
    return Number(numbers[taken], _candidates(numbers, found, coarser=coarser, favourites=favourites), records)


def _coarsest(
    numbers: Sequence[int], score: FloatArray, agreement: Sequence[float], predicted: Callable[[int], float]
) -> int:
    """The best number if looks agree on it more than on its neighbours; otherwise, where the score is flat, the
    smallest whose clusters predict as well: finer ones say nothing new."""
    best = int(score.argmax())
    neighbours = [place for place in (best - 1, best + 1) if 0 <= place < len(numbers)]
    if all(agreement[best] > agreement[place] for place in neighbours):
        return best
    for place in range(best):
        near = numbers[place] >= _REACH * numbers[best] and score[place] >= score[best] - _FLAT * abs(score[best])
        if near and predicted(numbers[place]) >= predicted(numbers[best]):
            return place
    return best


def _prediction(looks: Sequence[ManyCuts], n_clusters: int, samples: Sequence[FloatArray], seed: int) -> float:
    """How far the consensus of the looks agrees with what its clusters, as subspaces, predict."""
    labels = _consensus(looks, n_clusters, seed)
    rng = np.random.default_rng(seed)
    fold = rng.permutation(len(labels)) % _FOLDS
    pairs = [(labels, predicted_labels(one, labels, n_clusters, fold)) for one in samples]
    return SharedInformation.of(pairs, rng).agreement


def _consensus(looks: Sequence[ManyCuts], n_clusters: int, seed: int) -> IntArray:
    votes = [_cuts(look, [n_clusters])[0] for look in looks]
    return cluster_rows(consensus_embedding(votes, n_clusters), n_clusters, seed)


def number_of_clear_clouds(
    families: Sequence[Sequence[csr_array]],
    low: int,
    high: int,
    seed: int,
    *,
    cells: Cells,
    order: Positions | None = None,
    n_threads: int = 1,
) -> Number | None:
    """The number of clouds by the families that see clouds, where they stand apart more than any one cloud's cells do;
    None otherwise. Where it is clear, nothing else has to be represented."""
    if order is not None:
        families = [[in_order(links, order) for links in graphs] for graphs in families]
    searches = [_Family.of(graphs, seed, n_threads) for graphs in families]
    tried = first_numbers(low, min(high, max(low, 2) + _FIRST_CLOUDS))
    for one in searches:
        one.try_all(tried)
    found = _number_of_clouds(_nearly_best(searches, tried), low, high, cells, seed, order)
    taken = next(record for record in found.records if record["n_clusters"] == found.n_clusters)
    return found if taken["separation"] >= CLEAR else None


def _number_of_clouds(
    searches: Sequence[_Family], low: int, high: int, cells: Cells, seed: int, order: Positions | None
) -> Number:
    """The number whose clusters stand apart most, of those that the looks of these families agree on.

    A number that is shown to have less than half of the best score keeps the bound that showed it.
    """
    clouds = Clouds.like(cells.rows, seed)
    looks = [look for one in searches for look in one.looks]
    numbers: list[int] = []
    found: list[float] = []
    records: list[Record] = []
    for k in range(max(low, 2), high + 1):
        labels = _consensus(looks, k, seed)
        if order is not None:
            labels = put_back(labels, order)
        chosen = labels[cells.places]
        entropy, best = entropy_of(np.bincount(chosen)), max(found, default=0.0)
        excess = clouds.excess(chosen, _HALF * best / entropy if best > 0 < entropy else -np.inf)
        for one in searches:
            one.try_all([k])
        numbers.append(k)
        found.append(excess * entropy)
        mean = _mean_record([one.records[k] for one in searches])
        records.append({"n_clusters": k, **mean, "separation": excess, "score": found[-1]})
        if len(found) > _PATIENCE and max(found[-_PATIENCE:]) < _HALF * max(*found, _APART):
            break
    score = np.array(found)
    taken = numbers[_apart_if_as_good(score, np.array([record["separation"] for record in records]))]
    others = [one for one in _candidates(numbers, score, _CLOUD_CANDIDATE) if one != taken]
    return Number(taken, [taken, *others][:_MOST_CANDIDATES], records)


def _apart_if_as_good(score: FloatArray, excess: FloatArray) -> int:
    """The place of the best score; or, where its clusters touch, of the best number below it whose clusters do not, if
    its score is nearly as good: a cloud that stands alone is not cut in two because the halves say more."""
    best = int(score.argmax())
    apart = np.flatnonzero((excess[:best] >= _DO_NOT_TOUCH) & (score[:best] >= _CANDIDATE * score[best]))
    if excess[best] >= _DO_NOT_TOUCH or len(apart) == 0:
        return best
    return int(apart[score[apart].argmax()])


def _nearly_best(searches: Sequence[_Family], tried: Sequence[int]) -> list[_Family]:
    """The families that see the data nearly as well as the best."""
    highest = [max(one.score(k) for k in tried) for one in searches]
    least = max(highest) - (1 - _NEAR) * abs(max(highest))
    return [one for one, best in zip(searches, highest, strict=True) if best >= least]


def _hopeful(searches: Sequence[_Family], tried: Sequence[int]) -> list[_Family]:
    """The families that find anything again among every fourth number; all where none does."""
    some = every_fourth(tried)
    for one in searches:
        one.try_all(some)
    return [one for one in searches if max(one.score(k) for k in some) > 0] or list(searches)


def _leading(searches: Sequence[_Family], tried: Sequence[int]) -> _Family:
    """The family that finds most again. One that agrees more easily must lead clearly, and those of its kind that find
    nearly as much decide with it."""

    def best(one: _Family) -> float:
        highest = max(one.score(k) for k in tried)
        return highest / _LEAD if one.held_back and highest > 0 else highest

    lead = max(searches, key=best)
    alike = [one for one in searches if one.held_back and best(one) >= _FAVOURITE * best(lead) > 0]
    if not lead.held_back or len(alike) < 2:
        return lead
    joined = _Family.joined(alike)
    joined.try_all(tried)
    return joined


def _favourites(searches: Sequence[_Family], tried: Sequence[int], least: float) -> list[int]:
    """The best number of each family that finds at least so much again, the family that finds most first."""
    best = [max(tried, key=one.score) for one in searches]
    ranked = sorted(zip(searches, best, strict=True), key=lambda pair: -pair[0].score(pair[1]))
    return [number for one, number in ranked if one.score(number) >= least > 0]


def _candidates(
    numbers: Sequence[int],
    score: FloatArray,
    share: float = _CANDIDATE,
    *,
    coarser: int | None = None,
    favourites: Sequence[int] = (),
) -> list[int]:
    """The number with the best score; the coarser one that predicts as well; the favourites of other families; and the
    best of those that are not far below the best score. All but the first two are clearly different numbers."""
    best = numbers[int(score.argmax())]
    named = list(dict.fromkeys([best, best if coarser is None else coarser]))
    near = score.max() - (1 - share) * abs(score.max())
    ranked = [numbers[place] for place in np.argsort(-score, kind="stable") if score[place] >= near]
    for number in (*favourites, *ranked):
        other = all(abs(number - one) >= _OTHER * max(number, one) for one in named)
        if other and len(named) < _MOST_CANDIDATES:
            named.append(number)
    return named


def _mean_record(records: Sequence[Record]) -> Record:
    return {key: float(np.mean([one[key] for one in records])) for key in records[0]}


class _Family:
    """Looks at the graphs of a family, and what their cuts into K clusters share."""

    def __init__(
        self, looks: list[ManyCuts], pairs: list[tuple[int, int]], seed: int, n_threads: int, *, held_back: bool
    ) -> None:
        self.looks, self.pairs, self.seed, self.n_threads = looks, pairs, seed, n_threads
        self.held_back = held_back
        self.records: dict[int, Record] = {}

    @classmethod
    def of(cls, graphs: Sequence[csr_array], seed: int, n_threads: int, *, by_distance: bool = False) -> _Family:
        rng = np.random.default_rng(seed)
        each = _LOOKS_OF_ONE_VIEW if len(graphs) == 1 else _LOOKS_OF_SEVERAL
        views = [view for view in range(len(graphs)) for _ in range(each)]
        looks = [
            ManyCuts(part_of_links(graphs[view], rng), seed + place, halvings=_HALVINGS)
            for place, view in enumerate(views)
        ]
        pairs = [(a, b) for a, b in combinations(range(len(looks)), 2) if views[a] != views[b] or len(graphs) == 1]
        some = pairs[:: max(1, len(pairs) // _MOST_PAIRS)]
        return cls(looks, some, seed, n_threads, held_back=by_distance or len(graphs) == 1)

    @classmethod
    def joined(cls, alike: Sequence[_Family]) -> _Family:
        """Families that decide together: looks are compared within each."""
        starts = np.cumsum([0, *(len(one.looks) for one in alike)]).tolist()
        pairs = [(a + start, b + start) for one, start in zip(alike, starts, strict=False) for a, b in one.pairs]
        looks = [look for one in alike for look in one.looks]
        return cls(looks, pairs, alike[0].seed, alike[0].n_threads, held_back=True)

    def try_all(self, numbers: Sequence[int]) -> None:
        """Cut every look into each of the numbers; looks share the threads."""
        new = [k for k in numbers if k not in self.records]
        with ordered_map(self.n_threads) as apply:
            cuts = apply(lambda look: _cuts(look, new), self.looks)
        for place, k in enumerate(new):
            self.records[k] = self._record([one[place] for one in cuts], k)

    def _record(self, found: list[IntArray], n_clusters: int) -> Record:
        shared = SharedInformation.of(
            [(found[a], found[b]) for a, b in self.pairs], np.random.default_rng(self.seed + n_clusters)
        )
        return {
            "agreement": shared.agreement,
            "information": shared.information,
            "modularity": float(np.mean([modularity(one.W, of) for one, of in zip(self.looks, found, strict=True)])),
        }

    def score(self, n_clusters: int) -> float:
        record = self.records[n_clusters]
        return SharedInformation(record["agreement"], record["information"]).score


def _cuts(look: ManyCuts, numbers: Sequence[int]) -> list[IntArray]:
    """Samples without a path to a cluster count with the first one."""
    return [np.maximum(look.cut(k), 0) for k in numbers]


def part_of_links(links: csr_array, rng: np.random.Generator) -> csr_array:
    """A graph of a random half of each sample's eight strongest links; the strongest always stays."""
    strong = keep_largest(rows_by_maximum(links), _LINKS)
    kept = (rng.random(strong.nnz) < _LINK_SHARE) | (strong.data > 1 - _ROUNDING)
    indptr = np.concatenate([[0], np.cumsum(kept)])[strong.indptr]
    return symmetrize(csr_array((strong.data[kept], strong.indices[kept], indptr), shape=strong.shape))
