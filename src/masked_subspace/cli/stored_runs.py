"""Finished runs of the same data, read back to be set side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from masked_subspace._common.types import Record
from masked_subspace.cli.exits import CommandError, Exit
from masked_subspace.report import ReportContent
from masked_subspace.report.archive import load_result, load_run
from masked_subspace.report.scoring import scores


@dataclass(frozen=True)
class StoredRun:
    """One folder that `cluster` wrote."""

    folder: Path
    title: str  # unlike every other one's
    result: Record
    content: ReportContent


def load_alike(folders: Sequence[Path]) -> list[StoredRun]:
    """Runs of one data set; an error if their samples differ, in number or in what they are."""
    runs = [
        StoredRun(folder, f"{content.runs[0].name} ({folder.resolve().name})", load_result(folder), content)
        for folder in folders
        for content in [_scored(load_run(folder))]
    ]
    first = runs[0]
    for run in runs[1:]:
        if len(run.content.runs[0].labels) != len(first.content.runs[0].labels):
            raise CommandError(
                f"{run.folder} has another number of samples than {first.folder}: runs of one data set compare",
                Exit.INPUT,
            )
        if not _same_data(run.result, first.result):
            raise CommandError(
                f"{run.folder} and {first.folder} are runs of different data ({_source(run)}, {_source(first)}): "
                "runs of one data set compare",
                Exit.INPUT,
            )
    return runs


def _scored(content: ReportContent) -> ReportContent:
    """With scores by the rules of this version, whichever wrote the run: only such compare."""
    run = content.runs[0]
    return replace(content, runs=(replace(run, scores=scores(run.labels, content.target)),))


def _same_data(one: Record, other: Record) -> bool:
    """The same file, or the same numbers (one may have been scaled, or come from another format)."""
    prints = [run["input"]["fingerprints"] for run in (one, other)]
    return any(prints[0].get(kind) == prints[1].get(kind) is not None for kind in ("file", "numbers"))


def _source(run: StoredRun) -> str:
    return str(run.result["input"]["path"])
