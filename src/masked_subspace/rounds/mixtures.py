"""Votes of Gaussian mixtures, for tables.

    p(x) = Σ_k π_k N(x; m_k, Σ_k)

In few features a cluster is an ellipsoid, and a flat ellipsoid is an affine subspace with noise. Two families: every
cluster has its own Σ_k, or all share one Σ, which fewer samples can tell and which clusters that overlap need. Mixtures
are fitted by EM to several draws of the samples, with every feature on one scale; each draw gives one vote, the most
probable component. Where a mixture is the wrong model, draws disagree, and the judge takes another way.

The number of clusters of a table is read from them too: mixtures of several draws are looks, and the number is that of
which they find most again (label/number_of_clusters.py), unless they find nothing.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import combinations, cycle, islice

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from masked_subspace._common.rows import content_order, drawn_by_content, on_one_scale
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray, IntArray, Record
from masked_subspace.label.number_of_clusters import Number
from masked_subspace.label.shared_information import SharedInformation
from masked_subspace.parallel.engine import limited_threads
from masked_subspace.rounds.expectation import likeliest_mixture
from masked_subspace.rounds.recursion import Ballot, Ensemble

# Which covariance each family has, in scikit-learn's words.
MIXTURES: dict[str, str] = {"mixture": "full", "shared-mixture": "tied"}
# More features are no longer those of a table (docs/findings/judge.md, "Clouds").
FEATURES_OF_A_TABLE = 20
_VOTES = 6
_SHARE, _MOST_DRAWN = 0.7, 5_000
# Added to each variance, with features of variance 1: without it a column of zeros and ones is a cluster of its own.
_RIDGE = 0.01
_STARTS = 2
_LEAST_MEASURED = 2
# Samples a draw must have for each number that a covariance row has.
_SAMPLES_A_FEATURE = 2
# To count, four mixtures look, at 2,000 samples at most; numbers are tried until two in turn are not better. With one
# start in place of two the number moved with the seed.
_LOOKS, _PATIENCE, _COUNTED = 4, 2, 2_000
# Numbers with so much of the best score are candidates.
_CANDIDATE, _MOST_CANDIDATES = 0.9, 3


def suits_a_mixture(X: FloatArray, n_clusters: int, name: str) -> bool:
    """Whether X is a table with enough samples for the covariances of this family."""
    if isinstance(X, SparseSamples) or X.shape[1] > FEATURES_OF_A_TABLE:
        return False
    covariances = n_clusters if MIXTURES[name] == "full" else 1
    return bool(_drawn(len(X)) >= max(_SAMPLES_A_FEATURE * X.shape[1] * covariances, 2 * n_clusters))


def mixture_votes(X: FloatArray, n_clusters: int, name: str, seed: int, *, votes: int = _VOTES) -> list[IntArray]:
    """Labels of all samples by each of some mixtures, every one fitted to a draw of its own."""
    rows = on_one_scale(measured(X))
    # Draws are by content, and in its order: permuted samples get the same mixtures.
    order, rng = content_order(rows), np.random.default_rng(seed)
    found = []
    with limited_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for number in range(votes):
            drawn = order[rng.choice(len(rows), _drawn(len(rows)), replace=False)]
            shared = MIXTURES[name] == "tied"
            model = likeliest_mixture(rows[drawn], n_clusters, shared=shared, ridge=_RIDGE, starts=_STARTS, seed=number)
            found.append(model.labels(rows))
    return found


def number_of_mixtures(X: FloatArray, low: int, high: int, seed: int) -> Number | None:
    """The number of clusters of a table of which mixtures of several draws find most again; None where they find
    nothing, as of one cloud, rings or subspaces through one point."""
    if len(X) > _COUNTED:
        X = X[drawn_by_content(X, _COUNTED, np.random.default_rng(seed))]
    X = X[content_order(X)]  # what chance would share is drawn too, and must not hang on the order
    tried = {name: _found_again(X, name, max(2, low), high, seed) for name in MIXTURES}
    best: dict[int, SharedInformation] = {}
    for of_family in tried.values():
        for number, found in of_family.items():
            best[number] = max(best.get(number, found), found, key=_score)
    ranked = sorted(best, key=lambda number: -best[number].score)
    if not ranked or best[ranked[0]].score <= 0:
        return None
    favourites = [max(one, key=lambda number: one[number].score) for one in tried.values() if one]
    near = [number for number in ranked if best[number].score >= _CANDIDATE * best[ranked[0]].score]
    candidates = list(dict.fromkeys([ranked[0], *sorted(favourites, key=ranked.index), *near]))
    records: list[Record] = [
        {"n_clusters": number, "agreement": one.agreement, "information": one.information, "score": one.score}
        for number, one in sorted(best.items())
    ]
    return Number(ranked[0], candidates[:_MOST_CANDIDATES], records)


def _score(found: SharedInformation) -> float:
    return found.score


def _found_again(X: FloatArray, name: str, low: int, high: int, seed: int) -> dict[int, SharedInformation]:
    """What mixtures of one family share, for numbers from the lowest on."""
    found: dict[int, SharedInformation] = {}
    for number in range(low, high + 1):
        if not suits_a_mixture(X, number, name):
            break
        votes = mixture_votes(X, number, name, seed, votes=_LOOKS)
        found[number] = SharedInformation.of(list(combinations(votes, 2)), np.random.default_rng(seed))
        if number - max(found, key=lambda one: found[one].score) >= _PATIENCE:
            break
    return found


def measured(X: FloatArray) -> FloatArray:
    """The features that are measured: a component would sit on each value of a feature that has two, and see no other.
    Where there are fewer than two such features, all of them."""
    return X[:, measured_columns(X)]


def measured_columns(X: FloatArray) -> IntArray:
    """Their places."""
    found = np.flatnonzero([len(np.unique(column)) > 2 for column in X.T])
    return found if len(found) >= _LEAST_MEASURED else np.arange(X.shape[1])


def _drawn(n_samples: int) -> int:
    return min(_MOST_DRAWN, round(_SHARE * n_samples))


def voting(ensemble: Ensemble, ballot: Ballot, votes: list[IntArray]) -> tuple[Ensemble, Ballot]:
    """Members whose graphs stay as they are and whose votes are those of a model, one a graph; a second round, if it is
    asked for, cuts the graphs again, each in one way, so that a graph has one vote then, too."""
    count = len(votes)
    members, solutions, graphs = (
        list(islice(cycle(part), count)) for part in (ballot.members, ballot.solutions, ballot.graphs)
    )
    recipe = replace(ensemble.recipe, cuts=ensemble.recipe.cuts[:1])
    return replace(ensemble, recipe=recipe), Ballot(members, solutions, graphs, votes)
