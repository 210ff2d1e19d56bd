"""Several members as a strategy of the recursion: labels and the next mask come from their agreement.

A mask made of a method's own labels confirms them. Members that see the data differently err differently; where they
agree they are mostly right, and where they do not, the consensus mask stays neutral (price 1). In several views all
have one setting and differ in view and links; in one view they draw settings from a fixed prior (`draw_members`).

What is known of some samples anchors the consensus of every round. Members use it under hard constraints only:
otherwise they vote as they would without it (docs/findings/semi_supervised.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.progress import Events, iteration_reporter
from masked_subspace._common.types import FloatArray, IntArray, Record
from masked_subspace.label.agreement import adjusted_rand_index, agreement_with, consensus_embedding
from masked_subspace.label.graph import affinity_matrix
from masked_subspace.label.kmeans import RESTARTS_OF_A_VOTE
from masked_subspace.label.labeler import Evidence, Labeling, graph_with_pairs, label_rows, labels_of_cuts
from masked_subspace.masks.base import SoftMask
from masked_subspace.masks.soft import ConsensusMask
from masked_subspace.parallel.engine import ordered_map
from masked_subspace.represent.model import AdmmSettings, SolverResult
from masked_subspace.represent.representer import MaskedRepresenter, Progress
from masked_subspace.represent.sparsity import (
    LINKS_A_SAMPLE,
    MASK_WEIGHT,
    PENALTY,
    SparsityRule,
    mean_square,
)
from masked_subspace.rounds.defaults import (
    MEMBER_GROWTH,
    MEMBER_ITERATIONS,
    MEMBER_TOL,
    PRIOR_OF_LEVEL,
    PRIOR_OF_PENALTY,
    PRIOR_OF_WEIGHT,
    WEIGHT_UNDER_A_MASK,
)
from masked_subspace.rounds.recursion import Outcome, with_known_pairs
from masked_subspace.rows.preparation import Preparation, View

# Additive recurrence: multiples of these, modulo 1, fill the cube evenly however many are drawn.
_STEPS = np.array([0.6180339887, 0.7548776662, 0.5698402910])
_PRIOR = (PRIOR_OF_PENALTY, PRIOR_OF_LEVEL, PRIOR_OF_WEIGHT)


@dataclass(frozen=True)
class Member:
    """One way to see the data: a view, settings of Algorithm 1, and how many links a sample has in the graph."""

    view: str
    settings: AdmmSettings
    n_links: int


def draw_members(
    X: FloatArray,
    count: int,
    template: AdmmSettings,
    seed: int,
    *,
    rule: SparsityRule,
    view: str = "plain",
    links: Sequence[int],
    first: int = 0,
    one_setting: bool = False,
    weight_floor: float = 0.0,
) -> list[Member]:
    """Members `first` … `first + count − 1` of the prior, for rows X.

    μ₀, γ and the level for which `rule` finds λ lie in the ranges of rounds/defaults.py; the graphs keep `links` a
    sample, in turn. With `one_setting` all members have the settings of one graph (represent/sparsity.py) and differ in
    links only. `weight_floor` lifts γ where a mask must be followed, and `template` gives what the prior leaves open
    (noise, outliers, tolerance).
    """
    scale = mean_square(X)
    offset = np.random.default_rng(seed).uniform(size=3)

    def settings(penalty: float, level: float, weight: float) -> AdmmSettings:
        return replace(
            template,
            sparsity=rule.sparsity(penalty * scale, level),
            mask_weight=max(weight, weight_floor) * scale,
            penalty=penalty * scale,
            penalty_growth=MEMBER_GROWTH,
            max_iter=min(MEMBER_ITERATIONS, template.max_iter),
            tol=max(MEMBER_TOL, template.tol),
        )

    def of_prior(index: int) -> AdmmSettings:
        shares = (offset + (index + 1) * _STEPS) % 1
        power, level, power_of_weight = (
            low + (high - low) * share for (low, high), share in zip(_PRIOR, shares, strict=True)
        )
        return settings(10**power, level, 10**power_of_weight)

    if one_setting:
        drawn, start = [settings(PENALTY, LINKS_A_SAMPLE, MASK_WEIGHT)] * count, 0
    else:
        drawn, start = [of_prior(index) for index in range(first, first + count)], first
    return [Member(view, one, links[(start + place) % len(links)]) for place, one in enumerate(drawn)]


class ManyRepresenter(Protocol):
    """A representer that can solve several settings on what they share."""

    @property
    def X(self) -> FloatArray: ...

    @property
    def template(self) -> AdmmSettings: ...

    def sparsity_rule(self, seed: int) -> SparsityRule: ...

    def represent_many(
        self, settings: Sequence[AdmmSettings], soft_mask: SoftMask | None, progress: Progress | None = None
    ) -> list[SolverResult]: ...


@dataclass(frozen=True)
class Cut:
    """One way to cut a member's graph: which cut, into how many times K parts. The consensus has K in any case."""

    kind: str = "spectral"
    fineness: float = 1.0

    def parts(self, n_clusters: int, n_samples: int) -> int:
        return min(n_samples, max(n_clusters, round(self.fineness * n_clusters)))


