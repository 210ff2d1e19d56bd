"""From the database to files: terminal, Markdown, CSV, LaTeX, pictures and the report."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from masked_subspace._common.files import FileError, write_bytes, write_text
from masked_subspace._common.progress import Events, SilentEvents, track
from masked_subspace._common.provenance import code_version, commit, processor
from masked_subspace._common.types import Record
from masked_subspace.datasets import DatasetError
from masked_subspace.experiments.compute import load_trial
from masked_subspace.experiments.figures import figure1, figure2, figure3, figure4
from masked_subspace.experiments.pair_study import PairStudy, pair_tables, study
from masked_subspace.experiments.render import comma_separated, latex, markdown
from masked_subspace.experiments.results import DATABASE, Results
from masked_subspace.experiments.settings import Cell, cells, method_title, table_entry, table_methods, table_names
from masked_subspace.experiments.tables import Row, report_tables, table_rows
from masked_subspace.registry import match
from masked_subspace.report import Figure, ReportContent, Table, write_report
from masked_subspace.report.archive import IncompleteRunError, to_json
from masked_subspace.report.page import refuse_foreign_page

_PARTS = ("all", "table1", "table2", "table3", "figures")


@dataclass(frozen=True)
class Request:
    """Which part of the paper, restricted how."""

    part: str
    settings: tuple[str, ...] | None = None
    datasets: tuple[str, ...] | None = None
    methods: tuple[str, ...] | None = None
    trials: int | None = None
    first_trial: int | None = None
    accept_older: bool = False
    threads: int = 1
    compute: bool = True  # False: show what is in the database; Table 3 and the figures, which need fits, are left out
    missing: tuple[str, ...] = ()  # data sets that are not to be had here

    def has(self, part: str) -> bool:
        """Whether a part was asked for."""
        return self.part in (part, "all")

    @property
    def stem(self) -> str:
        """What its files are called: the part, and the sets the paper does not have there, kept apart from its own."""
        own = {name for table in _PARTS if self.has(table) for name in self._paper_sets(table)}
        return "-".join([self.part, *(name for name in self.datasets or () if name not in own)])

    def _paper_sets(self, part: str) -> list[str]:
        if part == "all":
            return []
        return list(table_entry("table3" if part == "figures" else part)["datasets"])

    def cells(self) -> list[Cell]:
        """All cells of the tables asked for."""
        found = [cell for table in table_names() if self.has(table) for cell in self._cells_of(table)]
        return [cell for cell in found if cell.dataset not in self.missing]

    def pair_datasets(self) -> list[str]:
        """The sets of Table 3 and Figure 3."""
        usual = table_entry("table3")["datasets"]
        if not self.compute or not (self.has("table3") or self.has("figures")):
            return []
        asked = [name for name in self.datasets or usual if name in usual or self.part != "all"]
        return [name for name in asked if name not in self.missing]

    def _cells_of(self, table: str) -> list[Cell]:
        datasets, methods = self.datasets, self.methods
        if self.part == "all":  # a data set or method of one table is simply not in the other
            entry = table_entry(table)
            datasets = None if datasets is None else tuple(one for one in datasets if one in entry["datasets"])
            rows = {row: (row, method_title(row)) for row in table_methods(table)}
            methods = None if methods is None else tuple(one for one in methods if ":" in one or match(one, rows))
            if datasets == () or methods == ():
                return []
        return cells(
            table,
            settings=self.settings,
            datasets=datasets,
            methods=methods,
            trials=self.trials,
            first_trial=self.first_trial,
        )


def without_missing(request: Request) -> tuple[Request, dict[str, str]]:
    """The request without the data sets that no source has, and for each of those the reason."""
    reasons: dict[str, str] = {}
    first_trials = {cell.dataset: cell.trial for cell in reversed(request.cells())}
    for dataset in dict.fromkeys([*first_trials, *request.pair_datasets()]):
        try:
            load_trial(dataset, first_trials.get(dataset, 0))
        except DatasetError as error:
            reasons[dataset] = str(error)
    left = replace(request, missing=tuple(reasons))
    if reasons and not left.cells() and not left.pair_datasets():
        raise DatasetError(next(iter(reasons.values())))
    return left, reasons


@dataclass(frozen=True)
class Published:
    """What was made."""

    rows: list[Row]
    tables: list[Table]
    figures: list[Figure]
    files: list[Path]


def pair_setting(request: Request) -> str:
    """Table 3 and the figures are about the paper's own models."""
    return request.settings[0] if request.settings else "paper"


