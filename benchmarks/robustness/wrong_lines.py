"""Make lines wrong on purpose, one at a time, and see whether the tests notice.

    python benchmarks/robustness/wrong_lines.py --rooms label masks metrics.py --draw 60 --seed 1 --out drawn.jsonl
    python benchmarks/robustness/wrong_lines.py --list by_hand.jsonl --coverage .coverage --out by_hand_seen.jsonl

Each line is changed in a copy of the tree, never in the checkout, and the tests nearest to it are run there. With a
coverage file (`pytest --cov --cov-context=test`) these are the tests that run the line, those that run least else
first; for a compiled kernel, the tests that run a call of it. Survivors then meet more of these tests or, without such
a file, the other test files of their room. `--out` gets one JSON line for each; a second call goes on where the first
ended. Whether a survivor changes anything but time or text is for a reader to say: add `"equivalent": true` to its
line. What is printed at the end counts these apart.

A list has JSON lines with `file` (below src/masked_subspace), `before` (text that occurs once in the file, or `line`
beside it) and `after`; the output of an earlier run is such a list.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import numba
import pytest
from changes import PACKAGE, ROOT, applied, draw
from nearest_tests import KERNELS, Nearest, imported_by, kernels_of, mirrored

NOT_COPIED = shutil.ignore_patterns(".git", ".venv*", ".cache", "build", "dist", "site*", "_build*", "*.egg-info")
NEAREST, OTHERS = 15, 100  # tests by coverage: at first, and of the others for a survivor
FIRST_FILES = 4  # without coverage
PATIENCE = 10  # seconds for each CPU second that tests may take: on a busy machine they wait


def import_libraries(tree: Path) -> None:
    """Import what tests import, and forget what lies in the tree: one line of it will be wrong."""
    sys.path.insert(0, str(tree / "src"))
    for module in ("hypothesis", "masked_subspace.estimators.rmsc", "masked_subspace.represent.dense.solve"):
        import_module(module)
    with redirect_stdout(StringIO()):
        pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", str(tree / "tests/test_metrics.py")])
    for name, imported in list(sys.modules.items()):
        if str(getattr(imported, "__file__", None)).startswith(str(tree)):
            del sys.modules[name]


def run_tests(tree: Path, tests: list[str], limit: float, compiled: Path) -> tuple[str, str]:
    """The verdict and the test that gave it. A fork of this process runs them: the libraries are imported already."""
    with tempfile.TemporaryFile("w+") as said:
        child = os.fork()
        if child == 0:
            os.setsid()
            os.chdir(tree)
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
            for stream in (1, 2):
                os.dup2(said.fileno(), stream)
            os.environ |= {"PYTHONPATH": str(tree / "src"), "NUMBA_CACHE_DIR": str(compiled)}
            vars(numba.config)["CACHE_DIR"] = str(compiled)
            code = pytest.main(["-x", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", "-W", "ignore", *tests])
            sys.stdout.flush()
            os._exit(int(code))
        ends = time.monotonic() + PATIENCE * limit
        try:
            while not (done := os.waitpid(child, os.WNOHANG))[0]:
                if time.monotonic() > ends:
                    return "too slow", ""
                time.sleep(0.05)
        finally:
            if not done[0]:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
        said.seek(0)
        lines = said.read().splitlines()
    if done[1] == 0:
        return "not noticed", ""
    if os.WIFSIGNALED(done[1]) and os.WTERMSIG(done[1]) == signal.SIGXCPU:
        return "too slow", ""
    failed = next((line for line in lines if line.startswith(("FAILED ", "ERROR "))), "").split(" - ")[0]
    ran = os.WIFEXITED(done[1]) and os.WEXITSTATUS(done[1]) in (4, 5)
    return ("no tests", " ".join(lines[-2:])) if ran and not failed else ("noticed", failed or "the process died")


def tried(wrong: dict[str, Any], tree: Path, nearest: Nearest | None, limit: float, first_only: bool) -> dict[str, Any]:
    """One wrong line in the copy, and what the tests say."""
    file = wrong["file"]
    path, compiled = tree / PACKAGE / file, tree.parent / "compiled"
    text, stamp = path.read_text(encoding="utf-8"), path.stat()
    changed = applied(text, wrong)
    line = 1 + text[: next(place for place, one in enumerate(text) if changed[place : place + 1] != one)].count("\n")
    if KERNELS in text:  # numba does not see a change in a kernel that another file's kernel calls
        scratch = tree.parent / "compiled-wrong"
        shutil.rmtree(scratch, ignore_errors=True)
        shutil.copytree(compiled, scratch)
        module = ".".join(Path("masked_subspace", file).with_suffix("").parts)
        for path_of_caller in (tree / PACKAGE / file.split("/")[0]).rglob("*.py"):
            if line in kernels_of(file) and module in imported_by(path_of_caller):
                for one in scratch.rglob(f"{path_of_caller.stem}.*"):
                    one.unlink()
        compiled = scratch
    covering, files = nearest.of(file, line) if nearest else [], mirrored(file)
    first = covering[:NEAREST] or files[:FIRST_FILES]
    others = covering[NEAREST : NEAREST + OTHERS] if covering else files[FIRST_FILES:]
    began = time.monotonic()
    try:
        path.write_text(changed, encoding="utf-8")
        verdict, by = run_tests(tree, first, limit, compiled)
        if verdict == "not noticed" and others and not first_only:
            later = run_tests(tree, others, limit, compiled)  # that they take too long says nothing of the line
            verdict, by = later if later[0] == "noticed" else (verdict, by)
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    seconds = round(time.monotonic() - began, 1)
    return wrong | {"line": line, "verdict": verdict, "by": by, "tests": len(covering), "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", nargs="+", default=[], help="folders or files below src/masked_subspace")
    parser.add_argument("--draw", type=int, default=0, help="how many wrong lines to draw from the rooms")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", type=Path, help="wrong lines as JSON lines")
    parser.add_argument("--coverage", type=Path, help="a coverage file with contexts")
    parser.add_argument("--limit", type=float, default=120, help="CPU seconds for the tests of one line")
    parser.add_argument("--first-only", action="store_true", help="leave survivors for later")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "wrong-lines", help="for the copy")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the tests that run are ended too
    wrongs = draw(given.rooms, given.draw, given.seed)
    if given.list:
        wrongs += [json.loads(line) for line in given.list.read_text(encoding="utf-8").splitlines() if line.strip()]
    known = given.out.read_text(encoding="utf-8").splitlines() if given.out.exists() else []
    done = {tuple(json.loads(line)[key] for key in ("file", "before", "after")) for line in known}
    tree = given.work.resolve() / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT, tree, ignore=NOT_COPIED)
    (tree / "tests/conftest.py").unlink()  # compiles kernels in a process of its own before every session
    (tree.parent / "compiled").mkdir(exist_ok=True)
    import_libraries(tree)
    nearest = Nearest(given.coverage) if given.coverage else None
    with given.out.open("a", encoding="utf-8") as out:
        for number, wrong in enumerate(wrongs, 1):
            if tuple(wrong[key] for key in ("file", "before", "after")) in done:
                continue
            record = tried(wrong, tree, nearest, given.limit, given.first_only)
            print(number, len(wrongs), *(record[key] for key in ("file", "line", "verdict", "by")), flush=True)
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            out.flush()
    counts: Counter[str] = Counter()
    for line in given.out.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        counts["changes nothing" if record.get("equivalent") else record["verdict"]] += 1
    print(dict(counts))


if __name__ == "__main__":
    main()
