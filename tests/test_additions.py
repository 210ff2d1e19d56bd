"""The diffs of docs/adding.md are real: each is applied to a copy of the tree, and its own tests pass there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ADDITIONS = ROOT / "docs" / "additions"
# What must hold in the copy besides the tests that a diff brings: what all of its kind promise.
ALSO = {
    "baseline": ["tests/baselines/test_contract.py", "-k", "shape-interaction"],
    "mask": ["--doctest-modules", "src/masked_subspace/masks/order.py"],
}

pytestmark = [
    pytest.mark.skipif(not ADDITIONS.exists(), reason="docs/ is not in a checkout"),
    pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed, and applies the diffs"),
]


@pytest.fixture
def copy(tmp_path):
    """The package with its compiled parts, the tests and the pages that a diff may touch."""
    for part in ("src", "tests", "docs/api", "pyproject.toml"):
        goal = tmp_path / part
        goal.parent.mkdir(parents=True, exist_ok=True)
        copied = shutil.copytree if (ROOT / part).is_dir() else shutil.copy2
        copied(ROOT / part, goal)
    return tmp_path


def run(command, folder):
    paths = os.pathsep.join([str(folder / "src"), str(folder / "tests")])
    # Outside a repository `git apply` changes files wherever it is.
    apart = {"PYTHONPATH": paths, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    done = subprocess.run(command, cwd=folder, env={**os.environ, **apart}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["mask", "view", "cut", "baseline", "input", "panel"])
def test_the_diff_applies_and_its_tests_pass(kind, copy):
    path = ADDITIONS / f"{kind}.diff"
    own = re.findall(r"^\+\+\+ b/(tests/.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert own, "an addition has a test"
    run(["git", "apply", "--whitespace=error", str(path)], copy)
    for tests in (own, ALSO.get(kind)):
        if tests:
            run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], copy)


def test_the_page_shows_every_diff_and_no_other():
    shown = re.findall(r"additions/(\w+)\.diff", (ROOT / "docs" / "adding.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(path.stem for path in ADDITIONS.glob("*.diff"))
