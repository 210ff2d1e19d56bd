"""Candidates by list: every part searches its own lists, then those of other parts into which its samples look.

The state of a search is m keys a sample (see `represent.neighbors.kernels`: similarity above number), largest first and
0 where there is none. Keys do not depend on the order in which lists arrive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import IndexArray, IntArray, KeyArray, Rows32
from masked_subspace.distributed.plan import Plan
from masked_subspace.distributed.shuffle import Parts, Pile
from masked_subspace.distributed.tasks import Result, task

# The numbers and the unit rows of a list; None where the list is elsewhere.
Members = tuple[IntArray, Rows32] | None

_QUERIES_AT_ONCE = 1 << 12
# Samples of one task. Keys are twice as large as the candidates that come of them, and a task that goes on with a
# search copies its keys: those of a whole part would be the largest thing that a worker holds.
_ROWS_AT_ONCE = 1 << 16
_LOW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class ForeignLists:
    """Lists of one part on their way to another: which, and their rows at unit length."""

    part: int
    lists: npt.NDArray[np.int64]
    rows: npt.NDArray[np.float32]


def find_candidates(parts: Parts, m: int) -> list[Result]:
    """For each part the m nearest samples of each of its samples by |cosine|, among the lists it looks into.

    A sample whose lists hold fewer than m others has −1 in the places that are left.
    """
    plan = parts.plan
    found = []
    for p in range(plan.n_parts):
        lists = []
        for q in range(plan.n_parts):
            wanted = np.flatnonzero(parts.looks_into[p] & (plan.part_of == q))
            if q != p and len(wanted):
                lists.append(task(export_lists)(parts.piles[q], parts.planned, q, wanted))
        pieces = []
        # One task at least: a part whose lists are all empty (few rows differ) has candidates of no samples.
        for start in range(0, max(plan.size(p), 1), _ROWS_AT_ONCE):
            ends = (start, min(start + _ROWS_AT_ONCE, plan.size(p)))
            keys = task(search_own)(parts.piles[p], parts.planned, p, ends, m)
            for theirs in lists:
                keys = task(search_more)(keys, parts.piles[p], parts.planned, p, ends, theirs)
            pieces.append(task(numbers_of)(keys))
        found.append(task(np.concatenate)(pieces) if len(pieces) != 1 else pieces[0])
    return found


def search_own(pile: Pile, plan: Plan, part: int, ends: tuple[int, int], m: int) -> KeyArray:
    """The search of the samples start..stop of a part in the lists of the part itself."""
    from masked_subspace.distributed.warm_up import kernels_on_disk

    kernels_on_disk()
    unit, first = _unit(pile.rows), plan.offsets[part]
    begin, end = ends

    def members(number: int) -> Members:
        if plan.part_of[number] != part:
            return None
        start, count = plan.starts[number], plan.counts[number]
        return np.arange(start, start + count), unit[start - first : start - first + count]

    keys = np.zeros((end - begin, m), dtype=np.uint64)
    everyone, probes = np.arange(len(keys)), pile.probes[begin:end]
    # The home lists first: they hold most neighbours, and a tight threshold makes the other scans short.
    own = unit[begin:end]
    return _search(keys, everyone, own, first + begin, [probes[:, :1], probes[:, 1:]], members)


def search_more(
    keys: KeyArray, pile: Pile, plan: Plan, part: int, ends: tuple[int, int], theirs: ForeignLists
) -> KeyArray:
    """The search of the samples start..stop of a part goes on in lists of another one."""
    bounds = np.concatenate([[0], np.cumsum(plan.counts[theirs.lists])])
    place = {int(number): at for at, number in enumerate(theirs.lists)}

    def members(number: int) -> Members:
        at = place.get(number)
        if at is None:
            return None
        start = plan.starts[number]
        return np.arange(start, start + plan.counts[number]), theirs.rows[bounds[at] : bounds[at + 1]]

    probes, rows = pile.probes[ends[0] : ends[1]], pile.rows[ends[0] : ends[1]]
    look = np.flatnonzero((plan.part_of[probes] == theirs.part).any(axis=1))
    if len(look) == 0:
        return keys
    return _search(keys.copy(), look, _unit(rows[look]), plan.offsets[part] + ends[0], [probes[look]], members)


def export_lists(pile: Pile, plan: Plan, part: int, lists: npt.NDArray[np.int64]) -> ForeignLists:
    """The unit rows of some lists of a part, one list after the other."""
    first = plan.offsets[part]
    spans = [slice(plan.starts[one] - first, plan.starts[one] - first + plan.counts[one]) for one in lists]
    return ForeignLists(part, lists, _unit(np.concatenate([pile.rows[span] for span in spans])))


def numbers_of(keys: KeyArray) -> IndexArray:
    """The samples that the keys stand for, nearest first."""
    numbers = (_LOW - (keys & _LOW)).astype(np.int64)
    numbers[keys == 0] = -1
    return numbers.astype(np.int32)


def _search(
    keys: KeyArray,
    queries: IntArray,
    unit: Rows32,
    first: int,
    probes: list[IndexArray],
    members: Callable[[int], Members],
) -> KeyArray:
    """Offer lists to the samples `queries` of a part, whose unit rows and probes are given in the same order."""
    from masked_subspace.represent.neighbors.lists import scan_lists
    from masked_subspace.represent.neighbors.search import Buffers

    for start in range(0, len(queries), _QUERIES_AT_ONCE):
        some = slice(start, start + _QUERIES_AT_ONCE)
        buffers = Buffers.resumed(keys[queries[some]])
        for part in probes:
            scan_lists(buffers, unit[some], queries[some] + first, part[some], members)
        keys[queries[some]] = buffers.best_keys()
    return keys


def _unit(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    from masked_subspace.represent.neighbors.search import read_unit_rows

    return read_unit_rows(rows, 0, len(rows))
