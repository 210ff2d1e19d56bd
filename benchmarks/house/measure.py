"""Figures of the code itself: its size, what a fit passes through, what a reader stumbles over.

    python benchmarks/house/measure.py [--import-runs 5]

Prints one line a figure. `docs/findings/house.md` sets them beside those from before the rooms were rebuilt.
"""

from __future__ import annotations

import argparse
import ast
import re
import statistics
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import masked_subspace

ROOT = Path(masked_subspace.__file__).parent
# What a reader of a fit need not open to follow it: compiled loops, protocols and types, progress bars.
NOT_READ = re.compile(r"kernels|types\.py|progress\.py|compilation\.py|__init__\.py|provenance\.py")


def sources() -> list[tuple[Path, str]]:
    return [(path, path.read_text(encoding="utf-8")) for path in sorted(ROOT.rglob("*.py"))]


def passed_through(fit: Callable[[], object]) -> set[tuple[str, str]]:
    """(file, function) of this package that a call enters, in any thread."""
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(ROOT)):
            function = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)  # since Python 3.11
            seen.add((str(Path(name).relative_to(ROOT)), function))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        fit()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return {(file, function) for file, function in seen if "<module>" not in function}


def longest_signature() -> tuple[int, str]:
    """The most positional arguments of a function that is no constructor."""
    found = []
    for path, text in sources():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                names = [one.arg for one in [*node.args.posonlyargs, *node.args.args] if one.arg not in ("self", "cls")]
                found.append((len(names), f"{path.relative_to(ROOT)}:{node.name}"))
    return max(found)


def import_seconds(runs: int) -> float:
    """Median CPU seconds of `import masked_subspace` in a fresh process, less those of an empty one."""

    def seconds(code: str) -> float:
        timed = "import resource;" + code + ";u=resource.getrusage(resource.RUSAGE_SELF);print(u.ru_utime+u.ru_stime)"
        taken = [
            float(subprocess.run([sys.executable, "-c", timed], capture_output=True, text=True, check=True).stdout)
            for _ in range(runs)
        ]
        return statistics.median(taken)

    return seconds("from masked_subspace import RMSC") - seconds("pass")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--import-runs", type=int, default=5)
    options = parser.parse_args()

    from sklearn.datasets import load_digits

    from masked_subspace import BMSC, RMSC

    X = load_digits().data[:400]
    fits: dict[str, Callable[[], object]] = {
        "RMSC(10).fit(digits[:400])": lambda: RMSC(10, random_state=0).fit(X),
        "BMSC(10, solver='dense').fit(digits[:400])": lambda: BMSC(10, solver="dense", random_state=0).fit(X),
    }
    texts = [text for _, text in sources()]
    lines = [line for text in texts for line in text.splitlines()]
    print("files:", len(texts))
    print("lines:", len(lines))
    print("longest file:", max((len(text.splitlines()), str(path.relative_to(ROOT))) for path, text in sources()))
    print("Any:", sum(bool(re.search(r"\bAny\b", line)) for line in lines if "import" not in line))
    print("noqa:", sum("noqa" in line for line in lines))
    print("longest signature (positional):", longest_signature())
    print(f"import seconds (CPU): {import_seconds(options.import_runs):.2f}")
    for name, fit in fits.items():
        fit()  # kernels are compiled and modules imported before the count
        seen = passed_through(fit)
        files = {file for file, _ in seen}
        read = sorted(file for file in files if not NOT_READ.search(file))
        print(f"{name}: {len(files)} files, {len(seen)} functions; to read {len(read)}:")
        print("   " + " ".join(read))


if __name__ == "__main__":
    main()
