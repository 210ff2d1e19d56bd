"""A report on real fits: small digits, three methods, awkward names."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from masked_subspace import BMSC, RMSC
from masked_subspace.report import Figure, ReportContent, Table, run_from_estimator, write_report
from masked_subspace.report.png import gray_png

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
]
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}

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


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Any, path: Path, size: str, **settings: Any) -> Iterator[Any]:
    """A page in a tab; anything on the console and any request to outside fails the test."""
    width, height = SIZES[size]
    context = browser.new_context(viewport={"width": width, "height": height}, has_touch=width < 600, **settings)
    context.set_default_timeout(90_000)  # a busy machine is no defect
    tab = context.new_page()
    complaints: list[str] = []
    tab.on("console", lambda message: complaints.append(f"console {message.type}: {message.text}"))
    tab.on("pageerror", lambda error: complaints.append(f"error: {error}"))
    tab.on("request", lambda sent: None if sent.url.startswith(("file:", "data:")) else complaints.append(sent.url))
    tab.goto(path.as_uri())
    tab.wait_for_selector("html[data-ready=true]")
    try:
        yield tab
    finally:
        context.close()
    assert complaints == []


@pytest.fixture(params=SIZES)
def tab(request, browser, page) -> Iterator[Any]:
    with opened(browser, page, request.param) as tab:
        yield tab


def until(tab, expression, seconds=10.0):
    """Wait until an expression is true on the page; playwright's own waiting needs `eval`, which the page forbids."""
    deadline = time.monotonic() + seconds
    while not tab.evaluate(expression):
        assert time.monotonic() < deadline, expression
        tab.wait_for_timeout(50)
