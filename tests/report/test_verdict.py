"""The first words of the report follow the numbers."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace import RMSC
from masked_subspace.datasets import make_subspaces
from masked_subspace.report import run_from_estimator
from masked_subspace.report.doubts import ClusterFacts
from masked_subspace.report.record import AGREEMENT, Run
from masked_subspace.report.verdict import _agreement, _doubts, verdict
from masked_subspace.rounds.defaults import DOUBTFUL_STRUCTURE
from masked_subspace.rounds.mixtures import MIXTURES

from .test_doubts import blocks


@pytest.fixture
def run():
    graph, of = blocks([40, 40, 40], between=0.002)
    return Run("RMSC", of, graph, np.eye(3)[of], np.linspace(0.6, 1, len(of)))


def text_of(found):
    return " ".join([found["headline"], *(point["text"] for point in found["points"]), *found["next"]])


def point(found, title):
    return next((one["text"] for one in found["points"] if one["title"] == title), None)


def test_clear_clusters_are_called_so(run):
    found = verdict(replace(run, structure=0.93))
    assert found["headline"] == "3 clusters that stand out clearly"
    assert found["tone"] == "good"
    assert "0.93" in point(found, "How real")
    assert point(found, "Doubtful clusters").startswith("None")


def test_low_structure_warns_and_says_what_to_do(run):
    found = verdict(replace(run, structure=0.2))
    assert found["tone"] == "poor"
    assert "hardly supported" in found["headline"]
    assert any("k-means" in step for step in found["next"])
    assert any('n_clusters="auto"' in step for step in found["next"])


def test_a_structure_that_noise_cannot_reach_is_not_called_noise(run):
    """Iris and wine have 0.45 with nine of ten samples right."""
    found = verdict(replace(run, structure=0.45))
    assert found["tone"] == "fair"
    assert "more than noise" in found["headline"]
    assert not any("no such clusters" in step for step in found["next"])


def test_the_verdict_and_the_warning_of_a_fit_have_one_limit(run):
    for structure, tone in ((DOUBTFUL_STRUCTURE, "fair"), (DOUBTFUL_STRUCTURE - 0.01, "poor")):
        found = verdict(replace(run, structure=structure))
        assert found["tone"] == tone
        assert f"below {DOUBTFUL_STRUCTURE} as a rule" in point(found, "How real")


def test_a_method_is_advised_only_what_it_has(run):
    torn = run.labels.copy()
    torn[:20] = 3
    for parameters, has in (({"n_clusters": 3, "n_init": 2}, False), ({"n_clusters": 3, "min_certainty": None}, True)):
        low = replace(run, labels=torn, certainty=np.full(120, 0.3), parameters=parameters, structure=0.1)
        advice = " ".join(verdict(low)["next"])
        for name in ('n_clusters="auto"', "must_link", "min_certainty", "another view"):
            assert (name in advice) == has, name
        assert ("RMSC" in advice) != has


def test_without_a_structure_score_only_the_graph_speaks(run):
    found = verdict(run)
    assert "no structure score" in point(found, "How real")
    assert "graph" in found["headline"]


def test_merged_clusters_are_named_and_more_are_advised(run):
    found = verdict(replace(run, labels=np.array([0, 0, 7])[run.labels]))
    assert "Cluster 0 looks like two blocks, of 40 and 40 samples" in point(found, "Doubtful clusters")
    assert any(step.startswith("Try 3 clusters") for step in found["next"])


@pytest.mark.parametrize(
    ("labels", "advice"),
    [
        (np.repeat([0, 1], [80, 40]), "Try 3 clusters: 0 may be two clusters."),
        (np.repeat([0, 1], [80, 80]), "Try 4 clusters: 0, 1 may be two each."),
    ],
)
def test_clusters_of_two_blocks_are_counted_in_the_advice(labels, advice):
    graph, _ = blocks([40] * (len(labels) // 40), between=0.002)
    assert advice in verdict(Run("RMSC", labels, graph, np.eye(2)[labels], np.linspace(0.6, 1, len(labels))))["next"]


def test_torn_clusters_are_named_and_fewer_are_advised(run):
    labels = run.labels.copy()
    labels[:20] = 3
    found = verdict(replace(run, labels=labels))
    assert "hard to tell apart" in point(found, "Doubtful clusters")
    assert any(step.startswith("Try 3 clusters") for step in found["next"])


def test_the_number_of_clusters_and_its_rival(run):
    scores = [{"n_clusters": k, "score": score} for k, score in ((2, 0.5), (3, 0.8), (4, 0.79))]
    assert "4 is as good (0.79)" in point(verdict(replace(run, n_clusters_scores=tuple(scores))), "How many")
    scores[2]["score"] = 0.6
    told = point(verdict(replace(run, n_clusters_scores=tuple(scores))), "How many")
    assert told == "3 was chosen among 3 numbers from 2 to 4, with a score of 0.80. Next is 4 with 0.60."
    assert point(verdict(run), "How many") == "3, as asked for."


def test_numbers_with_nearly_as_much_evidence_are_named(run):
    scores = tuple({"n_clusters": k, "score": score} for k, score in ((2, 0.5), (3, 0.8), (4, 0.79), (7, 0.7)))
    split = replace(run, n_clusters_scores=scores, n_clusters_candidates=(3, 4, 7))
    assert "The evidence is split: 4 and 7 have nearly as much; look at them too." in point(verdict(split), "How many")
    assert "Look at 4 and 7 clusters too: nearly as much speaks for them." in verdict(split)["next"]
    alone = replace(run, n_clusters_scores=scores, n_clusters_candidates=(3,))
    assert not any("nearly as much" in step for step in verdict(alone)["next"])
    assert point(verdict(alone), "How many").endswith("No other number comes near it.")


def test_of_a_way_that_could_not_lead_the_bound_is_told(run):
    plain = {"way": "plain", "views": ["plain"], "agreement": 0.9, "strength": 0.8, "score": 0.72, "taken": True}
    near = {"way": "near", "views": ["distance"], "agreement": 0.71, "strength": None, "score": 0.71, "taken": False}
    told = point(verdict(replace(run, choices=(plain, near))), "Which way")
    assert told.endswith(". No other could lead: view distance would have 0.71 at most.")
    other = point(verdict(replace(run, choices=(plain, {**near, "strength": 1.0}))), "Which way")
    assert "is as good (0.71)" in other


def test_a_score_is_told_with_all_that_it_is_made_of(run):
    plain = {"way": "plain", "views": ["plain"], "agreement": 0.9, "strength": 0.8, "score": 0.72, "taken": True}
    told = point(verdict(replace(run, choices=(plain,))), "Which way")
    assert told.endswith("(its members agree to 0.90, parts of the samples predict each other to 0.80).")
    evened = {**plain, "evened_strength": 0.6, "score": 0.63}
    told = point(verdict(replace(run, choices=(evened,))), "Which way")
    assert "score of 0.63" in told
    assert told.endswith("each other to 0.80, with directions evened out to 0.60).")


def test_of_what_models_found_no_blocks_of_a_graph_are_told(run, monkeypatch):
    split = ClusterFacts(20, 1.0, 0.0, -1, 0.0, 9, 0.0)
    monkeypatch.setattr("masked_subspace.report.verdict.examine", lambda *_: [split] * 3)
    assert "looks like two blocks" in point(verdict(run), "Doubtful clusters")
    taken = {"way": "mixture", "views": ["distance"], "score": 0.8, "taken": True}
    assert "looks like two blocks" not in text_of(verdict(replace(run, choices=(taken,))))
    assert "may be two" not in text_of(verdict(replace(run, choices=(taken,))))


def test_the_way_that_was_taken_and_why(run):
    ways = (
        {"view": "plain", "cut": "spectral", "links": 4, "score": 0.4, "taken": False},
        {"view": "lifted", "cut": "modularity", "links": 5, "score": 0.7, "taken": True},
    )
    told = point(verdict(replace(run, choices=ways)), "Which way")
    assert told.startswith("View lifted, cut modularity, links 5 was taken from 2 that were judged without labels")
    assert "view plain, cut spectral, links 4 with 0.40" in told
    history = ({"view": "root", "view_scores": {"plain": 0.50, "root": 0.51}},)
    told = point(verdict(replace(run, history=history)), "Which way")
    assert told.startswith("View root was taken")
    assert "as good" in told


def test_the_records_of_the_judge_are_told_by_name():
    """As RMSC writes them: families of views and cuts, or the closed form with its gap."""
    X = make_subspaces(3, 3, 20, 25, noise=0.05, random_state=0).data
    model = RMSC(3, random_state=0, n_jobs=1).fit(X)
    told = point(verdict(run_from_estimator(model, "RMSC")), "Which way")
    taken = next(one for one in model.choices_ if one["taken"])
    assert taken["views"][0] in told
    assert "the way" not in told
    assert f"{taken['score']:.2f} (its members agree to {taken['agreement']:.2f}" in told


def test_mixtures_are_told_as_votes_and_not_as_views(run):
    near = {"way": "near", "views": ["distance", "distance-standardized"], "cuts": ["spectral × 1"], "score": 0.4}
    way = {**near, "way": "shared-mixture", "cuts": [], "score": 0.7, "taken": True}
    told = point(verdict(replace(run, choices=(way, near))), "Which way")
    assert told.startswith(
        "The vote of Gaussian mixtures of one shape was taken from 2 that were judged without labels"
    )
    assert "distance" not in told


def test_every_mixture_of_the_judge_has_words(run):
    for name in MIXTURES:
        told = point(verdict(replace(run, choices=({"way": name, "views": ["distance"], "score": 0.7},))), "Which way")
        assert told.startswith("The vote of Gaussian mixtures"), name


def test_the_closed_form_is_told_with_its_gap(run):
    way = {"way": "low-rank", "views": ["low-rank"], "gap": 2.5, "taken": True}
    assert point(verdict(replace(run, choices=(way,))), "Which way").startswith("View low-rank was taken: all samples")


def test_equal_certainties_are_called_equal(run):
    found = verdict(replace(run, certainty=np.ones(120)))
    assert point(found, "Certainty").startswith("All samples are equally certain (1.00)")
    assert not any("least certain" in step for step in found["next"])


def test_certainty_is_explained_as_it_was_computed(run):
    assert "nearer" in point(verdict(run), "Certainty")
    assert "members agree" in point(verdict(replace(run, certainty_kind=AGREEMENT)), "Certainty")


def test_samples_of_no_cluster_are_counted_and_no_cluster(run):
    labels = run.labels.copy()
    labels[:5] = -1
    found = verdict(replace(run, labels=labels))
    assert found["headline"].startswith("3 clusters")
    assert point(found, "Not assigned").startswith("5 of 120")


@pytest.mark.parametrize(("label", "words"), [(0, "One cluster"), (-1, "No clusters")])
def test_nothing_was_divided(run, label, words):
    found = verdict(replace(run, labels=np.full(120, label)))
    assert found["headline"].startswith(words)
    assert found["next"]


def test_where_nobody_is_certain_enough_that_is_advised_on(run):
    lost = replace(run, labels=np.full(120, -1), parameters={"n_clusters": 3, "min_certainty": 0.99})
    assert verdict(lost)["next"] == ["Lower min_certainty: every sample is below it."]
    assert "other settings" in verdict(replace(lost, parameters={"eps": 0.1}))["next"][0]


@pytest.mark.parametrize(("spread", "advice"), [(0.0, "Nothing speaks against"), (0.3, "Look at the least certain")])
def test_where_nothing_is_doubtful_a_look_is_advised(run, spread, advice):
    found = verdict(replace(run, structure=0.9, certainty=np.linspace(0.95 - spread, 0.95, 120)))
    assert len(found["next"]) == 1
    assert found["next"][0].startswith(advice)


@pytest.mark.parametrize(("lost", "tone"), [(36, "good"), (37, "fair")])
def test_more_than_three_tenths_in_no_cluster_lower_the_tone(run, lost, tone):
    labels = np.where(np.arange(120) % 40 < 12, -1, run.labels)
    labels[119] = -1 if lost > 36 else labels[119]
    assert (labels < 0).sum() == lost
    assert verdict(replace(run, structure=0.9, labels=labels))["tone"] == tone


def test_one_cluster_over_a_graph_of_blocks_is_doubted(run):
    found = verdict(replace(run, labels=np.zeros(120, dtype=int)))
    assert point(found, "Doubtful").startswith("The graph falls into blocks: its best cut parts 80 from 40 samples")
    graph, of = blocks([60])
    assert point(verdict(Run("RMSC", of, graph, np.eye(1)[of], np.ones(60))), "Doubtful") is None


def test_a_method_without_a_number_or_a_seed_is_told_neither(run):
    """DBSCAN was not asked for a number, and another seed changes nothing."""
    for parameters, asked, seeded in (({"eps": 1.0}, False, False), ({"n_clusters": 3, "random_state": 0}, True, True)):
        found = verdict(replace(run, parameters=parameters, structure=0.45))
        assert ("as asked for" in point(found, "How many")) == asked
        assert any("random_state" in step for step in found["next"]) == seeded


def test_other_methods_and_known_classes_are_told(run):
    other = replace(run, name="k-means")
    found = verdict(replace(run, scores={"accuracy": 0.5, "NMI": float("nan")}), (run, other))
    assert "k-means 1.00" in point(found, "Other methods")
    assert "accuracy 0.500" in point(found, "Known classes")
    assert "nan" not in text_of(found)


def test_many_uncertain_samples_reach_the_headline(run):
    found = verdict(replace(run, structure=0.9, certainty=np.linspace(0.2, 0.9, 120)))
    assert found["tone"] == "fair"
    assert found["headline"].endswith("with many uncertain samples")


def test_unknown_values_are_counted_and_their_error_told(run):
    found = verdict(replace(run, missing={"count": 120, "share": 0.25, "error": 0.4}))
    told = point(found, "Unknown values")
    assert told.startswith("120 values (25.0%) were unknown")
    assert "40% of the error" in told
    poor = verdict(replace(run, missing={"count": 120, "share": 0.25, "error": 1.0}))
    assert "could not be told better than by their mean" in point(poor, "Unknown values")
    assert point(verdict(run), "Unknown values") is None


def doubtful(run, **changes):
    return point(verdict(replace(run, **changes)), "Doubtful clusters")


@pytest.mark.parametrize(
    ("sizes", "small"),
    [
        ([10, 10, 2], True),
        ([10, 10, 3], False),
        ([40, 40, 2], True),
        ([40, 40, 3], False),
        ([100, 100, 7], False),
        ([100, 100, 6], True),
    ],
)
def test_a_cluster_is_very_small_below_three_samples_or_a_tenth_of_the_mean(sizes, small):
    graph, of = blocks(sizes, inside=1.0)
    told = doubtful(Run("RMSC", of, graph, np.eye(3)[of], np.linspace(0.6, 1, len(of))))
    assert (f"Very small: cluster 2 ({sizes[2]} samples" in told) == small


@pytest.mark.parametrize(("certainty", "low"), [(0.49, True), (0.5, False)])
def test_a_cluster_is_of_low_certainty_below_a_half(run, certainty, low):
    sure = np.where(run.labels == 1, certainty, 0.9)
    assert (f"Of low certainty: cluster 1 (40 samples, {certainty:.2f})" in doubtful(run, certainty=sure)) == low


@pytest.mark.parametrize(("share", "close"), [(0.24, False), (0.26, True)])
def test_a_quarter_of_the_links_makes_two_clusters_hard_to_tell_apart(share, close):
    """Clique 0 has 20 · 19 = 380 inside; what leads to cluster 1 is the share of all, and half of that there."""
    W = np.zeros((60, 60))
    for start, stop in ((0, 20), (20, 60)):
        W[start:stop, start:stop] = 1
    np.fill_diagonal(W, 0)
    W[3, 40] = W[40, 3] = 380 * share / (1 - share)
    of = np.repeat([0, 1], [20, 40])
    told = doubtful(Run("RMSC", of, csr_array(W), np.eye(2)[of], np.linspace(0.6, 1, 60)))
    assert ("Clusters 0 and 1 are hard to tell apart" in told) == close
    assert (f"{share:.0%} of the links of 0 lead to 1" in told) == close


@pytest.mark.parametrize(
    ("kept", "words"), [(0.61, "well apart"), (0.59, "overlap"), (0.31, "overlap"), (0.29, "hardly")]
)
def test_without_a_structure_score_modularity_says_how_real(run, monkeypatch, kept, words):
    monkeypatch.setattr("masked_subspace.report.verdict.cluster_modularity", lambda *_: kept)
    assert words in verdict(run)["headline"]


@pytest.mark.parametrize(("structure", "words"), [(0.6, "stand out clearly"), (0.59, "more than noise")])
def test_clusters_stand_out_from_six_tenths_on(run, structure, words):
    assert words in verdict(replace(run, structure=structure))["headline"]


@pytest.mark.parametrize(
    ("unsure", "many", "advised"), [(12, False, False), (13, False, True), (36, False, True), (37, True, True)]
)
def test_many_samples_below_a_half_are_advised_on_from_a_tenth_and_named_from_three(run, unsure, many, advised):
    found = verdict(replace(run, structure=0.9, certainty=np.where(np.arange(120) < unsure, 0.4, 0.9)))
    assert ("many uncertain samples" in found["headline"]) == many
    assert any("min_certainty=0.5" in step for step in found["next"]) == advised
    assert point(found, "Certainty").startswith(f"Median 0.90; {unsure} of 120 samples are below 0.5.")


@pytest.mark.parametrize(("next_best", "tie"), [(0.781, True), (0.779, False)])
def test_scores_that_differ_by_less_than_two_hundredths_are_a_tie(run, next_best, tie):
    scores = tuple({"n_clusters": k, "score": score} for k, score in ((2, 0.1), (3, 0.8), (4, next_best)))
    told = point(verdict(replace(run, n_clusters_scores=scores)), "How many")
    assert ("is as good" in told) == tie
    ways = ({"view": "plain", "score": next_best}, {"view": "root", "score": 0.8, "taken": True})
    told = point(verdict(replace(run, choices=ways)), "Which way")
    assert ("so the choice says little" in told) == tie


@pytest.mark.parametrize(("spread", "equal"), [(0.0049, True), (0.0051, False)])
def test_certainties_that_differ_by_less_than_half_a_hundredth_are_equal(run, spread, equal):
    found = verdict(replace(run, certainty=np.linspace(0.8, 0.8 + spread, 120)))
    assert point(found, "Certainty").startswith("All samples are equally certain") == equal


@pytest.mark.parametrize(("structure", "tone"), [(0.22, "fair"), (0.21, "poor")])
def test_below_22_hundredths_a_structure_is_like_noise(run, structure, tone):
    assert verdict(replace(run, structure=structure))["tone"] == tone


def test_six_are_named_one_by_one_and_the_others_counted(run):
    facts = {str(k): ClusterFacts(10 + k, 0.1 * k / 2, 0.0, -1, 0.0, 4, 0.004) for k in range(8)}
    told = _doubts(facts, list(facts))
    assert [line.partition(",")[0] for line in told[:6]] == [f"Cluster {k} looks like two blocks" for k in range(6)]
    assert told[6] == "So do 2 more."
    assert told[7].endswith("5 (15 samples, 0.25) and 2 more.")
    assert told[0].endswith("of 6 and 4 samples, with 0.4% of the links between them.")
    others = [replace(run, name=f"method {k}") for k in range(8)]
    assert _agreement(run, others).count("method") == 6 + 1  # and "several methods"
