"""The closed form for data of low rank: motions."""

import numpy as np
import pytest

from masked_subspace import RMSC
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.rounds import low_rank
from masked_subspace.rounds.low_rank import (
    CLEAR_GAP,
    cut_of_rank,
    cuts_of_ranks,
    energy_beyond,
    gaps_of_numbers,
    low_rank_rows,
    ranks_for,
)


def motions(n_motions=3, points=60, frames=25, noise=0.02, seed=0):
    """Tracks of rigid bodies under affine cameras: each motion spans at most four dimensions."""
    rng = np.random.default_rng(seed)
    tracks, y = [], np.repeat(np.arange(n_motions), points)
    for _ in range(n_motions):
        shape = np.hstack([rng.standard_normal((points, 3)), np.ones((points, 1))])
        turn = np.cumsum(rng.standard_normal((2 * frames, 4)) * [0.3, 0.3, 0.3, 1.0], axis=0)
        tracks.append(shape @ turn.T)
    X = np.vstack(tracks) + 20
    return X + noise * rng.standard_normal(X.shape), y


@pytest.mark.parametrize("n_motions", [2, 3])
def test_motions_are_told_apart_with_nothing_set(n_motions):
    X, y = motions(n_motions)
    model = RMSC(n_motions, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.98
    assert model.view_ == "low-rank"
    assert model.choices_[-1]["gap"] >= CLEAR_GAP
    assert clustering_accuracy(y, model.predict(X)) > 0.95


def test_the_closed_form_is_zero_between_independent_subspaces():
    X, y = motions(2, noise=0.0)
    _, directions = low_rank_rows(X, 8, only_if_low=True)[0]
    best = cuts_of_ranks(directions, 2, seed=0)[0]
    W = best.graph.toarray()
    assert W[y[:, None] != y[None, :]].max() < 1e-6 * W.max()


def test_ranks_are_a_few_times_k_and_never_above_what_there_is():
    assert ranks_for(3, 100)[0] == 6
    assert ranks_for(3, 100)[-1] == 15
    assert max(ranks_for(3, 10)) == 10


def test_energy_is_that_of_the_singular_values():
    X = np.random.default_rng(0).standard_normal((40, 12)) * np.linspace(3, 0.1, 12)
    s = np.linalg.svd(X, compute_uv=False) ** 2
    assert energy_beyond(X, 5) == pytest.approx(s[5:].sum() / s.sum())
    assert energy_beyond(X, 12) == 0


def test_data_of_full_rank_are_left_to_other_ways():
    X = np.random.default_rng(0).standard_normal((80, 60))
    assert low_rank_rows(X, 10, only_if_low=True) == []
    assert len(low_rank_rows(X, 10, only_if_low=False)) == 2


def test_a_rank_speaks_only_for_numbers_whose_clusters_it_can_hold():
    """K motions have between 2K and 5K dimensions: the gap after K eigenvalues is that of such ranks alone."""
    directions = low_rank_rows(motions(3, points=30)[0], 30, only_if_low=False)[0][1]
    ranks = sorted({round(rank) for rank in np.geomspace(4, 30, low_rank._RANKS_OF_NUMBERS)})
    found = gaps_of_numbers(directions, 2, 6, 0)
    for number in range(2, 7):
        fitting = [rank for rank in ranks if 2 * number <= rank <= 5 * number]
        expected = max(cut_of_rank(directions, rank, number, 0).gap for rank in fitting)
        assert found[number] == pytest.approx(expected, rel=1e-6)
