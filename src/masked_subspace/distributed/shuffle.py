"""From blocks of rows as given to parts: every sample goes to the part that owns its list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from masked_subspace._common.types import BoolArray, IndexArray, IntArray, Matrix, Record, Rows32
from masked_subspace.distributed.centres import trained_centres
from masked_subspace.distributed.plan import Plan, make_plan
from masked_subspace.distributed.preparation import block_facts, learn_preparation, prepared
from masked_subspace.distributed.tasks import Result, Workers, task
from masked_subspace.represent.neighbors.list_sizes import list_numbers

if TYPE_CHECKING:
    from masked_subspace.rows.preparation import Preparation


_PART_BYTES = 1 << 26
_FEWEST_PARTS, _MOST_PARTS = 4, 512


@dataclass(frozen=True)
class Pile:
    """Some samples: prepared rows, the lists each looks into (its home first), and their numbers in the input."""

    rows: Rows32
    probes: IndexArray
    ids: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Parts:
    """Samples grouped by list; everything named here but the plan lives on the workers."""

    plan: Plan
    planned: Result  # the plan where the workers find it
    piles: list[Result]  # one `Pile` a part, in the order of the plan
    looks_into: BoolArray  # parts × lists
    preparation: Result


def default_parts(n: int, d: int, n_lists: int) -> int:
    """64 MB of rows a part, so that one fits beside the others into a worker; it depends on the data alone."""
    return int(min(n_lists, np.clip(-(-n * d * 4 // _PART_BYTES), _FEWEST_PARTS, _MOST_PARTS)))


def shuffle_by_list(workers: Workers, blocks: list[Result], sizes: list[int], d: int, m: int, options: Record) -> Parts:
    """Prepare the rows, train the lists, plan the parts and send every row to its part.

    `options`: center, normalize, seed, and n_parts (None: by size).
    """
    n = sum(sizes)
    starts = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    n_lists, n_probes = list_numbers(n, m)
    n_parts = min(options["n_parts"] or default_parts(n, d, n_lists), n_lists)
    facts = [task(block_facts)(block) for block in blocks]
    (preparation,) = workers.keep(
        [task(learn_preparation)(facts, center=options["center"], normalize=options["normalize"])]
    )
    (centres,) = workers.keep([trained_centres(blocks, starts, preparation, n_lists, options["seed"])])
    probed = [
        task(probe_block)(block, preparation, centres, n_probes, start)
        for block, start in zip(blocks, starts[:-1], strict=True)
    ]
    counted = [task(home_counts)(pile, n_lists) for pile in probed]
    probed, (planned,) = _both(workers, probed, task(make_plan)(centres, counted, n_parts))
    looks = [task(looked_into)(pile, planned) for pile in probed]
    plan, flags = workers.fetch([planned, task(any_of)(looks)])
    split = [task(split_block)(pile, planned) for pile in probed]
    parts = [task(gather_part)([one[p] for one in split], planned) for p in range(plan.n_parts)]
    return Parts(plan, planned, workers.keep(parts), flags, preparation)


def _both(workers: Workers, many: list[Result], one: Result) -> tuple[list[Result], list[Result]]:
    kept = workers.keep([*many, one])
    return kept[:-1], kept[-1:]


def probe_block(block: Matrix, preparation: Preparation, centres: Rows32, n_probes: int, start: int) -> Pile:
    """A block prepared, and the lists into which its samples look, nearest first."""
    from masked_subspace.distributed.warm_up import kernels_on_disk
    from masked_subspace.represent.neighbors.search import nearest_in

    kernels_on_disk()
    rows = prepared(block, preparation)
    return Pile(rows, nearest_in(centres, rows, n_probes), np.arange(start, start + len(rows)))


def home_counts(pile: Pile, n_lists: int) -> IntArray:
    """How many samples live in each list."""
    return np.bincount(pile.probes[:, 0], minlength=n_lists)


def looked_into(pile: Pile, plan: Plan) -> BoolArray:
    """For each part, the lists into which its samples look."""
    flags = np.zeros((plan.n_parts, len(plan.counts)), dtype=bool)
    flags[plan.part_of[pile.probes[:, :1]], pile.probes] = True
    return flags


def any_of(flags: list[BoolArray]) -> BoolArray:
    """The flags of all blocks together."""
    together: BoolArray = np.logical_or.reduce(flags)
    return together


def split_block(pile: Pile, plan: Plan) -> list[Pile]:
    """The samples of a block, part by part; inside a part in their order."""
    part = plan.part_of[pile.probes[:, 0]]
    order = np.argsort(part, kind="stable")
    bounds = np.searchsorted(part[order], np.arange(plan.n_parts + 1))
    picked = [order[bounds[p] : bounds[p + 1]] for p in range(plan.n_parts)]
    return [Pile(pile.rows[places], pile.probes[places], pile.ids[places]) for places in picked]


def gather_part(pieces: list[Pile], plan: Plan) -> Pile:
    """All samples of a part, list by list, as the plan numbers them."""
    home = np.concatenate([piece.probes[:, 0] for piece in pieces])
    order = np.argsort(plan.starts[home], kind="stable")
    rows = np.concatenate([piece.rows for piece in pieces])[order]
    probes = np.concatenate([piece.probes for piece in pieces])[order]
    return Pile(rows, probes, np.concatenate([piece.ids for piece in pieces])[order])


def rows_of(pile: Pile) -> Rows32:
    """The rows of a pile."""
    return pile.rows


def ids_of(pile: Pile) -> npt.NDArray[np.int64]:
    """The numbers that the samples of a pile have in the input."""
    return pile.ids
