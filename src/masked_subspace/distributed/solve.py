"""The small problems of every part, solved where its lists live, down to the few links that enter the graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from masked_subspace._common.rows import content_keys
from masked_subspace._common.types import IndexArray, Record, Rows32
from masked_subspace.distributed.plan import Plan
from masked_subspace.distributed.shuffle import Parts, Pile, ids_of, rows_of
from masked_subspace.distributed.tasks import Result, pick, task

if TYPE_CHECKING:
    from masked_subspace.represent.model import AdmmSettings


_ROWS_AT_ONCE = 1 << 15  # samples of one task: bounds the rows of other parts that it has to hold, and their codes
_RULE_ROWS = 128


@dataclass(frozen=True)
class Stretch:
    """The samples start..stop of a part: those of one task."""

    part: int
    start: int
    stop: int


def solve_parts(parts: Parts, candidates: list[Result], settings: Result, n_links: int) -> list[Result]:
    """For each part its links: the largest entries of each row of |Z|, rows divided by their maximum.

    Links are CSR, rows of the part, columns in the numbering of the plan. Z itself is dropped at once.
    """
    rows = [task(rows_of)(pile) for pile in parts.piles]
    n = int(parts.plan.offsets[-1])
    links = []
    for p, found in enumerate(candidates):
        pieces = []
        for start in range(0, parts.plan.size(p), _ROWS_AT_ONCE):
            mine = Stretch(p, start, min(start + _ROWS_AT_ONCE, parts.plan.size(p)))
            wanted = task(foreign_numbers)(found, parts.planned, mine)
            sources = _sources(parts, p)
            theirs = [task(pick)(rows[q], task(local_numbers)(wanted, parts.planned, q)) for q in sources]
            pieces.append(task(solve_links)(rows[p], found, parts.planned, mine, wanted, theirs, settings, n_links))
        links.append(task(stack_links)(pieces, parts.plan.size(p), n))
    return links


def _sources(parts: Parts, p: int) -> list[int]:
    """Other parts in which the samples of part p may have candidates."""
    return [q for q in np.unique(parts.plan.part_of[parts.looks_into[p]]).tolist() if q != p]


def foreign_numbers(candidates: IndexArray, plan: Plan, mine: Stretch) -> npt.NDArray[np.int64]:
    """Sorted numbers of the candidates of some samples that live in other parts."""
    numbers = np.unique(candidates[mine.start : mine.stop])
    inside = (numbers >= plan.offsets[mine.part]) & (numbers < plan.offsets[mine.part + 1])
    foreign: npt.NDArray[np.int64] = numbers[(numbers >= 0) & ~inside].astype(np.int64)
    return foreign


def local_numbers(numbers: npt.NDArray[np.int64], plan: Plan, part: int) -> npt.NDArray[np.int64]:
    """Which of the sorted numbers live in a part, counted from its first sample."""
    inside: npt.NDArray[np.int64] = plan.cut(numbers)[part] - plan.offsets[part]
    return inside


def solve_links(
    rows: Rows32,
    candidates: IndexArray,
    plan: Plan,
    mine: Stretch,
    foreign: npt.NDArray[np.int64],
    theirs: list[Rows32],
    settings: AdmmSettings,
    n_links: int,
) -> csr_array:
    """Algorithm 1 for some samples of a part, and the links they keep; `theirs` are the rows of the `foreign` ones."""
    from masked_subspace.label.graph import keep_largest, rows_by_maximum
    from masked_subspace.represent.sparse.solve import solve_first_rows

    start, stop, n = mine.start, mine.stop, int(plan.offsets[-1])
    first, last = plan.offsets[mine.part], plan.offsets[mine.part + 1]
    wanted = candidates[start:stop]
    # The dictionary: the samples themselves, whom they may use of their own part, whom of the others.
    own = np.unique(wanted[(wanted >= first) & (wanted < last)]) - first
    own = own[(own < start) | (own >= stop)]
    names = np.concatenate([np.arange(start, stop) + first, own + first, foreign])
    dictionary = np.concatenate([rows[start:stop], rows[own], *theirs])
    order = np.argsort(names)
    place = order[np.searchsorted(names, np.maximum(wanted, names[order[0]]), sorter=order)]
    local = np.where(wanted >= 0, place, -1).astype(np.int32)
    Z = solve_first_rows(dictionary, stop - start, settings, local)
    kept = keep_largest(rows_by_maximum(csr_array(abs(Z))), n_links)
    return csr_array((kept.data, names[kept.indices].astype(np.int32), kept.indptr), shape=(stop - start, n))


def stack_links(pieces: list[csr_array], n_rows: int, n: int) -> csr_array:
    """The links of a part, columns ascending."""
    from scipy.sparse import vstack

    links = csr_array(vstack(pieces, format="csr")) if pieces else csr_array((n_rows, n), dtype=np.float32)
    links.sort_indices()
    return links


def decide_settings(parts: Parts, candidates: list[Result], representer: Record, seed: int) -> Result:
    """Every "auto" of a `MaskedRepresenter(**representer)`, decided on a seeded sample of the small problems.

    The sample is the one that one process would draw.
    """
    drawn = task(draw_rule_sample)([task(keyed)(pile) for pile in parts.piles], seed)
    sampled = [
        task(sampled_candidates)(found, task(ids_of)(pile), drawn)
        for found, pile in zip(candidates, parts.piles, strict=True)
    ]
    wanted = task(wanted_rows)(sampled, parts.planned)
    rows = [
        task(pick)(task(rows_of)(pile), task(local_numbers)(wanted, parts.planned, q))
        for q, pile in enumerate(parts.piles)
    ]
    return task(settings_from)(representer, sampled, wanted, rows, parts.planned, seed)


def keyed(pile: Pile) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The numbers of a part's samples in the input, and their keys of content."""
    return ids_of(pile), content_keys(rows_of(pile))


