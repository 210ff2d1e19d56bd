"""One round of an ensemble on votes that are given: the graph, the member that stands for all, how far they agree."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace._common.progress import SilentEvents
from masked_subspace.label.agreement import mean_of_neighbours
from masked_subspace.label.graph import affinity_matrix
from masked_subspace.label.labeler import Cut, Evidence
from masked_subspace.masks import ConsensusMask
from masked_subspace.masks.pair_masks import PairMask
from masked_subspace.masks.pairs import KnownPairs
from masked_subspace.metrics import adjusted_rand_index
from masked_subspace.represent.model import AdmmSettings, SolverResult
from masked_subspace.represent.representer import MaskedRepresenter
from masked_subspace.rounds.judge import Family, with_links_of
from masked_subspace.rounds.recursion import Ballot, Ensemble, Look, Member, Recipe, consensus, draw_members
from masked_subspace.rows.preparation import VIEWS

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
    assert mean_of_neighbours(votes) == pytest.approx(expected)
    assert mean_of_neighbours(votes) < 0.9


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


@pytest.mark.parametrize("one_setting", [False, True])
def test_members_are_solved_no_more_exactly_than_asked_for(one_setting):
    """μ doubles, 60 iterations and 1e-5 are enough for a vote; fewer iterations or a larger `tol` of the user count."""
    for asked, used in (((200, 1e-7), (60, 1e-5)), ((30, 1e-3), (30, 1e-3)), ((30, 1e-7), (30, 1e-5))):
        template = AdmmSettings(0.1, penalty_growth=1.3, max_iter=asked[0], tol=asked[1], noise=0.3, outliers=0.4)
        drawn = draw_members(
            np.eye(5), 3, template, 7, rule=NamedRule(), links=(4,), one_setting=one_setting, view="root"
        )
        for member in drawn:
            assert (member.settings.max_iter, member.settings.tol) == used
            assert (member.settings.penalty_growth, member.view) == (2.0, "root")
            assert (member.settings.noise, member.settings.outliers) == (0.3, 0.4)


class Recorded:
    """A look's representer that notes what it is asked, and answers with one graph for each setting."""

    def __init__(self, n=30):
        self.X, self.template, self.asked = np.eye(n), AdmmSettings(0.1), []

    def sparsity_rule(self, seed):
        return NamedRule()

    def represent_many(self, settings, mask, progress):
        self.asked.append((list(settings), mask))
        rng = np.random.default_rng(len(settings))
        return [solution_of(csr_array(rng.random((30, 30)) * graph_of(TRUE, 1.0).toarray())) for _ in settings]


def looking(n_looks, n_members, *, links=(3, 4, 5), evidence=None, one_setting=True):
    recipe = Recipe(MaskedRepresenter(), 3, n_members, links, [Cut("modularity")], mask_strength=2.5)
    looks = [Look(f"view {place}", Recorded()) for place in range(n_looks)]
    return Ensemble(recipe, looks, evidence or Evidence(np.eye(3)[TRUE]), one_setting)


def test_every_look_is_asked_under_the_mask_of_the_round():
    mask = ConsensusMask([TRUE], 2.0)
    ensemble = looking(2, 6)
    ballot = ensemble.ask(2, mask, SilentEvents())
    for look in ensemble.looks:
        ((settings, seen),) = look.prepared.asked
        assert seen is mask
        assert len(settings) == 1  # members of one setting share its solution
        assert settings[0].mask_weight == 1.0  # from round 2 on the mask is followed
    assert [member.n_links for member in ballot.members] == [3, 4, 5, 3, 4, 5]
    assert [graph.nnz for graph in ballot.graphs[:3]] == sorted({graph.nnz for graph in ballot.graphs[:3]})
    first = looking(1, 3)
    first.ask(1, None, SilentEvents())
    assert first.looks[0].prepared.asked[0][0][0].mask_weight == 0.01


def test_members_of_a_later_round_are_the_next_ones_of_the_prior():
    rounds = [looking(1, 2, one_setting=False).represent(number, None, SilentEvents()) for number in (1, 2)]
    drawn = draw_members(np.eye(30), 4, AdmmSettings(0.1), 0, rule=NamedRule(), links=(3, 4, 5))
    assert [one.settings.penalty for ballot in rounds for one in ballot.members] == [
        one.settings.penalty for one in drawn
    ]
    assert [one.n_links for ballot in rounds for one in ballot.members] == [3, 4, 5, 3]


