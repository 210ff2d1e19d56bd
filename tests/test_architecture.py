"""Imports point one way, the package is quick to import, and nothing optional is imported with it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import masked_subspace

ROOT = Path(masked_subspace.__file__).parent

# A room may import from itself and from the layers before its own, not from others of its layer.
LAYERS = [
    {"_common"},
    {"masks", "parallel"},
    {"represent", "label"},
    {"metrics", "rows", "preprocessing", "inputs"},
    {"datasets"},
    {"rounds", "distributed"},
    {"estimators"},
    {"baselines"},
    {"report", "registry"},
    {"plots"},
    {"experiments", "bench"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def imported_parts(path):
    """Top-level parts of this package that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            pieces = name.split(".")
            if pieces[0] == "masked_subspace" and len(pieces) > 1 and pieces[1] in LEVEL:
                yield pieces[1]


def part_of(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def test_every_part_has_a_layer():
    parts = {part_of(path) for path in ROOT.rglob("*.py")} - {"__init__", "__main__"}
    assert parts == set(LEVEL)


@pytest.mark.parametrize("part", sorted(LEVEL))
def test_imports_point_one_way(part):
    files = [path for path in ROOT.rglob("*.py") if part_of(path) == part]
    wrong = {
        f"{path.relative_to(ROOT)} imports {other}"
        for path in files
        for other in imported_parts(path)
        if other != part and LEVEL[other] >= LEVEL[part]
    }
    assert wrong == set()


OPTIONAL = {
    "torch",
    "matplotlib",
    "rich",
    "dask",
    "distributed",
    "faiss",
    "kymatio",
    "PIL",
    "pooch",
    "pandas",
    "pyarrow",
    "anndata",
    "h5py",
}


def test_no_file_imports_an_optional_package_at_its_top():
    wrong = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                module = node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
                if (module or "").split(".")[0] in OPTIONAL:
                    wrong.add(f"{path.relative_to(ROOT)} imports {module}")
    assert wrong == set()


def test_nothing_heavy_comes_with_the_import():
    """scikit-learn itself imports pandas and rich where they are installed, so those are not looked for here."""
    code = (
        "import sys, masked_subspace.estimators, masked_subspace.baselines, masked_subspace.datasets\n"
        "print(sorted({'torch', 'matplotlib', 'dask', 'distributed', 'faiss', 'kymatio', 'PIL'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert found == "[]"


def test_private_names_of_scikit_learn_are_imported_in_one_place():
    """They change without notice: one file to mend then."""
    found = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("sklearn.")
        if any(piece.startswith("_") for piece in [*node.module.split("."), *(alias.name for alias in node.names)])
    }
    assert found == {"_common/validation.py"}
