"""Files become dask arrays whose blocks are read when they are computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from masked_subspace.distributed import open_rows

pytest.importorskip("dask.array")

X = np.random.default_rng(0).standard_normal((1000, 7)).astype(np.float32)


@pytest.mark.parametrize("order", ["C", "F"])
def test_npy(tmp_path: Path, order: str) -> None:
    np.save(tmp_path / "rows.npy", np.asarray(X, order=order))
    rows = open_rows(tmp_path / "rows.npy", rows_a_block=300)
    assert rows.chunks == ((300, 300, 300, 100), (7,))
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows.compute(scheduler="synchronous"), X)


def test_parquet_file_and_folder(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for number, part in enumerate(np.array_split(X, 2)):
        table = pa.table({f"c{j}": part[:, j] for j in range(7)})
        parquet.write_table(table, tmp_path / f"{number}.parquet", row_group_size=200)
    rows = open_rows(tmp_path)
    assert rows.chunks[0] == (200, 200, 100, 200, 200, 100)
    np.testing.assert_array_equal(rows.compute(scheduler="synchronous"), X)
    one = open_rows(tmp_path / "1.parquet", rows_a_block=500)
    np.testing.assert_array_equal(one.compute(scheduler="synchronous"), X[500:])
    parquet.write_table(pa.table({"c0": X[:, 0], "name": ["a"] * 1000}), tmp_path / "text.parquet")
    with pytest.raises(ValueError, match="not numbers"):
        open_rows(tmp_path / "text.parquet")


def test_zarr(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    store = zarr.open(str(tmp_path / "rows.zarr"), mode="w", shape=X.shape, chunks=(400, 7), dtype="f4")
    store[:] = X
    rows = open_rows(tmp_path / "rows.zarr")
    np.testing.assert_array_equal(rows.compute(scheduler="synchronous"), X)


def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="does not exist"):
        open_rows(tmp_path / "missing.npy")
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="3 dimensions"):
        open_rows(tmp_path / "cube.npy")
    (tmp_path / "rows.txt").write_text("1 2")
    with pytest.raises(ValueError, match=r"give a \.npy"):
        open_rows(tmp_path / "rows.txt")
