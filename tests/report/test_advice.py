"""Every advice of the page in full, and exactly where it begins to be given."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.report.doubts import ClusterFacts
from masked_subspace.report.next_steps import as_options, next_steps, steps_without_clusters
from masked_subspace.report.record import Run

OURS = {"n_clusters": 3, "min_certainty": None, "random_state": 0}
NUMBERED = {"n_clusters": 3, "n_init": 2}  # k-means
MIXTURE = {"n_components": 3}
FREE = {"eps": 0.5}  # DBSCAN finds the number itself


def run_of(parameters=None, certainty=(0.9, 0.8), **more):
    sure = np.asarray(certainty, dtype=float)
    n = len(sure)
    return Run("m", np.arange(n) % 2, csr_array((n, n)), np.eye(n), sure, parameters=parameters or {}, **more)


def plain(**parts):
    usual = {"size": 20, "certainty": 0.9, "outside": 0.0, "rival": -1, "to_rival": 0.0}
    return ClusterFacts(**{**usual, "smaller_part": 0, "between_parts": 0.0, **parts})


def facts_of(*ones):
    return {str(k): one for k, one in enumerate(ones)}


def steps(parameters, facts, tone="good", **more):
    return next_steps(run_of(parameters, **more), tone, facts, list(facts))


USUAL = "Look at the least certain samples; if they look right, the labels can be used."
CALM = facts_of(plain(), plain(), plain())
RIVALS = facts_of(plain(rival=2, to_rival=0.3), plain(), plain())
BLOCKS = facts_of(plain(), plain(smaller_part=8), plain())
BOTH = facts_of(plain(rival=2, to_rival=0.3), plain(smaller_part=8), plain())


@pytest.mark.parametrize(
    ("parameters", "facts", "said"),
    [
        (
            OURS,
            BOTH,
            "Some clusters look merged and others torn: the number may be right and the borders wrong. Try another "
            "view, or give known pairs (must_link, cannot_link), first between clusters 0 and 2.",
        ),
        (
            NUMBERED,
            BOTH,
            "Some clusters look merged and others torn: the number may be right and the borders wrong. Try another "
            "method, or give known pairs to BMSC, GMSC or RMSC, first between clusters 0 and 2.",
        ),
        (OURS, BLOCKS, "Try 4 clusters: 1 may be two clusters."),
        (NUMBERED, BLOCKS, "Try 4 clusters: 1 may be two clusters."),
        (MIXTURE, BLOCKS, "Try 4 clusters: 1 may be two clusters."),
        (FREE, BLOCKS, "Try settings that divide more: 1 may be two clusters."),
        ({}, RIVALS, "Try 2 clusters, or give known pairs (must_link, cannot_link) between clusters 0 and 2."),
        (
            NUMBERED,
            RIVALS,
            "Try 2 clusters, or give known pairs to BMSC, GMSC or RMSC between clusters 0 and 2.",
        ),
        (
            FREE,
            RIVALS,
            "Try settings that divide less, or give known pairs to BMSC, GMSC or RMSC between clusters 0 and 2.",
        ),
        (OURS, facts_of(plain(rival=1, to_rival=0.3), plain()), USUAL),  # two clusters are not made one
        (OURS, CALM, USUAL),
    ],
)
def test_what_is_advised_about_borders(parameters, facts, said):
    assert steps(parameters, facts) == [said]


@pytest.mark.parametrize(
    ("count", "named"),
    [
        (2, "0, 1 may be two each."),
        (6, "0, 1, 2, 3, 4, 5 may be two each."),
        (7, "0, 1, 2, 3, 4, 5 and 1 more may be two each."),
        (9, "0, 1, 2, 3, 4, 5 and 3 more may be two each."),
    ],
)
def test_six_clusters_of_two_blocks_are_named_and_the_others_counted(count, named):
    facts = facts_of(*[plain(smaller_part=8)] * count)
    assert steps(OURS, facts) == [f"Try {2 * count} clusters: {named}"]


@pytest.mark.parametrize(
    ("to_rival", "rival", "close"), [(0.25, 1, True), (0.2499, 1, False), (0.9, -1, False), (0.9, 5, False)]
)
def test_a_rival_gets_a_quarter_of_the_links_and_is_a_cluster(to_rival, rival, close):
    """Samples in no cluster, here number 5, are nobody's rival."""
    facts = facts_of(plain(rival=rival, to_rival=to_rival), plain(), plain())
    said = next_steps(run_of(OURS), "good", facts, [*facts, "3", "4", "-1"])
    assert said[0].startswith("Try 2 clusters") == close


def test_of_two_rivals_the_closest_is_named_and_each_pair_once():
    facts = facts_of(plain(rival=1, to_rival=0.3), plain(rival=0, to_rival=0.4), plain(rival=0, to_rival=0.35))
    assert steps(OURS, facts)[0].endswith("between clusters 1 and 0.")


