"""Cells and genes as anndata hands them on; a stand-in of it, so that the extra need not be installed."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace.inputs import InputError, read_samples

COUNTS = np.random.default_rng(0).poisson(1.0, size=(6, 4)).astype(np.float32)


class Table(dict):
    """Columns by name, as a data frame has them."""

    @property
    def columns(self):
        return list(self)


@pytest.fixture
def cells(monkeypatch, tmp_path):
    """A file whose content is what is returned; to be changed before it is read."""
    content = SimpleNamespace(
        X=csr_array(COUNTS),
        obs_names=[f"cell\x1b{k}" for k in range(6)],
        var_names=["g0", "g1", "g2", "g3"],
        obs=Table(Label=["t", "b"] * 3, batch=["1"] * 6),
    )

    class File:
        def visititems(self, add):
            add("X", COUNTS)

    @contextmanager
    def opened(path, mode):
        assert mode == "r"
        yield File()

    monkeypatch.setitem(sys.modules, "anndata", SimpleNamespace(read_h5ad=lambda _: content))
    monkeypatch.setitem(sys.modules, "h5py", SimpleNamespace(File=opened))
    (tmp_path / "a.h5ad").write_bytes(b"\x89HDF\r\n\x1a\n")
    return content


def test_cells_are_samples_and_genes_features(cells, tmp_path):
    samples = read_samples(tmp_path / "a.h5ad")
    np.testing.assert_array_equal(samples.X.toarray(), COUNTS)
    assert samples.names[2] == "cell\ufffd2"
    assert samples.feature_names == ("g0", "g1", "g2", "g3")
    assert (samples.class_names, samples.target.tolist()) == (("b", "t"), [1, 0] * 3)
    assert samples.notes == (
        "6 cells of 4 genes", "obs column 'Label' is the truth to compare with", "obs columns not used: batch",
    )  # fmt: skip
    assert [(one.name, one.role) for one in samples.columns[4:]] == [("Label", "truth"), ("batch", "ignored")]


def test_another_column_may_be_the_truth_and_a_wrong_one_is_said(cells, tmp_path):
    asked = read_samples(tmp_path / "a.h5ad", label_column="batch")
    assert (asked.class_names, asked.notes[2]) == (("1",), "obs columns not used: Label")
    said = r"no obs column 'bach' \(--label-column\) \(did you mean 'batch'\?\); it has Label, batch"
    with pytest.raises(InputError, match=said):
        read_samples(tmp_path / "a.h5ad", label_column="bach")


def test_cells_without_anything_else(cells, tmp_path):
    cells.obs, cells.X = Table(), COUNTS
    samples = read_samples(tmp_path / "a.h5ad")
    assert (samples.notes, samples.target, len(samples.columns)) == (("6 cells of 4 genes",), None, 4)
    np.testing.assert_array_equal(samples.X, COUNTS)
    cells.X = None
    with pytest.raises(InputError, match="has no X"):
        read_samples(tmp_path / "a.h5ad")


def test_a_file_of_cells_may_take_just_the_limit(cells, tmp_path):
    assert read_samples(tmp_path / "a.h5ad", max_bytes=COUNTS.nbytes).n_samples == 6
    with pytest.raises(InputError, match="--max-gb"):
        read_samples(tmp_path / "a.h5ad", max_bytes=COUNTS.nbytes - 1)
