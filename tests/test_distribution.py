"""What people install: the wheel holds the package and nothing else, the sdist also all that tests, docs and figures
need; both bear the version that stands in one place."""

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("src", "tests", "docs", "benchmarks", "examples")
BUILT = ("site", "site-quick", "_build", "_build-quick", "_pictures", "gallery", "generated")  # by `make docs`
FILES = {
    ".pre-commit-config.yaml",
    "CHANGELOG.md",
    "CITATION.cff",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "MANIFEST.in",
    "Makefile",
    "README.md",
    "SECURITY.md",
    "constraints-oldest.txt",
    "constraints.txt",
    "pyproject.toml",
}
CODE = "from setuptools import build_meta; print(build_meta.build_{}('dist'))"


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A checkout without what tools have left in it."""
    pytest.importorskip("setuptools", minversion="77")
    if not (ROOT / "MANIFEST.in").exists():
        pytest.skip("these tests are not in a checkout")
    copy = tmp_path_factory.mktemp("checkout")
    unwanted = shutil.ignore_patterns("__pycache__", "*.egg-info", ".git", ".venv*", ".cache", ".*_cache", *BUILT)
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, copy / folder, ignore=unwanted)
    for name in FILES:
        shutil.copy(ROOT / name, copy)
    return copy


def built(copy, kind):
    done = subprocess.run(
        [sys.executable, "-c", CODE.format(kind)], cwd=copy, capture_output=True, text=True, check=True
    )
    return copy / "dist" / done.stdout.split()[-1]


@pytest.fixture(scope="module")
def sdist(copy):
    return built(copy, "sdist")


@pytest.fixture(scope="module")
def wheel(copy):
    return built(copy, "wheel")


def files_below(folder, start):
    """Files by their paths from `start`, without what building and running leave behind."""
    found = {path.relative_to(start).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {name for name in found if ".egg-info" not in name and not name.endswith((".pyc", ".nbi", ".nbc"))}


def test_the_source_distribution_holds_the_checkout(copy, sdist):
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames() if archive.getmember(name).isfile()}
    wanted = FILES.union(*(files_below(copy / folder, copy) for folder in FOLDERS))
    assert wanted - held == set()
    made = {name for name in held - wanted if not name.startswith("src/masked_subspace.egg-info/")}
    assert made == {"PKG-INFO", "setup.cfg"}


def test_the_wheel_holds_the_package_and_nothing_else(copy, wheel):
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        about = {name.partition(".dist-info/")[2] for name in archive.namelist() if ".dist-info/" in name}
    assert held == files_below(copy / "src" / "masked_subspace", copy / "src")
    assert {"masked_subspace/py.typed", "masked_subspace/report/assets/report.html"} <= held
    assert about == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "top_level.txt"}


def test_the_version_stands_in_one_place(copy, wheel):
    (version,) = re.findall(r'^__version__ = "(.+)"$', (copy / "src/masked_subspace/__init__.py").read_text(), re.M)
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        about = HeaderParser().parsestr(archive.read(name).decode("utf-8"))
    assert about["Version"] == version
    for name in ("pyproject.toml", "CITATION.cff", "README.md"):
        assert version not in (copy / name).read_text(encoding="utf-8")
        assert not re.search(r'^version *[:=] *"?\d', (copy / name).read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_the_changelog_has_entries_for_this_version(copy):
    """The first section is of this version, or of the one to come; a released version has its date."""
    (version,) = re.findall(r'^__version__ = "(.+)"$', (copy / "src/masked_subspace/__init__.py").read_text(), re.M)
    text = (copy / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    headings = [section.partition("\n")[0] for section in sections]
    assert headings[0] == "[Unreleased]" if "dev" in version else headings[0].startswith(f"[{version}] - ")
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", one) for one in headings if "Unrel" not in one)
    assert re.search(r"^- \S", sections[0], flags=re.MULTILINE)
    known = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", text, flags=re.MULTILINE)) <= known


def test_the_pages_of_an_index_can_show_the_description(sdist, wheel):
    pytest.importorskip("twine")
    command = [sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
