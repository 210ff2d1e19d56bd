"""Docstrings list what there is: every parameter with its default, attributes that exist, references, an example."""

from __future__ import annotations

import doctest
import inspect
import re
import warnings

import pytest

from baseline_contract import SUBSPACES, baselines, model_of

# Set only under some parameters; each has its own test.
CONDITIONAL = {"outliers_", "noise_"}


def sections(cls):
    """The text of each numpydoc section by its title."""
    parts = re.split(r"^(\w+)\n-+\n", inspect.getdoc(cls), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def entries(text):
    """The lines `name : type` of a section."""
    return re.findall(r"^(\w+) : (.+)$", text, flags=re.MULTILINE)


@pytest.mark.parametrize("key", baselines())
def test_parameters_are_those_of_the_signature_with_their_defaults(key):
    cls = baselines()[key].load()
    found = entries(sections(cls)["Parameters"])
    signature = inspect.signature(cls).parameters
    assert [name for name, _ in found] == list(signature)
    for name, kind in found:
        written = kind.rpartition("default=")[2].replace('"', "'")
        assert written == repr(signature[name].default), name


@pytest.mark.parametrize("key", baselines())
def test_attributes_exist_after_a_fit(key):
    method = baselines()[key]
    text = sections(method.load())["Attributes"]
    names = {name for name, _ in entries(text)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = model_of(method).fit(SUBSPACES.data)
    assert {"labels_", "affinity_matrix_"} <= names
    assert all(hasattr(model, name) for name in names - CONDITIONAL)
    public = {name for name in vars(model) if name.endswith("_") and not name.startswith("_")}
    undocumented = public - names - {"round_affinities_", "round_labels_", "soft_mask_"}
    assert undocumented == set()


@pytest.mark.parametrize("key", baselines())
def test_every_class_has_a_formula_references_and_an_example_that_runs(key):
    cls = baselines()[key].load()
    text = inspect.getdoc(cls)
    assert re.search(r"^ {4}\S.*(min|=)", text, flags=re.MULTILINE)
    assert re.search(r"\.\. \[\w+\d{4}[ab]?\] .+\(\d{4}\)\.", sections(cls)["References"])
    assert "as in `" not in text
    runner = doctest.DocTestRunner()
    for test in doctest.DocTestFinder(recurse=False).find(cls, cls.__name__):
        runner.run(test)
    assert runner.tries >= 4
    assert runner.failures == 0
