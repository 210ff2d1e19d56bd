"""Tables, settings and the paper's numbers, read from TOML; a cell of a table is resolved to all that determines it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import packages_distributions, version
from importlib.resources import files

from masked_subspace import registry
from masked_subspace._common.types import Record
from masked_subspace.registry import METHODS, SettingError, did_you_mean, match

SETTINGS = ("paper", "paper-literal", "tuned", "auto")


@dataclass(frozen=True)
class FitSetting:
    """A method with its parameters, and if it needs one the fit whose labels give its first mask."""

    method: str
    parameters: Record = field(default_factory=dict)
    mask_from: FitSetting | None = None
    package: dict[str, str] = field(default_factory=dict)  # whose clusterer it is, if not ours, and which version

    def plain(self) -> Record:
        """As JSON can hold it; part of a cell's key."""
        return {
            **({"package": self.package} if self.package else {}),
            "method": self.method,
            "parameters": self.parameters,
            "mask_from": None if self.mask_from is None else self.mask_from.plain(),
        }


@dataclass(frozen=True)
class Cell:
    """One fit on one trial: a number of a table is a mean over cells."""

    table: str
    row: str  # the method's row in the table
    setting: str
    dataset: str
    trial: int
    fit: FitSetting


@cache
def _toml(name: str) -> Record:
    source = files("masked_subspace.experiments").joinpath("data", f"{name}.toml")
    return tomllib.loads(source.read_text(encoding="utf-8"))


def table_names() -> tuple[str, ...]:
    """The tables that consist of cells."""
    return tuple(name for name, entry in _toml("tables").items() if "metrics" in entry)


def table_entry(table: str) -> Record:
    """What tables.toml says about a table."""
    return dict(_toml("tables")[table])


def dataset_title(dataset: str) -> str:
    """A data set as a table calls it."""
    return str(_toml("tables")["dataset_names"].get(dataset, dataset))


def table_methods(table: str) -> tuple[str, ...]:
    """The rows of a table, from top to bottom."""
    if "methods" in table_entry(table):
        return tuple(table_entry(table)["methods"])
    return tuple(row for row, entry in _rows().items() if table in entry.get("tables", ()))


def method_title(row: str) -> str:
    """A method as a table calls it."""
    own = METHODS[row].title if row in METHODS else row
    return str(_rows().get(row, {}).get("title", own))


def _rows() -> dict[str, Record]:
    """What settings.toml says about each row under `auto`."""
    return {row: entry for row, entry in _toml("settings")["auto"].items() if isinstance(entry, dict)}


def paper_numbers(table: str, dataset: str, row: str) -> Record:
    """What the paper prints for this cell; empty if nothing."""
    return dict(_toml("paper").get(table, {}).get(dataset, {}).get(row, {}))


def paper_rows(dataset: str) -> dict[str, Record]:
    """What the paper prints for each method on a data set, in whichever of its tables the set stands."""
    tables = [_toml("paper").get(table, {}) for table in table_names()]
    return {row: dict(numbers) for table in tables for row, numbers in table.get(dataset, {}).items()}


def paper_entry(part: str) -> Record:
    """Numbers of the paper that are not cells (Table 3, Figure 1)."""
    return dict(_toml("paper")[part])


def setting_about(setting: str) -> tuple[str, bool]:
    """What a setting is, and whether it was chosen with labels."""
    entry = _toml("settings")[setting]
    return str(entry["about"]), bool(entry["chosen_with_labels"])


def resolve(setting: str, row: str, dataset: str) -> FitSetting | None:
    """The fit of a row under a setting; None if the setting says nothing about it."""
    entry = _toml("settings").get(setting, {}).get(row)
    if not isinstance(entry, dict):
        return None
    if setting == "tuned" and dataset not in entry:
        return None  # a tuned setting is tuned for one set or it is not there
    merged = _merged(setting, row, dataset)
    method = str(merged.pop("class", row))
    source = merged.pop("mask_from", None)
    mask_from = None if source is None else resolve(setting if setting != "paper-literal" else "paper", source, dataset)
    if source is not None and mask_from is None:
        raise SettingError(
            f"settings.toml: {setting}.{row} takes its mask from {source!r}, which has no settings there"
        )
    return FitSetting(method, merged, mask_from)


