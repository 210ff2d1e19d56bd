"""Filling the database: go through the cells, claim what is free, compute, store; when killed, go on next time."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

from masked_subspace._common.progress import Events, SilentEvents
from masked_subspace.experiments.compute import Trial, cell_keys, compute, failure, identity, load_trial
from masked_subspace.experiments.results import Results
from masked_subspace.experiments.settings import Cell

_WORK = "cells"


@dataclass(frozen=True)
class RunOptions:
    """How cells are computed; none of it changes a result but `accept_older`."""

    jobs: int = 1
    threads: int = 1
    accept_older: bool = False
    retry_failed: bool = False


def run_cells(cells: Sequence[Cell], database: Path, options: RunOptions, events: Events | None = None) -> None:
    """Compute all cells that are not yet in the database, and wait for those that other processes have claimed."""
    events = events or SilentEvents()
    events.started(_WORK, len(cells))
    try:
        if options.jobs == 1:
            work(cells, database, options, events)
        else:
            _run_processes(cells, database, options, events)
        _wait_for_others(cells, database, options, events)
    finally:
        events.finished(_WORK)


def work(cells: Sequence[Cell], database: Path, options: RunOptions, events: Events | None = None) -> None:
    """One process's share: every cell that is free when we come to it."""
    with Results(database) as results:
        for done, cell in enumerate(cells, start=1):
            _do(cell, results, options)
            if events is not None:
                events.advanced(_WORK, done, note=f"{cell.row} on {cell.dataset}, trial {cell.trial}")


def _do(cell: Cell, results: Results, options: RunOptions) -> None:
    known_hash = results.known_data().get((cell.dataset, cell.trial))
    if known_hash is not None and _is_over(cell, known_hash, results, options):
        return
    trial = load_trial(cell.dataset, cell.trial)
    if known_hash != trial.hash:
        results.remember_data(cell.dataset, cell.trial, trial.hash, trial.origin)
        if _is_over(cell, trial.hash, results, options):
            return
    key, _ = cell_keys(cell, trial.hash)
    if results.claim(key, identity(cell, trial), retry_failed=options.retry_failed):
        _compute_claimed(key, cell, trial, results, options)


def _is_over(cell: Cell, data_hash: str, results: Results, options: RunOptions) -> bool:
    key, loose_key = cell_keys(cell, data_hash)
    row = results.get(key, loose_key if options.accept_older else None)
    return row is not None and (row["state"] == "done" or not options.retry_failed)


def _compute_claimed(key: str, cell: Cell, trial: Trial, results: Results, options: RunOptions) -> None:
    try:
        outcome = compute(cell, trial, options.threads)
    except Exception as error:  # whatever a method does, the other cells go on and the error stands in the table
        outcome = failure(error, options.threads)
    except BaseException:
        results.release(key)
        raise
    results.finish(key, outcome)


def _run_processes(cells: Sequence[Cell], database: Path, options: RunOptions, events: Events) -> None:
    Results(database).close()  # the file exists before several open it
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_worker, args=(list(cells), database, options)) for _ in range(options.jobs)]
    for worker in workers:
        worker.start()
    try:
        while any(worker.is_alive() for worker in workers):
            time.sleep(0.5)
            events.advanced(_WORK, _count_over(cells, database))
    finally:
        _stop(workers)
    broken = [worker.exitcode for worker in workers if worker.exitcode]
    if len(broken) == len(workers):
        raise RuntimeError(f"all {len(workers)} processes ended with exit codes {broken}")


def _worker(cells: Sequence[Cell], database: Path, options: RunOptions) -> None:
    """A worker's whole life. Ctrl-C reaches it too: the parent says so, the worker just gives its claim back."""
    with contextlib.suppress(KeyboardInterrupt):
        work(cells, database, options)


def _stop(workers: Sequence[BaseProcess]) -> None:
    for worker in workers:
        if worker.is_alive():
            worker.terminate()
    for worker in workers:
        worker.join()


def _count_over(cells: Sequence[Cell], database: Path) -> int:
    with Results(database) as results:
        known = results.known_data()
        hashes = [(cell, known.get((cell.dataset, cell.trial))) for cell in cells]
        return results.count(cell_keys(cell, data_hash)[0] for cell, data_hash in hashes if data_hash)


def _wait_for_others(cells: Sequence[Cell], database: Path, options: RunOptions, events: Events) -> None:
    """Cells that a living process holds are being computed: wait; cells whose process died meanwhile are ours."""
    while True:
        with Results(database) as results:
            known = results.known_data()
            missing = [
                cell
                for cell in cells
                if (data_hash := known.get((cell.dataset, cell.trial))) is None
                or results.get(
                    cell_keys(cell, data_hash)[0], cell_keys(cell, data_hash)[1] if options.accept_older else None
                )
                is None
            ]
        if not missing:
            return
        events.advanced(_WORK, len(cells) - len(missing), note="waiting for another process")
        time.sleep(1.0)
        work(missing, database, options)
