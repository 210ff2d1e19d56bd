"""The rules of the default fit with their numbers written out, as docs/findings/ measured them: a rule that is read off
the constants it uses would hold for any of them."""

from types import SimpleNamespace

import numpy as np
import pytest

from masked_subspace.label.labeler import Cut
from masked_subspace.rounds import low_rank, open_number
from masked_subspace.rounds.defaults import cuts_for, links_for, voting_links
from masked_subspace.rounds.judge import Way, _have_one_scale, gaps_of
from masked_subspace.rounds.low_rank import (
    Rank,
    clearest_cuts,
    cut_of_rank,
    energy_beyond,
    gaps_of_numbers,
    low_rank_rows,
    number_of_low_rank,
)
from masked_subspace.rounds.open_number import Seen, has_few_features, number_of_views
from masked_subspace.rows.preparation import VIEWS, Preparation


@pytest.mark.parametrize(
    ("n_samples", "expected"),
    [
        (199, [("spectral", 1.0), ("modularity", 1.0)]),
        (200, [("spectral", 1.0), ("modularity", 1.0), ("modularity", 1.5)]),
        (449, [("spectral", 1.0), ("modularity", 1.0), ("modularity", 1.5)]),
        (450, [("modularity", 1.5), ("modularity", 2.0)]),
    ],
)
def test_cuts_of_five_clusters_change_at_40_and_90_samples_each(n_samples, expected):
    assert [(cut.kind, cut.fineness) for cut in cuts_for("auto", n_samples, 5)] == expected


def test_above_2000_samples_nothing_is_cut_by_its_spectrum():
    assert cuts_for("auto", 2000, 30) == [Cut("spectral"), Cut("modularity"), Cut("modularity", 1.5)]
    assert cuts_for("auto", 2001, 30) == [Cut("modularity"), Cut("modularity", 1.5)]
    assert cuts_for("modularity", 100, 30) == [Cut("modularity")]


def test_links_of_seven_clusters_change_at_40_90_and_500_samples_each():
    assert links_for("auto", 279, 7) == (5, 6, 7)
    assert links_for("auto", 280, 7) == (3, 4, 5)
    assert voting_links((3, 4, 5), 629, 7) == (3, 4, 5)
    assert voting_links((3, 4, 5), 630, 7) == (3, 4, 5, 6, 8)
    assert voting_links((3, 4, 5), 3499, 7) == (3, 4, 5, 6, 8)
    assert voting_links((3, 4, 5), 3500, 7) == (4, 5, 6, 8, 10)


@pytest.mark.parametrize(
    ("name", "n_views", "score"),
    [
        ("plain", 3, 0.4),
        ("ridge", 3, 0.4),
        ("standardized", 1, 0.4 / 1.2),
        ("whitened", 3, 0.4 / 1.06),
        ("near", 2, 0.4 / 1.1),
        ("near", 1, 0.4 / 1.2),
        ("mixture", 2, 0.4 / 1.1),
        ("shared-mixture", 2, 0.4 / 1.1),
        ("topics", 1, 0.4 / 0.75),
    ],
)
def test_by_how_much_a_way_must_lead(name, n_views, score):
    way = Way(SimpleNamespace(name=name, views=[None] * n_views), 0.8, 0.5, np.zeros(3, int), [])
    assert way.score == pytest.approx(score)
    unasked = Way(way.family, 0.8, None, np.empty(0, int), [])
    assert unasked.score == pytest.approx(2 * score)  # a strength of 1 at most


@pytest.mark.parametrize(("largest", "one"), [(1.0095, True), (1.0105, False)])
def test_features_that_differ_by_a_hundredth_have_one_scale(largest, one):
    X = np.random.default_rng(0).normal(size=(50, 4))
    X = X / X.std(axis=0) * [1, largest, 1.005, 1]
    assert _have_one_scale(X) is one
    assert _have_one_scale(100 * X) is _have_one_scale(X / 100) is one
    assert _have_one_scale(np.column_stack([X, np.full(50, 7.0)])) is one  # what does not vary has no scale
    assert _have_one_scale(np.ones((5, 3)))


