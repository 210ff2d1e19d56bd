"""The code version covers every file that a fit runs through, and nothing that only shows or stores."""

import ast
from pathlib import Path

import pytest

import masked_subspace
from masked_subspace._common import provenance
from masked_subspace._common.provenance import code_version, computing_files
from masked_subspace.registry import METHODS

ROOT = Path(masked_subspace.__file__).parent
# Files that estimators import and that cannot move a number.
SHOWING = {"_common/documentation.py", "_common/progress.py", "_common/files.py", "_common/peak_memory.py"}


def source_of(module):
    path = ROOT.joinpath(*module.split(".")[1:])
    candidates = (path.with_suffix(".py"), path / "__init__.py")
    return next((one for one in candidates if one.exists()), None)


def imported_sources(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
        elif isinstance(node, ast.Import):
            names = [one.name for one in node.names]
        yield from (source_of(name) for name in names if name.split(".")[0] == "masked_subspace")


def test_the_code_version_covers_all_that_a_method_imports():
    modules = {method.path.partition(":")[0] for method in METHODS.values()}
    waiting = [source_of(name) for name in modules if name.startswith("masked_subspace")]
    seen = set(waiting)
    while waiting:
        for found in set(imported_sources(waiting.pop())) - seen - {None}:
            seen.add(found)
            waiting.append(found)
    names = {path.relative_to(ROOT).as_posix() for path in seen}
    covered = {path.relative_to(ROOT).as_posix() for path in computing_files()}
    assert {"baselines/knn.py", "label/kmeans.py"} <= names
    assert names - covered <= SHOWING


def test_what_only_shows_is_not_part_of_it():
    parts = {path.relative_to(ROOT).parts[0] for path in computing_files()}
    assert parts.isdisjoint({"cli", "report", "experiments", "bench", "plots"})
    assert len(code_version()) == 12


@pytest.mark.parametrize(("changed", "expected"), [("", "abc"), (" M src/a.py", "abc+")])
def test_the_commit_is_that_of_a_checkout_with_a_plus_where_files_differ(monkeypatch, tmp_path, changed, expected):
    monkeypatch.setattr(provenance, "__file__", str(tmp_path / "src" / "package" / "room" / "file.py"))
    monkeypatch.setattr(provenance, "_git", lambda _, verb, *__: "abc" if verb == "rev-parse" else changed)
    assert provenance.commit.__wrapped__() is None  # an installed package
    (tmp_path / ".git").mkdir()
    assert provenance.commit.__wrapped__() == expected
