"""From records to the JSON that the page's script draws."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from masked_subspace.report.layout import cluster_map, principal_axes
from masked_subspace.report.matrix import coarse_matrix, display_order
from masked_subspace.report.png import data_uri, sprite_sheet
from masked_subspace.report.record import ReportContent, Run, Table

Array = npt.NDArray[Any]

MAX_POINTS = 20_000
MAX_LINKS = 160_000  # over all rounds of a run
MAX_ROUNDS = 12
AXES = 6
SHOWN_SAMPLES = 8  # most and least certain, each


def payload(content: ReportContent) -> dict[str, Any]:
    """Everything the page needs, aggregated to a bounded size."""
    shown = [_certain_samples(run) for run in content.runs]
    return {
        "title": content.title,
        "subtitle": content.subtitle,
        "facts": [[key, value] for key, value in content.facts.items()],
        "notes": list(content.notes),
        "names": list(content.names) if content.names is not None else None,
        "classes": _classes(content),
        "sprites": _sprites(content, shown),
        "runs": [_run(run, certain, content.target) for run, certain in zip(content.runs, shown, strict=True)],
        "tables": [_table(table) for table in content.tables],
        "figures": [
            {"title": figure.title, "image": data_uri(figure.png), "description": figure.description}
            for figure in content.figures
        ],
    }


def _classes(content: ReportContent) -> dict[str, Any] | None:
    if content.target is None:
        return None
    values, codes = np.unique(content.target, return_inverse=True)
    names = content.class_names or [str(value) for value in values]
    return {"of": _small_integers(codes), "names": [str(name) for name in names]}


def _sprites(content: ReportContent, shown: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    if content.images is None:
        return None
    wanted = [index for certain in shown for groups in certain.values() for group in groups for index in group]
    sheet = sprite_sheet(content.images, np.unique(np.array(wanted, dtype=int)))
    everyone = len(sheet.samples) == len(content.images)
    return {
        "image": data_uri(sheet.png),
        "height": sheet.height,
        "width": sheet.width,
        "columns": sheet.columns,
        "samples": None if everyone else _encoded(sheet.samples.astype("<u4")),
    }


def _run(run: Run, certain: dict[str, Any], target: Array | None) -> dict[str, Any]:
    clusters, codes = np.unique(run.labels, return_inverse=True)
    order = display_order(codes, run.certainty)
    return {
        "name": run.name,
        "clusters": [str(cluster) for cluster in clusters],
        "labels": _small_integers(codes),
        "sizes": np.bincount(codes).tolist(),
        "order": _encoded(order.astype("<u4")),
        "certainty": _encoded(np.rint(255 * run.certainty).astype(np.uint8)),
        "certain": certain,
        "rounds": _rounds(run, order),
        "points": _points(run.embedding, codes),
        "history": [_finite(record) for record in run.history],
        "parameters": [[key, value] for key, value in run.parameters.items()],
        "scores": _finite(run.scores),
        "seconds": run.seconds,
        "confusion": None if target is None else _confusion(codes, target),
        "n_links": int(run.affinity.nnz // 2),
    }


def _rounds(run: Run, order: Array) -> list[dict[str, Any]]:
    """The matrices round by round in the final order and on one scale, so that only the mask makes a difference."""
    rounds = [(item.title, item.affinity) for item in run.rounds] or [("final", run.affinity)]
    if len(rounds) > MAX_ROUNDS:
        kept = np.unique(np.linspace(0, len(rounds) - 1, MAX_ROUNDS).astype(int))
        rounds = [rounds[index] for index in kept]
    budget = MAX_LINKS // (len(rounds) + 1)
    last = coarse_matrix(run.rounds[-1].affinity if run.rounds else run.affinity, order, 2 * budget)
    drawn = [{"title": rounds[-1][0], **last.payload()}]
    for title, affinity in reversed(rounds[:-1]):
        drawn.insert(0, {"title": title, **coarse_matrix(affinity, order, budget, scale=last.scale).payload()})
    return drawn


def _certain_samples(run: Run) -> dict[str, Any]:
    """For each cluster, the samples it is surest and least sure of."""
    most, least = [], []
    for cluster in np.unique(run.labels):
        members = np.flatnonzero(run.labels == cluster)
        ranked = members[np.argsort(-run.certainty[members], kind="stable")]
        most.append(ranked[: min(SHOWN_SAMPLES, (len(ranked) + 1) // 2)].tolist())
        least.append(ranked[::-1][: min(SHOWN_SAMPLES, len(ranked) // 2)].tolist())
    return {"most": most, "least": least}


def _points(embedding: Array, codes: Array) -> dict[str, Any]:
    """The embedding's principal axes and its map, 16 bits a value; every sample up to a limit, then an even choice."""
    n = len(embedding)
    chosen = np.arange(n) if n <= MAX_POINTS else np.linspace(0, n - 1, MAX_POINTS).astype(int)
    projected, share = principal_axes(embedding[chosen], AXES)
    return {
        "axes": int(projected.shape[1]),
        "share": [round(float(value), 4) for value in share],
        "values": _encoded(_sixteen_bits(projected)),
        "map": _encoded(_sixteen_bits(cluster_map(embedding, codes)[chosen])),
        "samples": None if len(chosen) == n else _encoded(chosen.astype("<u4")),
    }


def _sixteen_bits(values: Array) -> Array:
    low, high = values.min(axis=0), values.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    return np.asarray(np.rint((values - low) / span * 65535), dtype="<u2")


def _confusion(codes: Array, target: Array) -> dict[str, Any]:
    """Counts of cluster × class; `match[k]` is the class that the best one-to-one matching gives cluster k, or −1."""
    _, classes = np.unique(target, return_inverse=True)
    counts = np.zeros((codes.max() + 1, classes.max() + 1), dtype=int)
    np.add.at(counts, (codes, classes), 1)
    rows, columns = linear_sum_assignment(-counts)
    match = np.full(counts.shape[0], -1)
    match[rows] = columns
    return {"counts": counts.tolist(), "match": match.tolist()}


def _table(table: Table) -> dict[str, Any]:
    return {
        "title": table.title,
        "columns": list(table.columns),
        "rows": [[_finite_value(cell) for cell in row] for row in table.rows],
        "decimals": list(table.decimals),
        "notes": list(table.notes),
    }


def _finite(record: Any) -> dict[str, Any]:
    return {key: _finite_value(value) for key, value in record.items()}


def _finite_value(value: Any) -> Any:
    """JSON has no infinities."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [_finite_value(item) for item in value]
    if isinstance(value, dict):
        return _finite(value)
    return value


def _small_integers(values: Array) -> str:
    return _encoded(np.asarray(values).astype("<u2"))


def _encoded(values: Array) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
