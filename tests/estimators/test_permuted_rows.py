"""The rows in another order: the same partition."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import adjusted_rand_score

from masked_subspace import BMSC, GMSC, RMSC
from masked_subspace.baselines import EDSC, LSR, SSC, SSCOMP, EnSC, SoftS3C
from masked_subspace.datasets import make_subspaces


def digits():
    X = load_digits().data
    return X[np.random.default_rng(0).permutation(len(X))[:400]], 10


def wine():
    return load_wine().data, 3


def subspaces():
    return make_subspaces(n_subspaces=5, per_subspace=60, random_state=0).data, 5


def labels_of(model, X, **told):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, **told).labels_


@pytest.mark.parametrize("data", [digits, wine, subspaces])
@pytest.mark.parametrize(
    "model",
    [
        RMSC(random_state=0, n_jobs=1),
        BMSC(random_state=0, n_jobs=1),
        BMSC(cut="modularity", random_state=0, n_jobs=1),
        SSCOMP(random_state=0, n_jobs=1),
        EnSC(random_state=0, n_jobs=1),
        LSR(random_state=0, n_jobs=1),
        SSC(random_state=0, n_jobs=1),
        EDSC(random_state=0, n_jobs=1),
        SoftS3C(random_state=0, n_jobs=1),  # on wine its graphs have more pieces than clusters
    ],
    ids=lambda model: f"{type(model).__name__}, {model.cut}",
)
def test_the_partition_does_not_depend_on_the_order_of_rows(model, data):
    X, n_clusters = data()
    model.set_params(n_clusters=n_clusters)
    expected = labels_of(model, X)
    for seed in range(1 if isinstance(model, RMSC) and len(X) > 300 else 3):
        places = np.random.default_rng(seed).permutation(len(X))
        assert adjusted_rand_score(expected[places], labels_of(model, X[places])) >= 0.99


@pytest.mark.parametrize("cut", ["spectral", "modularity"])
def test_neither_with_known_labels(cut):
    X, n_clusters = digits()
    X = X[:200]
    known = np.full(len(X), -1)
    known[:20] = load_digits().target[np.random.default_rng(0).permutation(1797)[:20]]
    model = GMSC(n_clusters, cut=cut, random_state=0, n_jobs=1)
    places = np.random.default_rng(1).permutation(len(X))
    expected = labels_of(model, X, partial_labels=known)
    found = labels_of(model, X[places], partial_labels=known[places])
    assert (found == expected[places]).mean() >= 0.99


def test_how_real_clusters_are_does_not_depend_on_it_either():
    X, n_clusters = wine()
    places = np.random.default_rng(1).permutation(len(X))
    first, second = (RMSC(n_clusters, random_state=0, n_jobs=1).fit(rows) for rows in (X, X[places]))
    assert first.structure_ == pytest.approx(second.structure_, abs=1e-3)
    assert [one["taken"] for one in first.choices_] == [one["taken"] for one in second.choices_]
    for one, other in zip(first.choices_, second.choices_, strict=True):
        if "strength" in one:
            assert one["strength"] == pytest.approx(other["strength"], abs=1e-3)


@pytest.mark.parametrize("method", [BMSC, RMSC])
@pytest.mark.parametrize("data", [digits, wine])
def test_neither_does_the_number_of_clusters(method, data):
    X = data()[0][:200]
    found = []
    for places in (np.arange(len(X)), *(np.random.default_rng(seed).permutation(len(X)) for seed in (1, 2))):
        model = method("auto", random_state=0, n_jobs=1)
        labels_of(model, X[places])
        found.append(
            (model.n_clusters_candidates_, [one["score"] for one in model.n_clusters_scores_ if "score" in one])
        )
    for candidates, scores in found[1:]:
        assert candidates == found[0][0]
        assert scores == pytest.approx(found[0][1], abs=1e-3)
