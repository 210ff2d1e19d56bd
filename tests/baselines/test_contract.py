"""Every baseline of the registry keeps the contract, and its options find what there is to find."""

from __future__ import annotations

import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from baseline_contract import CHECKS, baselines
from masked_subspace.baselines import BDR, EDSC, LRR, LSR, SSC, SSCOMP, SoftS3C
from masked_subspace.estimators import BilevelClustering
from masked_subspace.metrics import clustering_accuracy

OPTIONS = [
    LSR(4, zero_diagonal=False),
    SSC(4, solver="admm"),
    SSC(4, outliers=10.0),
    SSCOMP(4, n_nonzero=3),
    LRR(4, noise_weight=None),
    BDR(4, output="Z"),
    EDSC(4, outliers=1.0),
    SoftS3C(4, solver="admm"),
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("key", baselines())
def test_the_contract(key, check):
    if key == "ae-edsc":
        pytest.importorskip("torch")
    check(baselines()[key])


@pytest.mark.parametrize("estimator", OPTIONS, ids=str)
def test_noiseless_independent_subspaces_are_found(estimator, subspaces):
    labels = clone(estimator).set_params(random_state=0).fit_predict(subspaces.data)
    assert clustering_accuracy(subspaces.target, labels) == 1.0


def test_soft_s3c_is_an_instance_of_the_bilevel_frame():
    assert issubclass(SoftS3C, BilevelClustering)


def test_a_method_that_is_stopped_early_says_so(subspaces):
    with pytest.warns(ConvergenceWarning, match="LRR stopped after 3 iterations"):
        LRR(4, max_iter=3, random_state=0).fit(subspaces.data)
