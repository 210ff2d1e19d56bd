"""What the columns of a table are for: measurements, names, the truth, or nothing, and why."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from masked_subspace._common.nearest_name import did_you_mean
from masked_subspace.inputs.samples import LABEL_NAMES, Column, InputError, ReadOptions
from masked_subspace.inputs.text import clean_text, counted, listed, shortened

_ID_NAME = re.compile(r"(^|.*[_\-. ])(id|ids|uuid|guid|key|index|idx|rownum|row|nr|no)$|unnamed: 0", re.IGNORECASE)
_ID_CAMEL = re.compile(r".*[a-z]I[dD]$")
# What things are called that are counted, not measured: an id if all its values differ, as no one price or weight need.
_WORD = re.compile(r"[A-Z]?[^\W_A-Z]+|[A-Z]+|#")
_THING = re.compile(
    "account|barcode|case|client|code|customer|ean|employee|identifier|invoice|isbn|isin|member|num|number|"
    "[a-z]*nummer|order|participant|passenger|patient|person|record|respondent|sample|serial|sku|student|subject|"
    "ticket|user|#"
)
_REPEATING_TEXT = "text that repeats, not a measurement; --label-column compares with it"
_MAY_BE_ID = "whole numbers that all differ are taken as a measurement; --drop leaves out what only names samples"
_FEW_ROWS = 20  # fewer different whole numbers prove nothing


@dataclass(frozen=True)
class Facts:
    """What a scan of a column found."""

    name: str
    numeric: bool
    distinct: bool = False  # all values differ, none is missing
    whole: bool = False  # all values are whole numbers
    span: int | None = None  # largest − smallest, of whole numbers
    missing: int = 0
    empty: bool = False
    remark: str = ""  # what else a person should know about it
    fraction: bool = False  # some value is a number with a fraction
    hint: str = ""  # how it could become a feature, where its texts look like numbers


def about_text(different: int | None, missing: int, hint: str = "") -> str:
    """Why a column of texts is no feature; `different` counts its texts, None if some repeat."""
    if different is None:
        said = _REPEATING_TEXT
    elif missing:
        said = (
            f"{counted(different, 'different text')} and {missing} missing, not a measurement; --name-column takes "
            "them as names"
        )
    else:
        said = f"{counted(different, 'different text')}, not a measurement"
    return _with(hint, said)


@dataclass(frozen=True)
class Roles:
    """Indices by role, and the whole story column by column."""

    features: list[int]
    names: int | None
    labels: int | None
    columns: tuple[Column, ...]


def assign(facts: Sequence[Facts], n_rows: int, options: ReadOptions, shown: str) -> Roles:
    """Give every column a role; what a person asked for comes first."""
    known = [one.name for one in facts]
    asked = _chosen(options.features, known, "--features", shown)
    dropped = set(_chosen(options.drop, known, "--drop", shown))
    labels = _labels(facts, n_rows, options, shown, dropped | set(asked))
    names = _position(options.name_column, known, "--name-column", shown)
    taken = {labels, names} | dropped
    why: dict[int, str] = dict.fromkeys(dropped, "left out (--drop)")
    if asked:
        features = [index for index in asked if index not in taken]
        for index in features:
            if not facts[index].numeric:
                raise InputError(f"{shown}: column {known[index]!r} (--features) is text; write it as numbers first")
        why |= {index: "not among --features" for index in range(len(facts)) if index not in {*features, *taken}}
    else:
        reasons = {index: _why_not(one) for index, one in enumerate(facts) if index not in taken}
        reasons |= _id_like(facts, {index for index, reason in reasons.items() if not reason}, n_rows)
        features = [index for index, reason in reasons.items() if not reason]
        why |= {index: reason for index, reason in reasons.items() if reason}
    if not features:
        said = listed([f"{known[index]!r} ({reason})" for index, reason in sorted(why.items())])
        raise InputError(f"{shown} has no column of numbers to use as features; {said or 'every column has a role'}")
    if names is None:
        names = _names(facts, why, dropped, n_rows)
    return Roles(features, names, labels, _story(facts, features, names, labels, why, options, n_rows))


def _why_not(one: Facts) -> str:
    if one.empty:
        return "it has no values"
    if not one.numeric:
        return one.remark or "text"
    return ""


def _id_like(facts: Sequence[Facts], open_columns: set[int], n_rows: int) -> dict[int, str]:
    """Columns that number the rows instead of measuring something."""
    found: dict[int, str] = {}
    for index in sorted(open_columns):
        one = facts[index]
        if one.whole and (_ID_NAME.fullmatch(one.name) or _ID_CAMEL.fullmatch(one.name)):
            found[index] = "an id by its name"
        elif _all_differ(one, n_rows) and one.span == n_rows - 1:
            found[index] = "it numbers the rows"
    for index in sorted(open_columns - set(found)):
        if (
            _all_differ(facts[index], n_rows)
            and _names_things(facts[index].name)
            and len(found) + 1 < len(open_columns)
        ):
            found[index] = "an id by its name: whole numbers, all different"
    if len(found) == len(open_columns):  # nothing would be left: then they are what was measured
        return {}
    return {index: f"{reason}; --features takes it as a measurement" for index, reason in found.items()}


def _all_differ(one: Facts, n_rows: int) -> bool:
    return one.distinct and one.whole and n_rows >= _FEW_ROWS


def _names_things(name: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    return bool(words) and (_THING.fullmatch(words[-1]) is not None or words[0] in ("id", "nr", "no"))


def _names(facts: Sequence[Facts], why: dict[int, str], dropped: set[int], n_rows: int) -> int | None:
    """The first column of texts that all differ, else the first id that does; names that repeat are not names."""
    usable = [index for index in sorted(why) if index not in dropped and facts[index].distinct and n_rows > 1]
    texts = [index for index in usable if not facts[index].numeric]
    ids = [index for index in usable if facts[index].whole and why[index].startswith(("an id", "it numbers"))]
    return next(iter([*texts, *ids]), None)


def _story(
    facts: Sequence[Facts], features: Sequence[int], names: int | None, labels: int | None, why: dict[int, str],
    options: ReadOptions, n_rows: int,
) -> tuple[Column, ...]:  # fmt: skip
    columns = []
    for index, one in enumerate(facts):
        if index == labels:
            role, reason = "truth", "to compare with, not a feature"
        elif index == names:
            left_out = why.get(index, "") if one.numeric else one.hint
            role, reason = "name", "asked for" if options.name_column else _with(left_out, "all values differ")
        elif index in set(features):
            unsure = _MAY_BE_ID if _all_differ(one, n_rows) and not options.features else ""
            role, reason = "feature", "; ".join(filter(None, (one.remark, _no_class(one), unsure)))
        else:
            role, reason = "ignored", why[index]
        columns.append(Column(one.name, role, reason, one.missing))
    return tuple(columns)


def _with(hint: str, said: str) -> str:
    return f"{said}; {hint}" if hint else said


def _chosen(texts: Sequence[str], known: Sequence[str], option: str, shown: str) -> list[int]:
    """Columns by name; a text that is no name is a list of names with commas."""
    wanted = [part for text in texts for part in ([text] if text in known else text.split(","))]
    found = []
    for name in wanted:
        places = [index for index, one in enumerate(known) if one in (name, name.strip())]
        if not places:
            raise _no_column(name, known, option, shown)
        found += places
    return list(dict.fromkeys(found))


def _position(name: str | None, known: Sequence[str], option: str, shown: str) -> int | None:
    if name is None:
        return None
    if name not in known:
        raise _no_column(name, known, option, shown)
    return list(known).index(name)


def _no_column(name: str, known: Sequence[str], option: str, shown: str) -> InputError:
    hint = did_you_mean(name, known)
    return InputError(f"{shown} has no column {clean_text(name)!r} ({option}){hint}; it has {listed(list(known), 20)}")


def _labels(facts: Sequence[Facts], n_rows: int, options: ReadOptions, shown: str, taken: set[int]) -> int | None:
    """The column asked for, else the first of a usual name that can hold classes: not fractions, not all different."""
    if options.label_column is not None:
        return _position(options.label_column, [one.name for one in facts], "--label-column", shown)
    for index, one in enumerate(facts):
        differs = one.distinct and n_rows >= _FEW_ROWS
        if _named_like_labels(one) and index not in taken and not one.fraction and not differs:
            return index
    return None


def _named_like_labels(one: Facts) -> bool:
    return one.name.strip().lower() in LABEL_NAMES


def _no_class(one: Facts) -> str:
    if not (one.fraction and _named_like_labels(one)):
        return ""
    return "has fractions, so it is a measurement and no class (--drop leaves it out)"


def notes_on(columns: Sequence[Column]) -> tuple[str, ...]:
    """The roles in a few lines: features together, every other column by itself."""
    columns = [replace(one, name=shortened(one.name)) for one in columns]
    features = [one for one in columns if one.role == "feature"]
    lines = [f"{counted(len(features), 'feature')}: {listed([one.name for one in features], 8)}"]
    remarks: dict[str, list[str]] = {}
    for one in features:
        if one.why:
            remarks.setdefault(one.why, []).append(one.name)
    lines += [f"{listed(names, 8)}: {why}" for why, names in remarks.items()]
    lines += [
        _with(one.why.partition("; ")[2], f"column {one.name!r} is taken as the samples' names")
        for one in columns
        if one.role == "name"
    ]
    lines += [
        f"column {one.name!r} is taken as the truth to compare with, not as a feature"
        for one in columns
        if one.role == "truth"
    ]
    names = [one.name for one in columns]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        lines.append(f"several columns are called {listed(twice)}; --features and --drop mean all of a name")
    ignored = [one for one in columns if one.role == "ignored"]
    lines += [f"column {one.name!r} is ignored: {one.why}" for one in ignored[:20]]
    if len(ignored) > 20:
        lines.append(f"and {len(ignored) - 20} more columns are ignored; result.json lists them")
    return tuple(lines)
