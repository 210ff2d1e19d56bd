"""Estimators where a limit is met exactly, and what their last steps are given: lists, seeds, rounds, strengths."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace import BMSC, RMSC, BilevelClustering
from masked_subspace._common.progress import SilentEvents
from masked_subspace.baselines import LSR
from masked_subspace.datasets import make_subspaces
from masked_subspace.estimators import bilevel, masked, out_of_sample
from masked_subspace.estimators import rmsc as module
from masked_subspace.estimators.base import Fit, Task
from masked_subspace.estimators.bilevel import LabelPsi
from masked_subspace.estimators.calibration import Remembered, Sharpening
from masked_subspace.estimators.voting import is_shares, placed_by
from masked_subspace.label.labeler import Cut
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.rounds.open_number import Seen
from masked_subspace.rows.preparation import VIEWS


class EnoughError(Exception):
    """Raised where a test has seen enough."""


def noted_by(calls):
    def noted(*given, **named):
        calls.append((given, named))
        raise EnoughError

    return noted


def task_of(X, **more):
    return Task(**{"X": X, "known": None, "hard": False, "seed": 4, "n_threads": 1, "events": SilentEvents(), **more})


def model_of(**parameters):
    model = RMSC(3, **parameters)
    model.n_clusters_, model._bounds = 3, (3, 3)
    return model


@pytest.mark.parametrize(("n", "listed"), [(9, False), (10, True)])
def test_more_training_rows_than_are_compared_exactly_are_listed_once(monkeypatch, n, listed):
    made, lists = [], object()
    monkeypatch.setattr(out_of_sample, "EXACT_UP_TO", 9)
    monkeypatch.setattr(out_of_sample.ListedRows, "of", lambda rows, **how: made.append((rows, how)) or lists)
    model = BMSC(3)
    model._rows, model._calibration = np.eye(n), Remembered()
    for _ in range(2):
        assert model._listed(3) is (lists if listed else None)
    assert made == ([(model._rows, {"n_threads": 3})] if listed else [])
    model._rows = SimpleNamespace(shape=(99, 3))  # sparse rows are no array
    assert model._listed(3) is None


def test_only_the_training_rows_themselves_are_listed(monkeypatch):
    asked = []
    monkeypatch.setattr(out_of_sample, "voters_of", lambda *_, **how: asked.append(how["listed"]))
    model = BMSC(3, n_jobs=1)
    model._preparation = SimpleNamespace(view=SimpleNamespace(by_distance=False))
    model._rows = np.eye(5)
    monkeypatch.setattr(BMSC, "_listed", lambda *_: "lists")
    model._votes_of(model._rows, np.eye(5))
    model._votes_of(model._rows[:4], np.eye(5))
    assert asked == ["lists", None]


@pytest.mark.parametrize("by_distance", [True, False])
def test_the_nearest_vote_where_samples_were_linked_by_distance(monkeypatch, by_distance):
    asked = []
    monkeypatch.setattr(out_of_sample, "nearest_voters", lambda *_, **how: asked.append(("nearest", how)))
    monkeypatch.setattr(out_of_sample, "voters_of", lambda *_, **how: asked.append(("voters", how["n_threads"])))
    model = BMSC(3, n_jobs=2)
    model._preparation = SimpleNamespace(view=SimpleNamespace(by_distance=by_distance))
    model._rows = np.eye(5)
    model._votes_of(model._rows, np.eye(5))
    assert asked == [("nearest", {"n_threads": 2}) if by_distance else ("voters", 2)]


def test_a_graph_is_cut_with_the_seed_that_a_fit_of_samples_has(monkeypatch):
    calls = []
    monkeypatch.setattr(masked, "number_of_graph", noted_by(calls))
    W = np.kron(np.eye(2), np.ones((5, 5)))
    np.fill_diagonal(W, 0)
    for seed in (0, 7):
        with pytest.raises(EnoughError):
            BMSC((2, 3), affinity="precomputed", random_state=seed, n_jobs=2).fit(W)
        (graph, *given), _ = calls.pop()
        assert graph.shape == (10, 10)
        assert given == [(2, 3), np.random.RandomState(seed).randint(2**31 - 1), 2]


def test_the_cuts_of_a_graph_are_given_the_number_that_was_chosen(monkeypatch):
    calls = []
    monkeypatch.setattr(masked, "number_of_graph", lambda *_: SimpleNamespace(n_clusters=2))
    monkeypatch.setattr(masked, "outcome_of_cuts", noted_by(calls))
    model = BMSC((2, 5), affinity="precomputed", n_components=6, cut="modularity", random_state=1)
    W = np.kron(np.eye(2), np.ones((5, 5))) - np.eye(10)
    with pytest.raises(EnoughError):
        model.fit(W)
    (_, n_clusters, cuts, n_components, evidence, seed), _ = calls[0]
    assert (n_clusters, n_components, seed) == (2, 6, np.random.RandomState(1).randint(2**31 - 1))
    assert cuts == [Cut("modularity")]
    assert evidence.known is None


def test_one_member_has_settings_of_its_own_and_is_not_warned_of_them():
    X = np.random.default_rng(0).normal(size=(9, 3))
    own = {"sparsity": 0.1, "penalty": 0.2, "penalty_growth": 1.3, "mask_weight": 0.4, "mask_tol": 0.5}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model_of(members=1, mask_strength=2.0, mask_orientation="paper", **own)._check_settings(X)
        model_of(members=2)._check_settings(X)
    for name, value in own.items():
        with pytest.warns(UserWarning, match=rf"^{name}={value} has no effect with 2 members"):
            model_of(members=2, **{name: value})._check_settings(X)


def test_pairs_leave_the_range_of_numbers_as_it_is():
    model = BMSC((2, 6))
    model._set_bounds(60, KnownPairs.of(60, must_link=[[0, 1]]), hard=False)
    assert (model._bounds, model.n_clusters_, model._wanted()) == ((2, 6), 6, (2, 6))
    labels = np.full(60, -1)
    labels[3] = 0
    model._set_bounds(60, KnownPairs.of(60, partial_labels=labels), hard=False)
    assert model._bounds == (2, 6)
    one = BMSC(4)
    one._set_bounds(60, KnownPairs.of(60, partial_labels=labels), hard=False)
    assert (one._bounds, one.n_clusters_, one._wanted()) == ((4, 4), 4, 4)


@pytest.mark.parametrize(("least", "warns"), [(0.0, False), (-1e-9, True)])
def test_new_zeros_have_a_root_too(monkeypatch, least, warns):
    X = np.abs(np.random.default_rng(0).normal(size=(4, 3)))
    X[1, 2] = least
    model = RMSC(3, view="root")
    model._samples, model._preparation = X, SimpleNamespace(view=SimpleNamespace(root=True))
    monkeypatch.setattr(out_of_sample, "check_samples", lambda _model, X, **_: X)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model._checked_new(X)
    assert [str(one.message).startswith("X has negative entries, down to -1e-09") for one in said] == [True] * warns


def test_two_clusters_are_enough_for_a_score(monkeypatch):
    votes = {"vote": np.array([0, 1, 0, 1]), "subspace": np.array([1, 0, 1, 0])}
    monkeypatch.setattr(BMSC, "predict", lambda _, X, method="vote": votes[method])  # noqa: ARG005
    assert BMSC(2).score(np.eye(4)) == 1
    votes["vote"] = np.zeros(4, int)
    assert BMSC(2).score(np.eye(4)) == 0
    votes["subspace"] = np.zeros(4, int)
    assert BMSC(2).score(np.eye(4)) == 0  # one cluster, though both agree


@pytest.mark.parametrize(
    ("name", "d", "counts"),
    [("low-rank", 5, True), ("low-rank", 6, False), ("plain", 5, True), ("plain", 6, False), ("near", 20, True),
     ("near", 21, False), ("linear-mixture", 5, False), ("mixture", 20, True), ("shared-mixture", 20, True)],
)  # fmt: skip
def test_only_clouds_of_few_features_must_stand_apart(monkeypatch, name, d, counts):
    """Of three clusters: fewer than six features, or clouds by their name in twenty."""
    monkeypatch.setattr(masked, "separation", lambda _rows, labels: 0.25 if len(labels) == 8 else None)
    monkeypatch.setattr(masked, "rows_of_one_scale", lambda X: (X, np.arange(8)))
    model = model_of()
    model._labels_of_all = np.arange(9) % 3
    choices = [{"way": "other", "taken": False}, {"way": name, "taken": True}]
    fit = Fit(np.zeros((9, d)), None, None, None, choices)
    assert model._apart(fit) == (0.25 if counts else 1.0)


def test_a_single_cluster_has_no_structure_and_two_may_have():
    votes = [np.arange(6) % 2, np.arange(6) % 2]
    fit = Fit(None, None, np.eye(6), SimpleNamespace(last=SimpleNamespace(votes=votes)), strength=0.5)
    for n_clusters, expected in ((1, 0.0), (2, 0.5)):
        model = RMSC(n_clusters)
        model.n_clusters_, model._labels_of_all = n_clusters, np.arange(6) % n_clusters
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert model._how_real(fit) == expected


@pytest.mark.parametrize(("n", "seen"), [(30, 30), (31, 30)])
def test_as_many_samples_as_may_be_judged_are_judged_as_they_stand(monkeypatch, n, seen):
    calls = []
    monkeypatch.setattr(module, "families_of", noted_by(calls))
    X = np.random.default_rng(0).normal(size=(n, 5))
    model = model_of(center=False, solver="dense", affine=True)
    with pytest.raises(EnoughError):
        model._see(task_of(X), 30, only=["plain"])
    (found, recipe, evidence, _), how = calls[0]
    assert len(found) == seen
    assert (found is X) == (n == 30)
    assert evidence.X is found
    assert recipe.representer.solver == ("dense" if n == 30 else "sparse")
    assert how["permitted"].keywords == {"center": False, "only_samples": False, "sparse": False}
    assert (how["only"], how["seen"]) == (["plain"], [])


def test_the_judge_goes_on_with_the_samples_on_which_some_families_were_seen(monkeypatch):
    calls = []

    def families_of(X, *_given, **how):
        calls.append((X, how["seen"], how["only"]))
        return ["more"]

    monkeypatch.setattr(module, "families_of", families_of)
    X, before = np.random.default_rng(0).normal(size=(40, 5)), Seen(np.eye(12, 5), ["some"], whole=False)
    model = model_of()
    found = model._see(task_of(X), 30, before=before)
    assert found.X is before.X
    assert (found.families, found.whole) == (["more"], True)
    assert not model._see(task_of(X), 30, only=["plain"], before=before).whole
    assert [(X is before.X, seen) for X, seen, _ in calls] == [(True, ["some"])] * 2
    assert list(calls[0][2]) == list(module.FAMILIES)


@pytest.mark.parametrize(("view", "normalize"), [("plain", True), ("auto", False)])
def test_a_view_that_was_given_is_the_only_one_seen(monkeypatch, view, normalize):
    asked = []
    monkeypatch.setattr(module, "family_of", lambda name, views, *_: asked.append((name, views)) or "family")
    model = model_of(view=view, normalize=normalize)
    found = model._see(task_of(np.random.default_rng(0).normal(size=(30, 5))), 30)
    assert asked == [("plain", [model._one_view()])]
    assert (found.families, found.whole) == (["family"], True)


@pytest.mark.parametrize(
    ("way", "max_rounds", "rounds"), [("linear-mixture", "auto", 1), ("linear-mixture", 4, 1), ("plain", 4, 4)]
)
def test_whole_subspaces_are_taken_in_one_round(monkeypatch, way, max_rounds, rounds):
    """Also where the user asks for more; the strength is that of the labels in the end."""
    labels = np.arange(30) % 3
    played = SimpleNamespace(last=SimpleNamespace(labeling=SimpleNamespace(labels=labels)))
    asked = []
    monkeypatch.setattr(module, "run_rounds", lambda *_, **how: asked.append(how) or played)
    ensemble = SimpleNamespace(one_setting=True)
    monkeypatch.setattr(RMSC, "_with_votes_of_judge", lambda *_: ensemble)
    taken = SimpleNamespace(
        family=SimpleNamespace(name=way), labels=labels, strength_of=lambda some: 0.75 if some is labels else None
    )
    X = np.random.default_rng(0).normal(size=(30, 5))
    fit = model_of(max_rounds=max_rounds)._vote(task_of(X), [VIEWS["plain"]], taken, [{"way": way}])
    assert asked[0]["max_rounds"] == rounds
    assert (fit.strength, fit.views_chosen, fit.choices) == (0.75, True, [{"way": way}])
    assert (fit.rounds, fit.X is X, fit.outliers, fit.number, fit.other_votes) == (played, True, None, None, ())


def test_votes_of_members_that_were_not_judged_have_no_strength(monkeypatch):
    monkeypatch.setattr(module, "run_rounds", lambda *_, **__: "played")
    monkeypatch.setattr(RMSC, "_asked_again", lambda *_: SimpleNamespace(one_setting=False))
    X = np.random.default_rng(0).normal(size=(30, 5))
    fit = model_of()._vote(task_of(X), [VIEWS["plain"]], None, [])
    assert (fit.strength, fit.views_chosen) == (None, False)


def test_what_was_counted_and_cleaned_is_told_of_the_samples_as_given(monkeypatch):
    X, cleaned, outliers = np.ones((6, 2)), np.zeros((6, 2)), csr_array((6, 2))
    number, seen = SimpleNamespace(n_clusters=2, candidates=[2, 4]), object()
    told, asked = [], []
    monkeypatch.setattr(RMSC, "_without_outliers", lambda *_: (cleaned, outliers))
    monkeypatch.setattr(RMSC, "_choose_number", lambda _, task: asked.append(task.X) or (number, seen))
    monkeypatch.setattr(
        RMSC, "_cluster_into", lambda _, task, some: asked.append((task.X, some)) or Fit(task.X, None, None, None)
    )
    model = model_of()
    fit = model._cluster(task_of(X, events=SimpleNamespace(message=told.append)))
    assert asked[0] is cleaned
    assert asked[1] == (cleaned, seen)
    assert (fit.X is X, fit.number is number, fit.outliers is outliers, model.n_clusters_) == (True, True, True, 2)
    assert told == ["number of clusters: 2 (candidates 2 or 4)"]


def test_the_mask_between_rounds_is_that_of_the_labels():
    psi = LabelPsi()
    assert (psi.strength, psi.orientation) == (1.1, "corrected")
    labels = np.array([0, 0, 1])
    mask = LabelPsi(2.0, "paper")(SimpleNamespace(labels=labels))
    np.testing.assert_allclose(np.asarray(mask.block(0, 1))[0, 1:], [2.0, 0.5])
    assert (BilevelClustering().max_rounds, BilevelClustering().mask_tol) == (5, 1e-6)


def test_a_function_of_the_user_s_is_no_reason_for_another_first_mask(monkeypatch):
    calls = []
    monkeypatch.setattr(bilevel, "first_soft_mask", noted_by(calls))
    model = BilevelClustering(n_clusters=3, mask=lambda labeling: None, init="given")  # noqa: ARG005
    model.n_clusters_, model._bounds = 3, (3, 3)
    with pytest.raises(EnoughError):
        model._play(np.eye(5), task_of(np.eye(5)))
    assert calls[0][0][2:] == (1.1, "corrected", 4, "init")


def test_sharpened_votes_are_the_formula_written_out():
    votes, power, trust = np.array([[0.7, 0.3, 0.0], [0.0, 0.0, 0.0]]), 2.0, 0.6
    raised = (votes + 1e-3 / 3) ** power
    expected = trust * raised / raised.sum(axis=1)[:, None] + (1 - trust) / 3
    np.testing.assert_allclose(Sharpening(power, trust).apply(votes), expected)
    np.testing.assert_allclose(Sharpening(power, trust).apply(votes).sum(axis=1), 1)


@pytest.mark.parametrize(
    ("values", "shares"),
    [
        ([[0.2, 0.8], [1.0, 0.0]], True),
        ([[0.0, 0.0], [0.5, 0.5]], True),
        ([[0.6, 0.8], [1.0, 0.0]], False),
        ([[0.4, 0.0], [0.5, 0.5]], False),
        ([[1.2, -0.2], [0.5, 0.5]], False),
        ([[0.5, 0.5 + 0.9e-4]], True),
        ([[0.5, 0.5 + 1.1e-4]], False),
    ],
)
def test_rows_that_sum_to_one_or_to_nothing_are_shares(values, shares):
    values = np.array(values)
    assert is_shares(values) == shares
    voters = csr_array(np.full((1, len(values)), 1 / len(values)))
    mean = values.mean(axis=0)
    expected = mean if shares else mean / np.linalg.norm(mean)
    np.testing.assert_allclose(placed_by(voters, values)[0], expected)


@pytest.mark.parametrize("model", [BMSC(3), LSR(3)], ids=lambda one: type(one).__name__)
def test_what_is_made_in_one_round_says_so(model):
    X = make_subspaces(3, 3, 12, 20, random_state=0).data
    model.set_params(random_state=0, n_jobs=1).fit(X)
    assert (model.n_rounds_, len(model.history_), len(model.round_labels_), len(model.round_affinities_)) == (1,) * 4
    np.testing.assert_array_equal(model.round_labels_[0], model.labels_)
    assert abs(model.round_affinities_[0] - model.affinity_matrix_).max() == 0
    assert model.soft_mask_ is None


@pytest.mark.parametrize(
    ("settings", "asked"),
    [({}, True), ({"view": "low-rank", "affine": True}, True), ({"view": "low-rank", "normalize": False}, True),
     ({"view": "plain"}, False), ({"normalize": False}, False), ({"affine": True}, False), ({"noise": 1.0}, False)],
)  # fmt: skip
def test_motions_are_counted_where_nothing_was_asked_for_that_they_cannot_have(monkeypatch, settings, asked):
    monkeypatch.setattr(module, "number_of_low_rank", lambda *_, **__: "motions")
    monkeypatch.setattr(module, "number_of_mixtures", lambda *_: None)
    monkeypatch.setattr(module, "number_of_views", lambda *_: "views")
    model = model_of(**settings)
    model._bounds = (2, 9)
    found = model._choose_number(task_of(np.random.default_rng(0).normal(size=(30, 5))))
    assert found == (("motions", None) if asked else "views")


@pytest.mark.parametrize(
    ("settings", "features", "asked"),
    [({}, 20, True), ({}, 21, False), ({"view": "plain"}, 5, False), ({"normalize": False}, 5, False)],
)
def test_mixtures_count_the_clusters_of_tables(monkeypatch, settings, features, asked):
    monkeypatch.setattr(module, "number_of_low_rank", lambda *_, **__: None)
    given = []
    monkeypatch.setattr(module, "number_of_mixtures", lambda X, *rest: given.append((X.shape, rest)) or "mixtures")
    monkeypatch.setattr(module, "number_of_views", lambda *_: "views")
    model = model_of(**settings)
    model._bounds = (2, 9)
    found = model._choose_number(task_of(np.random.default_rng(0).normal(size=(30, features))))
    assert found == (("mixtures", None) if asked else "views")
    assert given == [((30, features), (2, 9, 4))] * asked
