"""Which tests are near to a line; see `wrong_lines.py`."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

from changes import PACKAGE, ROOT

LINES_OF_A_FIT = 2_000  # tests that run more of the package than this are not near to any line
KERNELS = "njit"


class Nearest:
    """The tests that run a line, from a coverage file with contexts."""

    def __init__(self, coverage_file: Path) -> None:
        from coverage import CoverageData

        self._data = CoverageData(str(coverage_file))
        self._data.read()
        self._names = {
            Path(name).as_posix().split("masked_subspace/")[-1]: name for name in self._data.measured_files()
        }
        self._lines_of: Counter[str] = Counter()
        for file in self._names:
            for contexts in self._contexts(file).values():
                self._lines_of.update(contexts)

    @cache  # noqa: B019
    def _contexts(self, file: str) -> dict[int, list[str]]:
        found = self._data.contexts_by_lineno(self._names[file]) if file in self._names else {}
        return {line: sorted({one.rpartition("|")[0] for one in names if "::" in one}) for line, names in found.items()}

    def of(self, file: str, line: int) -> list[str]:
        """Tests that run this line, or a call of its kernel; those that run least else first, no whole fits."""
        tests: set[str] = set()
        for place in _calls(file, line):
            tests.update(self._contexts(place[0]).get(place[1], ()))
        small = [test for test in tests if self._lines_of[test] < LINES_OF_A_FIT] or tests
        return sorted(small, key=lambda test: (self._lines_of[test], test))


def _calls(file: str, line: int) -> list[tuple[str, int]]:
    """The line itself or, of a kernel, every line outside kernels from which it is reached."""
    kernel = kernels_of(file).get(line)
    if kernel is None:
        return [(file, line)]
    wanted, places = [kernel], []
    for name in wanted:
        for path in (ROOT / PACKAGE).rglob("*.py"):
            other = path.relative_to(ROOT / PACKAGE).as_posix()
            if other.split("/")[0] == file.split("/")[0] and name in (text := path.read_text(encoding="utf-8")):
                for node in ast.walk(ast.parse(text)):
                    if getattr(node, "id", getattr(node, "attr", None)) != name:
                        continue
                    caller = kernels_of(other).get(node.lineno)  # type: ignore[attr-defined]
                    if caller is None:
                        places.append((other, node.lineno))  # type: ignore[attr-defined]
                    elif caller not in wanted:
                        wanted.append(caller)
    return places


@cache
def kernels_of(file: str) -> dict[int, str]:
    """Which compiled function each line is in."""
    text = (ROOT / PACKAGE / file).read_text(encoding="utf-8")
    return {
        line: node.name
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and any(KERNELS in ast.unparse(one) for one in node.decorator_list)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def mirrored(file: str) -> list[str]:
    """Test files of the same room, those of its folder first, and then by the imports between them and the module."""
    room = file.split("/")[0].removesuffix(".py")
    found = sorted((ROOT / "tests" / room).rglob("test_*.py")) or sorted((ROOT / "tests").glob(f"test_{room}*.py"))
    module = ".".join(Path("masked_subspace", file).with_suffix("").parts)
    folder = (ROOT / "tests" / file).parent
    found.sort(key=lambda path: (path.parent != folder, _imports_between(path, module), path))
    return [path.relative_to(ROOT).as_posix() for path in found]


def _imports_between(path: Path, module: str, most: int = 4) -> int:
    """How many imports lead from a file to a module; `most` where no fewer do."""
    reached = {path}
    for count in range(most):
        names = set().union(*map(imported_by, reached))
        if module in names:
            return count
        files = ((ROOT / "src").joinpath(*name.split(".")).with_suffix(".py") for name in names)
        reached = {one for one in files if one.exists()}
    return most


@cache
def imported_by(path: Path) -> frozenset[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("masked_subspace"):
            names |= {str(node.module), *(f"{node.module}.{one.name}" for one in node.names)}
    return frozenset(names)
