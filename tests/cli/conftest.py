"""Small digits as a file, and the command in a process of its own."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

FAST = ["--method", "knn", "--jobs", "1"]
PROGRAM = "import sys; from masked_subspace.cli import main; sys.exit(main())"
# A job in the background of a shell inherits "ignore Ctrl-C"; tests of Ctrl-C need it heard.
HEEDING_CTRL_C = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {PROGRAM}"


@pytest.fixture(scope="session")
def digits(tmp_path_factory) -> Path:
    bunch = load_digits(n_class=4)
    path = tmp_path_factory.mktemp("data") / "digits.npz"
    np.savez(path, X=bunch.data[:240], y=bunch.target[:240], shape=(8, 8))
    return path


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def command(*arguments: object, **options: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, arguments)], env=environment(), capture_output=True, text=True,
        check=False, timeout=180, **options,
    )  # fmt: skip


def started(*arguments: object, program: str = PROGRAM, **options: object) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)], env=environment(), stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def label_rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "labels.csv").open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def clusters_in(folder: Path) -> list[str]:
    return [row["cluster"] for row in label_rows(folder)]
