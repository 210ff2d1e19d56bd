"""How often the library was attacked, and what held: fuzz cases, kills, many fits in one process, permuted rows.

    python benchmarks/robustness/robustness.py --fuzz 60 --soak 200 --out robustness.json

Each part runs the tests that are part of the suite, with more cases, and counts. The record is one JSON object; the
table of docs/findings/robustness.md is printed from it. A part that fails is recorded with its first failure.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import adjusted_rand_score

from masked_subspace import BMSC, RMSC
from masked_subspace._common.provenance import provenance
from masked_subspace.baselines import EDSC, LRR, LSR, SSC, SSCOMP, EnSC, SoftS3C
from masked_subspace.datasets import make_subspaces

ROOT = Path(__file__).parents[2]
KILLS = (
    "tests/cli/test_one_unit.py::test_killed_at_forty_random_moments_it_never_mixes_two_runs",
    "tests/cli/test_one_unit.py::test_cluster_killed_at_ten_random_moments",
    "tests/cli/test_one_unit.py::test_two_at_once_leave_one_whole_run",
    "tests/cli/test_mistakes.py::test_ctrl_c_at_any_moment_is_one_word",
)
PERMUTED = (RMSC, BMSC, SSCOMP, SSC, LSR, EnSC, LRR, EDSC, SoftS3C)
PERMUTATIONS = 3


def tested(tests: tuple[str, ...], **variables: Any) -> dict[str, Any]:
    """What pytest says of these tests, and what they counted."""
    began = time.perf_counter()
    with tempfile.NamedTemporaryFile(suffix=".json") as counts:
        environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *tests],
            cwd=ROOT, env=environment | {"MASKED_SUBSPACE_COUNTS": counts.name}, capture_output=True, text=True,
        )  # fmt: skip
        written = Path(counts.name).read_text(encoding="utf-8")
    failures = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    record = {"held": done.returncode == 0, "said": done.stdout.strip().splitlines()[-1:], "failures": failures}
    return record | (json.loads(written) if written else {}) | {"seconds": time.perf_counter() - began}


def permuted() -> list[dict[str, Any]]:
    """For each method and set the adjusted Rand index between the labels of the rows and of the permuted rows."""
    digits = load_digits().data
    chosen = np.random.default_rng(0).permutation(len(digits))[:400]
    sets = {
        "400 digits": (digits[chosen], 10),
        "wine": (load_wine().data, 3),
        "five subspaces": (make_subspaces(n_subspaces=5, per_subspace=60, random_state=0).data, 5),
    }
    found = []
    for name, (X, n_clusters) in sets.items():
        for method in PERMUTED:
            labels = method(n_clusters, random_state=0, n_jobs=1).fit(X).labels_
            scores = []
            for seed in range(1, PERMUTATIONS + 1):
                places = np.random.default_rng(seed).permutation(len(X))
                again = method(n_clusters, random_state=0, n_jobs=1).fit(X[places]).labels_
                scores.append(float(adjusted_rand_score(labels[places], again)))
            found.append({"set": name, "method": method.__name__, "ari": scores})
    return found


def as_table(record: dict[str, Any]) -> str:
    """The record as a Markdown table."""
    lines = ["| part | what was tried | held |", "|---|---|---|"]
    for name in ("fuzz", "kills", "soak"):
        part = record.get(name)
        if part:
            tried = ", ".join(f"{number} {what}" for what, number in sorted(part.get("counts", {}).items()))
            soak = part.get("measured", {}).get("soak")
            if soak:
                tried = f"{soak['fits']} fits: " + ", ".join(
                    f"{what} {soak['before'][what]} → {soak['after'][what]}" for what in soak["before"]
                )
            lines.append(f"| {name} | {tried or ' '.join(part['said'])} | {'yes' if part['held'] else 'no'} |")
    if "permuted" in record:
        scores = [score for row in record["permuted"] for score in row["ari"]]
        same = sum(score >= 0.99 for score in scores)
        lines.append(f"| permuted rows | {len(scores)} permutations, smallest ARI {min(scores):.2f} | {same} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fuzz", type=int, default=60, help="cases of each property")
    parser.add_argument("--soak", type=int, default=200, help="fits in one process")
    parser.add_argument("--part", action="append", choices=("fuzz", "kills", "soak", "permuted"))
    parser.add_argument("--out", type=Path, default=Path("robustness.json"))
    options = parser.parse_args()
    parts = options.part or ["fuzz", "kills", "soak", "permuted"]
    record = json.loads(options.out.read_text(encoding="utf-8")) if options.out.exists() else {}
    record["machine"] = provenance(threads=1)
    if "fuzz" in parts:
        fuzz = ("tests/fuzz/test_fits.py", "tests/fuzz/test_readers.py")
        record["fuzz"] = tested(fuzz, MASKED_SUBSPACE_FUZZ=options.fuzz) | {"cases": options.fuzz}
    if "kills" in parts:
        record["kills"] = tested(KILLS)
    if "soak" in parts:
        record["soak"] = tested(("tests/fuzz/test_soak.py",), MASKED_SUBSPACE_SOAK=options.soak)
    if "permuted" in parts:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            record["permuted"] = permuted()
    options.out.write_text(json.dumps(record, indent=1), encoding="utf-8")
    print(as_table(record))


if __name__ == "__main__":
    main()
