"""`masked-subspace report RUN…`: a finished run's page again, or several runs of the same data on one page."""

from __future__ import annotations

import shlex
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace

from masked_subspace.cli.exits import Exit
from masked_subspace.cli.printing import say, say_json
from masked_subspace.cli.stored_runs import StoredRun, load_alike
from masked_subspace.inputs import clean_text
from masked_subspace.report import ReportContent, comparison_table, write_report
from masked_subspace.report.comparing import agreement_table
from masked_subspace.report.page import refuse_foreign_page


def run(options: Namespace) -> int:
    """Read the folders, write the page."""
    from masked_subspace.experiments.results import DATABASE

    out = options.out or options.runs[0] / "report.html"
    refuse_foreign_page(out)
    if len(options.runs) == 1 and (options.runs[0] / DATABASE).exists():
        from masked_subspace.experiments.publish import report_content

        write_report(report_content(options.runs[0]), out)
    else:
        command = shlex.join(["masked-subspace", *getattr(options, "given", ())])
        write_report(_together(load_alike(options.runs), clean_text(command)), out)
    say(options, f"wrote {out}")
    say_json(options, {"report": str(out)})
    return Exit.OK


def _together(stored: Sequence[StoredRun], command: str) -> ReportContent:
    first = stored[0].content
    if len(stored) == 1:
        return first
    runs = tuple(replace(one.content.runs[0], name=one.title) for one in stored)
    return replace(
        first,
        title="Comparison of runs",
        subtitle=f"{len(runs)} runs on {len(runs[0].labels)} samples",
        facts={key: first.facts[key] for key in ("samples", "features") if _shared(stored, key)},
        runs=runs,
        tables=(comparison_table(runs), agreement_table(runs)),
        notes=_notes(stored),
        command=command,
    )


def _shared(stored: Sequence[StoredRun], key: str) -> bool:
    """Whether all runs say the same of the data; what they say of themselves stands in the table."""
    return len({str(one.content.facts.get(key)) for one in stored}) == 1 and key in stored[0].content.facts


def _notes(stored: Sequence[StoredRun]) -> tuple[str, ...]:
    """What was noted of every run, then what was noted of one, with its name."""
    everywhere = [note for note in stored[0].content.notes if all(note in one.content.notes for one in stored)]
    others = [f"{one.title}: {note}" for one in stored for note in one.content.notes if note not in everywhere]
    return (*everywhere, *others)