@dataclass(frozen=True)
class Look:
    """The data in one view, ready to be represented."""

    name: str
    prepared: ManyRepresenter


@dataclass(frozen=True)
class Ballot:
    """Everything members said in one round: solutions, graphs, and the votes of each graph."""

    members: list[Member]
    solutions: list[SolverResult]  # one a graph; graphs that differ in links only share one
    graphs: list[csr_array]
    votes: list[IntArray]


@dataclass(frozen=True)
class Recipe:
    """What all members share, in any view: how rows are represented, how many links their graphs have, who votes."""

    representer: MaskedRepresenter
    n_clusters: int  # of the consensus
    n_members: int | None  # None: in each view one for each number of links
    links: Sequence[int]  # links a sample in the members' graphs, in turn
    cuts: Sequence[Cut]  # of each graph
    mask_strength: float  # β of the mask that the consensus becomes
    affinity: str = "top-k"
    n_components: int | str | None = "auto"
    seed: int = 0
    normalize: bool = True

    def look(self, X: FloatArray, view: View, evidence: Evidence) -> Look:
        """The samples X in one view; known pairs enter it under hard constraints only."""
        rows = Preparation.learn(X, view, normalize=self.normalize).apply(X)
        if view.by_distance:
            return Look(view.name, self.representer.nearest(rows, self.seed))
        known = evidence.known if evidence.hard else None
        if self.normalize and self.representer.solver == "sparse" and rows.dtype == np.float64:
            # Members are solved to 1e-5: single precision has enough for unit rows, at half the time.
            rows = rows.astype(np.float32)
        return Look(view.name, self.representer.prepare(rows, known=known, hard=evidence.hard, seed=self.seed))


