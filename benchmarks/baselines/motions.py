"""Motion segmentation with each baseline's published setting: error in per cent beside the printed one.

    python benchmarks/baselines/motions.py FILE --out motions.jsonl
    python benchmarks/baselines/motions.py FILE --out motions.jsonl --methods SSC LSR

FILE is an .npz of sequences, NAME/x (points × 2·frames) and NAME/s (the motion of each point). Printed errors are
means over the 155 sequences of Hopkins155; ours over the sequences in FILE, which may be fewer. Results are lines of
JSON, and what is there is not run again.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from masked_subspace.baselines import BDR, LRR, LSR, SSC
from masked_subspace.metrics import clustering_accuracy

sys.path.append(str(Path(__file__).parents[1]))
from records import append_record, load_records


def as_given(X: Any) -> Any:
    """The trajectories as they are: an affine subspace for each motion."""
    return X


def homogeneous(X: Any) -> Any:
    """A coordinate 1 at the end: affine subspaces of dimension 3 become linear ones of dimension 4."""
    return np.hstack([X, np.ones((len(X), 1), dtype=X.dtype)])


@dataclass(frozen=True)
class Published:
    """A setting, and the mean errors printed for 2 and 3 motions with their source."""

    make: Callable[[int], Any]
    rows: Callable[[Any], Any]
    printed: tuple[float, float] | None
    source: str


RAW = {"normalize": False, "center": False, "random_state": 0, "n_jobs": 1}
METHODS = {
    "SSC": Published(
        lambda k: SSC(k, affine=True, alpha=800.0, threshold=0.7, solver="admm", **RAW),
        as_given,
        (1.52, 4.40),
        "Elhamifar & Vidal 2013: affine, α = 800, ρ = .7",
    ),
    "LRR": Published(
        lambda k: LRR(k, noise_weight=4.0, **RAW),
        homogeneous,
        (4.10, 9.89),
        "Liu et al. 2013: λ = 4, (MMᵀ)⁴; errors as Elhamifar & Vidal 2013 print them for LRR",
    ),
    "LSR1": Published(
        lambda k: LSR(k, ridge=4.8e-3, zero_diagonal=True, **RAW),
        homogeneous,
        None,
        "Lu et al. 2012: λ = 4.8e-3, diag Z = 0",
    ),
    "LSR2": Published(
        lambda k: LSR(k, ridge=4.6e-3, zero_diagonal=False, **RAW),
        homogeneous,
        None,
        "Lu et al. 2012: λ = 4.6e-3",
    ),
    "BDR-B": Published(
        lambda k: BDR(k, coupling=0.07, block_weight=0.007, threshold=0.7, **RAW),
        homogeneous,
        None,
        "Lu et al. 2019, the authors' code: λ = .07, γ = .007, ρ = .7",
    ),
    "BDR-Z": Published(
        lambda k: BDR(k, output="Z", coupling=0.07, block_weight=0.007, threshold=0.7, **RAW),
        homogeneous,
        None,
        "Lu et al. 2019, the authors' code: λ = .07, γ = .007, ρ = .7",
    ),
}


def run(archive: Any, methods: list[str], out: Path) -> list[dict[str, Any]]:
    """Fit every sequence with every method that is not yet in `out`."""
    records = load_records(out)
    done = {(one["method"], one["sequence"]) for one in records}
    names = sorted({key.split("/")[0] for key in archive.files})
    for method in methods:
        for name in names:
            if (method, name) in done:
                continue
            record = {"method": method, "sequence": name, **one_fit(METHODS[method], archive, name)}
            records.append(record)
            append_record(out, record)
    return [one for one in records if one["method"] in methods]


def one_fit(published: Published, archive: Any, name: str) -> dict[str, Any]:
    X, target = archive[f"{name}/x"].astype(np.float64), archive[f"{name}/s"].ravel()
    motions = len(np.unique(target))
    started = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels = published.make(motions).fit_predict(published.rows(X))
    error = 100 * (1 - clustering_accuracy(target, labels))
    return {"motions": motions, "error": error, "cpu_seconds": time.process_time() - started}


def table(records: list[dict[str, Any]]) -> str:
    """One row a method: mean and median error for 2 and 3 motions, the printed means, CPU seconds of all fits."""
    lines = [
        "| method | 2 motions: mean, median | printed | 3 motions: mean, median | printed | CPU s | setting |",
        "|---|---|---|---|---|---|---|",
    ]
    for method in dict.fromkeys(one["method"] for one in records):
        cells = [method]
        for at, motions in enumerate((2, 3)):
            errors = [one["error"] for one in records if one["method"] == method and one["motions"] == motions]
            printed = METHODS[method].printed
            cells.append(f"{np.mean(errors):.2f}, {np.median(errors):.2f} ({len(errors)})" if errors else "–")
            cells.append("–" if printed is None else f"{printed[at]:.2f}")
        seconds = sum(one["cpu_seconds"] for one in records if one["method"] == method)
        lines.append("| " + " | ".join([*cells, f"{seconds:.0f}", METHODS[method].source]) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path, default=Path("motions.jsonl"))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    arguments = parser.parse_args()
    with np.load(arguments.file, allow_pickle=False) as archive:
        print(table(run(archive, arguments.methods, arguments.out)))


if __name__ == "__main__":
    main()
