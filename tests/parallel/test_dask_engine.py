"""A real cluster: data are sent once, a killed worker costs only time, no workers is an error in bounded time."""

from __future__ import annotations

import gc
import os
import signal
import time
from typing import Any

import numpy as np
import psutil
import pytest
from work import Numbers, slow_total, total, total_but_die_once

from masked_subspace.parallel import block_ranges
from masked_subspace.parallel.dask_engine import ClusterLostError, DaskEngine

VALUES = np.random.default_rng(0).standard_normal(20_000)
BLOCKS = list(block_ranges(len(VALUES), 1000))
EXPECTED = [float(VALUES[slice(*block)].sum()) for block in BLOCKS]


def test_an_array_is_sent_once_and_let_go_with_its_owner(client: Any) -> None:
    engine = DaskEngine(client)
    values = VALUES.copy()
    for _ in range(3):
        assert list(engine.run(total, Numbers(values), BLOCKS)) == EXPECTED
    assert engine.bytes_sent == values.nbytes
    assert len(engine._futures) == 1
    del values
    gc.collect()
    assert not engine._futures


def test_memory_of_every_worker_is_reported(client: Any) -> None:
    engine = DaskEngine(client)
    list(engine.run(total, Numbers(VALUES), BLOCKS))
    assert 1 <= len(engine.peak_memory) <= 2
    assert all(20e6 < peak < 2e9 for peak in engine.peak_memory.values())


def test_a_memmap_is_opened_and_not_sent(client: Any, tmp_path: Any) -> None:
    np.save(tmp_path / "values.npy", VALUES)
    mapped = np.load(tmp_path / "values.npy", mmap_mode="r")
    engine = DaskEngine(client)
    assert list(engine.run(total, Numbers(mapped), BLOCKS)) == EXPECTED
    assert engine.bytes_sent == 0
    # A part of a file is not the file: it travels as data.
    half = [float(VALUES[10_000:][slice(*block)].sum()) for block in BLOCKS[:10]]
    assert list(engine.run(total, Numbers(mapped[10_000:]), BLOCKS[:10])) == half
    assert engine.bytes_sent == 80_000


def test_a_killed_worker_changes_nothing(client: Any, tmp_path: Any) -> None:
    flag = tmp_path / "died"
    engine = DaskEngine(client)
    assert list(engine.run(total_but_die_once, Numbers(VALUES, str(flag)), BLOCKS)) == EXPECTED
    assert flag.exists()


def test_data_lost_with_all_workers_are_sent_again(client: Any) -> None:
    # Both workers are killed at once; their nannies start new ones that have never seen the data.
    engine = DaskEngine(client)
    results = engine.run(slow_total, Numbers(VALUES), BLOCKS)
    got = [next(results)]
    for pid in client.run(os.getpid).values():
        os.kill(pid, signal.SIGKILL)
    got += list(results)
    assert got == EXPECTED
    assert engine.bytes_sent >= 2 * VALUES.nbytes


def test_data_are_sent_again_where_a_worker_dies_while_they_arrive(client: Any, monkeypatch: Any) -> None:
    from distributed.comm.core import CommClosedError

    whole, lost = type(client).scatter, []

    def scatter(self: Any, *data: Any, **how: Any) -> Any:
        if len(lost) < broken:
            lost.append(1)
            raise CommClosedError("in <TCP (closed)>: Stream is closed")
        return whole(self, *data, **how)

    monkeypatch.setattr(type(client), "scatter", scatter)
    broken = 2
    assert list(DaskEngine(client).run(slow_total, Numbers(VALUES), BLOCKS)) == EXPECTED
    assert len(lost) == 2
    broken = 100
    with pytest.raises(ClusterLostError, match="whenever data were sent"):
        list(DaskEngine(client).run(slow_total, Numbers(VALUES), BLOCKS))


def test_without_workers_there_is_an_error_soon() -> None:
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as own,
        distributed.Client(own) as client,
    ):
        engine = DaskEngine(client, patience=2.0)
        results = engine.run(slow_total, Numbers(VALUES), BLOCKS)
        assert next(results) == EXPECTED[0]
        processes = [worker.process.pid for worker in own.workers.values()]
        own.scale(0)
        began = time.monotonic()
        with pytest.raises(ClusterLostError, match="no worker for 2 s"):
            list(results)
        assert time.monotonic() - began < 20
        assert all(state.status == "cancelled" for state in client.futures.values())
    assert not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in processes)


def test_a_closed_client_is_an_error_at_once(cluster: Any) -> None:
    import distributed

    client = distributed.Client(cluster)
    engine = DaskEngine(client)
    client.close()
    with pytest.raises(ClusterLostError, match="client is closed"):
        list(engine.run(total, Numbers(VALUES), BLOCKS))
