"""Algorithm 2: rounds of represent → label → new mask, until nothing changes; alone, or with several members.

This is `eq:bco` as a loop. f is a representer, g a labeler, ψ a function from what g found to a soft mask; nothing but
the mask travels back. How labels and the next mask come about is a strategy: `OneMember` is the paper's, `Ensemble`
asks several members.

A mask made of a method's own labels confirms them. Members that see the data differently err differently; where they
agree they are mostly right, and where they do not, the consensus mask stays neutral (price 1). In several views all
have one setting and differ in view and links; in one view they draw settings from a fixed prior (rounds/prior.py).

What is known of some samples anchors the consensus of every round. Members use it under hard constraints only:
otherwise they vote as they would without it (docs/findings/semi_supervised.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.progress import Events, SilentEvents, iterations_told
from masked_subspace._common.types import FloatArray, IntArray, Record
from masked_subspace.label.agreement import adjusted_rand_index, agreement_with, consensus_embedding, mean_of_neighbours
from masked_subspace.label.graph import affinity_matrix
from masked_subspace.label.kmeans import RESTARTS_OF_A_VOTE
from masked_subspace.label.labeler import Cut, Evidence, Labeler, Labeling, graph_with_pairs, label_rows, labels_of_cuts
from masked_subspace.masks.base import SoftMask
from masked_subspace.masks.pair_masks import PairMask
from masked_subspace.masks.soft import ConsensusMask
from masked_subspace.parallel.engine import ordered_map
from masked_subspace.represent.model import (
    LINKS_A_SAMPLE,
    MASK_WEIGHT,
    PENALTY,
    AdmmSettings,
    SolverResult,
    SparsityRule,
    mean_square,
)
from masked_subspace.represent.representer import ManyRepresenter, MaskedRepresenter, PreparedRepresenter
from masked_subspace.rounds.defaults import (
    LINKS_BY_COSINE,
    MEMBER_GROWTH,
    MEMBER_ITERATIONS,
    MEMBER_TOL,
    WEIGHT_UNDER_A_MASK,
)
from masked_subspace.rounds.prior import of_prior
from masked_subspace.rows.preparation import Preparation, View, along_leading_directions

MaskFunction = Callable[[Labeling], SoftMask | None]


@dataclass(frozen=True)
class Outcome:
    """What a strategy makes of one round."""

    solution: SolverResult
    labeling: Labeling
    next_mask: Callable[[], SoftMask | None] | None  # ψ, learnt when another round asks for it; None: no prices
    change: float  # how far the round moved, in the strategy's own measure; nan if it cannot move
    details: Record = field(default_factory=dict)  # for the round's record
    votes: list[IntArray] = field(default_factory=list)  # of an ensemble
    certainty: FloatArray | None = None


class Strategy(Protocol):
    """Plays round `number` (from 1) under a mask."""

    def play(self, number: int, mask: SoftMask | None, events: Events) -> Outcome: ...


@dataclass
class RoundsResult:
    """The last round, the mask it was played under, and one record for each round."""

    last: Outcome
    soft_mask: SoftMask | None
    history: list[Record] = field(default_factory=list)
    labelings: list[Labeling] = field(default_factory=list)


def run_rounds(
    strategy: Strategy, mask: SoftMask | None, *, max_rounds: int, tol: float, events: Events | None = None
) -> RoundsResult:
    """Algorithm 2 from a first mask; with `max_rounds=1` it is GMSC."""
    events = events or SilentEvents()
    history: list[Record] = []
    labelings: list[Labeling] = []
    for number in range(1, max_rounds + 1):
        started = time.perf_counter()
        outcome = strategy.play(number, mask, events)
        record = round_record(number, outcome, time.perf_counter() - started)
        history.append(record)
        labelings.append(outcome.labeling)
        events.message(describe(record))
        result = RoundsResult(outcome, mask, history, labelings)
        # The same mask gives the same round again, so at a fixed point all further rounds are known.
        if outcome.change <= tol or number == max_rounds:
            break
        mask = None if outcome.next_mask is None else outcome.next_mask()
    return result


@dataclass(frozen=True)
class OneMember:
    """The paper's round: Z under the mask, labels of φ(Z), ψ of the labels."""

    prepared: PreparedRepresenter
    labeler: Labeler
    psi: MaskFunction
    evidence: Evidence
    seed: int
    max_iter: int | None = None  # what a progress bar may expect

    def play(self, number: int, mask: SoftMask | None, events: Events) -> Outcome:
        mask = with_known_pairs(mask, self.evidence)
        with iterations_told(events, f"round {number}", self.max_iter) as progress:
            solution = self.prepared.represent(mask, progress)
        labeling = self.labeler.label(solution.representation, self.evidence, self.seed)
        new_mask = with_known_pairs(self.psi(labeling), self.evidence)
        change = float("nan") if new_mask is None else new_mask.change(mask)
        return Outcome(solution, labeling, lambda: new_mask, change)


def with_known_pairs(mask: SoftMask | None, evidence: Evidence) -> SoftMask | None:
    """The known pairs laid over a mask: they survive every round. Without prices (BMSC) there is nothing to lay on."""
    if mask is None or evidence.known is None or isinstance(mask, PairMask):
        return mask
    return PairMask.over(evidence.known, mask)


