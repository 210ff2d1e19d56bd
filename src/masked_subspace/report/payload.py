"""From records to the JSON that the page's script draws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import linear_sum_assignment

from masked_subspace._common.types import Array, Record
from masked_subspace.label.graph import distances, nearest_centres
from masked_subspace.report.encoding import encoded, finite, sixteen_bits, small_integers
from masked_subspace.report.layout import graph_map, homes, principal_axes
from masked_subspace.report.matrix import coarse_matrix, display_order
from masked_subspace.report.next_steps import as_options
from masked_subspace.report.palette import class_look, cluster_looks
from masked_subspace.report.pictures import subspace_panel
from masked_subspace.report.png import data_uri, sprite_sheet
from masked_subspace.report.record import ReportContent, Run, Table
from masked_subspace.report.verdict import verdict

MAX_POINTS = 60_000
MAX_AXES_VALUES = 240_000
MAX_LINKS = 160_000  # over all rounds of a run
MAX_ROUNDS = 12
AXES = 6
SHOWN_SAMPLES = 8  # most and least certain, each


def payload(content: ReportContent) -> Record:
    """Everything the page needs, aggregated to a bounded size."""
    shown = [certain_samples(run) for run in content.runs]
    return {
        "title": content.title,
        "subtitle": content.subtitle,
        "facts": [[key, finite(value)] for key, value in content.facts.items()],
        "notes": list(content.notes),
        "names": list(content.names) if content.names is not None else None,
        "classes": _classes(content),
        "sprites": _sprites(content, shown),
        "runs": [_run(run, certain, content) for run, certain in zip(content.runs, shown, strict=True)],
        "tables": [_table(table) for table in content.tables],
        "figures": [
            {"title": figure.title, "image": data_uri(figure.png), "description": figure.description}
            for figure in content.figures
        ],
        "made": {"version": content.version, "created": content.created, "command": content.command},
    }


def _classes(content: ReportContent) -> Record | None:
    if content.target is None:
        return None
    values, codes = np.unique(content.target, return_inverse=True)
    # Class codes index `class_names`; classes that no sample has are not drawn.
    given = content.class_names
    coded = given is not None and values.dtype.kind in "iu" and values.min() >= 0 and values.max() < len(given)
    names = [str(given[value]) if given is not None and coded else str(value) for value in values]
    looks = [class_look(k) for k in range(len(values))]
    return {"of": small_integers(codes), "names": names, "looks": [look.plain() for look in looks]}


def _sprites(content: ReportContent, shown: Sequence[Record]) -> Record | None:
    if content.images is None:
        return None
    wanted = [index for certain in shown for kind in ("most", "least") for group in certain[kind] for index in group]
    sheet = sprite_sheet(content.images, np.unique(np.array(wanted, dtype=int)))
    everyone = len(sheet.samples) == len(content.images)
    return {
        "image": data_uri(sheet.png),
        "height": sheet.height,
        "width": sheet.width,
        "columns": sheet.columns,
        "samples": None if everyone else encoded(sheet.samples.astype("<u4")),
    }


def _run(run: Run, certain: Record, content: ReportContent) -> Record:
    clusters, codes = np.unique(run.labels, return_inverse=True)
    order = display_order(codes, run.certainty)
    return {
        "name": run.name,
        "clusters": ["not assigned" if cluster < 0 else str(cluster) for cluster in clusters.tolist()],
        "looks": [look.plain() for look in cluster_looks(clusters.tolist())],
        "labels": small_integers(codes),
        "following": small_integers(_next_clusters(run, clusters, codes)),
        "sizes": np.bincount(codes).tolist(),
        "order": encoded(order.astype("<u4")),
        "certainty": encoded(np.rint(255 * run.certainty).astype(np.uint8)),
        "certainty_kind": run.certainty_kind,
        "certain": certain,
        "rounds": _rounds(run, order),
        "points": _points(run),
        "history": finite(list(run.history)),
        "parameters": [[key, finite(value)] for key, value in run.parameters.items()],
        "call": run.call,
        "scores": finite(run.scores),
        "seconds": run.seconds,
        "confusion": None if content.target is None else _confusion(clusters, codes, content.target),
        "n_links": int(run.affinity.nnz // 2),
        "graph_kind": run.graph_kind,
        "structure": run.structure if (clusters >= 0).sum() > 1 else None,  # one cluster has nothing to agree on
        "verdict": finite(_verdict(run, content)),
        "choices": finite(list(run.choices)),
        "n_clusters_scores": finite(list(run.n_clusters_scores)),
        "n_clusters_candidates": list(run.n_clusters_candidates),
        "profiles": finite(list(run.profiles)),
        "subspaces": subspace_panel(run, content.images),
    }


def _verdict(run: Run, content: ReportContent) -> Record:
    """What was found; the advice in the words of the command, where one made the page."""
    found = verdict(run, content.runs)
    return {**found, "next": [as_options(step) for step in found["next"]]} if content.command else found


def _next_clusters(run: Run, clusters: Array, codes: Array) -> Array:
    """The second choice of each sample: by membership where known, else the nearest other centre; its own if none."""
    if len(clusters) < 2:
        return codes
    real = np.flatnonzero(clusters >= 0)
    if run.memberships is not None and run.memberships.shape[1] == len(real):
        shares = np.full((len(codes), len(clusters)), -1.0)
        shares[:, real] = run.memberships
        shares[np.arange(len(codes)), codes] = -1.0
        return np.asarray(shares.argmax(axis=1))
    away = distances(run.embedding, nearest_centres(run.embedding, codes).centres)
    away[:, clusters < 0] = np.inf  # samples in no cluster have no centre to be near to
    away[np.arange(len(codes)), codes] = np.inf
    following = away.argmin(axis=1)
    return np.where(np.isinf(away.min(axis=1)), codes, following)


def _rounds(run: Run, order: Array) -> list[Record]:
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


def certain_samples(run: Run) -> Record:
    """For each cluster the samples it is surest and least sure of, and how many are tied with the first of each."""
    most, least, tied_most, tied_least = [], [], [], []
    shown = np.round(run.certainty, 2)
    for cluster in np.unique(run.labels):
        members = np.flatnonzero(run.labels == cluster)
        ranked = members[np.argsort(-run.certainty[members], kind="stable")]
        most.append(ranked[: min(SHOWN_SAMPLES, (len(ranked) + 1) // 2)].tolist())
        least.append(ranked[::-1][: min(SHOWN_SAMPLES, len(ranked) // 2)].tolist())
        tied_most.append(int((shown[members] == shown[ranked[0]]).sum()))
        tied_least.append(int((shown[members] == shown[ranked[-1]]).sum()))
    return {"most": most, "least": least, "tied_most": tied_most, "tied_least": tied_least}


def _points(run: Run) -> Record:
    """The map and the embedding's principal axes, 16 bits a value; every sample up to a limit, then an even choice."""
    n = len(run.labels)
    chosen = np.arange(n) if n <= MAX_POINTS else np.linspace(0, n - 1, MAX_POINTS).astype(int)
    projected, share = principal_axes(run.embedding[chosen], max(2, min(AXES, MAX_AXES_VALUES // len(chosen))))
    places = graph_map(run.affinity, run.embedding, homes(run.embedding, run.labels))[chosen]
    return {
        "axes": int(projected.shape[1]),
        "share": [round(float(value), 4) for value in share],
        "values": sixteen_bits(projected),
        "map": sixteen_bits(places, -1.0, 1.0),
        "samples": None if len(chosen) == n else encoded(chosen.astype("<u4")),
    }


def _confusion(clusters: Array, codes: Array, target: Array) -> Record:
    """Counts of cluster × class; `match[k]` is the class that the best one-to-one matching gives cluster k, or −1."""
    _, classes = np.unique(target, return_inverse=True)
    counts = np.zeros((len(clusters), classes.max() + 1), dtype=int)
    np.add.at(counts, (codes, classes), 1)
    real = np.flatnonzero(clusters >= 0)  # being in no cluster stands for no class
    rows, columns = linear_sum_assignment(-counts[real])
    match = np.full(len(clusters), -1)
    match[real[rows]] = columns
    return {"counts": counts.tolist(), "match": match.tolist()}


def _table(table: Table) -> Record:
    return {
        "title": table.title,
        "columns": list(table.columns),
        "rows": finite([list(row) for row in table.rows]),
        "decimals": list(table.decimals),
        "notes": list(table.notes),
    }