def draw_rule_sample(
    parts: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]], seed: int
) -> npt.NDArray[np.int64]:
    """The samples on which λ is searched, by their numbers in the input."""
    ids, keys = (np.concatenate(each) for each in zip(*parts, strict=True))
    n = len(ids)
    if n <= _RULE_ROWS:
        return np.arange(n)
    drawn: npt.NDArray[np.int64] = ids[np.lexsort((ids, keys))][
        np.random.default_rng(seed).choice(n, _RULE_ROWS, replace=False)
    ]
    return np.sort(drawn)


def sampled_candidates(
    candidates: IndexArray, ids: npt.NDArray[np.int64], drawn: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], IndexArray]:
    """Which samples of a part were drawn, counted from its first, and their candidates."""
    places = np.flatnonzero(np.isin(ids, drawn))
    return places, candidates[places]


def wanted_rows(sampled: list[tuple[npt.NDArray[np.int64], IndexArray]], plan: Plan) -> npt.NDArray[np.int64]:
    """Sorted numbers of the drawn samples and all their candidates."""
    numbers = [places + plan.offsets[p] for p, (places, _) in enumerate(sampled)]
    numbers += [found.ravel() for _, found in sampled]
    unique = np.unique(np.concatenate(numbers))
    return unique[unique >= 0].astype(np.int64)


def settings_from(
    representer: Record,
    sampled: list[tuple[npt.NDArray[np.int64], IndexArray]],
    wanted: npt.NDArray[np.int64],
    rows: list[Rows32],
    plan: Plan,
    seed: int,
) -> AdmmSettings:
    """`AdmmSettings` from the problems of the drawn samples."""
    from masked_subspace.represent.model import CandidateStep
    from masked_subspace.represent.representer import MaskedRepresenter

    X = np.concatenate(rows)
    names = np.concatenate([places + plan.offsets[p] for p, (places, _) in enumerate(sampled)])
    found = np.concatenate([found for _, found in sampled])
    candidates = np.full((len(X), found.shape[1]), -1, dtype=np.int32)
    samples = np.searchsorted(wanted, names).astype(np.int32)
    candidates[samples] = np.where(found >= 0, np.searchsorted(wanted, np.maximum(found, 0)), -1)
    template = MaskedRepresenter(**representer).template(X)
    if not np.isnan(template.sparsity):
        return template
    rule = CandidateStep(X, candidates, seed, samples=np.sort(samples))
    return replace(template, sparsity=rule.sparsity(template.penalty))