def test_links_are_dealt_anew_in_every_look():
    ensemble = looking(2, 4)
    ballot = ensemble.represent(1, None, SilentEvents())
    assert [one.n_links for one in ballot.members] == [3, 4, 3, 4]
    wider = with_links_of(replace(ensemble, recipe=replace(ensemble.recipe, links=(5, 6, 7))), ballot)
    assert [one.n_links for one in wider.members] == [5, 6, 5, 6]
    for member, graph, solution in zip(wider.members, wider.graphs, wider.solutions, strict=True):
        expected = affinity_matrix(solution.representation, "top-k", n_links=member.n_links)
        assert abs(graph - expected).max() == 0
    assert wider.solutions is ballot.solutions
    assert with_links_of(ensemble, ballot).graphs is ballot.graphs


def test_a_wider_ballot_has_every_solution_with_every_number_of_links():
    ensemble = looking(2, 6)
    ballot = ensemble.ask(1, None, SilentEvents())
    family = Family("plain", [], ensemble, ballot)
    wider = family.widened((7, 8))
    assert [one.n_links for one in wider.members] == [3, 4, 5, 3, 4, 5, 7, 8, 7, 8]
    assert [one.view for one in wider.members[6:]] == ["view 0", "view 0", "view 1", "view 1"]
    assert wider.solutions[6:] == [ballot.solutions[0]] * 2 + [ballot.solutions[3]] * 2
    assert len(wider.votes) == len(wider.graphs) == 10
    for member, graph, solution in zip(wider.members, wider.graphs, wider.solutions, strict=True):
        assert abs(graph - affinity_matrix(solution.representation, "top-k", n_links=member.n_links)).max() == 0
    assert family.widened(()) is ballot


def test_the_next_mask_is_the_agreement_of_all_votes(ballot, ensemble):
    mask = ensemble.play(1, None, SilentEvents()).next_mask()
    assert mask.strength == 3.0
    together = [np.mean([vote[0] == vote[other] for vote in ballot.votes]) for other in range(30)]
    np.testing.assert_allclose(mask.agreement(np.zeros(30, dtype=int), np.arange(30)), together)


def test_known_pairs_join_the_graph_of_the_consensus_and_no_vote(ballot, ensemble):
    known = KnownPairs.of(30, must_link=[[0, 29]], cannot_link=[[0, 1]])
    evidence = replace(ensemble.evidence, known=known)
    joined = consensus(ballot, 3, evidence, 0).affinity.toarray()
    mean = (ballot.graphs[0].toarray() + ballot.graphs[1].toarray()) / 2
    assert joined[0, 29] == joined[29, 0] == mean.max()
    assert joined[0, 1] == joined[1, 0] == 0
    graph = graph_of(TRUE, 1.0)
    ((vote,),) = replace(ensemble, evidence=replace(evidence, hard=True)).vote([graph], [Cut("spectral")])
    assert adjusted_rand_index(vote, TRUE) == 1


@pytest.mark.parametrize("hard", [False, True])
def test_members_hear_of_known_pairs_under_hard_constraints_only(hard):
    known = KnownPairs.of(30, must_link=[[0, 29]], cannot_link=[[0, 1]])
    ensemble = looking(1, 3, evidence=Evidence(np.eye(3)[TRUE], known, hard))
    mask = ConsensusMask([TRUE], 2.0)
    ensemble.play(2, mask, SilentEvents())
    seen = ensemble.looks[0].prepared.asked[0][1]
    assert isinstance(seen, PairMask) == hard
    assert (seen is mask) != hard
    recipe = replace(ensemble.recipe, representer=MaskedRepresenter(solver="dense"))
    prepared = recipe.look(np.random.default_rng(0).normal(size=(30, 5)), VIEWS["plain"], ensemble.evidence).prepared
    allowed = prepared.hard_mask is None or bool(prepared.hard_mask.allowed(np.array(0), np.array(1)))
    assert allowed != hard


def test_a_fine_cut_has_no_more_parts_than_samples_and_no_fewer_than_k():
    assert Cut("modularity", 1.5).parts(4, 100) == 6
    assert Cut("modularity", 2.0).parts(4, 7) == 7
    assert Cut("modularity", 0.5).parts(4, 100) == 4