@dataclass
class Ensemble:
    """A recipe at work: its members in one or more looks, and what is known of the samples."""

    recipe: Recipe
    looks: Sequence[Look]
    evidence: Evidence
    one_setting: bool = False  # the members of a look share one solution and differ in links only
    first_ballot: Ballot | None = None  # round 1, if a judge has asked for it already
    previous: IntArray | None = None  # labels of the round before

    @classmethod
    def of(
        cls, recipe: Recipe, X: FloatArray, views: Sequence[View], evidence: Evidence, *, one_setting: bool
    ) -> Ensemble:
        """Members of these views on the samples X; the rows of the first view stand for the samples."""
        looks = [recipe.look(X, view, evidence) for view in views]
        return cls(recipe, looks, replace(evidence, X=looks[0].prepared.X), one_setting)

    def play(self, number: int, mask: SoftMask | None, events: Events) -> Outcome:
        applied = with_known_pairs(mask, self.evidence) if self.evidence.hard else mask
        ballot = (self.first_ballot if number == 1 else None) or self.ask(number, applied, events)
        labeling = consensus(ballot, self.recipe.n_clusters, self.evidence, self.recipe.seed)
        medoid = int(np.argmax([adjusted_rand_index(labeling.labels, one) for one in self._a_vote_a_graph(ballot)]))
        change = 1.0 if self.previous is None else 1 - adjusted_rand_index(self.previous, labeling.labels)
        self.previous = labeling.labels
        details = {
            "members": [_member_record(*one) for one in zip(ballot.members, ballot.graphs, strict=True)],
            "member_agreement": neighbour_agreement(ballot.votes),
        }
        return Outcome(
            ballot.solutions[medoid],
            labeling,
            ConsensusMask(ballot.votes, self.recipe.mask_strength),
            change,
            details,
            ballot.votes,
            agreement_with(labeling.labels, ballot.votes),
        )

    def vote(self, graphs: list[csr_array], cuts: Sequence[Cut]) -> list[list[IntArray]]:
        """Of each graph the labels of each cut; graphs share the threads, each of them using one. A graph that stands
        there twice is cut once."""
        distinct = list({id(graph): graph for graph in graphs}.values())
        recipe, alone = self.recipe, replace(self.evidence, n_threads=1, known=None)

        def labels_of(graph: csr_array) -> list[IntArray]:
            parts = [(cut.kind, cut.parts(recipe.n_clusters, graph.shape[0])) for cut in cuts]
            return labels_of_cuts(graph, parts, recipe.n_components, alone, recipe.seed, RESTARTS_OF_A_VOTE)

        with ordered_map(self.evidence.n_threads) as apply:
            found = apply(labels_of, distinct)
        by_graph = {id(graph): labels for graph, labels in zip(distinct, found, strict=True)}
        return [by_graph[id(graph)] for graph in graphs]

    def ask(self, number: int, mask: SoftMask | None, events: Events) -> Ballot:
        """Members represent under the mask; their graphs are cut."""
        ballot = self.represent(number, mask, events)
        return replace(ballot, votes=together(self.vote(ballot.graphs, self.recipe.cuts)))

    def represent(self, number: int, mask: SoftMask | None, events: Events) -> Ballot:
        """What members find under the mask, before any cut: it does not depend on the number of clusters."""
        ballots = [self._ask_look(index, number, mask, events) for index in range(len(self.looks))]
        members = [member for one in ballots for member in one.members]
        solutions = [solution for one in ballots for solution in one.solutions]
        graphs = [graph for one in ballots for graph in one.graphs]
        return Ballot(members, solutions, graphs, [])

    def recast(self, ballot: Ballot) -> Ballot:
        """A ballot of members with one setting, with the links of this ensemble, before any cut."""
        each, turns = self._members_a_look(), self.recipe.links
        links = [turns[place % each % len(turns)] for place in range(len(ballot.members))]
        members = [replace(member, n_links=count) for member, count in zip(ballot.members, links, strict=True)]
        graphs = ballot.graphs if members == ballot.members else self._graphs(members, ballot.solutions)
        return Ballot(members, ballot.solutions, graphs, [])

    def _members_a_look(self) -> int:
        wanted = self.recipe.n_members
        return len(self.recipe.links) if wanted is None else max(1, wanted // len(self.looks))

    def _ask_look(self, index: int, number: int, mask: SoftMask | None, events: Events) -> Ballot:
        look = self.looks[index]
        each = self._members_a_look()
        members = draw_members(
            look.prepared.X,
            each,
            look.prepared.template,
            self.recipe.seed,
            view=look.name,
            links=self.recipe.links,
            first=(number - 1) * each,
            one_setting=self.one_setting,
            weight_floor=0.0 if number == 1 else WEIGHT_UNDER_A_MASK,
            rule=look.prepared.sparsity_rule(self.recipe.seed),
        )
        distinct = list({id(member.settings): member.settings for member in members}.values())
        name = f"round {number}, {look.name}, {len(members)} members"
        events.started(name, len(look.prepared.X))
        try:
            found = look.prepared.represent_many(distinct, mask, iteration_reporter(events, name))
        finally:
            events.finished(name)
        by_settings = {id(one): solution for one, solution in zip(distinct, found, strict=True)}
        solutions = [by_settings[id(member.settings)] for member in members]
        return Ballot(members, solutions, self._graphs(members, solutions), [])

    def widened(self, ballot: Ballot, links: Sequence[int]) -> Ballot:
        """The ballot and, of each of its solutions, the votes of graphs with these links too."""
        first = {id(solution): place for place, solution in reversed(list(enumerate(ballot.solutions)))}
        more = [
            (replace(ballot.members[place], n_links=count), ballot.solutions[place])
            for place in sorted(first.values())
            for count in links
        ]
        if not more:
            return ballot
        members, solutions = [one for one, _ in more], [one for _, one in more]
        graphs = self._graphs(members, solutions)
        return Ballot(
            ballot.members + members,
            ballot.solutions + solutions,
            ballot.graphs + graphs,
            ballot.votes + together(self.vote(graphs, self.recipe.cuts)),
        )

    def _graphs(self, members: Sequence[Member], solutions: Sequence[SolverResult]) -> list[csr_array]:
        """One a member; members that share a solution and its links share the graph."""
        made: dict[tuple[int, int], csr_array] = {}
        graphs = []
        for member, solution in zip(members, solutions, strict=True):
            key = id(solution), member.n_links
            if key not in made:
                made[key] = affinity_matrix(solution.representation, self.recipe.affinity, n_links=member.n_links)
            graphs.append(made[key])
        return graphs

    def _a_vote_a_graph(self, ballot: Ballot) -> list[IntArray]:
        return ballot.votes[:: len(self.recipe.cuts)]


def together(votes: list[list[IntArray]]) -> list[IntArray]:
    """The votes of all graphs in one list, graph by graph."""
    return [vote for of_graph in votes for vote in of_graph]


def consensus(ballot: Ballot, n_clusters: int, evidence: Evidence, seed: int) -> Labeling:
    """K clusters of the agreement of all votes; the graph is the mean of the members'."""
    embedding = consensus_embedding(ballot.votes, n_clusters)
    graphs = ballot.graphs
    mean_graph = csr_array(sum(graphs[1:], start=graphs[0]) * graphs[0].dtype.type(1 / len(graphs)))
    if evidence.known is not None:
        mean_graph = graph_with_pairs(mean_graph, evidence.known)
    labels = label_rows(embedding, np.ones(len(embedding), dtype=bool), mean_graph, n_clusters, evidence, seed)
    return Labeling(labels, mean_graph, embedding)


def neighbour_agreement(votes: list[IntArray]) -> float:
    """Mean adjusted Rand index over neighbouring votes: how far members agree."""
    pairs = list(zip(votes, votes[1:] + votes[:1], strict=True))
    return float(np.mean([adjusted_rand_index(a, b) for a, b in pairs]))


def _member_record(member: Member, graph: csr_array) -> Record:
    return {
        "view": member.view,
        "lambda": member.settings.sparsity,  # the "sparsity" of a round is what came of it: nonzeros a row
        "penalty": member.settings.penalty,
        "mask_weight": member.settings.mask_weight,
        "n_links": member.n_links,
        "links": int(graph.nnz),
    }
