"""What RMSC asks of the rounds: samples, links, members, rounds and tolerances, by value and without a whole fit."""

from types import SimpleNamespace

import numpy as np
import pytest

from masked_subspace import BMSC, GMSC, RMSC
from masked_subspace._common.progress import SilentEvents
from masked_subspace.estimators import rmsc as module
from masked_subspace.estimators.base import Task
from masked_subspace.estimators.on_workers import reasons_against
from masked_subspace.label.labeler import Cut
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.rounds.low_rank import Rank
from masked_subspace.rounds.open_number import Seen
from masked_subspace.rows.preparation import VIEWS


class EnoughError(Exception):
    """Raised where a test has seen enough."""


def model_of(n_clusters=3, **parameters):
    model = RMSC(n_clusters, **parameters)
    model.n_clusters_, model._bounds = n_clusters, (n_clusters, n_clusters)
    return model


def task_of(X, seed=4):
    return Task(X=X, known=None, hard=False, seed=seed, events=SilentEvents(), n_threads=1)


def seen_by(monkeypatch, name):
    """What a function of the module is called with; it goes no further."""
    calls = []

    def noted(*args, **how):
        calls.append((args, how))
        raise EnoughError

    monkeypatch.setattr(module, name, noted)
    return calls


def test_the_recipe_has_the_numbers_of_the_default_fit():
    recipe = model_of()._recipe(300, 7)
    assert (recipe.n_clusters, recipe.n_members, recipe.seed) == (3, 9, 7)
    assert (recipe.links, recipe.links_by_cosine) == ((3, 4, 5), (6, 8, 10))
    assert (recipe.mask_strength, recipe.affinity, recipe.n_components) == (3.0, "top-k", "auto")
    assert recipe.cuts == [Cut("modularity", 1.5), Cut("modularity", 2.0)]
    assert (recipe.representer.solver, recipe.normalize) == ("sparse", True)


def test_what_the_user_gave_stands_in_the_recipe():
    recipe = model_of(n_links=7, members=5, solver="dense", normalize=False, affinity="symmetric", cut="spectral")
    recipe = recipe._recipe(300, 7)
    assert recipe.links == recipe.links_by_cosine == (6, 7, 8)
    assert (recipe.n_members, recipe.representer.solver, recipe.normalize) == (5, "dense", False)
    assert (recipe.affinity, recipe.cuts) == ("symmetric", [Cut("spectral")])


@pytest.mark.parametrize(("sparsity", "members", "expected"), [("auto", "auto", 9), (0.1, "auto", 1), (0.1, 4, 4)])
def test_nine_members_unless_the_price_is_given(sparsity, members, expected):
    assert RMSC(3, sparsity=sparsity, members=members)._n_members() == expected


@pytest.mark.parametrize(("n_clusters", "keep"), [(3, 2000), (80, 2000), (81, 2025)])
def test_ways_are_judged_on_2000_samples_or_25_a_cluster(monkeypatch, n_clusters, keep):
    asked = []

    def see(self, task, keep, only=(), before=None):
        asked.append((keep, before))
        raise EnoughError

    monkeypatch.setattr(RMSC, "_see", see)
    part = Seen(np.eye(3), [], whole=False)
    for before in (None, part):
        with pytest.raises(EnoughError):
            model_of(n_clusters)._judge(task_of(np.eye(5)), before)
    assert asked == [(keep, None), (keep, part)]


def test_families_that_were_all_seen_are_not_represented_again(monkeypatch):
    monkeypatch.setattr(RMSC, "_see", lambda *_, **__: pytest.fail("they were seen"))
    calls = seen_by(monkeypatch, "judged_ways")
    seen = Seen(np.eye(300), ["families"])
    with pytest.raises(EnoughError):
        model_of()._judge(task_of(np.eye(5), seed=6), seen, every=True)
    (X, families, recipe), how = calls[0]
    assert X is seen.X
    assert (families, how) == (["families"], {"every": True})
    assert (recipe.seed, recipe.links) == (6, (3, 4, 5))


