"""`masked-subspace report RUN…`: a finished run's page again, or several runs of the same data on one page."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace

from masked_subspace.cli.exits import Exit
from masked_subspace.cli.printing import say, say_json
from masked_subspace.cli.stored_runs import StoredRun, load_alike
from masked_subspace.report import ReportContent, Run, Table, write_report


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
    return replace(first, title="Comparison of runs", runs=runs, tables=(comparison_table(runs),))


def comparison_table(runs: Sequence[Run], extra: Sequence[tuple[object, ...]] = ()) -> Table:
    """Scores and seconds side by side; `extra` are rows of methods without a graph."""
    keys = list(dict.fromkeys(key for run in runs for key in run.scores))
    rows = [(run.name, *(run.scores.get(key) for key in keys), run.seconds) for run in runs]
    decimals = (None, *(3 for _ in keys), 2)
    return Table("Comparison", ("method", *keys, "seconds"), (*extra, *rows), decimals=decimals)
