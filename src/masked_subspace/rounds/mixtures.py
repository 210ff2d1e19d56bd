"""Votes of Gaussian mixtures, for tables.

    p(x) = Σ_k π_k N(x; m_k, Σ_k)

In few features a cluster is an ellipsoid, and a flat ellipsoid is an affine subspace with noise. Two families: every
cluster has its own Σ_k, or all share one Σ, which fewer samples can tell and which clusters that overlap need. Mixtures
are fitted by EM to several draws of the samples, with every feature on one scale; each draw gives one vote, the most
probable component. Where a mixture is the wrong model, draws disagree, and the judge takes another way.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import cycle, islice

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from masked_subspace._common.rows import content_order, on_one_scale
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace._common.types import FloatArray, IntArray
from masked_subspace.parallel.engine import limited_threads
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


def suits_a_mixture(X: FloatArray, n_clusters: int, name: str) -> bool:
    """Whether X is a table with enough samples for the covariances of this family."""
    if isinstance(X, SparseSamples) or X.shape[1] > FEATURES_OF_A_TABLE:
        return False
    covariances = n_clusters if MIXTURES[name] == "full" else 1
    return bool(_drawn(len(X)) >= max(_SAMPLES_A_FEATURE * X.shape[1] * covariances, 2 * n_clusters))


def mixture_votes(X: FloatArray, n_clusters: int, name: str, seed: int) -> list[IntArray]:
    """Labels of all samples by each of six mixtures, every one fitted to a draw of its own."""
    from sklearn.mixture import GaussianMixture

    rows = on_one_scale(_measured(X))
    # Draws are by content, and in its order: permuted samples get the same mixtures.
    order, rng = content_order(rows), np.random.default_rng(seed)
    votes = []
    with limited_threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for number in range(_VOTES):
            model = GaussianMixture(
                n_clusters, covariance_type=MIXTURES[name], reg_covar=_RIDGE, n_init=_STARTS, random_state=number
            )
            drawn = order[rng.choice(len(rows), _drawn(len(rows)), replace=False)]
            votes.append(model.fit(rows[drawn]).predict(rows).astype(np.int32))
    return votes


def _measured(X: FloatArray) -> FloatArray:
    """The features that are measured: a component would sit on each value of a feature that has two, and see no other.
    Where there are fewer than two such features, all of them."""
    measured = np.array([len(np.unique(column)) > 2 for column in X.T])
    return X[:, measured] if measured.sum() >= _LEAST_MEASURED else X


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
