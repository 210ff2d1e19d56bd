"""Results of the benchmarks: lines of JSON, one a run, and how means over runs are printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np


def load_records(path: Path) -> list[dict[str, Any]]:
    """What is stored, without a last line that a kill cut short; nothing where there is no file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]


def append_record(path: Path, record: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as stream:
        stream.write(json.dumps(record) + "\n")


def standard_error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def cell(entry: tuple[float, float, int] | None) -> str:
    """Of (mean, standard error, runs): percent, with the standard error if there is more than one run."""
    if entry is None:
        return "–"
    return f"{100 * entry[0]:.1f}" + (f" ± {100 * entry[1]:.1f}" if entry[2] > 1 else "")
