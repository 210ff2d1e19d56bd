"""The code of the pages for users runs: every block of Python, page by page, in the order of the page.

A page may use X (digits), y, K, and the samples of its kind without making them. `<!-- not run …: why -->` before a
block leaves it out.
"""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from masked_subspace.datasets import DatasetNotAvailableError, make_subspaces

DOCS = Path(__file__).parent.parent / "docs"
_BLOCK = re.compile(r"(<!-- not run.*-->\n)?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page):
    return [code for left_out, code in _BLOCK.findall(page.read_text(encoding="utf-8")) if not left_out]


PAGES = [
    page
    for page in sorted([DOCS / "index.md", *DOCS.glob("start/*.md"), *DOCS.glob("guide/*.md")])
    if page.exists() and blocks(page)
]


@pytest.fixture
def names():
    digits = load_digits()
    tracks = make_subspaces(2, dim=3, ambient=20, per_subspace=30, affine=True, random_state=0).data
    rng = np.random.default_rng(0)
    vocabularies = [[f"word{topic}{k}" for k in range(12)] for topic in range(20)]
    return {
        "X": digits.data[:300],
        "y": digits.target[:300],
        "K": 10,
        "new": digits.data[300:320],
        "new_samples": digits.data[300:320],
        "tracks": tracks,
        "counts": rng.poisson(np.repeat(rng.gamma(1, 20, (3, 1200)), 20, axis=0)),
        "documents": [" ".join(rng.choice(words, 8)) for words in vocabularies for _ in range(10)],
    }


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(page, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of low structure: some of these samples have little
        for code in blocks(page):
            try:
                exec(compile(code, str(page), "exec"), names)
            except (ModuleNotFoundError, DatasetNotAvailableError) as error:
                pytest.skip(f"needs more than is here: {error}")


def test_there_is_code_to_run():
    assert len(PAGES) >= 14
