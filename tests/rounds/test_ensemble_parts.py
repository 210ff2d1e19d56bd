"""One round of an ensemble on votes that are given: the graph, the member that stands for all, how far they agree."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace._common.progress import SilentEvents
from masked_subspace.label.labeler import Evidence
from masked_subspace.metrics import adjusted_rand_index
from masked_subspace.represent.model import AdmmSettings, SolverResult
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.rounds.ensemble import (
    Ballot,
    Cut,
    Ensemble,
    Member,
    Recipe,
    consensus,
    draw_members,
    neighbour_agreement,
)

TRUE = np.repeat([0, 1, 2], 10)


def graph_of(labels, weight):
    W = weight * (labels[:, None] == labels).astype(float)
    np.fill_diagonal(W, 0)
    return csr_array(W)


def solution_of(graph):
    return SolverResult(graph, 1, True, 0.0, 0.0, 0.0, np.zeros(1), 0.0)


@pytest.fixture
def ballot():
    """Two graphs, each cut in two ways: the first cut of the second graph is right, the others err."""
    one_off, two_off = TRUE.copy(), TRUE.copy()
    one_off[0], two_off[[12, 25]] = 1, 0
    unrelated = np.tile([0, 1, 2], 10)
    graphs = [graph_of(one_off, 1.0), graph_of(TRUE, 3.0)]
    members = [Member("plain", AdmmSettings(0.1), links) for links in (4, 5)]
    return Ballot(members, [solution_of(graph) for graph in graphs], graphs, [one_off, unrelated, TRUE, two_off])


@pytest.fixture
def ensemble(ballot):
    evidence = Evidence(np.eye(3)[TRUE], None, False, 1)
    cuts = [Cut("spectral"), Cut("modularity")]
    recipe = Recipe(MaskedRepresenter(), n_clusters=3, n_members=None, links=(4, 5), cuts=cuts, mask_strength=3.0)
    return Ensemble(recipe, [], evidence, first_ballot=ballot)


def test_the_graph_of_the_consensus_is_the_mean_of_the_members(ballot, ensemble):
    labeling = consensus(ballot, 3, ensemble.evidence, 0)
    mean = (ballot.graphs[0].toarray() + ballot.graphs[1].toarray()) / 2
    np.testing.assert_allclose(labeling.affinity.toarray(), mean)
    assert adjusted_rand_index(labeling.labels, TRUE) == 1


def test_the_member_nearest_to_the_consensus_stands_for_all(ballot, ensemble):
    outcome = ensemble.play(1, None, SilentEvents())
    assert outcome.solution is ballot.solutions[1]
    assert [one["links"] for one in outcome.details["members"]] == [graph.nnz for graph in ballot.graphs]


def test_how_far_a_round_moved_is_one_less_what_it_has_in_common_with_the_round_before(ensemble):
    assert ensemble.play(1, None, SilentEvents()).change == 1
    assert ensemble.play(1, None, SilentEvents()).change == pytest.approx(0)
    ensemble.previous = np.tile([0, 1, 2], 10)
    apart = adjusted_rand_index(ensemble.previous, TRUE)
    assert ensemble.play(1, None, SilentEvents()).change == pytest.approx(1 - apart)


def test_members_agree_as_far_as_neighbouring_votes_do(ballot):
    votes = ballot.votes
    pairs = [(0, 1), (1, 2), (2, 3), (3, 0)]
    expected = np.mean([adjusted_rand_index(votes[a], votes[b]) for a, b in pairs])
    assert neighbour_agreement(votes) == pytest.approx(expected)
    assert neighbour_agreement(votes) < 0.9


class NamedRule:
    """A rule for λ that says what it was asked."""

    def sparsity(self, penalty, links):
        return 1000 * penalty + links


def test_members_are_drawn_from_the_prior_that_is_written_down():
    """Member i (from 0) has the (i + 1)-th step of the recurrence, in units of the mean squared row norm."""
    rows = 2 * np.eye(5)
    offset = np.random.default_rng(7).uniform(size=3)
    template = AdmmSettings(0.1, max_iter=200, tol=1e-7)
    drawn = draw_members(rows, 2, template, 7, rule=NamedRule(), links=(3, 4, 5), first=4)
    for index, member in zip((4, 5), drawn, strict=True):
        u = (offset + (index + 1) * np.array([0.6180339887, 0.7548776662, 0.5698402910])) % 1
        settings = member.settings
        assert settings.penalty == pytest.approx(4 * 10 ** (0.5 + u[0]))
        assert settings.sparsity == pytest.approx(1000 * settings.penalty + 4 + 6 * u[1])
        assert settings.mask_weight == pytest.approx(4 * 10 ** (-2 + 2.3 * u[2]))
        assert (settings.penalty_growth, settings.max_iter, settings.tol) == (2.0, 60, 1e-5)
        assert member.n_links == (3, 4, 5)[index % 3]
    lifted = draw_members(rows, 9, template, 7, rule=NamedRule(), links=(4,), weight_floor=1.0)
    assert min(one.settings.mask_weight for one in lifted) == 4
