"""Table 3: how the affinity of same-class and different-class pairs moves from BMSC to GMSC to RMSC.

The affinity here is the paper's φ(Z) = (|Z| + |Z|ᵀ)/2 on unit rows. Beside eight pairs of the paper's kind stand the
whole distributions, since eight pairs can be picked to show anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from masked_subspace._common.types import Array
from masked_subspace.experiments.compute import load_trial
from masked_subspace.experiments.graphs import DRAWN_METHODS, graphs_of
from masked_subspace.experiments.results import Results
from masked_subspace.experiments.settings import dataset_title, method_title, paper_entry, table_entry
from masked_subspace.report.record import Table


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
    """The pairs that BMSC, GMSC or RMSC link, and how strongly each of them does."""
    graphs = {
        method: graphs_of(method, setting, dataset, results, trial=trial, threads=threads).paper_affinity
        for method in DRAWN_METHODS
    }
    return linked_pairs(dataset, graphs, load_trial(dataset, trial).target)


def linked_pairs(dataset: str, graphs: Mapping[str, csr_array], target: Array) -> PairStudy:
    """Every pair (once) that at least one graph links, with its value in each."""
    union = csr_array(sum(graphs.values())).tocoo()
    upper = union.row < union.col
    rows, columns = union.row[upper], union.col[upper]
    values = {method: np.asarray(graph[rows, columns]).ravel() for method, graph in graphs.items()}
    return PairStudy(dataset, rows, columns, target[rows] == target[columns], values)


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
            ours = [float(one.values[method][at]) for method in DRAWN_METHODS]
            theirs = [None if place is None else printed[method][place] for method in DRAWN_METHODS]
            pair = f"{dataset_title(one.dataset)}: {int(one.rows[at])}, {int(one.columns[at])}"
            rows.append((pair, "same" if same else "different", *ours, *theirs))
    names = [method_title(method).removesuffix("-v1") for method in DRAWN_METHODS]
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
            values = {method: one.values[method][chosen] for method in DRAWN_METHODS}
            means = [float(values[method].mean()) for method in DRAWN_METHODS]
            tops = [float(np.quantile(values[method], 0.9)) for method in DRAWN_METHODS]
            change = values["rmsc"] - values["bmsc"]
            shares = (100 * float((change > 0).mean()), 100 * float((change < 0).mean()))
            title = dataset_title(one.dataset)
            rows.append((title, "same" if same else "different", int(chosen.sum()), *means, *tops, *shares))
    names = [method_title(method).removesuffix("-v1") for method in DRAWN_METHODS]
    return Table(
        f"Table 3, all linked pairs ({setting})",
        ("data", "class", "pairs", *(f"mean {n}" for n in names), *(f"90 % {n}" for n in names), "rose %", "fell %"),
        tuple(rows),
        ("All pairs that at least one of the three methods links. rose, fell: share of them from BMSC to RMSC.",),
        (None, None, None, 4, 4, 4, 4, 4, 4, 1, 1),
    )
