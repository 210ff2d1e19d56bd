"""Table 3: how the affinity of same-class and different-class pairs moves from BMSC to GMSC to RMSC.

The affinity here is the paper's φ(Z) = (|Z| + |Z|ᵀ)/2 on unit rows. Beside eight pairs of the paper's kind stand the
whole distributions, since eight pairs can be picked to show anything.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from masked_subspace.experiments.compute import Trial, fit_estimator, load_trial
from masked_subspace.experiments.results import Results, as_json
from masked_subspace.experiments.settings import dataset_title, method_title, paper_entry, resolve, table_entry
from masked_subspace.provenance import code_version
from masked_subspace.report.record import Table

Array = npt.NDArray[Any]

METHODS = ("bmsc", "gmsc", "rmsc")


@dataclass(frozen=True)
class PairStudy:
    """All pairs that at least one method links, on one data set."""

    dataset: str
    rows: Array
    columns: Array
    same_class: Array
    values: Mapping[str, Array]  # method → φ of each pair

    def example(self, same: bool) -> int:
        """A typical pair of the paper's kind: the median of those that move as promised, or of all if none does."""
        before, after = self.values["bmsc"], self.values["rmsc"]
        moved = after - before if same else before - after
        candidates = np.flatnonzero((self.same_class == same) & (moved > 0))
        if not len(candidates):
            candidates = np.flatnonzero(self.same_class == same)
        return int(candidates[np.argsort(moved[candidates], kind="stable")[len(candidates) // 2]])


def study(dataset: str, setting: str, results: Results, *, trial: int = 0, threads: int = 1) -> PairStudy:
    """Fit the three methods, or take what was kept of an earlier time."""
    data = load_trial(dataset, trial)
    fits = {method: resolve(setting, method, dataset) for method in METHODS}
    described = {method: None if fit is None else fit.plain() for method, fit in fits.items()}
    determined_by = {"part": "pairs", "data": data.hash, "fits": described, "seed": trial, "code": code_version()}
    key = hashlib.sha256(as_json(determined_by).encode()).hexdigest()[:32]
    stored = results.artifact(key)
    if stored is None:
        stored = _packed(_graphs(fits, data, trial, threads), data)
        results.store_artifact(key, stored)
    with np.load(io.BytesIO(stored), allow_pickle=False) as arrays:
        values = {method: arrays[method] for method in METHODS}
        return PairStudy(dataset, arrays["rows"], arrays["columns"], arrays["same_class"], values)


def _graphs(fits: Mapping[str, Any], data: Trial, trial: int, threads: int) -> dict[str, csr_array]:
    graphs = {}
    for method, fit in fits.items():
        estimator = fit_estimator(fit, data.X, data.n_clusters, trial, threads)
        graphs[method] = _paper_affinity(estimator.representation_matrix_)
    return graphs


def _paper_affinity(representation: csr_array) -> csr_array:
    Z = abs(csr_array(representation))
    return csr_array((Z + Z.T) / 2)


def _packed(graphs: Mapping[str, csr_array], data: Trial) -> bytes:
    union = csr_array(sum(graphs[method] for method in METHODS)).tocoo()
    upper = union.row < union.col
    rows, columns = union.row[upper], union.col[upper]
    values = {method: np.asarray(graph[rows, columns]).ravel().astype(np.float32) for method, graph in graphs.items()}
    stream = io.BytesIO()
    same = data.target[rows] == data.target[columns]
    arrays: dict[str, Any] = {"rows": rows, "columns": columns, "same_class": same, **values}
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def pair_tables(studies: Sequence[PairStudy], setting: str) -> list[Table]:
    """The eight pairs beside the paper's, and the distributions."""
    return [_examples(studies, setting), _distributions(studies, setting)]


def _examples(studies: Sequence[PairStudy], setting: str) -> Table:
    printed = paper_entry("table3")
    rows = []
    for same in (True, False):
        for number, one in enumerate(studies):
            at = one.example(same)
            place = printed["pairs"].index(f"pair-{2 * number + (1 if same else 2)}") if number < 4 else None
            ours = [float(one.values[method][at]) for method in METHODS]
            theirs = [None if place is None else printed[method][place] for method in METHODS]
            pair = f"{dataset_title(one.dataset)}: {int(one.rows[at])}, {int(one.columns[at])}"
            rows.append((pair, "same" if same else "different", *ours, *theirs))
    names = [method_title(method).removesuffix("-v1") for method in METHODS]
    return Table(
        f"{table_entry('table3')['title']} ({setting})",
        ("pair", "class", *names, *(f"paper {name}" for name in names)),
        tuple(rows),
        (
            "The paper does not say which pairs it shows. Here: of the pairs that move as promised (same class up, "
            "different class down from BMSC to RMSC) the one with the median move: typical, not the most striking.",
        ),
        (None, None, 4, 4, 4, 4, 4, 4),
    )


def _distributions(studies: Sequence[PairStudy], setting: str) -> Table:
    rows = []
    for one in studies:
        for same in (True, False):
            chosen = one.same_class == same
            if not chosen.any():
                continue
            values = {method: one.values[method][chosen] for method in METHODS}
            means = [float(values[method].mean()) for method in METHODS]
            tops = [float(np.quantile(values[method], 0.9)) for method in METHODS]
            change = values["rmsc"] - values["bmsc"]
            shares = (100 * float((change > 0).mean()), 100 * float((change < 0).mean()))
            title = dataset_title(one.dataset)
            rows.append((title, "same" if same else "different", int(chosen.sum()), *means, *tops, *shares))
    names = [method_title(method).removesuffix("-v1") for method in METHODS]
    return Table(
        f"Table 3, all linked pairs ({setting})",
        ("data", "class", "pairs", *(f"mean {n}" for n in names), *(f"90 % {n}" for n in names), "rose %", "fell %"),
        tuple(rows),
        ("All pairs that at least one of the three methods links. rose, fell: share of them from BMSC to RMSC.",),
        (None, None, None, 4, 4, 4, 4, 4, 4, 1, 1),
    )
