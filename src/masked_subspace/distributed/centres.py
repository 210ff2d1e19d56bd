"""Centres of the inverted file, trained on a sample of the rows.

Up to `_ONE_TASK` lists one task trains them exactly as one process does, so that the search is the same. More lists are
trained by Lloyd sums over blocks of the sample, on all workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from masked_subspace._common.rows import unit_rows
from masked_subspace._common.types import Matrix, Rows32
from masked_subspace.distributed.lloyd import centre_sums, moved_centres
from masked_subspace.distributed.preparation import prepared
from masked_subspace.distributed.tasks import Result, task

if TYPE_CHECKING:
    from masked_subspace.rows.preparation import Preparation


# Which samples train the centres, and the generator that goes on from there.
Drawn = tuple[npt.NDArray[np.int64], np.random.RandomState]

_ONE_TASK = 1 << 12
_LLOYD_STEPS = 6


def trained_centres(blocks: list[Result], starts: list[int], preparation: Result, n_lists: int, seed: int) -> Result:
    """Centres of the lists, on a worker."""
    drawn = task(draw_training)(starts[-1], n_lists, seed)
    samples = [
        task(training_rows)(block, preparation, drawn, start) for block, start in zip(blocks, starts[:-1], strict=True)
    ]
    if n_lists <= _ONE_TASK:
        return task(train_in_one)(samples, n_lists, drawn)
    samples = [task(unit_rows)(sample) for sample in samples]
    centres = task(first_centres)(samples, n_lists, seed)
    for _ in range(_LLOYD_STEPS):
        centres = task(moved_centres)([task(centre_sums)(sample, centres) for sample in samples], centres)
    return centres


def draw_training(n: int, n_lists: int, seed: int) -> Drawn:
    """Which samples train the centres, and the generator that goes on from there."""
    from masked_subspace.represent.neighbors.lists import training_places

    return training_places(n, n_lists, seed)


def training_rows(block: Matrix, preparation: Preparation, drawn: Drawn, start: int) -> Rows32:
    """The training samples among the rows of a block."""
    places = drawn[0]
    inside = places[np.searchsorted(places, start) : np.searchsorted(places, start + len(block))] - start
    return prepared(np.asarray(block)[inside], preparation)


def train_in_one(samples: list[Rows32], n_lists: int, drawn: Drawn) -> Rows32:
    """k-means as one process runs it."""
    import copy

    from masked_subspace.represent.neighbors.lists import list_centres

    # The generator is part of another task's result, which must stay as it is for a task that runs again.
    return list_centres(np.concatenate(samples), n_lists, copy.deepcopy(drawn[1]))


def first_centres(samples: list[Rows32], n_lists: int, seed: int) -> Rows32:
    """Rows of the sample drawn at random."""
    sizes = np.cumsum([0] + [len(sample) for sample in samples])
    drawn = np.sort(np.random.default_rng(seed).choice(int(sizes[-1]), n_lists, replace=False))
    cut = np.split(drawn, np.searchsorted(drawn, sizes[1:-1]))
    return np.concatenate([sample[places - size] for sample, places, size in zip(samples, cut, sizes, strict=False)])