@pytest.mark.parametrize(("features", "view", "clouds"), [(20, "auto", True), (21, "auto", False), (5, "plain", False)])
def test_the_number_is_looked_for_on_4000_samples(monkeypatch, features, view, clouds):
    monkeypatch.setattr(module, "number_of_low_rank", lambda *_, **__: None)
    calls = seen_by(monkeypatch, "number_of_views")
    model = model_of(view=view)
    model._bounds = (2, 9)
    task = task_of(np.random.default_rng(0).normal(size=(30, features)))
    with pytest.raises(EnoughError):
        model._choose_number(task)
    see, may_be_clouds, bounds, seed, n_threads = calls[0][0]
    assert see.args == (task, 4000)
    assert (may_be_clouds, bounds, seed, n_threads) == (clouds, (2, 9), 4, 1)


@pytest.mark.parametrize(("view", "only_if_low"), [("auto", True), ("low-rank", False)])
def test_motions_are_counted_first_and_only_if_asked_for_in_any_data(monkeypatch, view, only_if_low):
    calls = []

    def motions(X, low, high, seed, *, only_if_low):
        calls.append((X.shape, low, high, seed, only_if_low))
        return "motions"

    monkeypatch.setattr(module, "number_of_low_rank", motions)
    model = model_of(view=view)
    assert model._choose_number(task_of(np.eye(5))) == (None, None)  # the number is given
    model._bounds = (2, 9)
    assert model._choose_number(task_of(np.eye(5))) == ("motions", None)
    assert calls == [((5, 5), 2, 9, 4, only_if_low)]


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("noise", 0.1), ("outliers", 0.1), ("hard_mask", np.eye(9)), ("init", np.zeros(9)), ("affine", True)],
)
def test_what_only_algorithm_1_has_closes_the_model(parameter, value):
    assert model_of()._leaves_the_model_open()
    assert not model_of(**{parameter: value})._leaves_the_model_open()
    assert not model_of(**{parameter: value})._knows_only_samples()
    assert not model_of(constraints="hard")._knows_only_samples()
    cleaned = model_of(outliers="auto")
    assert (cleaned._knows_only_samples(), cleaned._leaves_the_model_open()) == (True, False)


def closed_form(n_ranks=1):
    """A fit by the closed form: `n_ranks` votes, directions and labels."""
    last = SimpleNamespace(votes=["labels"] * n_ranks, labeling=SimpleNamespace(labels="its labels"))
    record = {"way": "low-rank", "taken": True}
    return module.Fit(None, None, "directions", SimpleNamespace(last=last), [record], views_chosen=True)


@pytest.mark.parametrize(
    ("n_clusters", "features", "gap", "sure", "alone"),
    [
        (3, 6, 1.8, True, True),
        (3, 6, 1.8, False, False),
        (3, 5, 1.8, True, False),
        (3, 6, 1.79, True, False),
        (3, 40, 1.8, True, True),
        (15, 21, 2.0, True, True),
        (15, 20, 2.0, True, False),
    ],
)
def test_a_clear_gap_that_is_sure_decides_where_features_have_room_for_planes(
    monkeypatch, n_clusters, features, gap, sure, alone
):
    """Two for each cluster, or more than a table has; the judge is asked otherwise."""
    closed, asked = closed_form(), []

    def is_sure(*given):
        asked.append(given)
        return sure

    monkeypatch.setattr(module, "clearest_cuts", lambda *_, **__: (None, [Rank(6, gap, None, None)]))
    monkeypatch.setattr(RMSC, "_closed_form", lambda *_: closed)
    monkeypatch.setattr(module, "is_sure", is_sure)
    monkeypatch.setattr(RMSC, "_judge", lambda *_: (_ for _ in ()).throw(EnoughError))
    model, task = model_of(n_clusters), task_of(np.random.default_rng(0).normal(size=(90, features)))
    if alone:
        assert model._cluster_into(task, None) is closed
        assert asked == [(gap, "directions", "its labels", n_clusters)]
    else:
        with pytest.raises(EnoughError):
            model._cluster_into(task, None)


