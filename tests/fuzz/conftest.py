"""The counts of a session go to the file that MASKED_SUBSPACE_COUNTS names."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from counting import COUNTS, MEASURED


def pytest_sessionfinish(session: pytest.Session) -> None:
    path = os.environ.get("MASKED_SUBSPACE_COUNTS")
    if path:
        Path(path).write_text(json.dumps({"counts": COUNTS, "measured": MEASURED}), encoding="utf-8")
