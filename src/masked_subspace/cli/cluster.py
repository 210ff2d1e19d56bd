"""`masked-subspace cluster FILE --clusters K`: labels, the graph, and a report."""

from __future__ import annotations

import time
from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from masked_subspace._common.files import ensure_folder
from masked_subspace._common.provenance import provenance
from masked_subspace.cli.exits import CommandError, Exit
from masked_subspace.cli.fitting import Fit, as_pictures, fit, parse_settings, scores, wants_progress
from masked_subspace.cli.printing import say, say_json
from masked_subspace.experiments.render import aligned
from masked_subspace.inputs import Samples, clean_text, read_pairs, read_samples
from masked_subspace.registry import make_estimator
from masked_subspace.report import ReportContent, render, run_from_estimator
from masked_subspace.report.archive import save_run


def run(options: Namespace) -> int:
    """Read, fit, write, tell."""
    started = time.perf_counter()
    samples = _read(options)
    settings = parse_settings(options.settings)
    pairs = read_pairs(options.pairs, samples) if options.pairs else None
    if options.clusters > samples.n_samples:
        raise CommandError(f"--clusters {options.clusters} is more than the {samples.n_samples} samples", Exit.INPUT)
    estimator = make_estimator(options.method, options.clusters, settings, options.seed, options.jobs)
    estimator.set_params(verbose=wants_progress(options))
    folder = ensure_folder(options.out or Path(f"{options.file.resolve().stem}-clusters"))
    for note in samples.notes:
        say(options, note)
    reading = time.perf_counter() - started
    fitted = fit(estimator, samples.X, pairs.fit_arguments() if pairs else None)
    content = _content(options, samples, fitted)
    result = _result(options, samples, fitted, content, {"read": reading, "fit": fitted.seconds})
    files = save_run(folder, content, result, None if options.no_report else render(content))
    _tell(options, content, fitted, files)
    say_json(options, {**result, "files": [str(path) for path in files]})
    return Exit.OK


def _read(options: Namespace) -> Samples:
    limit = None if options.max_gb is None else int(options.max_gb * 1e9)
    return read_samples(
        options.file, label_column=options.label_column, image_side=options.image_side, max_text_bytes=limit
    )


def _content(options: Namespace, samples: Samples, fitted: Fit) -> ReportContent:
    name = options.method.upper()
    found = scores(fitted.estimator.labels_, samples.target)
    return ReportContent(
        title=f"{clean_text(options.file.resolve().name)} in {options.clusters} clusters",
        subtitle=f"{name} on {samples.n_samples} samples of {samples.X.shape[1]} values",
        facts={
            "method": name,
            "samples": samples.n_samples,
            "features": int(samples.X.shape[1]),
            "clusters": options.clusters,
            "rounds": int(getattr(fitted.estimator, "n_rounds_", 1)),
            "seed": options.seed,
        },
        names=samples.names,
        target=samples.target,
        class_names=samples.class_names,
        images=as_pictures(samples.X, samples.images_shape),
        runs=(run_from_estimator(fitted.estimator, name, seconds=fitted.seconds, scores=found),),
        notes=(*samples.notes, *fitted.warnings),
    )


def _result(
    options: Namespace, samples: Samples, fitted: Fit, content: ReportContent, timings: dict[str, float]
) -> dict[str, Any]:
    one = content.runs[0]
    return {
        "name": one.name,
        "title": content.title,
        "subtitle": content.subtitle,
        "input": {
            "path": clean_text(str(options.file)),
            "samples": samples.n_samples,
            "features": int(samples.X.shape[1]),
        },
        "method": options.method,
        "parameters": dict(one.parameters),
        "seed": options.seed,
        "cluster_sizes": np.bincount(one.labels).tolist(),
        "scores": dict(one.scores),
        "timings": {**timings, "fit_cpu": fitted.cpu_seconds},
        "history": list(one.history),
        "facts": dict(content.facts),
        "notes": list(content.notes),
        "warnings": list(fitted.warnings),
        "provenance": provenance(options.jobs),
    }


def _tell(options: Namespace, content: ReportContent, fitted: Fit, files: list[Path]) -> None:
    one = content.runs[0]
    say(options, f"\n{content.title}: {one.name}, {fitted.seconds:.2f} s")
    if one.scores:
        say(options, ", ".join(f"{key} {value:.3f}" for key, value in one.scores.items()))
    sizes = np.bincount(one.labels)
    sure = [f"{one.certainty[one.labels == k].mean():.2f}" if size else "–" for k, size in enumerate(sizes)]
    shown = [(k, int(size), sure[k]) for k, size in enumerate(sizes)][:40]
    say(options, "\n" + aligned(("cluster", "samples", "certainty"), shown))
    if len(sizes) > len(shown):
        say(options, f"… and {len(sizes) - len(shown)} more")
    for warning in fitted.warnings:
        say(options, f"note: {warning}")
    say(options, "\n" + "\n".join(f"wrote {path}" for path in files))
