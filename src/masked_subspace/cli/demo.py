"""`masked-subspace demo`: five methods on a thousand digits, in the terminal and on a page."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from masked_subspace._common.files import ensure_folder
from masked_subspace._common.progress import events_for, track
from masked_subspace._common.types import Record
from masked_subspace.cli.exits import Exit
from masked_subspace.cli.fitting import as_pictures, fit, wants_progress
from masked_subspace.cli.printing import say, say_json
from masked_subspace.datasets import DatasetError, load_protocol
from masked_subspace.experiments.render import aligned
from masked_subspace.parallel.engine import limited_threads
from masked_subspace.registry import make_estimator, resolve
from masked_subspace.report import ReportContent, Run, Table, run_from_estimator, write_report
from masked_subspace.report.page import refuse_foreign_page
from masked_subspace.report.scoring import COUNTED, scores

_SHOWN = ("ssc", "bmsc", "gmsc", "rmsc")


def run(options: Namespace) -> int:
    """Load, fit five times, show."""
    for name in options.method:  # a wrong name is said before anything is fitted
        resolve(name)
    folder = ensure_folder(options.out)
    refuse_foreign_page(folder / "report.html")
    digits = _digits(options)
    X, target = digits.data, digits.target
    n_clusters = len(np.unique(target))
    say(options, f"{len(X)} digits, {n_clusters} classes, from {digits.origin}")
    # On two busy cores the threads of OpenMP wait for each other: 16 s for what one does in half a second.
    with limited_threads(1):
        means = fit(KMeans(n_clusters, n_init=20, random_state=options.seed), X)
    k_means_scores = scores(means.estimator.labels_, target)
    first = ("k-means", *k_means_scores.values(), means.seconds)
    runs: list[Run] = []
    compiling: dict[str, float] = {}
    for name in track((*_SHOWN, *options.method), "methods", events_for(wants_progress(options))):
        # GMSC shows what a mask from another clustering does: here, from k-means.
        settings: Record = {"soft_mask": means.estimator.labels_} if name == "gmsc" else {}
        fitted = fit(make_estimator(name, n_clusters, settings, options.seed, options.jobs), X)
        found = scores(fitted.estimator.labels_, target)
        title = resolve(name).title
        compiling[title] = fitted.compile_seconds
        runs.append(run_from_estimator(fitted.estimator, title, seconds=fitted.seconds, scores=found, X=X))
    table = _side_by_side(runs, first)
    content = ReportContent(
        title=f"{'Five' if not options.method else len(runs) + 1} ways to cluster digits",
        subtitle=f"{len(X)} handwritten digits; no method saw a label. GMSC's mask comes from k-means.",
        facts={"samples": len(X), "features": int(X.shape[1]), "classes": n_clusters, "data": str(digits.origin)},
        target=target,
        images=as_pictures(X, digits.images_shape),
        runs=tuple(runs),
        tables=(table,),
    )
    path = write_report(content, folder / "report.html")
    shown = [(row[0], *(_three(value) for value in row[1:-1]), f"{row[-1]:.2f}") for row in table.rows]
    say(options, aligned(table.columns, shown))
    for note in table.notes:
        say(options, note)
    if sum(compiling.values()) >= 0.1:
        by_method = ", ".join(f"{name} {seconds:.1f}" for name, seconds in compiling.items() if seconds >= 0.1)
        say(options, f"\nnot in these seconds: {sum(compiling.values()):.1f} s of compiling, once after installation "
            f"({by_method})")  # fmt: skip
    say(options, f"\nwrote {path}")
    say_json(options, {"columns": table.columns, "rows": table.rows, "compile_seconds": compiling, "report": str(path)})
    return Exit.OK


def _side_by_side(runs: Sequence[Run], first: tuple[object, ...]) -> Table:
    """Scores and seconds of all methods; k-means, which has no graph to show, stands first."""
    keys = ("accuracy", "NMI", "BCA")
    rows = [(run.name, *(run.scores.get(key) for key in keys), run.seconds) for run in runs]
    left_out = {run.name: int((run.labels < 0).sum()) for run in runs if (run.labels < 0).any()}
    notes = tuple(f"{name}: {count} samples are in no cluster; {COUNTED}." for name, count in left_out.items())
    return Table("Comparison", ("method", *keys, "seconds"), (first, *rows), notes, (None, 3, 3, 3, 2))


def _three(value: object) -> str:
    return "–" if value is None else f"{value:.3f}"


def _digits(options: Namespace) -> Any:
    try:
        digits = load_protocol("mnist-1000", options.seed, download=False)
    except DatasetError:
        say(options, "MNIST is not here (pip install 'masked-subspace[data]' brings it): the 8×8 digits instead")
        digits = load_protocol("digits", options.seed)
        digits.data, digits.target = digits.data[:1000], digits.target[:1000]
    if options.samples:
        digits.data, digits.target = digits.data[: options.samples], digits.target[: options.samples]
    return digits
