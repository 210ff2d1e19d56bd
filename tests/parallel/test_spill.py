"""Temporary files of rows: read back equal, gone with their array, also when writing them fails."""

from __future__ import annotations

import gc
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from masked_subspace.parallel.engine import MappedArray, empty_in_file, is_dask_array, rows_in_file


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_dask_array_is_written_chunk_by_chunk(folder: Path) -> None:
    da = pytest.importorskip("dask.array")
    X = np.random.default_rng(0).standard_normal((1000, 7)).astype(np.float32)
    lazy = da.from_array(X, chunks=(300, 4))
    assert is_dask_array(lazy)
    assert not is_dask_array(X)
    rows = rows_in_file(lazy)
    np.testing.assert_array_equal(rows, X)
    assert rows.dtype == np.float32
    assert len(list(folder.iterdir())) == 1
    view = np.asarray(rows)[5:]
    del rows
    gc.collect()
    assert len(list(folder.iterdir())) == 1  # somebody still looks
    del view
    gc.collect()
    assert not list(folder.iterdir())


def test_a_failing_source_leaves_nothing(folder: Path) -> None:
    da = pytest.importorskip("dask.array")

    def fail(block: Any) -> Any:
        raise OSError("the disk is gone")

    lazy = da.zeros((100, 3), chunks=(50, 3)).map_blocks(fail, dtype=float, meta=np.zeros((0, 0)))
    with pytest.raises(OSError, match="disk is gone") as caught:
        rows_in_file(lazy)
    del caught
    gc.collect()
    assert not list(folder.iterdir())


@pytest.mark.parametrize(("given", "kept"), [("u1", "f4"), ("i8", "f8"), ("f4", "f4"), ("f8", "f8")])
def test_small_integers_become_float32(folder: Path, given: str, kept: str) -> None:
    rows = rows_in_file(np.arange(12, dtype=given).reshape(4, 3))
    assert rows.dtype == np.dtype(kept)
    np.testing.assert_array_equal(rows[3], [9, 10, 11])


def test_a_mapped_array_is_found_again(folder: Path) -> None:
    rows = empty_in_file((20, 3), np.float32)
    rows[:] = np.arange(60).reshape(20, 3)
    for seen in (rows, np.asarray(rows)):
        mapped = MappedArray.of(seen)
        assert mapped is not None
        np.testing.assert_array_equal(mapped.open(), rows)
    assert MappedArray.of(rows[2:]) is None
    assert MappedArray.of(np.asarray(rows)[:10]) is None
    assert MappedArray.of(rows + 1) is None
    assert MappedArray.of(np.zeros((2, 2))) is None


def test_a_missing_file_says_what_to_do(folder: Path) -> None:
    with pytest.raises(FileNotFoundError, match="every worker sees"):
        MappedArray(str(folder / "gone"), 0, (2, 2), "<f4").open()
