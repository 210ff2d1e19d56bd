"""Every value that the page's script gets, and how large a page may become."""

from __future__ import annotations

import base64
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.report import Figure, ReportContent, Run, Table
from masked_subspace.report import payload as module
from masked_subspace.report.payload import _next_clusters, _points, certain_samples, payload
from masked_subspace.report.profiles import SHOWN_FEATURES, cluster_profiles

from .test_payload import numbers, small_run


def test_what_stands_around_the_runs():
    table = Table("T", ("a", "b"), ((1, float("inf")), ("x", None)), ("a note",), (None, 2))
    content = ReportContent(
        "title", "sub", {"samples": 5, "share": float("nan")}, ("s0", "s1"), tables=(table,),
        figures=(Figure("F", b"\x89PNG", "words"),), notes=("one", "two"), command="typed", created="now",
        version="1.0",
    )  # fmt: skip
    assert payload(content) == {
        "title": "title", "subtitle": "sub", "facts": [["samples", 5], ["share", None]], "notes": ["one", "two"],
        "names": ["s0", "s1"], "classes": None, "sprites": None, "runs": [],
        "tables": [{"title": "T", "columns": ["a", "b"], "rows": [[1, None], ["x", None]], "decimals": [None, 2],
                    "notes": ["a note"]}],
        "figures": [{"title": "F", "image": "data:image/png;base64,iVBORw==", "description": "words"}],
        "made": {"version": "1.0", "created": "now", "command": "typed"},
    }  # fmt: skip
    assert payload(ReportContent("title"))["names"] is None


def test_what_is_said_of_a_run():
    labels = np.array([5, 5, -1, 2, 2, 2])
    run = replace(
        small_run(labels), certainty=np.array([0.25, 0.5, 0.0, 1.0, 0.9, 0.8]), name="mine", structure=0.75,
        seconds=1.5,
        history=({"round": 1, "x": float("nan")},), parameters={"a": 1, "b": float("inf")}, call="Mine()",
        scores={"accuracy": 0.5}, choices=({"way": "near"},), n_clusters_scores=({"n_clusters": 2, "score": 0.5},),
        n_clusters_candidates=(2, 3), profiles=({"cluster": "2"},), graph_kind="neighbors", certainty_kind="agreement",
    )  # fmt: skip
    found = payload(ReportContent("t", runs=(run,)))["runs"][0]
    plain = {key: found[key] for key in ("name", "clusters", "sizes", "certainty_kind", "history", "parameters", "call",
             "scores", "seconds", "confusion", "n_links", "graph_kind", "structure", "choices", "n_clusters_scores",
             "n_clusters_candidates", "profiles", "subspaces")}  # fmt: skip
    assert plain == {
        "name": "mine", "clusters": ["not assigned", "2", "5"], "sizes": [1, 3, 2], "certainty_kind": "agreement",
        "history": [{"round": 1, "x": None}], "parameters": [["a", 1], ["b", None]], "call": "Mine()",
        "scores": {"accuracy": 0.5}, "seconds": 1.5, "confusion": None, "n_links": 6, "graph_kind": "neighbors",
        "structure": 0.75, "choices": [{"way": "near"}], "n_clusters_scores": [{"n_clusters": 2, "score": 0.5}],
        "n_clusters_candidates": [2, 3], "profiles": [{"cluster": "2"}], "subspaces": [],
    }  # fmt: skip
    assert numbers(found["labels"]).tolist() == [2, 2, 0, 1, 1, 1]
    assert numbers(found["order"], "<u4").tolist() == [2, 3, 4, 5, 1, 0]
    assert numbers(found["certainty"], "u1").tolist() == [64, 128, 0, 255, 230, 204]
    assert found["certain"] == certain_samples(run)
    assert len(found["looks"]) == 3
    alone = replace(run, labels=np.where(labels < 0, -1, 2))
    assert payload(ReportContent("t", runs=(alone,)))["runs"][0]["structure"] is None  # nothing to agree on


@pytest.mark.parametrize(
    ("target", "names", "shown"),
    [
        ([0, 1, 2], ["a", "b", "c"], ["a", "b", "c"]),
        ([0, 0, 2], ["a", "b", "c"], ["a", "c"]),
        ([0, 1, 3], ["a", "b", "c"], ["0", "1", "3"]),
        ([-1, 0, 1], ["a", "b", "c"], ["-1", "0", "1"]),
        ([0, 1, 2], None, ["0", "1", "2"]),
        (["x", "y", "y"], ["a", "b"], ["x", "y"]),
        ([0.0, 1.0, 1.0], ["a", "b"], ["0.0", "1.0"]),
    ],
)
def test_classes_are_called_by_their_names_where_codes_are_places(target, names, shown):
    found = payload(ReportContent("t", target=np.array(target), class_names=names))["classes"]
    assert found["names"] == shown
    assert numbers(found["of"]).tolist() == np.unique(target, return_inverse=True)[1].tolist()
    assert len(found["looks"]) == len(shown)


def test_the_sheet_shows_all_where_there_is_room_and_the_surest_in_any_case(monkeypatch):
    run = replace(small_run(np.repeat([0, 1], 20)), certainty=np.linspace(0, 1, 40))
    images = np.zeros((40, 48, 48), dtype=np.uint8)
    found = payload(ReportContent("t", images=images, runs=(run,)))["sprites"]
    assert (found["samples"], found["height"], found["width"], found["columns"]) == (None, 48, 48, 7)
    usual = module.sprite_sheet
    monkeypatch.setattr(module, "sprite_sheet", lambda images, wanted: usual(images, wanted, 34 * 14 * 14))
    found = payload(ReportContent("t", images=images, runs=(run,)))["sprites"]
    shown = numbers(found["samples"], "<u4").tolist()
    certain = certain_samples(run)
    assert len(shown) == 34
    assert {one for kind in ("most", "least") for group in certain[kind] for one in group} <= set(shown)