def collect(request: Request, results: Results, events: Events) -> tuple[list[Row], list[Table], list[Figure]]:
    """Everything that was asked for, computing what Table 3 and the figures need and the database lacks."""
    rows = table_rows(request.cells(), results, accept_older=request.accept_older)
    if not request.compute:  # what nobody asked for yet is no empty row
        rows = [row for row in rows if row.done or row.failed]
    tables = report_tables(rows)
    figures: list[Figure] = []
    studies: list[PairStudy] = []
    setting = pair_setting(request)
    datasets = request.pair_datasets()
    if datasets:
        studies = [study(name, setting, results, threads=request.threads) for name in track(datasets, "pairs", events)]
    if request.has("table3") and studies:
        tables += pair_tables(studies, setting)
    if request.has("figures") and request.compute:
        figures = [figure1(results), figure2()]
        if studies:
            dataset = "coil20" if "coil20" in datasets else datasets[0]
            figures += [figure3(studies), figure4(results, setting, dataset, threads=request.threads)]
    return rows, tables, figures


def publish(request: Request, folder: Path, events: Events | None = None) -> Published:
    """Write the part as Markdown, CSV, LaTeX, JSON and pictures, and report.html with all parts of this folder."""
    with Results(folder / DATABASE) as results:
        rows, tables, figures = collect(request, results, events or SilentEvents())
    files = []
    if tables:
        for name, text in (("md", markdown(tables)), ("csv", comma_separated(tables)), ("tex", latex(tables))):
            files.append(write_text(folder / f"{request.stem}.{name}", text))
    other = request.stem.removeprefix(request.part)
    pictures = [
        write_bytes(folder / f"figure{number}{other}.png", one.png) for number, one in enumerate(figures, start=1)
    ]
    files += [*pictures, write_text(folder / f"{request.stem}.json", _part_as_json(request, tables, figures, pictures))]
    files.append(write_report(report_content(folder), folder / "report.html"))
    return Published(rows, tables, figures, files)


def refuse_foreign(request: Request, folder: Path) -> None:
    """An error if publishing would replace a file that this program did not write; said before anything is computed.

    A page says itself whose it is. Tables and pictures do not: beside a database of ours they are ours.
    """
    refuse_foreign_page(folder / "report.html")
    if (folder / DATABASE).exists():
        return
    other = request.stem.removeprefix(request.part)
    names = [*(f"{request.stem}.{ending}" for ending in ("md", "csv", "tex", "json")),
             *(f"figure{number}{other}.png" for number in (1, 2, 3, 4) if request.has("figures"))]  # fmt: skip
    there = [name for name in names if os.path.lexists(folder / name)]
    if there:
        raise FileError(f"{folder} has a {there[0]} that no run wrote; move it away or choose another --out")


def _part_as_json(
    request: Request, tables: Sequence[Table], figures: Sequence[Figure], pictures: Sequence[Path]
) -> str:
    shown = [
        {"title": one.title, "description": one.description, "file": path.name}
        for one, path in zip(figures, pictures, strict=True)
    ]
    made_with = {"code": code_version(), "commit": commit(), "processor": processor(), "threads": request.threads}
    return to_json({"made_with": made_with, "tables": [asdict(table) for table in tables], "figures": shown})


def report_content(folder: Path) -> ReportContent:
    """The page of all parts that were published in a folder; of two that hold the same table, the newer one counts."""
    tables: dict[str, Table] = {}
    figures: dict[str, Figure] = {}
    facts: Record = {}
    paths = [path for part in _PARTS for path in (*folder.glob(f"{part}.json"), *folder.glob(f"{part}-*.json"))]
    if not paths:
        raise IncompleteRunError(f"{folder} holds no table or figure; `masked-subspace reproduce` makes them")
    for path in sorted(paths, key=lambda path: path.stat().st_mtime):
        try:
            facts, stored_tables, stored_figures = _read_part(path, folder)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise IncompleteRunError(
                f"{path} is no part that `masked-subspace reproduce` wrote; move it away or run it again"
            ) from error
        tables |= stored_tables
        figures |= stored_figures
    return ReportContent(
        title="The paper's tables and figures, computed again",
        subtitle="Masked Subspace Clustering Methods (Song and Ling, arXiv 2505.06863), beside our own runs.",
        facts={key: value for key, value in facts.items() if value is not None},
        tables=tuple(tables[title] for title in sorted(tables)),
        figures=tuple(figures[title] for title in sorted(figures)),
    )


def _read_part(path: Path, folder: Path) -> tuple[Record, dict[str, Table], dict[str, Figure]]:
    if not path.is_file():
        raise ValueError("no plain file")
    stored = json.loads(path.read_text(encoding="utf-8"))
    tables = {table.title: table for table in map(_table, stored["tables"])}
    other = path.stem.partition("-")[2]
    titles = [f"{one['title']} ({other})" if other else one["title"] for one in stored["figures"]]
    figures = {
        title: Figure(title, (folder / one["file"]).read_bytes(), one["description"])
        for title, one in zip(titles, stored["figures"], strict=True)
    }
    return dict(stored["made_with"]), tables, figures


def _table(stored: Record) -> Table:
    return Table(
        title=stored["title"],
        columns=tuple(stored["columns"]),
        rows=tuple(tuple(row) for row in stored["rows"]),
        notes=tuple(stored["notes"]),
        decimals=tuple(stored["decimals"]),
    )
