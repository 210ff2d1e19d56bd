"""A real scheduler with two worker processes, started once for this folder."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cluster import connected, two_workers


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    with two_workers() as running:
        yield running


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    with connected(cluster) as client:
        yield client
