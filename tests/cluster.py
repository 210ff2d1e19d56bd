"""A real scheduler with two worker processes, for the tests that need one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def two_workers() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="2GB"
    ) as running:
        yield running


@contextmanager
def connected(cluster: Any) -> Iterator[Any]:
    import distributed

    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=120)
        yield client
