"""Where a mapped array lies in its file, how far work runs ahead, and when an array is sent again."""

from __future__ import annotations

from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from masked_subspace.parallel import engine
from masked_subspace.parallel.engine import MappedArray, SerialEngine, ThreadEngine, active_engine, rows_in_file


def test_an_array_behind_a_header_is_found_again(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"sixteen bytes..!" + np.arange(6, dtype="<f4").tobytes())
    rows = np.memmap(path, mode="r", dtype="<f4", shape=(2, 3), offset=16)
    mapped = MappedArray.of(rows)
    assert mapped == MappedArray(str(path), 16, (2, 3), "<f4")
    np.testing.assert_array_equal(mapped.open(), [[0, 1, 2], [3, 4, 5]])


def test_a_part_of_a_file_is_not_the_file(tmp_path: Path) -> None:
    """A slice keeps the offset of the whole: opened by it, rows 0 and 1 would stand for rows 2 and 3."""
    whole = np.memmap(tmp_path / "rows", mode="w+", dtype="<f4", shape=(4, 3))
    part = whole[2:]
    assert part.offset == whole.offset
    assert MappedArray.of(part) is None
    assert MappedArray.of(whole) is not None


@pytest.mark.parametrize(("given", "kept"), [("u2", "f4"), ("i2", "f4"), ("i4", "f8"), ("u4", "f8")])
def test_integers_become_the_smallest_float_that_holds_them(given: str, kept: str) -> None:
    largest = np.iinfo(given).max
    rows = rows_in_file(np.array([[largest, 1], [0, 2]], dtype=given))
    assert rows.dtype == np.dtype(kept)
    assert int(rows[0, 0]) == largest


def test_no_more_than_two_blocks_a_thread_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = []

    class Noted(deque[Any]):
        def append(self, one: Any) -> None:
            super().append(one)
            longest.append(len(self))

    monkeypatch.setattr(engine, "deque", Noted)
    assert list(ThreadEngine(2).run(lambda shared, block: shared + block, 10, range(40))) == list(range(10, 50))
    assert max(longest) == 5


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_a_backend_of_one_process_is_no_reason_to_leave_this_one(
    monkeypatch: pytest.MonkeyPatch, n_jobs: int | None
) -> None:
    monkeypatch.setattr(engine, "get_active_backend", lambda: (SimpleNamespace(supports_sharedmem=False), n_jobs))
    assert isinstance(active_engine(1), SerialEngine)
    assert isinstance(active_engine(2), ThreadEngine)


def test_an_array_in_the_place_of_another_is_sent_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays are remembered by their place in memory, which a later array may have."""
    pytest.importorskip("distributed")
    from masked_subspace.parallel.dask_engine import DaskEngine

    class Client:
        pass

    client = Client()
    sender = DaskEngine(client)  # type: ignore[arg-type]
    sent: list[Any] = []

    def scattered(array: Any) -> Any:
        sent.append(array)
        return SimpleNamespace(status="finished", number=len(sent))

    monkeypatch.setattr(sender, "_scattered", scattered)
    array, other = np.zeros(4), np.ones(4)
    first: Any = sender._place(array)
    assert sender._place(array) is first
    sender._futures[id(other)] = sender._futures[id(array)]
    assert sender._place(other) is not first
    assert len(sent) == 2
    assert sender.bytes_sent == 64
    first.status = "lost"
    assert sender._place(array) is not first
    assert len(sent) == 3
