"""A cluster that has lost all its workers is an error, and no wait for ever."""

from __future__ import annotations

import time

import pytest

from masked_subspace.distributed.tasks import Workers, task
from masked_subspace.parallel.dask_engine import ClusterLostError

distributed = pytest.importorskip("distributed")


def test_results_that_no_worker_will_compute_are_not_waited_for() -> None:
    one = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**one) as own, distributed.Client(own) as client:
        workers = Workers(client, patience=1.0)
        assert workers.fetch([task(abs)(-3)]) == [3]
        own.scale(0)
        while client.scheduler_info()["workers"]:
            time.sleep(0.05)
        began = time.monotonic()
        with pytest.raises(ClusterLostError, match="no worker for 1 s"):
            workers.fetch([task(abs)(-3)])
        with pytest.raises(ClusterLostError, match="no worker for 1 s"):
            workers.wait(workers.keep([task(abs)(-3)]))
        assert time.monotonic() - began < 20