@pytest.mark.parametrize(("score", "ranks", "wins"), [(0.4, 2, True), (0.39, 2, False), (0.4, 1, False)])
def test_the_closed_form_of_a_table_must_score_as_well_as_the_best_way(monkeypatch, score, ranks, wins):
    closed = closed_form(ranks)  # one rank agrees with itself
    way = SimpleNamespace(
        family=SimpleNamespace(name="near", views=["v"]),
        agreement=0.5,
        score=0.4,
        labels=np.zeros(30, int),
        votes_made=lambda: ["vote"],
        record=lambda taken, _: {"way": "near", "taken": taken},
    )
    monkeypatch.setattr(module, "clearest_cuts", lambda *_, **__: (None, [Rank(6, 2.5, None, None)]))
    monkeypatch.setattr(RMSC, "_closed_form", lambda *_: closed)
    monkeypatch.setattr(RMSC, "_judge", lambda *_: [way])
    monkeypatch.setattr(RMSC, "_score", lambda *_: score)
    voted = []

    def vote(_, __, views, taken, records):
        voted.append((views, taken))
        return module.Fit(None, None, None, None, records)

    monkeypatch.setattr(RMSC, "_vote", vote)
    found = model_of()._cluster_into(task_of(np.random.default_rng(0).normal(size=(30, 5))), None)
    if wins:
        assert found.choices == [{"way": "low-rank", "taken": True}, {"way": "near", "taken": False}]
        assert (found.other_votes, voted) == ([["vote"]], [])
    else:
        assert found.choices == [
            {"way": "near", "taken": True},
            {"way": "low-rank", "views": ["low-rank"], "gap": 2.5, "taken": False},
        ]
        assert (found.other_votes, voted) == ([], [(["v"], way)])


