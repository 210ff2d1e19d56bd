"""Many fits in one process: memory, file descriptors, threads and temporary files stay where they were."""

from __future__ import annotations

import gc
import os
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from counting import MEASURED

from masked_subspace import BMSC, GMSC, RMSC
from masked_subspace.baselines import BDR, EDSC, LRR, LSR, SSC, SSCOMP, EnSC, SoftS3C

FITS = int(os.environ.get("MASKED_SUBSPACE_SOAK", "0"))
MODELS = [BMSC, GMSC, RMSC, BDR, EDSC, LRR, LSR, SSC, SSCOMP, EnSC, SoftS3C]


def used(folder: Path) -> dict[str, int]:
    psutil = pytest.importorskip("psutil")
    gc.collect()
    process = psutil.Process()
    return {
        "megabytes": process.memory_info().rss >> 20,
        "descriptors": process.num_fds(),
        "threads": threading.active_count(),
        "files": len(list(folder.iterdir())),
    }


@pytest.mark.slow
@pytest.mark.skipif(FITS == 0, reason="minutes long; `make soak` runs it")
def test_fits_leave_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rng = np.random.default_rng(0)
    path = tmp_path / "rows.npy"

    def fit(number: int) -> None:
        X = rng.standard_normal((200, 20)).astype(np.float32)
        source: Any = X
        if number % 3 == 0:  # rows in a file are prepared into a temporary file
            np.save(path, X)
            source = np.load(path, mmap_mode="r")
        model = MODELS[number % len(MODELS)](4, random_state=number, n_jobs=2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(source).predict(X[:20])
            if number % 5 == 0:
                with pytest.raises(ValueError):
                    model.fit(X, must_link=[[0, 1]], cannot_link=[[0, 1]])

    for number in range(2 * len(MODELS)):
        fit(number)
    before = used(tmp_path)
    for number in range(FITS):
        fit(number)
    after = used(tmp_path)
    MEASURED["soak"] = {"fits": FITS, "before": before, "after": after}
    assert after["megabytes"] <= before["megabytes"] + 50
    for name in ("descriptors", "threads", "files"):
        assert after[name] <= before[name] + 1, name
