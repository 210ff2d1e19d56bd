"""Waiting for workers: a cluster that has lost all of them is an error, and a long wait leaves nothing behind."""

from __future__ import annotations

import gc
import time
import weakref

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


def test_what_was_waited_for_long_is_let_go_at_once() -> None:
    """Not only when Python looks for cycles: until then the workers would hold the data of stages that are over."""
    one = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**one) as own, distributed.Client(own) as client:
        workers = Workers(client)
        gc.collect()
        gc.disable()
        try:
            slow = workers.keep([task(time.sleep)(2.5)])
            future = weakref.ref(slow[0].future)
            assert workers.fetch(slow) == [None]
            del slow
            until = time.monotonic() + 5
            while future() is not None and time.monotonic() < until:
                time.sleep(0.01)
            assert future() is None
        finally:
            gc.enable()
