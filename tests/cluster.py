"""A real scheduler with two worker processes; the conftest.py of a folder of tests imports the fixtures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    import dask

    # A LocalCluster gives up a worker that is not back in 15 seconds; on a busy machine it is not.
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit="2GB"
        ) as running,
    ):
        yield running


@pytest.fixture
def client(cluster: Any) -> Iterator[Any]:
    import distributed

    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=120)
        yield client