def test_certainties_that_look_alike_are_tied():
    """With two decimals, as they are shown."""
    run = replace(small_run(np.zeros(6, dtype=int)), certainty=np.array([0.994, 0.991, 0.986, 0.5, 0.204, 0.196]))
    found = certain_samples(run)
    assert (found["tied_most"], found["tied_least"]) == ([3], [2])
    assert (found["most"], found["least"]) == ([[0, 1, 2]], [[5, 4, 3]])
    one = certain_samples(small_run(np.zeros(1, dtype=int)))
    assert (one["most"], one["least"]) == ([[0]], [[]])


def test_memberships_of_another_number_of_clusters_are_not_used():
    labels = np.array([0, 0, 1, 2])
    embedding = np.array([[0.0], [2.0], [4.0], [9.0]])
    plain = Run("m", labels, csr_array((4, 4)), embedding, np.ones(4))
    odd = replace(plain, memberships=np.full((4, 2), 0.5))
    for run in (plain, odd):
        assert _next_clusters(run, np.arange(3), labels).tolist() == [1, 1, 0, 1]


@pytest.fixture
def flat(monkeypatch):
    """The map of many samples takes seconds; here everybody stands in one place."""
    monkeypatch.setattr(module, "graph_map", lambda affinity, *_: np.zeros((affinity.shape[0], 2)))


@pytest.mark.parametrize(("n", "points", "axes"), [(60_000, None, 4), (60_001, 60_000, 4), (48_000, None, 5)])
def test_a_page_has_sixty_thousand_points_at_most_and_fewer_axes_of_many(flat, n, points, axes):
    rng = np.random.default_rng(0)
    run = Run("m", np.zeros(n, dtype=int), csr_array((n, n)), rng.normal(size=(n, 7)), np.ones(n))
    found = _points(run)
    assert found["axes"] == axes
    assert len(base64.b64decode(found["values"])) == 2 * axes * (points or n)
    assert (found["samples"] is None) == (points is None)
    if points:
        chosen = numbers(found["samples"], "<u4")
        assert (len(chosen), chosen[0], chosen[-1]) == (points, 0, n - 1)


def test_places_on_the_map_go_from_minus_one_to_one(monkeypatch):
    places = np.array([[-1.0, 0.0], [1.0, 0.5], [0.0, -0.5]])
    monkeypatch.setattr(module, "graph_map", lambda *_: places)
    found = _points(small_run(np.array([0, 0, 1])))
    assert numbers(found["map"]).reshape(3, 2).tolist() == [[0, 32768], [65535, 49151], [32768, 16384]]
    assert all(round(one, 4) == one for one in found["share"])


def test_eight_telling_features_are_shown_and_none_that_tells_nothing():
    labels = np.repeat([0, 1], 10)
    X = np.random.default_rng(0).normal(size=(20, 12)) + np.arange(12) * labels[:, None]
    X[:, 3], X[:, 4] = 7.0, np.tile([0.0, 1.0], 10)  # constant; the same in both
    first, second = cluster_profiles(X, labels)
    assert (first["cluster"], len(first["features"]), SHOWN_FEATURES) == ("0", 8, 8)
    effects = [abs(one["effect"]) for one in first["features"]]
    assert effects == sorted(effects, reverse=True)
    assert [one["effect"] for one in second["features"]] == pytest.approx([-one["effect"] for one in first["features"]])
    few = cluster_profiles(X[:, 2:5], labels, ["a", "b", "c"])
    assert [one["feature"] for one in few[0]["features"]] == ["a"]


def test_a_feature_that_nobody_of_a_cluster_or_of_the_rest_has_tells_nothing():
    labels = np.repeat([0, 1, 2], 4)
    X = np.random.default_rng(0).normal(size=(12, 2))
    X[:4, 0] = np.nan
    first, second, _ = cluster_profiles(X, labels)
    assert [one["feature"] for one in first["features"]] == ["feature 1"]
    known = {one["feature"]: one for one in second["features"]}
    assert known["feature 0"]["here"] == pytest.approx(X[4:8, 0].mean())
    assert known["feature 0"]["rest"] == pytest.approx(X[8:, 0].mean())
    assert known["feature 0"]["effect"] == pytest.approx((X[4:8, 0].mean() - X[8:, 0].mean()) / X[4:, 0].std())
    X[4:8, 0] = np.nan  # only the last cluster has it
    assert all("feature 0" not in {f["feature"] for f in one["features"]} for one in cluster_profiles(X, labels))


def test_sparse_features_have_their_spread_over_all_entries():
    X = np.array([[0.0, 3], [0, 0], [4, 0], [2, 0]])
    found = cluster_profiles(csr_array(X), np.array([0, 0, 1, 1]))
    assert found[1]["features"][0] == {
        "feature": "feature 0", "here": 3.0, "rest": 0.0, "effect": pytest.approx(3 / X[:, 0].std()),
    }  # fmt: skip
    assert found == cluster_profiles(X, np.array([0, 0, 1, 1]))