def _merged(setting: str, row: str, dataset: str) -> Record:
    entry = _toml("settings")[setting][row]
    own = {**entry.get("all", {}), **entry.get(dataset, {})}
    like = own.pop("like", None)
    if like is None:
        return own
    other_setting, _, other_row = like.rpartition(".")
    inherited = _merged(other_setting or setting, other_row, dataset)
    return {**inherited, **own}


def cells(
    table: str,
    *,
    settings: Sequence[str] | None = None,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    trials: int | None = None,
    first_trial: int | None = None,
) -> list[Cell]:
    """All cells of a table, trial by trial so that every row has some early."""
    entry = table_entry(table)
    titles = _toml("tables")["dataset_names"]
    chosen = _chosen(datasets, entry["datasets"], "--dataset", {name: (name, titles[name]) for name in titles})
    for dataset in chosen:
        _refuse_set_of_another_table(dataset, table)
    foreign = tuple(name for name in methods or () if ":" in name)
    own = tuple(name for name in methods or () if ":" not in name)
    known = table_methods(table)
    wanted = (
        [] if foreign and not own else _chosen(own, known, "--method", {row: (row, method_title(row)) for row in known})
    )
    left_out = _toml("tables").get("left_out", {})
    found = []
    for dataset in chosen:
        rows = [row for row in known if row in wanted and row not in left_out.get(dataset, ())]
        start = _toml("tables")["first_trial"].get(dataset, 0) if first_trial is None else first_trial
        for trial in range(start, start + (trials or entry["trials"])):
            found += list(_cells_of(table, rows, settings or SETTINGS, dataset, trial))
            found += [Cell(table, name, "auto", dataset, trial, _foreign_fit(name, settings)) for name in foreign]
    return found


def _foreign_fit(name: str, settings: Sequence[str] | None) -> FitSetting:
    """Anybody's clusterer as it comes; its package's version is part of what determines the result."""
    if settings and "auto" not in settings:
        raise SettingError(f"--method {name!r} has no settings of the paper; --setting auto runs it as it comes")
    path = registry.resolve(name).path
    package = path.partition(":")[0].partition(".")[0]
    versions = {one: version(one) for one in packages_distributions().get(package, ())[:1]}
    return FitSetting(path, package=versions)


def _refuse_set_of_another_table(dataset: str, table: str) -> None:
    """The paper's sets stand in the tables that the paper has; other sets (digits) may stand in for any."""
    holding = [name for name in table_names() if dataset in table_entry(name)["datasets"]]
    if holding and table not in holding:
        raise SettingError(
            f"--dataset {dataset!r} is not in {table} of the paper but in {holding[0]}; "
            f"masked-subspace reproduce {holding[0]} --dataset {dataset}"
        )


def dataset_key(name: str) -> str:
    """A data set by its key or title in any spelling; the name itself if no table knows it."""
    titles = _toml("tables")["dataset_names"]
    return match(name, {key: (key, title) for key, title in titles.items()}) or name


def _cells_of(table: str, rows: Iterable[str], settings: Sequence[str], dataset: str, trial: int) -> Iterator[Cell]:
    for row in rows:
        for setting in settings:
            fit = resolve(setting, row, dataset)
            if fit is not None:
                yield Cell(table, row, setting, dataset, trial, fit)


def _chosen(
    asked: Sequence[str] | None, shown: Sequence[str], option: str, names: Mapping[str, Sequence[str]]
) -> list[str]:
    """The keys that were asked for by key or title; all that the table shows if nothing was."""
    found = []
    for name in asked or shown:
        key = match(name, names)
        if key is None:
            hint = did_you_mean(name, names)
            raise SettingError(f"{option} {name!r} is not in this table{hint}; it has {', '.join(shown)}")
        found.append(key)
    return found
