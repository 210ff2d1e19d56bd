"""`masked-subspace reproduce`: compute what is missing, then show and write what is there."""

from __future__ import annotations

import sys
from argparse import Namespace

from masked_subspace._common.progress import events_for
from masked_subspace._common.types import Record
from masked_subspace.cli.exits import Exit
from masked_subspace.cli.fitting import wants_progress
from masked_subspace.cli.printing import say, say_json
from masked_subspace.experiments.publish import Published, Request, publish, refuse_foreign, without_missing
from masked_subspace.experiments.render import terminal
from masked_subspace.experiments.results import DATABASE, Results
from masked_subspace.experiments.runner import RunOptions, run_cells
from masked_subspace.experiments.settings import dataset_key


def run(options: Namespace) -> int:
    """Fill the database, publish."""
    request = Request(
        part=options.part,
        settings=_tuple(options.setting),
        datasets=_tuple([dataset_key(name) for name in options.dataset or ()]),
        methods=_tuple(options.method),
        trials=options.trials,
        first_trial=options.first_trial,
        accept_older=options.accept_older,
        threads=options.threads,
        compute=not options.show_only,
    )
    if request.part != "figures":
        request.cells()  # a wrong name is said before a folder is made
    refuse_foreign(request, options.out)
    Results(options.out / DATABASE).close()  # a folder that cannot be written is said before any data is loaded
    request, missing = without_missing(request) if request.compute else (request, {})
    for dataset, reason in missing.items():
        sys.stderr.write(f"masked-subspace: {dataset} is left out. {reason}\n")
    cells = request.cells()
    events = events_for(wants_progress(options))
    if cells and request.compute:
        say(
            options,
            f"{len(cells)} cells, kept in {options.out / DATABASE}; stop at any time and run this again to go on",
        )
        how = RunOptions(options.jobs, options.threads, options.accept_older, options.retry_failed)
        run_cells(cells, options.out / DATABASE, how, events)
    made = publish(request, options.out, events)
    for table in made.tables:
        say(options, "\n" + terminal(table))
    say(options, "\n".join(f"wrote {path}" for path in made.files))
    say_json(options, _machine(made))
    if missing:
        return Exit.DATA
    return Exit.INCOMPLETE if any(row.failed for row in made.rows) else Exit.OK


def _tuple(values: list[str] | None) -> tuple[str, ...] | None:
    return tuple(values) if values else None


def _machine(made: Published) -> Record:
    return {
        "rows": [
            {
                "table": row.table,
                "dataset": row.dataset,
                "method": row.method,
                "setting": row.setting,
                "chosen_with_labels": row.chosen_with_labels,
                "trials": row.done,
                "failed": row.failed,
                **{
                    metric: {"mean": one.mean, "std": one.spread, "paper": one.paper, "difference": one.difference,
                             "within": one.within}
                    for metric, one in row.measures.items()
                },
            }
            for row in made.rows
        ],
        "files": [str(path) for path in made.files],
    }  # fmt: skip
