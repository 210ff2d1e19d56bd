"""What every baseline promises: scikit-learn's checks, a perfect answer where one exists, the fitted attributes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

from masked_subspace.baselines import BDR, EDSC, LRR, LSR, SSC, SSCOMP, AutoencoderEDSC, EnSC, SoftS3C
from masked_subspace.estimators import BilevelClustering
from masked_subspace.estimators.base import SelfExpressiveClusterer
from masked_subspace.metrics import clustering_accuracy

ALL = [LSR, SSC, SSCOMP, EnSC, LRR, BDR, EDSC, SoftS3C, AutoencoderEDSC]
OPTIONS = [
    LSR(4),
    LSR(4, zero_diagonal=False),
    SSC(4),
    SSC(4, solver="admm"),
    SSC(4, outliers=10.0),
    SSCOMP(4, n_nonzero=3),
    EnSC(4),
    LRR(4),
    LRR(4, noise_weight=None),
    BDR(4),
    BDR(4, output="Z"),
    EDSC(4),
    EDSC(4, outliers=1.0),
    SoftS3C(4),
    SoftS3C(4, solver="admm"),
    AutoencoderEDSC(4),
]


def small(cls):
    return cls(max_epochs=20) if cls is AutoencoderEDSC else cls()


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_scikit_learn_checks_pass(cls):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(small(cls), on_skip=None)


@pytest.mark.parametrize("estimator", OPTIONS, ids=str)
def test_noiseless_independent_subspaces_are_found(estimator, subspaces):
    labels = clone(estimator).set_params(random_state=0).fit_predict(subspaces.data)
    assert clustering_accuracy(subspaces.target, labels) == 1.0


@pytest.mark.parametrize("cls", ALL, ids=lambda cls: cls.__name__)
def test_fitted_attributes_are_those_of_every_clusterer(cls, subspaces):
    n = len(subspaces.data)
    model = small(cls).set_params(n_clusters=4, random_state=0).fit(subspaces.data)
    assert isinstance(model, SelfExpressiveClusterer)
    assert model.representation_matrix_.format == "csr"
    assert model.representation_matrix_.shape == (n, n)
    W = model.affinity_matrix_
    assert issparse(W)
    assert abs(W - W.T).max() < 1e-10
    assert np.all(W.diagonal() == 0)
    assert model.embedding_.shape[0] == n
    assert model.history_[-1]["n_iter"] == model.n_iter_ >= 1
    assert model.predict(subspaces.data[:7]).shape == (7,)


@pytest.mark.parametrize("cls", [LSR, SSC, SSCOMP, EnSC, EDSC], ids=lambda cls: cls.__name__)
def test_float32_stays_float32(cls, subspaces):
    model = cls(4, random_state=0).fit(subspaces.data.astype(np.float32))
    assert model.representation_matrix_.dtype == np.float32
    assert clustering_accuracy(subspaces.target, model.labels_) == 1.0


@pytest.mark.parametrize("cls", [SSC, BDR, EDSC, LRR, SoftS3C], ids=lambda cls: cls.__name__)
def test_the_plain_graph_is_there_on_request(cls, subspaces):
    plain = cls(4, affinity="symmetric", random_state=0).fit(subspaces.data)
    Z = abs(plain.representation_matrix_).toarray()
    np.fill_diagonal(Z, 0)
    np.testing.assert_allclose(plain.affinity_matrix_.toarray(), (Z + Z.T) / 2, atol=1e-12)


def test_soft_s3c_is_an_instance_of_the_bilevel_frame():
    assert issubclass(SoftS3C, BilevelClustering)


def test_a_method_that_is_stopped_early_says_so(subspaces):
    with pytest.warns(ConvergenceWarning, match="LRR stopped after 3 iterations"):
        LRR(4, max_iter=3, random_state=0).fit(subspaces.data)


def test_known_pairs_are_kept(subspaces):
    pairs = np.array([[0, 1], [2, 3]])
    model = EnSC(4, constraints="hard", random_state=0).fit(subspaces.data, must_link=pairs)
    assert all(model.labels_[i] == model.labels_[j] for i, j in pairs)
