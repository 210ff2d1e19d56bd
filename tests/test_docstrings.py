"""Docstrings of everything public: numpydoc's checks, exactly the parameters there are, their defaults, plain RST."""

from __future__ import annotations

import dataclasses
import inspect
import re
import tomllib
from pathlib import Path
from typing import Protocol

import pytest

from public_names import public_methods, public_objects

numpydoc_validate = pytest.importorskip("numpydoc.validate")

ROOT = Path(__file__).parent.parent
OBJECTS = public_objects()
DOCUMENTED = {**OBJECTS, **public_methods()}


def sections(documented):
    """The text of each numpydoc section by its title."""
    parts = re.split(r"^(\w[\w ]*)\n-+\n", inspect.getdoc(documented), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def entries(text):
    """Names and types of the lines `name : type` of a section; `a, b : type` counts twice."""
    found = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.+)$", text, flags=re.MULTILINE)
    return [(name, kind) for names, kind in found for name in names.split(", ")]


def checks():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["numpydoc_validation"]
    return set(settings["checks"])


@pytest.mark.parametrize("path", DOCUMENTED)
def test_numpydoc_finds_nothing_wrong(path):
    wanted = checks() if takes_parameters(DOCUMENTED[path]) else {code for code in checks() if code[:2] != "PR"}
    found = numpydoc_validate.validate(path)["errors"]
    assert [(code, text) for code, text in found if code in wanted] == []


def takes_parameters(documented):
    """Functions and classes that people make objects of; not properties, errors and protocols."""
    if inspect.isclass(documented):
        without_own = Protocol in documented.__mro__ and "__init__" not in vars(documented)
        return not (issubclass(documented, BaseException) or getattr(documented, "_is_protocol", False) or without_own)
    return not isinstance(documented, property)


def stated_default(default):
    """A default as a docstring states it."""
    text = getattr(default, "__name__", None) or repr(default)
    return text.replace("'", '"')


@pytest.mark.parametrize("path", DOCUMENTED)
def test_parameters_are_those_of_the_signature_with_their_defaults(path):
    documented = DOCUMENTED[path]
    if not takes_parameters(documented):
        return
    signature = {name: one for name, one in inspect.signature(documented).parameters.items() if name != "self"}
    found = entries(sections(documented).get("Parameters", ""))
    assert [name.lstrip("*") for name, _ in found] == list(signature)
    for name, kind in found:
        default = signature[name.lstrip("*")].default
        if default is inspect.Parameter.empty:
            assert "default" not in kind, name
        elif isinstance(default, type(dataclasses.MISSING)) or repr(default) == "<factory>":
            assert kind.endswith("optional"), name
        else:
            assert kind.rpartition("default=")[2].replace("'", '"') == stated_default(default), name


@pytest.mark.parametrize("path", OBJECTS)
def test_nothing_is_left_to_another_docstring(path):
    assert not re.search(r"\bas in (:func:|`|\[)", inspect.getdoc(OBJECTS[path]))
    assert "{parameters}" not in inspect.getdoc(OBJECTS[path])
    assert "{attributes}" not in inspect.getdoc(OBJECTS[path])


@pytest.mark.parametrize("path", DOCUMENTED)
def test_the_text_is_valid_restructuredtext(path):
    """`|Z|` outside backticks, for instance, is a substitution to docutils, and `labels_` a link."""
    from docutils import nodes
    from docutils.core import publish_doctree
    from docutils.parsers.rst import Directive, directives, roles
    from numpydoc.docscrape_sphinx import get_doc_object

    class Only(Directive):
        has_content, optional_arguments = True, 1

        def run(self):
            return []

    directives.register_directive("only", Only)
    roles.register_local_role("obj", roles.GenericRole("obj", nodes.literal))
    options = {"show_class_members": False, "show_inherited_class_members": False, "xref_param_type": False}
    text = str(get_doc_object(DOCUMENTED[path], config=options))
    tree = publish_doctree(text, settings_overrides={"report_level": 2, "halt_level": 6, "warning_stream": False})
    messages = [*tree.findall(nodes.system_message), *tree.transform_messages]
    assert [message.astext() for message in messages] == []
