"""`masked-subspace cluster FILE --clusters K`: labels, the graph, and a report."""

from __future__ import annotations

import inspect
import shlex
import time
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import issparse

from masked_subspace._common.provenance import provenance
from masked_subspace._common.types import Matrix, Record
from masked_subspace.cli.exits import CommandError, Exit
from masked_subspace.cli.fitting import TimedFit, accepted_by, as_pictures, estimator_for, fit
from masked_subspace.cli.folders import folder_for, place_of
from masked_subspace.cli.printing import complain, say, say_json
from masked_subspace.experiments.render import aligned
from masked_subspace.inputs import GivenPairs, ReadOptions, Samples, clean_text, read_pairs, read_samples
from masked_subspace.inputs.limits import ARRAY_BYTES
from masked_subspace.inputs.text import counted
from masked_subspace.registry import resolve
from masked_subspace.report import ReportContent, render, run_from_estimator
from masked_subspace.report.archive import save_run
from masked_subspace.report.next_steps import as_options
from masked_subspace.report.scoring import COUNTED, scores
from masked_subspace.report.verdict import verdict

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


_UNLIKE = 50  # so many times the smallest standard deviation, and the largest one decides alone


@dataclass(frozen=True)
class _Job:
    """What was asked, read and found."""

    options: Namespace
    samples: Samples
    fitted: TimedFit
    pairs: GivenPairs | None
    reading_seconds: float
    notes: tuple[str, ...]

    @property
    def known(self) -> dict[str, int]:
        """How many known pairs there were, and how many the clusters keep."""
        if self.pairs is None:
            return {}
        must, cannot = self.pairs.kept_by(self.fitted.estimator.labels_)
        return {"must": len(self.pairs.must_link), "must_kept": must, "cannot": len(self.pairs.cannot_link),
                "cannot_kept": cannot, "repeated": self.pairs.repeated}  # fmt: skip


def run(options: Namespace) -> int:
    """Read, fit, write, tell."""
    started = time.perf_counter()
    resolve(options.method)  # a wrong name is said before anything is read
    samples = read_samples(options.file, _reading(options))
    pairs = read_pairs(options.pairs, samples) if options.pairs else None
    most = options.clusters[1] if isinstance(options.clusters, tuple) else options.clusters
    if most != "auto" and most > samples.n_samples:
        raise CommandError(f"--clusters {most} is more than the {samples.n_samples} samples", Exit.INPUT)
    estimator = estimator_for(options, samples.X)
    if pairs and not _takes_pairs(estimator):
        raise CommandError(f"--method {options.method} takes no known pairs (--pairs)")
    X, more = accepted_by(estimator, samples.X, _limit(options) or ARRAY_BYTES)
    folder = folder_for(options, samples)
    for fault in samples.faults:
        complain(fault)
    notes = (*samples.notes, *((pairs.note,) if pairs else ()), *_unlike_scales(samples, estimator), *more)
    for note in notes:
        say(options, note)
    notes = (*samples.faults, *notes)
    reading = time.perf_counter() - started
    job = _Job(options, samples, fit(estimator, X, pairs.fit_arguments() if pairs else None), pairs, reading, notes)
    content = _content(job, X)
    result = {**_result(job, content), "verdict": verdict(content.runs[0])}
    files = save_run(folder, content, result, None if options.no_report else render(content))
    _tell(job, content, result["verdict"], files)
    say_json(options, {**result, "files": [str(path) for path in files]})
    return Exit.OK


def _takes_pairs(estimator: BaseEstimator) -> bool:
    return {"must_link", "cannot_link"} <= set(inspect.signature(estimator.fit).parameters)


def _unlike_scales(samples: Samples, estimator: BaseEstimator) -> tuple[str, ...]:
    """A hint where one column of a table outweighs the others; view="auto" weighs them itself."""
    names = samples.feature_names
    if names is None or issparse(samples.X) or getattr(estimator, "view", None) == "auto":
        return ()
    spread = np.nanstd(samples.X, axis=0)
    least, most = np.argmin(np.where(spread > 0, spread, np.inf)), np.argmax(spread)
    if not 0 < _UNLIKE * spread[least] < spread[most]:
        return ()
    shown = [f"{names[index]!r} {spread[index]:.3g}" for index in (most, least)]
    return (f"features vary on unlike scales (standard deviations: {', '.join(shown)}), so few of them decide; "
            "--scale standard lets all count alike",)  # fmt: skip


def _limit(options: Namespace) -> int | None:
    return None if options.max_gb is None else int(options.max_gb * 1e9)


def _reading(options: Namespace) -> ReadOptions:
    return ReadOptions(
        features=tuple(options.features),
        drop=tuple(options.drop),
        name_column=options.name_column,
        label_column=options.label_column,
        decimal=options.decimal,
        impute=options.impute,
        missing=options.missing,
        scale=options.scale,
        image_side=options.image_side,
        color=options.color,
        skip_unreadable=options.skip_unreadable,
        max_bytes=_limit(options),
    )


