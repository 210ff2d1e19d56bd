"""Algorithm 2: rounds of represent → label → new mask, until nothing changes.

This is `eq:bco` as a loop. f is a representer, g a labeler, ψ a function from what g found to a soft mask; nothing but
the mask travels back. How labels and the next mask come about is a strategy: `OneMember` is the paper's, `Ensemble`
(rounds/ensemble.py) asks several members.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.progress import Events, SilentEvents, iteration_reporter
from masked_subspace._common.types import FloatArray, IntArray, Record
from masked_subspace.label.labeler import Evidence, Labeler, Labeling
from masked_subspace.masks.base import SoftMask
from masked_subspace.masks.pair_masks import PairMask
from masked_subspace.represent.model import SolverResult
from masked_subspace.represent.representer import PreparedRepresenter

MaskFunction = Callable[[Labeling], SoftMask | None]


@dataclass(frozen=True)
class Outcome:
    """What a strategy makes of one round."""

    solution: SolverResult
    labeling: Labeling
    new_mask: SoftMask | None
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
        if outcome.change <= tol:
            break
        mask = outcome.new_mask
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
        name = f"round {number}"
        events.started(name, self.max_iter)
        try:
            solution = self.prepared.represent(mask, iteration_reporter(events, name))
        finally:
            events.finished(name)
        labeling = self.labeler.label(solution.representation, self.evidence, self.seed)
        new_mask = with_known_pairs(self.psi(labeling), self.evidence)
        change = float("nan") if new_mask is None else new_mask.change(mask)
        return Outcome(solution, labeling, new_mask, change)


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
