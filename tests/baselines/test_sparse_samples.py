"""Sparse samples give what the same samples give when dense, and are never made dense."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

from baseline_contract import baselines, model_of
from masked_subspace._common.sparse.row_space import RowSpace
from masked_subspace.baselines import EDSC, LSR, SSC, AutoencoderEDSC
from masked_subspace.metrics import clustering_accuracy


def documents(n_features=400):
    """Counts of 60 samples in three groups that use different words, and their groups."""
    rng = np.random.default_rng(0)
    words = rng.poisson(0.1, size=(60, n_features)).astype(float)
    group = np.repeat(np.arange(3), 20)
    for k in range(3):
        words[group == k, 40 * k : 40 * k + 40] += rng.poisson(1.5, size=(20, 40))
    return words, group


@pytest.mark.parametrize("key", [key for key in baselines() if key != "ae-edsc"])
def test_sparse_and_dense_samples_are_clustered_alike(key):
    words, group = documents()
    method = baselines()[key]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dense = model_of(method, n_clusters=3).fit(words)
        sparse = model_of(method, n_clusters=3).fit(csc_array(words))
    difference = abs(dense.representation_matrix_ - sparse.representation_matrix_).max()
    assert difference < 1e-4
    assert clustering_accuracy(dense.labels_, sparse.labels_) == 1.0
    assert sparse.n_features_in_ == words.shape[1]
    expected = dense.predict(words[::4])
    assert np.array_equal(sparse.predict(csr_array(words[::4])), sparse.predict(words[::4]))
    assert clustering_accuracy(expected, sparse.predict(csr_array(words[::4]))) == 1.0
    assert clustering_accuracy(group, sparse.labels_) > 0.8


def test_wide_samples_are_never_made_dense(monkeypatch):
    """A million features: as a dense array 0.5 GB, and every way to make it one is closed."""
    words, group = documents()
    wide = csr_array((csr_array(words).data, csr_array(words).indices * 2500, csr_array(words).indptr), (60, 1_000_000))
    real = csr_array.toarray

    def only_small(self, *arguments, **more):
        assert np.prod(self.shape) < 10**6, "a sparse matrix as large as the samples was made dense"
        return real(self, *arguments, **more)

    monkeypatch.setattr(csr_array, "toarray", only_small)
    labels = LSR(3, random_state=0).fit_predict(wide)
    assert clustering_accuracy(group, labels) == 1.0


def test_refusals_name_the_reason():
    words, _ = documents()
    X = csr_array(words)
    for model in (SSC(3, outliers=10.0), EDSC(3, outliers=1.0)):
        with pytest.raises(TypeError, match="X is sparse, but outliers prices single entries"):
            model.fit(X)
    with pytest.raises(TypeError, match="AutoencoderEDSC looks at pixels"):
        AutoencoderEDSC(3).fit(X)
    with pytest.raises(ValueError, match="X has a row of zeros, row 7"):
        LSR(3, center=False).fit(csr_array(words * (np.arange(60) != 7)[:, None]))
    words[2, 5] = np.nan
    with pytest.raises(ValueError, match="X contains NaN, first at row 2, column 5"):
        LSR(3).fit(csr_array(words))
    with pytest.raises(ValueError, match="X has 5 features, but LSR is expecting 400"):
        LSR(3, random_state=0).fit(X).predict(csr_array((2, 5)))
    with pytest.raises(ValueError, match="TruncatedSVD"):
        RowSpace.of(csr_array((20_000, 30_000)))