@pytest.mark.parametrize(
    ("candidates", "said"),
    [
        ((3,), None),
        ((3, 5), "Look at 5 clusters too: nearly as much speaks for it."),
        ((2, 3, 5), "Look at 2 and 5 clusters too: nearly as much speaks for them."),
    ],
)
def test_other_numbers_are_pointed_out(candidates, said):
    found = steps(OURS, CALM, n_clusters_candidates=candidates)
    assert found == [said or USUAL]


CHOOSE = 'Let the number of clusters be chosen: n_clusters="auto".'
OTHERS = "Try other numbers of clusters; BMSC, GMSC and RMSC can choose one."
AGAIN = "Fit once more with another random_state: clusters that come back can be relied on, the others not."
NONE_SUCH = "Compare with {} before using these labels; the data may have no such clusters."
POOR_OURS, POOR_OTHERS = NONE_SUCH.format("k-means or another view"), NONE_SUCH.format("RMSC")


@pytest.mark.parametrize(
    ("parameters", "tone", "said"),
    [
        (OURS, "good", [USUAL]),
        (OURS, "fair", [CHOOSE, AGAIN]),
        (OURS, "poor", [CHOOSE, POOR_OURS]),
        ({}, "fair", [CHOOSE, AGAIN]),
        ({}, "poor", [CHOOSE, POOR_OURS]),
        (NUMBERED, "fair", [OTHERS]),
        ({**NUMBERED, "random_state": 0}, "fair", [OTHERS, AGAIN]),
        (MIXTURE, "poor", [OTHERS, POOR_OTHERS]),
        (FREE, "fair", [USUAL]),
        ({**FREE, "random_state": 0}, "fair", [AGAIN]),
        (FREE, "poor", [POOR_OTHERS]),
    ],
)
def test_what_is_advised_by_tone(parameters, tone, said):
    assert steps(parameters, CALM, tone) == said


def test_where_the_number_was_chosen_nobody_is_told_to_let_it_be_chosen():
    scored = ({"n_clusters": 3, "score": 0.5},)
    assert steps(OURS, CALM, "poor", n_clusters_scores=scored) == [POOR_OURS]


@pytest.mark.parametrize(
    ("certainty", "doubtful"),
    [
        ([0.49] + [0.9] * 9, False),  # a tenth is not many
        ([0.49, 0.49] + [0.9] * 8, True),
        ([0.5, 0.5] + [0.9] * 8, False),  # a half is not below a half
        ([0.49] + [0.9] * 8, True),
    ],
)
@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        (OURS, "Leave doubtful samples out with min_certainty=0.5, or label some of the least certain ones."),
        (NUMBERED, "Look at the least certain samples, and label some of them or leave them out."),
    ],
)
def test_doubtful_samples_are_pointed_out_above_a_tenth(certainty, doubtful, parameters, said):
    assert steps(parameters, CALM, certainty=certainty) == [said if doubtful else USUAL]


@pytest.mark.parametrize(("low", "said"), [(0.8951, "Nothing speaks against these labels."), (0.8949, USUAL)])
def test_where_all_are_equally_certain_nobody_is_least_certain(low, said):
    (found,) = steps(OURS, CALM, certainty=[low, 0.9])
    assert found.startswith(said)
    assert found.startswith("Nothing") or found == USUAL


def test_samples_in_no_cluster_are_no_doubtful_samples():
    run = Run("m", np.array([0, 1, -1, -1]), csr_array((4, 4)), np.eye(4), np.array([0.9, 0.8, 0.0, 0.0]))
    assert next_steps(run, "good", CALM, list(CALM)) == [USUAL]


AT_LEAST_TWO = "Ask for at least two clusters"


@pytest.mark.parametrize(
    ("parameters", "one", "none"),
    [
        (OURS, f'{AT_LEAST_TWO}, or let the method choose with n_clusters="auto".', "Lower min_certainty"),
        ({}, f'{AT_LEAST_TWO}, or let the method choose with n_clusters="auto".', "Lower min_certainty"),
        (NUMBERED, f"{AT_LEAST_TWO}.", "Try other settings of the method: with these it leaves every sample out."),
        (FREE, "Try other settings of the method.", "Try other settings of the method: with these it leaves"),
    ],
)
def test_what_is_advised_without_two_clusters(parameters, one, none):
    assert steps_without_clusters(run_of(parameters), 1) == [one]
    (found,) = steps_without_clusters(run_of(parameters), 0)
    assert found.startswith(none)


def test_advice_in_the_words_of_the_command():
    assert as_options(CHOOSE) == "Let the number of clusters be chosen: --clusters auto."
    assert as_options(AGAIN).startswith("Fit once more with another --seed:")
    assert as_options(POOR_OURS).startswith("Compare with k-means or another --set view before")
    assert as_options("Lower min_certainty: every") == "Lower --set min_certainty: every"
    assert as_options("give known pairs (must_link, cannot_link) between") == "give known pairs (--pairs) between"
