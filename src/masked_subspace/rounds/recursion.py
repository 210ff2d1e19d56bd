"""Algorithm 2: rounds of represent → label → new mask, until the mask stops changing.

This is `eq:bco` as a loop. f is a representer, g a labeler, ψ a function from what g found to a soft mask; nothing but
the mask travels back.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.progress import Events, SilentEvents, iteration_reporter
from masked_subspace.label.labeler import Evidence, Labeler, Labeling
from masked_subspace.masks.base import SoftMask
from masked_subspace.masks.pairs import PairMask
from masked_subspace.represent.model import SolverResult
from masked_subspace.represent.representer import PreparedRepresenter

MaskFunction = Callable[[Labeling], SoftMask | None]


@dataclass
class RoundsResult:
    """The last round, and one record for each."""

    solution: SolverResult
    labeling: Labeling
    soft_mask: SoftMask | None
    history: list[dict[str, Any]] = field(default_factory=list)
    labelings: list[Labeling] = field(default_factory=list)


def run_rounds(
    prepared: PreparedRepresenter,
    labeler: Labeler,
    psi: MaskFunction,
    evidence: Evidence,
    *,
    init: SoftMask | None,
    max_rounds: int,
    mask_tol: float,
    seed: int,
    max_iter: int | None = None,
    events: Events | None = None,
) -> RoundsResult:
    """Algorithm 2 from the mask `init`; with `max_rounds=1` it is GMSC."""
    events = events or SilentEvents()
    mask = with_known_pairs(init, evidence)
    history: list[dict[str, Any]] = []
    labelings: list[Labeling] = []
    for number in range(1, max_rounds + 1):
        started = time.perf_counter()
        solution = represent_with_events(prepared, mask, events, f"round {number}", max_iter)
        labeling = labeler.label(solution.representation, evidence, seed)
        new_mask = with_known_pairs(psi(labeling), evidence)
        change = float("nan") if new_mask is None else new_mask.change(mask)
        labelings.append(labeling)
        history.append(round_record(number, solution, labeling, change, time.perf_counter() - started))
        events.message(describe(history[-1]))
        result = RoundsResult(solution, labeling, mask, history, labelings)
        # The same mask gives the same round again, so at a fixed point all further rounds are known.
        if change <= mask_tol:
            break
        mask = new_mask
    return result


def represent_with_events(
    prepared: PreparedRepresenter, mask: SoftMask | None, events: Events, name: str, total: int | None
) -> SolverResult:
    events.started(name, total)
    try:
        return prepared.represent(mask, iteration_reporter(events, name))
    finally:
        events.finished(name)


def with_known_pairs(mask: SoftMask | None, evidence: Evidence) -> SoftMask | None:
    """The known pairs laid over a mask: they survive every round. Without prices (BMSC) there is nothing to lay on."""
    return mask if mask is None or evidence.known is None else PairMask.over(evidence.known, mask)


def round_record(
    number: int, solution: SolverResult, labeling: Labeling, mask_change: float, seconds: float
) -> dict[str, Any]:
    """One plain record, ready for JSON."""
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
        "mask_change": mask_change,
        "sparsity": float(Z.nnz / Z.shape[0]),
        "cluster_sizes": np.bincount(labeling.labels).tolist(),
        "solver_seconds": float(solution.seconds),
        "seconds": seconds,
    }


def describe(record: dict[str, Any]) -> str:
    """A round in one line."""
    return (
        f"round {record['round']}: objective {record['objective']:.6g}, {record['sparsity']:.1f} links a sample, "
        f"{record['n_iter']} iterations, mask change {record['mask_change']:.3g}, {record['seconds']:.2f} s"
    )