def test_the_score_of_the_closed_form_is_on_the_samples_that_were_judged():
    """Agreement of its votes, all pairs, times what its labels predict there."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    labels = np.arange(40) % 2
    votes = [labels, labels, np.arange(40) // 20]
    closed = SimpleNamespace(rounds=SimpleNamespace(last=SimpleNamespace(votes=votes, labeling=SimpleNamespace())))
    closed.rounds.last.labeling.labels = np.arange(40)  # names of the samples
    asked = []

    def strength_of(some):
        asked.append(some)
        return 0.5

    way = SimpleNamespace(labels=np.zeros(10), strength_of=strength_of)
    apart = module.agreement([votes[0], votes[2]])
    found = model_of(2)._score(closed, way, task_of(X))
    assert found == pytest.approx((1 + 2 * apart) / 3 * 0.5)
    assert len(asked[0]) == len(set(asked[0].tolist())) == 10


def ways_ballot(n, name="plain", view="plain"):
    family = SimpleNamespace(
        name=name,
        views=[VIEWS[view]],
        widened=lambda links: ("wider", links),
        ensemble=module.Ensemble(None, [], None),
    )
    return SimpleNamespace(family=family, labels=np.zeros(n, int))


@pytest.mark.parametrize(
    ("parameters", "way", "expected"),
    [
        ({}, ways_ballot(270), ("wider", (6, 8))),
        ({}, ways_ballot(269), ("wider", ())),
        ({"n_links": 5}, ways_ballot(270), ("wider", ())),
        ({"members": 6}, ways_ballot(270), ("wider", ())),
        ({}, ways_ballot(270, "mixture"), ("wider", ())),
        ({}, ways_ballot(270, "topics", "topics"), ("wider", ())),
        ({}, ways_ballot(270, "ridge", "uncentered-ridge"), ("wider", ())),
    ],
)
def test_wider_graphs_vote_where_90_samples_a_cluster_were_judged_by_their_codes(parameters, way, expected):
    found = model_of(3, **parameters)._with_votes_of_judge(way, "evidence")
    assert found.first_ballot == expected
    assert found.evidence == "evidence"


def asked_again(monkeypatch, n, taken, *, limit=20_000, view="plain", **parameters):
    monkeypatch.setattr(module, "ONE_VIEW_FROM", limit)
    calls = []

    def of(recipe, X, views, evidence, *, one_setting):
        calls.append((recipe, views, one_setting))
        raise EnoughError

    monkeypatch.setattr(module.Ensemble, "of", of)
    X = np.zeros((n, 2))
    views = [VIEWS[view], VIEWS["homogeneous"]]
    with pytest.raises(EnoughError):
        model_of(3, **parameters)._asked_again(X, X, views, taken, task_of(X))
    return calls[0]


def test_members_that_were_not_judged_draw_settings_of_their_own(monkeypatch):
    recipe, views, one_setting = asked_again(monkeypatch, 300, None)
    assert (recipe.n_members, recipe.links, len(views), one_setting) == (9, (3, 4, 5), 2, False)


def test_members_of_a_way_have_one_setting_and_every_number_of_links(monkeypatch):
    taken = SimpleNamespace(family=SimpleNamespace(name="plain"))
    recipe, views, one_setting = asked_again(monkeypatch, 300, taken)
    assert (recipe.n_members, recipe.links, len(views), one_setting) == (None, (3, 4, 5, 6, 8), 2, True)
    assert asked_again(monkeypatch, 300, taken, members=6)[0].n_members == 6
    assert asked_again(monkeypatch, 300, taken, n_links=9)[0].links == (8, 9, 10)
    assert asked_again(monkeypatch, 300, taken, view="uncentered-ridge")[0].links == (6, 8, 10)


def test_above_the_limit_one_view_votes_in_the_links_of_many(monkeypatch):
    taken = SimpleNamespace(family=SimpleNamespace(name="plain"))
    for n, many in ((100, False), (101, True)):
        recipe, views, one_setting = asked_again(monkeypatch, n, taken, limit=100)
        assert ((len(views), recipe.links == (4, 5, 6, 8, 10)) == (1, True)) is many
        assert one_setting
        assert recipe.n_members == (5 if many else None)
    assert module.LINKS_OF_MANY == (4, 5, 6, 8, 10)
    assert asked_again(monkeypatch, 101, None, limit=100, members=2)[0].n_members == 2
    recipe, _, one_setting = asked_again(monkeypatch, 101, None, limit=100, n_links=6)
    assert (recipe.links, recipe.n_members, one_setting) == ((5, 6, 7), 3, True)


@pytest.mark.parametrize(
    ("max_rounds", "one_setting", "rounds"), [("auto", True, 1), ("auto", False, 2), (7, True, 7), (7, False, 7)]
)
def test_several_members_of_one_view_have_a_second_round(monkeypatch, max_rounds, one_setting, rounds):
    """They stop where their consensus moves by less than a thousandth."""
    ensemble = SimpleNamespace(one_setting=one_setting)
    monkeypatch.setattr(RMSC, "_asked_again", lambda *_: ensemble)
    calls = seen_by(monkeypatch, "run_rounds")
    X = np.random.default_rng(0).normal(size=(30, 5))
    with pytest.raises(EnoughError):
        model_of(max_rounds=max_rounds)._vote(task_of(X), [VIEWS["plain"]], None, [])
    (strategy, _), how = calls[0]
    assert strategy is ensemble
    assert (how["max_rounds"], how["tol"]) == (rounds, 1e-3)


@pytest.mark.parametrize(("max_rounds", "rounds"), [("auto", 5), (3, 3)])
def test_one_member_plays_five_rounds_until_the_mask_stays(monkeypatch, max_rounds, rounds):
    calls = seen_by(monkeypatch, "run_rounds")
    model = model_of(sparsity=0.1, max_rounds=max_rounds, mask_tol=0.03, mask_strength=1.7)
    rows = np.random.default_rng(0).normal(size=(30, 5))
    with pytest.raises(EnoughError):
        model._play(rows, task_of(rows))
    (strategy, _), how = calls[0]
    assert (how["max_rounds"], how["tol"]) == (rounds, 0.03)
    assert (strategy.psi.strength, strategy.seed, strategy.max_iter) == (1.7, 4, model.max_iter)


def test_a_fit_on_workers_needs_a_hundred_samples_a_cluster_and_plain_settings():
    assert reasons_against(BMSC(3), 300, known=False) == []
    assert reasons_against(BMSC(3), 299, known=False) == ["fewer than 100 samples a cluster"]
    assert reasons_against(BMSC(3), 300, known=True) == ["known pairs or labels are given"]
    refused = {
        "affinity": "symmetric",
        "hard_mask": np.eye(2),
        "view": "root",
        "affine": True,
        "solver": "dense",
        "min_certainty": 0.1,
        "missing": "ignore",
    }
    for name, value in refused.items():
        (reason,) = reasons_against(BMSC(3, **{name: value}), 300, known=False)
        assert reason.startswith(name)
    assert reasons_against(BMSC(3, view="plain", solver="sparse"), 300, known=False) == []
    (reason,) = reasons_against(BMSC((2, 5)), 10, known=False)
    assert "is not one number" in reason


def test_every_setting_reaches_the_solver_and_the_labeler():
    settings = {
        "sparsity": 0.1,
        "mask_weight": 0.2,
        "penalty": 0.3,
        "penalty_growth": 1.4,
        "max_iter": 17,
        "tol": 1e-3,
        "noise": 0.5,
        "outliers": 0.6,
        "affine": True,
        "solver": "dense",
        "n_candidates": 19,
        "hard_mask": 1 - np.eye(9),
        "n_jobs": 1,
    }
    rows = np.random.default_rng(0).normal(size=(9, 4))
    for model in (GMSC(3, **settings), RMSC(3, **settings)):
        representer = model._representer()
        assert {name: getattr(representer, name) for name in settings} == settings
    prepared = representer.prepare(rows, seed=5)
    numbers = {name: settings[name] for name in list(settings)[:9]}
    assert {name: getattr(prepared.template, name) for name in numbers} == numbers
    assert prepared.settings is prepared.template
    assert (prepared.n_threads, prepared.seed) == (1, 5)
    assert not prepared.hard_mask.allowed(np.array(3), np.array(3))
    assert GMSC(3, outliers="auto")._representer().outliers is None  # taken out before
    for wanted, bounds in ((3, (3, 3)), ((2, 4), (2, 4))):
        model = GMSC(3, affinity="symmetric", n_links=4, n_components=6, cut="modularity")
        model._bounds = bounds
        labeler = model._labeler()
        assert labeler.get_params() == {
            "n_clusters": wanted,
            "affinity": "symmetric",
            "n_links": 4,
            "n_components": 6,
            "cut": "modularity",
            "rank": None,
            "power": 4.0,
        }
    model = GMSC(3)
    model._bounds = (3, 3)
    assert model._labeler().n_links == 5


def test_numbers_that_are_left_open_follow_the_mean_squared_row():
    """μ₀ is 15 and γ a hundredth of it; up to 2,000 samples are solved densely."""
    rows = 3 * np.eye(6)
    template = MaskedRepresenter().prepare(rows).template
    assert (template.penalty, template.mask_weight) == (15.0 * 9, pytest.approx(0.01 * 9))
    assert (template.penalty_growth, template.max_iter, template.tol) == (2.0, 200, 1e-6)
    assert np.isnan(template.sparsity)
    auto = MaskedRepresenter()
    assert [auto._is_sparse(n) for n in (2_000, 2_001)] == [False, True]
    assert MaskedRepresenter(solver="sparse")._is_sparse(5)
    assert not MaskedRepresenter(solver="dense")._is_sparse(5_000)
    assert MaskedRepresenter(n_candidates=3).nearest(np.random.default_rng(0).normal(size=(9, 2))).candidates.shape == (
        9,
        3,
    )
