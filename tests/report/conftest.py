"""A report on real fits: small digits, three methods, awkward names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from masked_subspace import BMSC, RMSC
from masked_subspace.report import Figure, ReportContent, Table, run_from_estimator, write_report
from masked_subspace.report.png import gray_png

HOSTILE = '</script><img src=x onerror="document.title=1">{{script}}\u2028'


@pytest.fixture(scope="session")
def digits() -> tuple[np.ndarray, np.ndarray]:
    bunch = load_digits(n_class=5)
    return bunch.data[:300].astype(np.float32), bunch.target[:300]


@pytest.fixture(scope="session")
def fitted_rmsc(digits) -> RMSC:
    settings = {"sparsity": 1e-3, "members": 1, "mask_weight": 1.0, "mask_strength": 3.0}  # rounds that differ
    return RMSC(5, **settings, max_rounds=2, random_state=0, n_jobs=1).fit(digits[0])


@pytest.fixture(scope="session")
def content(digits, fitted_rmsc) -> ReportContent:
    X, y = digits
    basic = BMSC(5, random_state=0, n_jobs=1).fit(X)
    images = (X.reshape(-1, 8, 8) * 255 / 16).astype(np.uint8)
    names = [f"digit {i}" for i in range(len(X))]
    names[7] = HOSTILE
    runs = (
        run_from_estimator(basic, "BMSC", seconds=0.5, scores={"accuracy": 0.5}),
        run_from_estimator(fitted_rmsc, "RMSC", seconds=1.5, scores={"accuracy": 0.75, "NMI": float("nan")}),
    )
    table = Table(
        "Comparison",
        ("method", "accuracy", "seconds"),
        (("b", 0.5, 2.0), ("a", 0.25, None), ("c", 0.75, 10.0)),
        ("a note",),
        (None, 3, 2),
    )
    return ReportContent(
        title=f"Digits {HOSTILE}",
        subtitle="A test",
        facts={"samples": len(X), HOSTILE: HOSTILE},
        names=names,
        target=y,
        class_names=["zero", "one", HOSTILE, "three", "four"],
        images=images,
        runs=runs,
        tables=(table,),
        figures=(Figure("A figure", gray_png(images[0]), "one digit"),),
    )


@pytest.fixture(scope="session")
def page(content, tmp_path_factory) -> Path:
    return write_report(content, tmp_path_factory.mktemp("report") / "report.html")