def test_a_table_has_twenty_features_at_most():
    X = np.random.default_rng(0).normal(size=(30, 21)) * np.linspace(1, 50, 21)
    assert gaps_of(X) is None
    assert not has_few_features(X)
    table = X[:, :20]
    assert has_few_features(table)
    # Its clouds have every feature on one scale.
    clouds = np.vstack([cloud for cloud, _ in gaps_of(table).clouds])
    assert np.abs(clouds.std(axis=0) - 1).max() < 0.3


def graph_rank(gap):
    return Rank(4, gap, None, None)


@pytest.mark.parametrize(("gap", "looked_at"), [(1.8, [300, 601]), (1.79, [300])])
def test_the_gap_of_three_hundred_samples_must_be_1_8_for_all_to_be_looked_at(monkeypatch, gap, looked_at):
    X, seen = np.random.default_rng(0).normal(size=(601, 4)), []

    def cuts(directions, *_):
        seen.append(len(directions))
        return [graph_rank(gap)]

    monkeypatch.setattr(low_rank, "cuts_of_ranks", cuts)
    clearest_cuts(X, 3, 0, asked=False)
    assert list(dict.fromkeys(seen)) == looked_at
    seen.clear()
    clearest_cuts(X[:600], 3, 0, asked=False)
    assert set(seen) == {600}


@pytest.mark.parametrize(
    ("gaps", "only_if_low", "expected"),
    [
        ({2: 1.0, 3: 2.99}, True, None),
        ({2: 1.0, 3: 3.0}, True, (3, [3])),
        ({2: 1.0, 3: 1.5}, False, (3, [3])),
        ({2: 1.8, 3: 5.0, 4: 1.79, 5: 2.5}, True, (3, [3, 5, 2])),
        ({2: 1.9, 3: 5.0, 4: 2.0, 5: 2.5, 6: 2.2}, True, (3, [3, 5, 6])),
        ({}, False, None),
    ],
)
def test_a_number_needs_a_gap_of_three_and_its_rivals_one_of_1_8(monkeypatch, gaps, only_if_low, expected):
    monkeypatch.setattr(low_rank, "_gaps_of_samples", lambda *_, **__: gaps)
    found = number_of_low_rank(np.zeros((50, 12)), 2, 6, 0, only_if_low=only_if_low)
    assert (None if found is None else (found.n_clusters, found.candidates)) == expected


def test_numbers_are_asked_for_up_to_six_and_to_ten_where_ten_planes_have_room(monkeypatch):
    asked = []

    def gaps(X, low, high, seed, *, only_if_low):
        asked.append((len(X), low, high))
        return {}

    monkeypatch.setattr(low_rank, "_gaps_of_samples", gaps)
    for n, d, low, high in ((50, 19, 1, 99), (50, 20, 1, 99), (8, 20, 1, 99), (700, 12, 3, 5)):
        number_of_low_rank(np.random.default_rng(0).normal(size=(n, d)), low, high, 0, only_if_low=True)
    assert asked == [(50, 2, 6), (50, 2, 6), (50, 7, 10), (8, 2, 6), (8, 7, 7), (300, 3, 5)]
    assert number_of_low_rank(np.zeros((50, 20)), 4, 4, 0, only_if_low=False) is None
    assert len(asked) == 6


def test_the_gap_of_a_number_is_the_clearest_of_the_ranks_it_may_have():
    """16 ranks from 4 to 20, evenly in their logarithm; K looks at those from 2K to 5K."""
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.normal(size=(40, 18)))[0]
    found = gaps_of_numbers(directions, 2, 4, 0)
    ranks = sorted({min(18, round(4 * 5 ** (step / 15))) for step in range(16)})
    for number in (2, 3, 4):
        inside = [rank for rank in ranks if 2 * number <= rank <= 5 * number]
        gaps = [cut_of_rank(directions, rank, number, 0).gap for rank in inside]
        assert len(gaps) > 3
        assert found[number] == pytest.approx(max(gaps), rel=1e-6)


