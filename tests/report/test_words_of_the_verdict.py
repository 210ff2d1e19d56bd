"""The sentences of the verdict in full, each with the numbers that it must hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.report.doubts import ClusterFacts
from masked_subspace.report.record import AGREEMENT, Run
from masked_subspace.report.verdict import _doubts, verdict

from .test_doubts import blocks
from .test_verdict import doubtful, point

FREE = {"eps": 0.5}  # a method that finds the number itself


@pytest.fixture
def run():
    graph, of = blocks([40, 40, 40], between=0.002)
    return Run("RMSC", of, graph, np.eye(3)[of], np.linspace(0.6, 1, len(of)))


def scored(**scores):
    return tuple({"n_clusters": int(k[1:]), "score": score} for k, score in scores.items())


def how_many(run, **changes):
    return point(verdict(replace(run, **changes)), "How many")


def which_way(run, *choices, **changes):
    return point(verdict(replace(run, choices=choices, **changes)), "Which way")


def test_the_points_stand_in_one_order_and_say_their_tone(run):
    missing = {"count": 1, "share": 0.1, "error": 0.5}
    known = replace(run, structure=0.9, choices=(PLAIN,), scores={"accuracy": 0.5}, missing=missing)
    found = verdict(known, [replace(run, name="k-means")])
    assert [(one["title"], one["tone"]) for one in found["points"]] == [
        ("How real", "good"),
        ("How many", "info"),
        ("Which way", "info"),
        ("Certainty", "info"),
        ("Unknown values", "info"),
        ("Doubtful clusters", "good"),
        ("Other methods", "info"),
        ("Known classes", "info"),
    ]
    labels = np.where(np.arange(120) < 3, -1, run.labels)
    low = verdict(replace(run, labels=labels, certainty=np.full(120, 0.4)))
    told = {one["title"]: one for one in low["points"]}
    assert told["Not assigned"]["tone"] == "info"
    assert told["Doubtful clusters"]["tone"] == "fair"
    assert told["Doubtful clusters"]["items"] == [told["Doubtful clusters"]["text"]]


def test_two_clusters_without_doubt_are_told_so():
    graph, of = blocks([40, 40], between=0.002)
    found = verdict(Run("RMSC", of, graph, np.eye(2)[of], np.linspace(0.6, 1, 80)))
    assert found["headline"].startswith("2 clusters that ")
    assert point(found, "Doubtful clusters").startswith("None: no two are strongly linked")


@pytest.mark.parametrize(
    ("graph_kind", "graph"), [("own", "its graph"), ("neighbors", "the graph of nearest neighbors")]
)
def test_on_which_graph_modularity_is_taken(run, monkeypatch, graph_kind, graph):
    monkeypatch.setattr("masked_subspace.report.verdict.cluster_modularity", lambda *_: 0.456)
    said = point(verdict(replace(run, graph_kind=graph_kind)), "How real")
    assert said.startswith(f"Modularity 0.46 on {graph}. This method gives no structure score")
    said = point(verdict(replace(run, graph_kind=graph_kind, structure=0.777)), "How real")
    assert said.startswith("Structure 0.78 of 1: ")
    assert said.endswith("Modularity of the graph: 0.46.")


@pytest.mark.parametrize(
    ("kept", "tone", "words"),
    [
        (0.6, "good", "are well apart in the graph"),
        (0.3, "fair", "overlap in the graph"),
        (0.2999, "poor", "are hardly apart in the graph"),
        (-0.5, "poor", "are hardly apart in the graph"),
    ],
)
def test_limits_of_modularity_belong_to_the_better_side(run, monkeypatch, kept, tone, words):
    monkeypatch.setattr("masked_subspace.report.verdict.cluster_modularity", lambda *_: kept)
    found = verdict(run)
    assert (found["tone"], found["headline"]) == (tone, f"3 clusters that {words}")
    assert found["points"][0]["tone"] == tone


@pytest.mark.parametrize(
    ("structure", "tone", "words"),
    [
        (0.6, "good", "stand out clearly"),
        (0.5999, "fair", "are more than noise, but not clear-cut"),
        (0.0, "poor", "are hardly supported"),
    ],
)
def test_limits_of_structure_belong_to_the_better_side(run, structure, tone, words):
    found = verdict(replace(run, structure=structure))
    assert (found["tone"], found["headline"]) == (tone, f"3 clusters that {words}")


def test_many_uncertain_samples_lower_only_a_good_tone(run):
    unsure = np.where(np.arange(120) < 37, 0.4, 0.9)
    for structure, tone in ((0.9, "fair"), (0.45, "fair"), (0.1, "poor")):
        found = verdict(replace(run, structure=structure, certainty=unsure))
        assert found["tone"] == tone
        assert found["headline"].endswith(", with many uncertain samples")
    half = np.where(np.arange(120) < 37, 0.5, 0.9)  # a half is not below a half
    assert verdict(replace(run, structure=0.9, certainty=half))["tone"] == "good"


@pytest.mark.parametrize(
    ("parameters", "how"),
    [({"n_clusters": 3}, "as asked for"), ({}, "as asked for"), (FREE, "which the method found itself")],
)
def test_where_nothing_was_chosen_the_number_is_told_with_its_reason(run, parameters, how):
    assert how_many(run, parameters=parameters) == f"3, {how}."
    assert how_many(run, parameters=parameters, n_clusters_scores=scored(k3=0.5)) is None  # one is no choice
    assert how_many(run, n_clusters_scores=scored(k3=0.5, k4=None, k5=float("nan"))) is None


def test_the_number_that_was_taken_is_compared_with_the_best_other(run):
    chosen = "3 was chosen among {} numbers from {} to {}, with a score of 0.50."
    lower = scored(k5=0.4, k2=0.7, k3=0.5, k9=None)  # the best is not always taken
    assert how_many(run, n_clusters_scores=lower) == f"{chosen.format(4, 2, 9)} Next is 2 with 0.70."
    absent = scored(k5=0.4, k2=0.7)  # the number that was found is none of those tried
    assert how_many(run, n_clusters_scores=absent) == (
        "3 was chosen among 2 numbers from 2 to 5, with a score of 0.70. Next is 5 with 0.40."
    )
    near = scored(k2=0.1, k3=0.5, k4=0.51)
    assert how_many(run, n_clusters_scores=near) == f"{chosen.format(3, 2, 4)} 4 is as good (0.51): look at both."


def test_one_more_number_with_much_evidence_has_and_two_have(run):
    scores = scored(k2=0.5, k3=0.8, k4=0.79)
    one = how_many(run, n_clusters_scores=scores, n_clusters_candidates=(3, 4))
    assert one.endswith("The evidence is split: 4 has nearly as much; look at it too.")
    assert one.startswith("3 was chosen among 3 numbers from 2 to 4, with a score of 0.80. The")


PLAIN = {"way": "plain", "views": ["plain", "root"], "cuts": ["spectral × 2", "modularity", "spectral"], "score": 0.5}


def test_a_way_is_called_by_all_that_is_known_of_it(run):
    assert which_way(run, PLAIN) == (
        "The family of plain views (plain, root), cut by spectral and modularity, was taken, with a score of 0.50."
    )
    assert which_way(run, {**PLAIN, "cuts": []}).startswith("The family of plain views (plain, root) was taken")
    assert which_way(run, {"way": "near", "score": 0.5}).startswith("View near was taken")
    assert which_way(run, {"way": "near", "views": ["distance"], "score": 0.5}).startswith("View distance was taken")
    assert which_way(run, {"score": 0.5}) == "The way was taken, with a score of 0.50."
    assert which_way(run, {"view": "root", "cut": None, "links": 5, "taken": True}) == "View root, links 5 was taken."
    mixed = {"way": "topics", "views": ["topics", "words"], "cuts": ["spectral"], "score": 0.5}
    assert which_way(run, mixed).startswith("The vote along the topics of its words, cut by spectral, was taken")


def test_the_taken_way_is_compared_with_the_best_other(run):
    near = {"way": "near", "views": ["distance"], "score": 0.3}
    far = {"way": "far", "views": ["far", "farther"], "cuts": ["spectral"], "score": 0.4}
    taken = {**PLAIN, "taken": True}
    said = which_way(run, near, far, taken)
    assert said == (
        "The family of plain views (plain, root), cut by spectral and modularity, was taken from 3 that were judged "
        "without labels: score 0.50, then the family of far views with 0.40."
    )
    assert which_way(run, near, far, PLAIN) == said  # nobody is marked: the best was taken
    tied = which_way(run, {**near, "score": 0.51}, taken)
    assert tied.endswith("score 0.50. View distance is as good (0.51), so the choice says little.")
    assert which_way(run, {"way": "near", "score": None, "taken": True}, PLAIN) == "View near was taken."
    assert which_way(run, {"way": "near", "score": None}) is None


def test_the_closed_form_counts_the_clusters_and_not_who_is_in_none(run):
    labels = np.where(np.arange(120) < 3, -1, run.labels)
    way = {"way": "low-rank", "gap": 2.456, "taken": True}
    assert which_way(run, way, labels=labels) == (
        "View low-rank was taken: all samples together have a low rank, and its graph has a clear gap (2.46) after "
        "3 clusters."
    )


def test_what_a_score_is_made_of_is_told_only_where_all_of_it_is_known(run):
    for known in ({"agreement": 0.9}, {"strength": 0.8}, {}):
        assert which_way(run, {**PLAIN, **known}).endswith("with a score of 0.50.")
    made = {**PLAIN, "agreement": 0.9, "strength": 0.8, "taken": True}
    near = {"way": "near", "score": 0.3}
    assert which_way(run, made, near).endswith(
        "score 0.50 (its members agree to 0.90, parts of the samples predict each other to 0.80), then view near with "
        "0.30."
    )
    bound = which_way(run, made, {**near, "agreement": 0.3, "strength": None})
    assert bound.endswith(". No other could lead: view near would have 0.30 at most.")
    assert which_way(run, made, {**near, "agreement": 0.3, "strength": 0.5}).endswith("then view near with 0.30.")


def test_the_views_of_the_last_round_are_its_choices(run):
    first = {"view": "plain", "view_scores": {"plain": 0.9, "root": 0.1}}
    last = {"view": "root", "view_scores": {"plain": 0.2, "whitened root": 0.7}}
    said = which_way(run, history=(first, last))
    assert said == (
        "View whitened root was taken from 2 that were judged without labels: score 0.70, then view plain with 0.20."
    )
    assert which_way(run, history=(first, {"view": "root"})) is None
    assert which_way(run, PLAIN, history=(first, last)).startswith("The family of plain views")


def test_certainty_is_told_with_median_count_and_meaning(run):
    nearer = "how much nearer a sample is to its own cluster than to the next"
    sure = np.where(np.arange(120) < 30, 0.25, np.where(np.arange(120) < 50, 0.5, 0.75))
    said = point(verdict(replace(run, certainty=sure)), "Certainty")
    assert said == f"Median 0.75; 30 of 120 samples are below 0.5. It says {nearer}."
    labels = np.where(np.arange(120) < 10, -1, run.labels)
    said = point(verdict(replace(run, certainty=sure, labels=labels)), "Certainty")
    assert said == f"Median 0.75; 20 of 110 samples in clusters are below 0.5. It says {nearer}."
    equal = np.where(labels < 0, 0.0, 0.9)
    said = point(verdict(replace(run, certainty=equal, labels=labels, certainty_kind=AGREEMENT)), "Certainty")
    assert said == (
        "All samples are equally certain (0.90), so certainty ranks nobody here. It says how far the members agree on "
        "a sample."
    )


def test_who_is_in_no_cluster_is_counted_with_the_rule_where_there_are_scores(run):
    labels = np.where(np.arange(120) < 5, -1, run.labels)
    counted = "5 of 120 samples are in no cluster (label −1)."
    assert point(verdict(replace(run, labels=labels)), "Not assigned") == counted
    said = point(verdict(replace(run, labels=labels, scores={"accuracy": 0.5})), "Not assigned")
    assert said == f"{counted} Against the known classes, accuracy counts them as wrong, NMI and BCA leave them out."
    assert verdict(replace(run, labels=labels))["headline"].endswith("; 5 of 120 samples are in none")
    assert "none" not in verdict(run)["headline"]


def test_one_cluster_says_whom_it_holds():
    graph, of = blocks([30])
    run = Run("m", of, graph, np.eye(1)[of], np.ones(30))
    found = verdict(run)
    assert found["headline"] == "One cluster: nothing was divided"
    assert found["tone"] == "fair"
    assert [(one["title"], one["text"]) for one in found["points"]] == [
        ("How many", "All samples are in one cluster, so there is nothing to compare.")
    ]
    labels = np.where(np.arange(30) < 4, -1, 0)
    found = verdict(replace(run, labels=labels))
    assert found["headline"] == "One cluster: nothing was divided; 4 of 30 samples are in none"
    assert point(found, "How many") == "One cluster holds 26 samples, so there is nothing to compare."
    assert point(found, "Not assigned") == "4 of 30 samples are in no cluster (label −1)."
    lost = verdict(replace(run, labels=np.full(30, -1)))
    assert (lost["headline"], lost["tone"]) == ("No clusters", "fair")
    assert [(one["title"], one["text"]) for one in lost["points"]] == [("How many", "No sample was assigned.")]


def test_of_one_cluster_beside_noise_the_graph_of_the_cluster_is_looked_at():
    """Noise is two blocks here, the cluster is one; the other way round it is doubted."""
    graph, of = blocks([20, 20, 30])
    noise = np.where(of < 2, -1, 0)
    run = Run("m", noise, graph, np.eye(3)[of], np.ones(70))
    assert point(verdict(run), "Doubtful") is None
    found = verdict(replace(run, labels=np.where(of < 2, 0, -1)))
    (doubt,) = (one for one in found["points"] if one["title"] == "Doubtful")
    assert doubt["tone"] == "fair"
    assert doubt["text"] == (
        "The graph falls into blocks: its best cut parts 20 from 20 samples. There is more to divide."
    )


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (0.999, "came back with 100% of the error that the mean of their feature has."),
        (1.0, "could not be told better than by their mean."),
    ],
)
def test_hidden_values_that_come_back_as_badly_as_by_their_mean(run, error, said):
    told = point(verdict(replace(run, missing={"count": 7, "share": 0.0123, "error": error})), "Unknown values")
    assert told == (
        "7 values (1.2%) were unknown and were estimated from the samples that are alike. Known values that were "
        f"hidden for a test {said}"
    )


def test_scores_that_are_numbers_are_told(run):
    scores = {"accuracy": 0.51239, "NMI": float("nan"), "BCA": None, "rand": 0.25}
    assert point(verdict(replace(run, scores=scores)), "Known classes") == (
        "Compared with the known classes, which the method did not see: accuracy 0.512, rand 0.250."
    )
    assert point(verdict(replace(run, scores={"NMI": float("nan")})), "Known classes") is None


def test_other_methods_are_told_from_the_most_alike_on(run):
    half = replace(run, name="half", labels=np.where(np.arange(120) < 20, 1, run.labels))
    lost = replace(run, name="lost", labels=np.full(120, -1))
    same = replace(run, name="same")
    told = point(verdict(run, [half, run, lost, same]), "Other methods")
    share = told.partition("half ")[2][:4]
    assert told == (
        f"ARI with the labels of the others: same 1.00, half {share}. Clusters that several methods find are safer."
    )
    assert point(verdict(run, [run, lost]), "Other methods") is None


def test_clusters_of_low_certainty_and_small_ones_are_listed_with_their_size(run):
    labels = np.where(np.arange(120) < 2, 7, run.labels)
    sure = np.where(run.labels == 2, 0.25, 0.9)
    told = doubtful(run, labels=labels, certainty=sure)
    assert "Of low certainty: cluster 2 (40 samples, 0.25)." in told
    assert told.endswith("Very small: cluster 7 (2 samples, 0.90).")


@pytest.mark.parametrize(
    ("way", "taken", "seen"),
    [("mixture", False, True), ("near", True, True), ("mixture", True, False), ("topics", True, False)],
)
def test_models_that_were_judged_but_not_taken_hide_no_blocks(run, way, taken, seen):
    choice = {"way": way, "views": ["distance"], "score": 0.5, "taken": taken}
    told = doubtful(run, labels=np.array([0, 0, 7])[run.labels], choices=(choice,))
    assert ("looks like two blocks" in told) == seen


def test_a_graph_without_links_is_no_evidence():
    labels = np.repeat([0, 1], 15)
    found = verdict(Run("m", labels, csr_array((30, 30)), np.eye(2)[labels], np.linspace(0.6, 1, 30)))
    assert found["points"][0]["text"].startswith("Modularity 0.00 on its graph.")
    assert found["tone"] == "poor"


@pytest.mark.parametrize(("count", "more"), [(6, 0), (7, 1), (9, 3)])
def test_exactly_six_are_named_and_nobody_counted_beyond(run, count, more):
    facts = {str(k): ClusterFacts(2, 0.25, 0.0, (k + 1) % count, 0.3 + k / 100, 1, 0.5) for k in range(count)}
    told = _doubts(facts, list(facts))
    rivals = [line for line in told if "hard to tell apart" in line]
    assert len(rivals) == 6
    assert rivals[0].startswith(f"Clusters {count - 1} and 0 are hard to tell apart: 3{count - 1}% of the links of")
    assert len([line for line in told if "looks like two blocks" in line]) == 6
    assert [line for line in told if line.startswith("So do")] == ([f"So do {more} more."] if more else [])
    end = f" and {more} more." if more else "."
    assert told[-2].startswith("Of low certainty: cluster 0 (2 samples, 0.25), 1 (2")
    assert told[-2].endswith(f"5 (2 samples, 0.25){end}")
    assert told[-1].startswith("Very small: cluster 0 (2 samples, 0.25), 1 (2")
    assert told[-1].endswith(f"5 (2 samples, 0.25){end}")
    others = [replace(run, name=f"method {k}") for k in range(count)]
    assert point(verdict(run, others), "Other methods").count("method ") == 6
