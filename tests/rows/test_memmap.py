"""Rows in a file give what rows in memory give, also where a view drops directions."""

import gc
import tempfile

import numpy as np
import pytest
from sklearn.datasets import load_digits

from masked_subspace import RMSC
from masked_subspace.rows.preparation import Preparation, View


@pytest.fixture
def in_file(tmp_path):
    def store(X):
        np.save(tmp_path / "rows.npy", X)
        return np.load(tmp_path / "rows.npy", mmap_mode="r")

    return store


def test_digits_with_the_defaults(in_file, tmp_path, monkeypatch):
    """Border pixels never vary, so every whitened view has fewer columns than X."""
    folder = tmp_path / "spill"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    X = load_digits().data[:150].astype(np.float32)
    expected = RMSC(10, random_state=0).fit(X)
    found = RMSC(10, random_state=0).fit(in_file(X))
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    np.testing.assert_array_equal(found.predict(in_file(X)), expected.predict(X))
    del found
    gc.collect()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("whitening", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("root", [False, True])
def test_every_view_of_a_file_has_the_rows_of_memory(in_file, whitening, root):
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((50, 6)))
    X[:, 4] = X[:, 0]
    X[:, 5] = 0
    view = Preparation.learn(X, View("any", root=root, whitening=whitening))
    rows = view.apply(in_file(X))
    np.testing.assert_allclose(rows, view.apply(X), atol=1e-12)
    assert rows.shape[1] == (6 if whitening == 0 else 4)