def _content(job: _Job, X: Matrix) -> ReportContent:
    options, samples, fitted = job.options, job.samples, job.fitted
    name, labels = resolve(options.method).title, fitted.estimator.labels_
    n_clusters = len(np.unique(labels[labels >= 0]))
    shown = "standard input" if str(options.file) == "-" else clean_text(options.file.resolve().name)
    is_picture = samples.images_shape is not None
    own_graph = hasattr(fitted.estimator, "affinity_matrix_") and hasattr(fitted.estimator, "embedding_")
    return ReportContent(
        title=f"{shown} in {counted(n_clusters, 'cluster')}",
        subtitle=f"{name} on {samples.n_samples} samples of {samples.X.shape[1]} values",
        facts={
            "method": name,
            "samples": samples.n_samples,
            "features": int(samples.X.shape[1]),
            "clusters": n_clusters,
            "rounds": int(getattr(fitted.estimator, "n_rounds_", 1)),
            "seed": options.seed,
        },
        names=samples.names,
        target=samples.target,
        class_names=samples.class_names,
        images=as_pictures(X, samples.images_shape),
        runs=(
            run_from_estimator(
                fitted.estimator,
                name,
                seconds=fitted.seconds,
                scores=scores(labels, samples.target),
                X=None if is_picture and own_graph else X,
                feature_names=samples.feature_names,
            ),
        ),
        notes=(*job.notes, *fitted.warnings),
        command=clean_text(shlex.join(["masked-subspace", *getattr(options, "given", ())])),
    )


def _result(job: _Job, content: ReportContent) -> Record:
    one, options, samples = content.runs[0], job.options, job.samples
    return {
        "name": one.name,
        "title": content.title,
        "subtitle": content.subtitle,
        "input": {
            "path": clean_text(str(options.file)),
            "place": place_of(options.file),
            "samples": samples.n_samples,
            "features": int(samples.X.shape[1]),
            "fingerprints": dict(samples.fingerprints),
        },
        "columns": [column.plain() for column in samples.columns],
        "method": resolve(options.method).key,
        "parameters": dict(one.parameters),
        "seed": options.seed,
        "cluster_sizes": np.bincount(one.labels[one.labels >= 0]).tolist(),
        "unassigned": int((one.labels < 0).sum()),
        "candidates": list(one.n_clusters_candidates),  # where the number of clusters was chosen
        "pairs": job.known,
        "scores": dict(one.scores),
        "timings": {
            "read": job.reading_seconds,
            "fit": job.fitted.seconds,
            "compile": job.fitted.compile_seconds,
            "fit_cpu": job.fitted.cpu_seconds,
        },
        "history": list(one.history),
        "facts": dict(content.facts),
        "notes": list(content.notes),
        "warnings": list(job.fitted.warnings),
        "provenance": provenance(options.jobs),
    }


def _tell(job: _Job, content: ReportContent, words: Record, files: list[Path]) -> None:
    options, fitted, one = job.options, job.fitted, content.runs[0]
    say(options, f"\n{content.title}: {one.name}, {fitted.seconds:.2f} s")
    if fitted.compile_seconds >= 0.1:
        say(options, f"and {fitted.compile_seconds:.1f} s of compiling, once after installation")
    if one.n_clusters_candidates:
        others = ", ".join(map(str, one.n_clusters_candidates[1:]))
        say(options, "the number of clusters was chosen" + (f"; nearly as much speaks for {others}" if others else ""))
    if one.scores:
        say(options, ", ".join(f"{key} {value:.3f}" for key, value in one.scores.items()))
    if job.pairs is not None:
        known = job.known
        again = f" ({counted(known['repeated'], 'line')} repeated another)" if known["repeated"] else ""
        say(options, f"known pairs used: {known['must']} must, {known['cannot']} cannot{again}; "
            f"kept: {known['must_kept']} must, {known['cannot_kept']} cannot")  # fmt: skip
        lost = known["must"] + known["cannot"] > known["must_kept"] + known["cannot_kept"]
        if lost and getattr(fitted.estimator, "constraints", None) == "soft":
            say(options, "soft pairs are evidence and can be overruled; --set constraints=hard keeps every one")
    sizes = np.bincount(one.labels[one.labels >= 0])
    sure = [f"{one.certainty[one.labels == k].mean():.2f}" if size else "–" for k, size in enumerate(sizes)]
    shown = [(k, int(size), sure[k]) for k, size in enumerate(sizes)][:40]
    say(options, "\n" + aligned(("cluster", "samples", "certainty"), shown))
    if len(sizes) > len(shown):
        say(options, f"… and {len(sizes) - len(shown)} more")
    if (one.labels < 0).any():
        rule = f": {COUNTED}" if one.scores else ""
        say(options, f"{int((one.labels < 0).sum())} of {len(one.labels)} samples are in no cluster{rule}")
    say(options, f"\n{words['headline']}")
    for warning in fitted.warnings:
        say(options, f"note: {warning}")
    for step in words["next"]:
        say(options, f"next: {as_options(step)}")
    say(options, "\n" + "\n".join(f"wrote {path}" for path in files))
