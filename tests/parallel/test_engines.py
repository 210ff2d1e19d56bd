"""Every engine gives the same results in the same order, and passes errors on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from work import Numbers, broken, total

from masked_subspace.parallel import SerialEngine, ThreadEngine, active_engine, block_ranges, local_engine
from masked_subspace.parallel.dask_engine import DaskEngine
from masked_subspace.parallel.joblib_engine import JoblibEngine

VALUES = np.random.default_rng(0).standard_normal(20_000)
BLOCKS = list(block_ranges(len(VALUES), 700))
EXPECTED = [float(VALUES[slice(*block)].sum()) for block in BLOCKS]


def engines(client: Any) -> list[Any]:
    return [SerialEngine(), ThreadEngine(2), JoblibEngine(2), DaskEngine(client)]


def test_blocks_cover_the_rows() -> None:
    assert list(block_ranges(10, 4)) == [(0, 4), (4, 8), (8, 10)]
    assert list(block_ranges(0, 4)) == []


def test_all_engines_agree(client: Any) -> None:
    for engine in engines(client):
        assert list(engine.run(total, Numbers(VALUES), BLOCKS)) == EXPECTED
        assert list(engine.run(total, Numbers(VALUES), [])) == []


def test_errors_of_the_work_come_through(client: Any) -> None:
    for engine in engines(client):
        with pytest.raises(ZeroDivisionError, match="of 20000"):
            list(engine.run(broken, Numbers(VALUES), BLOCKS))


def test_threads_that_are_left_early_stop() -> None:
    results = ThreadEngine(2).run(total, Numbers(VALUES), BLOCKS)
    assert next(results) == EXPECTED[0]
    results.close()  # type: ignore[attr-defined]


def test_parallel_config_chooses_the_engine(client: Any) -> None:
    assert isinstance(active_engine(1), SerialEngine)
    assert isinstance(active_engine(3), ThreadEngine)
    with parallel_config(backend="threading", n_jobs=2):
        assert isinstance(active_engine(2), ThreadEngine)
    with parallel_config(backend="loky", n_jobs=2):
        assert isinstance(active_engine(1), JoblibEngine)
    with parallel_config(backend="dask"):
        assert active_engine(1) is DaskEngine.of(client)


def test_no_threads_is_refused() -> None:
    with pytest.raises(ValueError, match="n_threads is 0"):
        local_engine(0)
