"""Lengths that a damaged image claims take no memory."""

import tracemalloc

import numpy as np
import pytest

from masked_subspace.inputs import read_samples

Image = pytest.importorskip("PIL.Image")


def test_a_damaged_length_in_a_png_takes_no_memory(tmp_path):
    for name in ("a.png", "b.png"):
        Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).save(tmp_path / name)
    whole = bytearray((tmp_path / "b.png").read_bytes())
    assert whole[37:41] == b"IDAT"
    whole[33] = 0x10  # the length before it: a quarter of a GB
    (tmp_path / "b.png").write_bytes(bytes(whole))
    tracemalloc.start()
    samples = read_samples(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.array_equal(samples.X[0], samples.X[1])
    assert peak < 50_000_000
