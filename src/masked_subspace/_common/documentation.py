"""Parameters that several classes share: what each may be and what it means, written once, read in every class.

`described(parameters, attributes)` decorates a class. It puts an entry for each parameter that the docstring does not
list itself into the place marked `{parameters}`, and what every fit leaves behind into `{attributes}`, again without
what the docstring lists itself. Defaults are read from the signature, so that they cannot differ from it.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

from masked_subspace._common.types import Record

_WIDTH = 112  # of a line: the house's 120 without the indentation of a docstring

Class = TypeVar("Class", bound=type[Any])


class Parameter(NamedTuple):
    """What a parameter may be (scikit-learn's constraints), its type in words, and its meaning."""

    constraint: Any
    kind: str
    meaning: str


def in_words(meanings: Mapping[str, str]) -> str:
    """Values that a parameter may have, each with what it does."""
    return "; ".join(f'"{name}" {meaning}' for name, meaning in meanings.items())


def described(parameters: Mapping[str, Parameter], attributes: str) -> Callable[[Class], Class]:
    """A decorator that gives a class the constraints and the docstring of its parameters."""

    def describe(cls: Class) -> Class:
        signature = inspect.signature(cls).parameters
        text = inspect.cleandoc(cls.__doc__ or "")
        listed = set(re.findall(r"^(\w+) : ", text, flags=re.MULTILINE))
        shared = [name for name in signature if name not in listed]
        unknown = [name for name in shared if name not in parameters]
        if unknown:
            raise TypeError(
                f"{cls.__name__} has the parameters {', '.join(unknown)}, which neither its docstring nor the shared "
                "table describes; add an entry to one of them."
            )
        cls._parameter_constraints = _constraints(cls, list(signature), parameters)
        entries = [_entry(parameters[name], name, signature[name].default) for name in shared]
        text = text.replace("{parameters}", "\n".join(entries)).replace("{attributes}", _without(attributes, listed))
        cls.__doc__ = textwrap.indent(text, "    ").strip() + "\n    "
        return cls

    return describe


def _constraints(cls: type[Any], names: list[str], parameters: Mapping[str, Parameter]) -> dict[str, Any]:
    """Of each parameter, from the nearest place that says it: the class itself, the shared table, the base classes."""
    rules: Record = {}
    for base in reversed(cls.__mro__[1:]):
        rules |= vars(base).get("_parameter_constraints", {})
    rules |= {name: one.constraint for name, one in parameters.items()}
    rules |= vars(cls).get("_parameter_constraints", {})
    return {name: rules[name] for name in names}


def _entry(parameter: Parameter, name: str, default: object) -> str:
    meaning = textwrap.fill(
        parameter.meaning, _WIDTH, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False
    )
    return f"{name} : {parameter.kind}, default={default!r}\n{meaning}"


def _without(attributes: str, listed: set[str]) -> str:
    entries = re.split(r"^(?=\w+ : )", attributes.strip(), flags=re.MULTILINE)
    return "".join(one for one in entries if one.partition(" : ")[0] not in listed).strip()
