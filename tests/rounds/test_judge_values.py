"""The judge by value: what it measures, on what, who is handicapped, and which views stand in a family."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from masked_subspace._common.progress import SilentEvents
from masked_subspace._common.rows import content_order
from masked_subspace.label.agreement import agreement, folds, folds_for, predicted_labels
from masked_subspace.label.labeler import MODULARITY_FROM, Cut, Evidence
from masked_subspace.label.separation import Clouds
from masked_subspace.metrics import adjusted_rand_index
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.rounds import judge
from masked_subspace.rounds.defaults import (
    FINER_FROM,
    FINEST_FROM,
    LINKS_BY_COSINE,
    LINKS_OF_MANY,
    LINKS_OF_MEMBERS,
    LINKS_OF_SMALL_CLUSTERS,
    MANY_A_CLUSTER,
    WIDER_LINKS,
    cuts_for,
    links_by_cosine_for,
    links_for,
    voting_links,
    wider_links_for,
)
from masked_subspace.rounds.judge import (
    Family,
    Way,
    families_of,
    family_of,
    judged_ways,
    prediction_strength,
    strength_of,
    yardsticks,
)
from masked_subspace.rounds.mixtures import FEATURES_OF_A_TABLE, mixture_votes
from masked_subspace.rounds.recursion import Ballot, Member, Recipe, together
from masked_subspace.rows.preparation import VIEWS, Preparation


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = 3 * rng.normal(size=(3, 5))[y] + rng.normal(size=(90, 5)) * [1, 2, 1, 3, 1]
    return X, y


@pytest.mark.parametrize(("features", "as_given"), [(20, "homogeneous"), (21, "uncentered")])
def test_few_features_are_measured_with_a_constant_column(features, as_given):
    X = np.random.default_rng(0).normal(size=(40, features)) + 2
    found = yardsticks(X)
    for one, name in zip(found, (as_given, "standardized"), strict=True):
        np.testing.assert_allclose(one, Preparation.learn(X, VIEWS[name]).apply(X))


def test_strength_is_the_geometric_mean_over_the_yardsticks(table):
    X, y = table
    rough = np.where(np.arange(90) % 5 == 0, (y + 1) % 3, y)
    samples = [X, X + 3 * np.random.default_rng(1).normal(size=X.shape)]
    each = [prediction_strength(one, rough, 3) for one in samples]
    assert 0 < each[1] < each[0] < 1
    assert strength_of(samples, rough, 3) == pytest.approx(np.sqrt(each[0] * each[1]))


def test_strength_is_the_mean_over_different_splits(table):
    X, y = table
    rough = np.where(np.arange(90) % 3 == 0, (y + 1) % 3, y)
    rng, order = np.random.default_rng(4), content_order(X)
    halves = [folds(order, 2, rng) for _ in range(16)]  # of 90 samples
    assert not np.array_equal(halves[0], halves[1])
    scores = [adjusted_rand_index(rough, predicted_labels(X, rough, 3, fold)) for fold in halves]
    assert prediction_strength(X, rough, 3, seed=4) == pytest.approx(np.mean(scores))


def test_small_clusters_are_predicted_by_three_quarters_of_the_samples():
    X, y = np.repeat(np.eye(9), 6, axis=0) + np.random.default_rng(0).normal(0, 0.2, (54, 9)), np.repeat(range(9), 6)
    rng, order = np.random.default_rng(4), content_order(X)
    quarters = [folds(order, 4, rng) for _ in range(16)]
    assert sorted(set(quarters[0])) == [0, 1, 2, 3]
    scores = [adjusted_rand_index(y, predicted_labels(X, y, 9, fold)) for fold in quarters]
    assert prediction_strength(X, y, 9, seed=4) == pytest.approx(np.mean(scores))
    assert [folds_for(90, 9), folds_for(89, 9)] == [2, 4]


def test_a_gap_counts_where_no_subspace_predicts():
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 200)
    ring = np.repeat([1.0, 4.0], 100)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    y, gaps = np.repeat([0, 1], 100), Clouds.like(ring)
    weak = strength_of([ring], y, 2)
    assert weak < gaps.excess(y)
    assert strength_of([ring], y, 2, gaps=gaps) == gaps.excess(y)
    assert strength_of([ring], y, 3, gaps=gaps) == 0  # a cluster is missing


@pytest.mark.parametrize(
    ("name", "n_views", "handicap"),
    [
        ("plain", 3, 1.0),
        ("ridge", 3, 1.0),
        ("whitened", 3, judge._WHITENED),
        ("near", 2, judge._NEAR),
        ("mixture", 2, judge._MIXTURE),
        ("shared-mixture", 2, judge._MIXTURE),
        ("linear-mixture", 1, 1.0),
        ("affine-mixture", 1, 1.0),
        ("topics", 1, judge._TOPICS),
        ("standardized", 1, judge._ONE_VIEW),
        ("near", 1, judge._ONE_VIEW),
    ],
)
def test_ways_that_agree_easily_are_handicapped(name, n_views, handicap):
    family = SimpleNamespace(name=name, views=[VIEWS["plain"]] * n_views)
    assert Way(family, 0.8, 0.5, np.zeros(3, int), []).score == pytest.approx(0.4 / handicap)
    assert handicap > 1 or name in ("plain", "ridge", "linear-mixture", "affine-mixture", "topics")


def test_to_choose_the_mean_of_both_strengths_counts():
    way = Way(SimpleNamespace(name="plain", views=[VIEWS["plain"]] * 3), 0.8, 0.5, np.zeros(3, int), [])
    assert "evened_strength" not in way.record(False, [])
    both = replace(way, evened=np.zeros((3, 2)), evened_strength=0.9)
    assert both.score == pytest.approx(0.8 * 0.7)
    assert both.record(False, [])["evened_strength"] == 0.9
    assert both.strength_of(way.labels) == 0.5  # structure_ is measured as for tables


def test_directions_are_evened_out_as_ridge_sees_them():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) @ (np.array([[9.0], [4.0], [1.0], [1.0]]) * rng.standard_normal((4, 30)))
    seen = Preparation.learn(X, VIEWS["uncentered-ridge"]).apply(X)
    family = SimpleNamespace(
        name="ridge", ensemble=SimpleNamespace(looks=[SimpleNamespace(prepared=SimpleNamespace(X=seen))])
    )
    np.testing.assert_array_equal(judge._evened(X, [family]), seen)
    sizes = np.linalg.svd(X, compute_uv=False)[:4], np.linalg.svd(seen, compute_uv=False)[:4]
    assert sizes[0].max() / sizes[0].min() > 5 > 2 > sizes[1].max() / sizes[1].min()
    assert judge._evened(X[:, :FEATURES_OF_A_TABLE], [family]) is None
    assert judge._evened(X, [SimpleNamespace(name="plain")]) is None


def test_links_of_members_follow_the_size_of_clusters():
    assert links_for("auto", FINER_FROM * 7, 7)[1] == LINKS_OF_MEMBERS
    assert links_for("auto", FINER_FROM * 7 - 1, 7)[1] == LINKS_OF_SMALL_CLUSTERS
    assert links_for(9, 10, 2) == (8, 9, 10)
    assert links_for(1, 10, 2) == (1, 1, 2)
    assert links_by_cosine_for("auto", 1000, 100) == LINKS_BY_COSINE
    assert links_by_cosine_for("auto", 700, 100) == (4, 6, 7)
    assert links_by_cosine_for("auto", 10, 10) == (2, 2, 2)
    assert links_by_cosine_for(4, 500, 100) == (3, 4, 5)
    assert wider_links_for(FINEST_FROM * 7, 7) == WIDER_LINKS
    assert wider_links_for(FINEST_FROM * 7 - 1, 7) == ()
    assert voting_links((3, 4, 5), MANY_A_CLUSTER * 7, 7) == LINKS_OF_MANY
    assert voting_links((3, 4, 5), MANY_A_CLUSTER * 7 - 1, 7) == (3, 4, 5, *WIDER_LINKS)
    assert voting_links((5, 6, 7), FINEST_FROM * 7 - 1, 7) == (5, 6, 7)


def test_many_samples_in_small_clusters_are_not_cut_by_their_spectrum():
    few = MODULARITY_FROM // 30
    assert [cut.kind for cut in cuts_for("auto", MODULARITY_FROM, few)] == ["spectral", "modularity"]
    assert [cut.kind for cut in cuts_for("auto", MODULARITY_FROM + 1, few)] == ["modularity"]
    assert [cut.kind for cut in cuts_for("modularity", 50, 5)] == ["modularity"]


def views_of(monkeypatch, X, *, permitted=lambda view: True):  # noqa: ARG005
    monkeypatch.setattr(judge, "family_of", lambda name, views, *_: SimpleNamespace(name=name, views=views))
    families = families_of(X, None, None, None, permitted=permitted)
    return {family.name: [view.name for view in family.views] for family in families}


def test_families_suit_the_data(monkeypatch):
    X = np.abs(np.random.default_rng(0).normal(size=(50, 4))) * [1, 2, 3, 4]
    usual = views_of(monkeypatch, X)
    assert usual == {name: list(views) for name, views in judge.FAMILIES.items() if name not in ("topics", "whitened")}
    words = np.eye(50)[:, np.arange(50) % 25]
    assert list(views_of(monkeypatch, words)) == ["plain", "topics"]
    assert views_of(monkeypatch, X - 1)["plain"] == ["plain", "uncentered", "homogeneous"]
    # On one scale standardizing changes nothing: one of the two views by distance would only echo the other.
    alike = X / X.std(axis=0)
    assert views_of(monkeypatch, alike)["near"] == ["distance"]
    assert views_of(monkeypatch, alike)["standardized"] == ["standardized"]
    assert views_of(monkeypatch, alike * [1, 1.02, 1, 1])["near"] == usual["near"]
    assert views_of(monkeypatch, np.hstack([alike, np.ones((50, 1))]))["near"] == ["distance"]
    no_distances = views_of(monkeypatch, X, permitted=lambda view: not view.by_distance)
    assert list(no_distances) == ["plain", "ridge", "standardized"]
    # Where codes must be solved, directions are half evened out instead.
    solved = views_of(monkeypatch, X, permitted=lambda view: not (view.by_distance or view.by_cosine))
    assert list(solved) == ["plain", "whitened", "standardized"]


def test_the_middle_graph_of_each_view_is_cut_in_another_way():
    members = [Member(view, None, links) for view in ("a", "b") for links in (3, 5, 4)]
    assert judge._middle(Ballot(members, [], [], [])) == [2, 5]


@pytest.fixture(scope="module")
def ways(table):
    X, _ = table
    recipe = Recipe(MaskedRepresenter(solver="sparse"), 3, 6, (3, 4, 5), cuts_for("auto", 90, 3), mask_strength=3.0)
    families = [
        family_of(name, [VIEWS[view] for view in judge.FAMILIES[name]], X, recipe, Evidence(X), SilentEvents())
        for name in ("near", "standardized")
    ]
    return {way.family.name: way for way in judged_ways(X, families, recipe, every=True)}, recipe


def test_strength_is_not_asked_for_where_no_strength_could_lead(table, ways):
    """The same way is taken, with the same numbers; of one that could not lead the score is its bound."""
    X, _ = table
    every, recipe = ways
    families = [
        replace(way.family, ballot=replace(way.family.ballot, votes=[]))
        for way in every.values()
        if way.family.name not in judge.MODELS
    ]
    few = judged_ways(X, families, recipe)
    best = max(every.values(), key=lambda way: way.score)
    assert few[0].family.name == best.family.name
    assert few[0].score == best.score
    np.testing.assert_array_equal(few[0].labels, best.labels)
    assert [way.score for way in few] == sorted((way.score for way in few), reverse=True)
    # What the judge compared is not cut again: votes stand graph by graph, in the order of the cuts.
    fresh = together(best.family.ensemble.vote(best.family.ballot.graphs, recipe.cuts))
    for kept, new in zip(few[0].family.ballot.votes, fresh, strict=True):
        np.testing.assert_array_equal(kept, new)
    assert few[0].family.ballot.labeling.labels is few[0].labels
    for way in few:
        assert way.agreement == every[way.family.name].agreement
        assert (way.strength is None) == (len(way.labels) == 0)
        if way.strength is None:
            assert every[way.family.name].score <= way.score <= few[0].score
        else:
            assert way.score == every[way.family.name].score


def test_every_way_that_could_lead_is_asked(monkeypatch):
    """Agreements .9, .8, .5 with strengths .5, .9, 1: the second leads, the third (at most .5) is not asked."""
    strengths = {"a": 0.5, "b": 0.9, "c": 1.0}
    asked = []

    def with_strength(way, _):
        asked.append(way.family.name)
        return replace(way, strength=strengths[way.family.name], labels=np.zeros(3, int))

    monkeypatch.setattr(judge, "yardsticks", lambda _: [])
    monkeypatch.setattr(judge, "gaps_of", lambda *_: None)
    monkeypatch.setattr(judge, "_begin", lambda family, *_: (family, family.agrees))
    monkeypatch.setattr(judge, "_with_strength", with_strength)
    families = [
        SimpleNamespace(name=name, views=[VIEWS["plain"]] * 2, agrees=one)
        for name, one in (("c", 0.5), ("a", 0.9), ("b", 0.8))
    ]
    recipe = SimpleNamespace(seed=0, n_clusters=2)
    found = judged_ways(np.zeros((3, 30)), families, recipe)
    assert asked == ["a", "b"]
    assert [(way.family.name, way.score) for way in found] == [("b", pytest.approx(0.72)), ("c", 0.5), ("a", 0.45)]
    assert found[1].record(False, [])["strength"] is None
    asked.clear()
    assert [way.family.name for way in judged_ways(np.zeros((3, 30)), families, recipe, every=True)] == ["b", "c", "a"]
    assert asked == ["a", "b", "c"]


def test_agreement_is_that_of_modularity_everywhere_and_the_spectrum_in_the_middle(table, ways):
    X, _ = table
    found, recipe = ways
    assert list(found) == sorted(found, key=lambda name: -found[name].score)
    for name in ("near", "standardized"):
        way = found[name]
        graphs = way.family.ballot.graphs
        middle = [graph for graph, one in zip(graphs, way.family.ballot.members, strict=True) if one.n_links == 4]
        votes = together(way.family.ensemble.vote(graphs, [Cut("modularity")]))
        votes += together(way.family.ensemble.vote(middle, [Cut("spectral")]))
        assert way.agreement == pytest.approx(agreement(votes))
        assert len(way.family.ballot.votes) == len(graphs) * len(recipe.cuts)
        assert way.strength == pytest.approx(strength_of(yardsticks(X), way.labels, 3, 0, judge.gaps_of(X)))


def test_mixtures_are_judged_by_their_own_votes(table, ways):
    X, _ = table
    for name in ("mixture", "shared-mixture"):
        way = ways[0][name]
        votes = mixture_votes(X, 3, name, 0)
        assert all(np.array_equal(one, other) for one, other in zip(way.family.ballot.votes, votes, strict=True))
        assert way.agreement == pytest.approx(agreement(votes))
        assert way.agreement != ways[0]["near"].agreement
        assert [cut.kind for cut in way.family.ensemble.recipe.cuts] == [cut.kind for cut in ways[1].cuts[:1]]
        ballot = way.family.ballot
        assert len(ballot.graphs) == len(ballot.members) == len(ballot.solutions) == len(votes)


def test_the_strength_of_final_labels_is_measured_anew(table, ways):
    way = ways[0]["near"]
    assert way.strength_of(way.labels) == way.strength
    other = np.where(np.arange(90) % 4 == 0, 0, way.labels)
    assert way.strength_of(other) == pytest.approx(strength_of(way.yardsticks, other, 3, 0, way.gaps))
    assert way.strength_of(other) < way.strength
    assert way.gaps is not None


def test_codes_of_a_family_are_absolute_and_one_a_view(ways):
    family: Family = ways[0]["near"].family
    codes = family.absolute_codes()
    assert len(codes) == 2
    assert min(one.data.min() for one in codes) > 0
    signed = replace(family.ballot.solutions[0], representation=-family.ballot.solutions[0].representation)
    flipped = replace(family, ballot=replace(family.ballot, solutions=[signed]))
    assert abs(flipped.absolute_codes()[0] - codes[0]).max() == 0
