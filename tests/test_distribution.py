"""The source distribution holds all that is needed to test it, build its docs and repeat its figures."""

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("src", "tests", "docs", "benchmarks", "examples")
BUILT = ("site", "_build", "_pictures", "gallery", "generated")  # by `make docs`
CODE = "from setuptools import build_meta; print(build_meta.build_sdist('dist'))"


def test_the_source_distribution_is_complete(tmp_path):
    pytest.importorskip("setuptools", minversion="77")
    if not (ROOT / "MANIFEST.in").exists():
        pytest.skip("these tests are not in a checkout")
    copy = tmp_path / "copy"
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info", ".git", ".venv*", ".cache", ".*_cache", *BUILT)
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=unwanted)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, copy)
    built = subprocess.run([sys.executable, "-c", CODE], cwd=copy, capture_output=True, text=True, check=True)
    with tarfile.open(copy / "dist" / built.stdout.split()[-1]) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {
        str(path.relative_to(copy))
        for folder in FOLDERS
        for path in (copy / folder).rglob("*")
        if path.is_file() and ".egg-info" not in str(path)
    }
    wanted |= {"Makefile", "README.md", "LICENSE", "CITATION.cff", "pyproject.toml", "constraints.txt"}
    wanted |= {"constraints-oldest.txt", "MANIFEST.in"}
    assert wanted - held == set()
    assert not [name for name in held if name.endswith((".pyc", ".nbi", ".nbc"))]