def round_record(number: int, outcome: Outcome, seconds: float) -> Record:
    """One plain record, ready for JSON."""
    solution = outcome.solution
    Z: csr_array = solution.representation
    return {
        "round": number,
        "objective": float(solution.objective[-1]) if len(solution.objective) else float("nan"),
        "objective_trace": [float(value) for value in solution.objective],
        "n_iter": int(solution.n_iter),
        "converged": bool(solution.converged),
        "stopping_value": float(solution.stopping_value),
        "mask_residual": float(solution.mask_residual),
        "sparsity_residual": float(solution.sparsity_residual),
        "mask_change": outcome.change,
        "sparsity": float(Z.nnz / Z.shape[0]),
        "cluster_sizes": np.bincount(outcome.labeling.labels).tolist(),
        "solver_seconds": float(solution.seconds),
        "seconds": seconds,
        **outcome.details,
    }


def describe(record: Record) -> str:
    """A round in one line."""
    return (
        f"round {record['round']}: objective {record['objective']:.6g}, {record['sparsity']:.1f} links a sample, "
        f"{record['n_iter']} iterations, mask change {record['mask_change']:.3g}, {record['seconds']:.2f} s"
    )


@dataclass(frozen=True)
class Member:
    """One way to see the data: a view, settings of Algorithm 1, and how many links a sample has in the graph."""

    view: str
    settings: AdmmSettings
    n_links: int

    def record(self, graph: csr_array) -> Record:
        return {
            "view": self.view,
            "lambda": self.settings.sparsity,  # the "sparsity" of a round is what came of it: nonzeros a row
            "penalty": self.settings.penalty,
            "mask_weight": self.settings.mask_weight,
            "n_links": self.n_links,
            "links": int(graph.nnz),
        }


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
    sample, in turn. With `one_setting` all members have the settings of one graph (represent/model.py) and differ in
    links only. `weight_floor` lifts γ where a mask must be followed, and `template` gives what the prior leaves open
    (noise, outliers, tolerance).
    """
    scale = mean_square(X)

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

    if one_setting:
        drawn, start = [settings(PENALTY, LINKS_A_SAMPLE, MASK_WEIGHT)] * count, 0
    else:
        drawn, start = of_prior(first, count, seed, settings), first
    return [Member(view, one, links[(start + place) % len(links)]) for place, one in enumerate(drawn)]


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
    labeling: Labeling | None = None  # their consensus where nothing else is known, if the judge has asked for it


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
    links_by_cosine: Sequence[int] = LINKS_BY_COSINE  # in the place of `links` where those of the largest |cosine|

    def for_views(self, views: Sequence[View]) -> Recipe:
        """The recipe with the links that suit these views."""
        return replace(self, links=self.links_by_cosine) if views[0].by_cosine else self

    def look(self, X: FloatArray, view: View, evidence: Evidence) -> Look:
        """The samples X in one view; known pairs enter it under hard constraints only."""
        rows = Preparation.learn(X, view, normalize=self.normalize).apply(X)
        if view.by_distance or view.by_cosine:
            return Look(view.name, self.representer.nearest(rows, self.seed, by_cosine=view.by_cosine))
        known = evidence.known if evidence.hard else None
        if self.normalize and self.representer.solver == "sparse" and isinstance(rows, np.ndarray):
            # Members are solved to 1e-5: single precision has enough for unit rows, at half the time.
            rows = rows.astype(np.float32) if rows.dtype == np.float64 else rows
            if not view.turns and self.representer.outliers is None:  # outliers are single features
                rows = along_leading_directions(rows)
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
        labeling = ballot.labeling if self.evidence.known is None else None
        labeling = labeling or consensus(ballot, self.recipe.n_clusters, self.evidence, self.recipe.seed)
        a_vote_a_graph = ballot.votes[:: len(self.recipe.cuts)]
        medoid = int(np.argmax([adjusted_rand_index(labeling.labels, one) for one in a_vote_a_graph]))
        change = 1.0 if self.previous is None else 1 - adjusted_rand_index(self.previous, labeling.labels)
        self.previous = labeling.labels
        details = {
            "members": [one.record(graph) for one, graph in zip(ballot.members, ballot.graphs, strict=True)],
            "member_agreement": mean_of_neighbours(ballot.votes),
        }
        return Outcome(
            ballot.solutions[medoid],
            labeling,
            lambda: ConsensusMask(ballot.votes, self.recipe.mask_strength),
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
            K, components = recipe.n_clusters, recipe.n_components
            return labels_of_cuts(graph, cuts, K, components, alone, recipe.seed, RESTARTS_OF_A_VOTE)

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
        ballots = [self._ask_look(look, number, mask, events) for look in self.looks]
        members = [member for one in ballots for member in one.members]
        solutions = [solution for one in ballots for solution in one.solutions]
        graphs = [graph for one in ballots for graph in one.graphs]
        return Ballot(members, solutions, graphs, [])

    def members_a_look(self) -> int:
        wanted = self.recipe.n_members
        return len(self.recipe.links) if wanted is None else max(1, wanted // len(self.looks))

    def _ask_look(self, look: Look, number: int, mask: SoftMask | None, events: Events) -> Ballot:
        each = self.members_a_look()
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
        with iterations_told(events, name, len(look.prepared.X)) as progress:
            found = look.prepared.represent_many(distinct, mask, progress)
        by_settings = {id(one): solution for one, solution in zip(distinct, found, strict=True)}
        solutions = [by_settings[id(member.settings)] for member in members]
        return Ballot(members, solutions, self.graphs_of(members, solutions), [])

    def graphs_of(self, members: Sequence[Member], solutions: Sequence[SolverResult]) -> list[csr_array]:
        """One a member; members that share a solution and its links share the graph."""
        made: dict[tuple[int, int], csr_array] = {}
        graphs = []
        for member, solution in zip(members, solutions, strict=True):
            key = id(solution), member.n_links
            if key not in made:
                made[key] = affinity_matrix(solution.representation, self.recipe.affinity, n_links=member.n_links)
            graphs.append(made[key])
        return graphs


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
