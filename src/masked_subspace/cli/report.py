"""`masked-subspace report RUN…`: a finished run's page again, or several runs of the same data on one page."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace

from masked_subspace.cli.exits import Exit
from masked_subspace.cli.printing import say, say_json
from masked_subspace.cli.stored_runs import StoredRun, load_alike
from masked_subspace.report import ReportContent, comparison_table, write_report
from masked_subspace.report.comparing import agreement_table


def run(options: Namespace) -> int:
    """Read the folders, write the page."""
    from masked_subspace.experiments.results import DATABASE

    out = options.out or options.runs[0] / "report.html"
    if len(options.runs) == 1 and (options.runs[0] / DATABASE).exists():
        from masked_subspace.experiments.publish import report_content

        write_report(report_content(options.runs[0]), out)
    else:
        write_report(_together(load_alike(options.runs)), out)
    say(options, f"wrote {out}")
    say_json(options, {"report": str(out)})
    return Exit.OK


def _together(stored: Sequence[StoredRun]) -> ReportContent:
    first = stored[0].content
    if len(stored) == 1:
        return first
    runs = tuple(replace(one.content.runs[0], name=one.title) for one in stored)
    return replace(first, title="Comparison of runs", runs=runs, tables=(comparison_table(runs), agreement_table(runs)))