@pytest.mark.parametrize("shape", [(40, 12), (12, 40)], ids=["tall", "wide"])
def test_the_energy_beyond_some_directions_is_that_of_their_singular_values(shape):
    rows = np.random.default_rng(0).normal(size=shape)
    squared = np.linalg.svd(rows, compute_uv=False) ** 2
    assert energy_beyond(rows, 5) == pytest.approx(squared[5:].sum() / squared.sum())
    assert energy_beyond(rows, 12) == 0
    assert energy_beyond(rows, 11) > 0


def test_the_energy_of_many_rows_is_that_of_a_thousand_of_them():
    rows = np.vstack([np.eye(4)[:3]] * 400)  # 1,200 rows in three directions
    rows[:4] = [0, 0, 0, 1.0]
    share = energy_beyond(rows, 3)
    assert share * 1000 == pytest.approx(round(share * 1000))
    assert 0 < share <= 4e-3
    whole = energy_beyond(rows[:1000], 3)
    assert whole == pytest.approx(4 / 1000)


@pytest.mark.parametrize(("noise", "low"), [(0.11, True), (0.14, False)])
def test_data_of_low_rank_leave_a_thousandth_of_their_energy(noise, low):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 15)) + noise * rng.normal(size=(60, 15))
    rows = Preparation.learn(X, VIEWS["homogeneous"]).apply(X)
    squared = np.linalg.svd(rows, compute_uv=False) ** 2
    share = squared[6:].sum() / squared.sum()
    assert (6e-4 < share < 1e-3) if low else (1e-3 < share < 2e-3)
    assert bool(low_rank_rows(X, 6, only_if_low=True)) is low
    through, lifted = low_rank_rows(X, 6, only_if_low=False)
    assert through[1].shape == lifted[1].shape == (60, 6)
    assert (through[0].constant is None, lifted[0].constant is None) == (True, False)


@pytest.mark.parametrize("clear", [True, False])
def test_of_a_table_the_families_of_clouds_are_asked_first(clear):
    """Where clouds stand apart nothing else is represented; otherwise the families that are counted join them."""
    calls = []
    seen = SimpleNamespace(
        clear_number=lambda *_: "clouds" if clear else None, number=lambda *of: ("all", *of), families=[]
    )

    def see(*, only, before=None):
        calls.append((only, before))
        return seen

    found, what = number_of_views(see, True, (2, 9), 5, 1)
    assert calls[0] == (("standardized", "near"), None)
    assert what is seen
    if clear:
        assert (found, len(calls)) == ("clouds", 1)
    else:
        assert found == ("all", (2, 9), 5, 1)
        assert calls[1][0] == ("plain", "whitened", "standardized", "near", "topics")
        assert calls[1][1] is seen
    calls.clear()
    found, _ = number_of_views(see, False, (2, 9), 5, 1)
    assert found[0] == "all"
    assert [before for _, before in calls] == [None]


def family(name, view):
    codes = SimpleNamespace()
    return SimpleNamespace(name=name, views=[VIEWS[view]], absolute_codes=lambda: codes)


@pytest.mark.parametrize(("features", "cells"), [(20, [1, 2]), (21, None)])
def test_what_is_counted_says_which_families_see_clouds_and_distances(monkeypatch, features, cells):
    X = np.random.default_rng(0).normal(size=(30, features))
    families = [family("plain", "plain"), family("standardized", "standardized"), family("near", "distance")]
    monkeypatch.setattr(open_number, "number_of_clusters", lambda codes, *of, **how: (codes, of, how))
    monkeypatch.setattr(open_number, "number_of_clear_clouds", lambda codes, *of, **how: (codes, of, how))
    seen = Seen(X, families)
    codes, of, how = seen.number((3, 8), 5, 2)
    assert codes == [one.absolute_codes() for one in families]
    assert of == (3, 8, 5)
    assert how["by_distance"] == [2]
    assert how["n_threads"] == 2
    assert len(how["samples"]) == 2
    assert (None if how["cells"] is None else how["cells"].families) == cells
    clear = seen.clear_number((3, 8), 5, 2)
    if cells is None:
        assert clear is None
        return
    assert clear[1] == (3, 8, 5)
    np.testing.assert_array_equal(np.sort(clear[2]["cells"].places), np.arange(30))
    np.testing.assert_allclose(clear[2]["cells"].rows.std(axis=0), 1)
