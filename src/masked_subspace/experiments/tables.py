"""From cells to tables: means and standard deviations beside the paper's, with the difference and what it means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from masked_subspace._common.types import Record
from masked_subspace.experiments.compute import cell_keys
from masked_subspace.experiments.results import Results
from masked_subspace.experiments.settings import (
    Cell,
    dataset_title,
    method_title,
    paper_numbers,
    setting_about,
    table_entry,
)
from masked_subspace.report.record import Table

_PERCENT = ("accuracy", "nmi", "bca")


@dataclass(frozen=True)
class Measure:
    """One metric of one row: ours and the paper's, in per cent or seconds."""

    mean: float
    spread: float | None  # standard deviation over trials, with n − 1; None for a single one
    paper: float | None = None
    paper_spread: float | None = None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        return None if self.paper is None else self.mean - self.paper

    @property
    def within(self) -> bool | None:
        """Whether ours lies within the paper's standard deviation; None if it prints none."""
        if self.paper is None or self.paper_spread is None:
            return None
        return abs(self.mean - self.paper) <= self.paper_spread


@dataclass(frozen=True)
class Row:
    """A method under a setting on a data set."""

    table: str
    dataset: str
    method: str
    setting: str
    chosen_with_labels: bool
    wanted: int
    done: int
    failed: int
    older: int  # cells that other code computed
    error: str | None
    measures: dict[str, Measure]
    cpu_seconds: float | None  # of the whole fit, mean
    peak_mb: float | None
    lineage: str | None


def table_rows(cells: Sequence[Cell], results: Results, *, accept_older: bool = False) -> list[Row]:
    """One row for each method, setting and data set among the cells."""
    known = results.known_data()
    groups: dict[tuple[str, str, str, str], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.table, cell.dataset, cell.row, cell.setting), []).append(cell)
    return [_row(group, known, results, accept_older) for group in groups.values()]


def _row(group: Sequence[Cell], known: dict[tuple[str, int], str], results: Results, accept_older: bool) -> Row:
    first = group[0]
    found, older = [], 0
    for cell in group:
        data_hash = known.get((cell.dataset, cell.trial))
        if data_hash is None:
            continue
        key, loose_key = cell_keys(cell, data_hash)
        row = results.get(key, loose_key if accept_older else None)
        if row is not None:
            found.append(row)
            older += row["key"] != key
    done = [row for row in found if row["state"] == "done"]
    failed = [row for row in found if row["state"] == "failed"]
    printed = paper_numbers(first.table, first.dataset, first.row)
    metrics = table_entry(first.table)["metrics"]
    return Row(
        table=first.table,
        dataset=first.dataset,
        method=first.row,
        setting=first.setting,
        chosen_with_labels=setting_about(first.setting)[1],
        wanted=len(group),
        done=len(done),
        failed=len(failed),
        older=older,
        error=failed[0]["error"] if failed else None,
        measures={metric: _measure(metric, done, printed) for metric in metrics} if done else {},
        cpu_seconds=float(np.mean([row["cpu_seconds"] for row in done])) if done else None,
        peak_mb=max((row["peak_mb"] for row in done), default=None),
        lineage=printed.get("lineage"),
    )


def _measure(metric: str, done: Sequence[Record], printed: Record) -> Measure:
    values = np.array([row[metric] for row in done], dtype=float) * (100.0 if metric in _PERCENT else 1.0)
    paper = [*printed.get(metric, ()), None, None]
    spread = float(values.std(ddof=1)) if len(values) > 1 else None
    return Measure(float(values.mean()), spread, paper[0], paper[1])


_COLUMNS = (
    "method", "setting", "trials", "ACC %", "±", "paper ACC", "difference", "within ±", "NMI %", "paper NMI",
    "seconds", "paper s", "CPU s", "peak MB",
)  # fmt: skip
_DECIMALS = (None, None, None, 2, 2, 2, 2, None, 2, 2, 2, 2, 2, 0)


def report_tables(rows: Sequence[Row]) -> list[Table]:
    """One sortable table for each data set of each table, and what its marks mean."""
    tables = []
    for table, dataset in dict.fromkeys((row.table, row.dataset) for row in rows):
        own = [row for row in rows if (row.table, row.dataset) == (table, dataset)]
        entry = table_entry(table)
        title = f"{entry['title'].split(':')[0]}, {dataset_title(dataset)}"
        if dataset not in entry["datasets"]:
            title = f"{title} (a set that the paper does not have)"
        tables.append(Table(title, _COLUMNS, tuple(_cells(row) for row in own), _notes(own), _DECIMALS))
    return tables


def _cells(row: Row) -> tuple[object, ...]:
    accuracy, nmi, seconds = (row.measures.get(metric) for metric in ("accuracy", "nmi", "seconds"))
    paper = paper_numbers(row.table, row.dataset, row.method)
    mark = {True: "yes", False: "no", None: "–"}[accuracy.within if accuracy else None]
    return (
        method_title(row.method),
        row.setting + (" †" if row.chosen_with_labels else ""),
        f"{row.done}/{row.wanted}" + (" ‡" if row.older else ""),
        accuracy.mean if accuracy else None,
        accuracy.spread if accuracy else None,
        paper.get("accuracy", [None])[0],
        accuracy.difference if accuracy else None,
        mark,
        nmi.mean if nmi else None,
        paper.get("nmi", [None])[0],
        seconds.mean if seconds else None,
        paper.get("seconds", [None])[0],
        row.cpu_seconds,
        row.peak_mb,
    )


def _notes(rows: Sequence[Row]) -> tuple[str, ...]:
    notes = []
    for setting in dict.fromkeys(row.setting for row in rows):
        about, with_labels = setting_about(setting)
        notes.append(f"{setting}{' †' if with_labels else ''}: {about}.")
    if any(row.chosen_with_labels for row in rows):
        notes.append("† The setting was chosen by looking at labels: it shows what is reachable, not what a user gets.")
    if any(row.older for row in rows):
        notes.append("‡ Some of these cells were computed by an earlier version of the code.")
    lineages = dict.fromkeys(row.lineage for row in rows if row.lineage)
    if lineages:
        names = ", ".join(method_title(row.method) for row in rows if row.lineage and row.setting == rows[0].setting)
        source = "the paper copies its ORL and COIL numbers of LRR to AE+EDSC from the DSC-Net paper (2017)"
        notes.append(f"Lineage: {source}{': here ' + names if names else ''}.")
    notes.append(
        "seconds: wall time of the affinity, all rounds, without the last spectral step; CPU s: of the whole fit. "
        "The paper's machine is another one."
    )
    notes += [
        f"{method_title(row.method)}, {row.setting}: {row.failed} trials failed ({row.error})."
        for row in rows
        if row.failed
    ]
    return tuple(notes)
