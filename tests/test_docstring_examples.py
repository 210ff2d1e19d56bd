"""The examples of docstrings run, and everything public has one."""

from __future__ import annotations

import doctest
import inspect
import os
import warnings

import pytest

from public_names import needed_package, public_methods, public_objects

OBJECTS = public_objects()
WITH_EXAMPLE = {
    path: one for path, one in {**OBJECTS, **public_methods()}.items() if ">>>" in (inspect.getdoc(one) or "")
}


@pytest.mark.parametrize("path", OBJECTS)
def test_everything_public_has_an_example(path):
    assert path in WITH_EXAMPLE


@pytest.mark.parametrize("path", WITH_EXAMPLE)
def test_the_example_runs(path, tmp_path, monkeypatch):
    package = needed_package(path)
    if package is not None:
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    for name in ("MASKED_SUBSPACE_DATA", "MASKED_SUBSPACE_CACHE"):
        monkeypatch.delitem(os.environ, name, raising=False)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    example = parser.get_doctest(inspect.getdoc(WITH_EXAMPLE[path]), {}, path, None, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        runner.run(example)
    assert runner.tries > 0
    assert runner.failures == 0
