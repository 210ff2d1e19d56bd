"""RMSC with several members: the mask comes from their agreement, so it knows more than any of its labelings.

A mask made of a method's own labels confirms them. Members with different settings err differently; where they agree
they are mostly right, and where they do not, the consensus mask stays silent (price 1).

What is known of some samples anchors the consensus of every round. Members hear it under hard constraints only:
otherwise they vote as they would without it (docs/semi_supervised.md).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from joblib import Parallel, delayed
from scipy.sparse import csr_array
from sklearn.metrics import adjusted_rand_score

from masked_subspace._common.progress import Events, iteration_reporter
from masked_subspace.label.consensus import agreement_with, consensus_embedding, modularity
from masked_subspace.label.graph import affinity_matrix
from masked_subspace.label.labeler import Evidence, Labeling, graph_with_pairs, label_graph, label_rows
from masked_subspace.masks.base import SoftMask
from masked_subspace.masks.soft import ConsensusMask, ConstantMask
from masked_subspace.represent.model import AdmmSettings, SolverResult
from masked_subspace.represent.representer import PreparedRepresenter, Progress
from masked_subspace.represent.sparsity import CandidateStep, FirstStep
from masked_subspace.rounds.members import Member, draw_members, settings_of
from masked_subspace.rounds.recursion import RoundsResult, describe, round_record, with_known_pairs

FloatArray = npt.NDArray[np.floating[Any]]
IntArray = npt.NDArray[np.integer[Any]]


class ManyRepresenter(PreparedRepresenter, Protocol):
    """A representer that can solve several settings on what they share."""

    @property
    def X(self) -> FloatArray: ...

    @property
    def template(self) -> AdmmSettings: ...

    def sparsity_rule(self, seed: int) -> FirstStep | CandidateStep: ...

    def represent_many(
        self, settings: Sequence[AdmmSettings], soft_mask: SoftMask | None, progress: Progress | None = None
    ) -> list[SolverResult]: ...


@dataclass
class EnsembleResult(RoundsResult):
    """The rounds, and what the members of the last one said."""

    member_labels: list[IntArray] = field(default_factory=list)
    certainty: FloatArray | None = None


def run_ensemble(
    prepared: ManyRepresenter,
    n_clusters: int,
    n_members: int,
    evidence: Evidence,
    *,
    init: SoftMask | None,
    strength: float,
    max_rounds: int,
    agreement_tol: float,
    seed: int,
    n_components: int | str | None,
    affinity: str,
    n_links: int,
    events: Events,
) -> EnsembleResult:
    """Rounds of: members represent and label under one mask, their consensus labels and gives the next mask."""
    mask: SoftMask = ConstantMask(len(evidence.X)) if init is None else init
    history: list[dict[str, Any]] = []
    labelings: list[Labeling] = []
    previous: IntArray | None = None
    rule = prepared.sparsity_rule(seed)
    for number in range(1, max_rounds + 1):
        started = time.perf_counter()
        members = draw_members(
            prepared.X,
            n_members,
            prepared.template,
            seed,
            n_links=n_links,
            first=(number - 1) * n_members,
            weight_floor=0.0 if number == 1 else 1.0,
            rule=rule,
        )
        heard = with_known_pairs(mask, evidence) if evidence.hard else mask
        solutions = _solve(prepared, members, heard, events, f"round {number}")
        graphs = [
            affinity_matrix(solution.representation, affinity, n_links=member.n_links)
            for member, solution in zip(members, solutions, strict=True)
        ]
        voices = _label_all(graphs, n_clusters, n_components, evidence, seed)
        voted = [voice.labels for voice in voices]
        labeling = _consensus(voted, graphs, n_clusters, evidence, seed)
        medoid = int(np.argmax([adjusted_rand_score(labeling.labels, labels) for labels in voted]))
        new_mask = ConsensusMask(voted, strength)
        change = 1.0 if previous is None else 1 - float(adjusted_rand_score(previous, labeling.labels))
        seconds = time.perf_counter() - started
        record = round_record(number, solutions[medoid], labeling, change, seconds)
        record["members"] = [_member_record(*one) for one in zip(members, voices, graphs, strict=True)]
        record["member_agreement"] = _mean_agreement(voted)
        history.append(record)
        labelings.append(labeling)
        events.message(describe(record))
        certainty = agreement_with(labeling.labels, voted)
        result = EnsembleResult(
            solutions[medoid], labeling, mask, history, labelings, member_labels=voted, certainty=certainty
        )
        if change < agreement_tol:
            break
        mask, previous = new_mask, labeling.labels
    return result


def _solve(
    prepared: ManyRepresenter, members: list[Member], mask: SoftMask | None, events: Events, name: str
) -> list[SolverResult]:
    events.started(f"{name}, {len(members)} members", len(prepared.X))
    try:
        report = iteration_reporter(events, f"{name}, {len(members)} members")
        return prepared.represent_many(settings_of(members), mask, report)
    finally:
        events.finished(f"{name}, {len(members)} members")


def _label_all(
    graphs: list[csr_array], n_clusters: int, n_components: int | str | None, evidence: Evidence, seed: int
) -> list[Labeling]:
    """Each member's labels; members share the threads, each of them using one."""
    alone = replace(evidence, n_threads=1, known=None)
    labeled: list[Labeling] = Parallel(n_jobs=evidence.n_threads, backend="threading")(
        delayed(label_graph)(graph, n_clusters, n_components, alone, seed, n_init=5) for graph in graphs
    )
    return labeled


def _consensus(
    voted: list[IntArray], graphs: list[csr_array], n_clusters: int, evidence: Evidence, seed: int
) -> Labeling:
    embedding = consensus_embedding(voted, n_clusters)
    mean_graph = csr_array(sum(graphs[1:], start=graphs[0]) * graphs[0].dtype.type(1 / len(graphs)))
    if evidence.known is not None:
        mean_graph = graph_with_pairs(mean_graph, evidence.known)
    labels = label_rows(embedding, np.ones(len(embedding), dtype=bool), mean_graph, n_clusters, evidence, seed)
    return Labeling(labels, mean_graph, embedding)


def _mean_agreement(voted: list[IntArray]) -> float:
    """Mean adjusted Rand index over neighbouring members: how far they agree."""
    pairs = list(zip(voted, voted[1:] + voted[:1], strict=True))
    return float(np.mean([adjusted_rand_score(a, b) for a, b in pairs]))


def _member_record(member: Member, voice: Labeling, graph: csr_array) -> dict[str, Any]:
    return {
        "sparsity": member.settings.sparsity,
        "penalty": member.settings.penalty,
        "mask_weight": member.settings.mask_weight,
        "n_links": member.n_links,
        "modularity": modularity(graph, voice.labels),
    }
