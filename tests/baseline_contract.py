"""What every baseline promises, as checks of one method; the methods come from the registry."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.estimator_checks import check_estimator

from masked_subspace.datasets import make_subspaces
from masked_subspace.estimators.base import SelfExpressiveClusterer
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.registry import METHODS

# Four independent 3-dimensional subspaces of R^25, without noise.
SUBSPACES = make_subspaces(n_subspaces=4, per_subspace=25, dim=3, ambient=25, random_state=0)


def baselines():
    """The methods of the registry on our base class, but for the masked ones."""
    return {
        key: method
        for key, method in METHODS.items()
        if issubclass(method.load(), SelfExpressiveClusterer)
        and not method.path.startswith("masked_subspace.estimators")
    }


def model_of(method, **parameters):
    return method.load()(**{"n_clusters": 4, "random_state": 0, **method.tiny, **parameters})


def passes_the_checks_of_scikit_learn(method):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(method.load()(**method.tiny), on_skip=None)


def has_the_fitted_attributes_of_every_clusterer(method):
    n = len(SUBSPACES.data)
    model = model_of(method).fit(SUBSPACES.data)
    assert model.representation_matrix_.format == "csr"
    assert model.representation_matrix_.shape == (n, n)
    W = model.affinity_matrix_
    assert issparse(W)
    assert abs(W - W.T).max() < 1e-10
    assert np.all(W.diagonal() == 0)
    assert model.embedding_.shape[0] == n
    assert model.history_[-1]["n_iter"] == model.n_iter_ >= 1
    assert model.predict(SUBSPACES.data[:7]).shape == (7,)


def finds_noiseless_independent_subspaces(method):
    labels = model_of(method).fit_predict(SUBSPACES.data)
    # A sample of a subspace is not always nearest to its own: the control may err, the others may not.
    least = 0.6 if method.key == "knn" else 1.0
    assert clustering_accuracy(SUBSPACES.target, labels) >= least


def gives_the_same_labels_for_the_same_seed(method):
    first, second = (model_of(method).fit_predict(SUBSPACES.data) for _ in range(2))
    assert np.array_equal(first, second)


def keeps_float32(method):
    model = model_of(method).fit(SUBSPACES.data.astype(np.float32))
    assert model.representation_matrix_.dtype == np.float32


def gives_the_plain_graph_on_request(method):
    model = model_of(method, affinity="symmetric").fit(SUBSPACES.data)
    Z = abs(model.representation_matrix_).toarray()
    np.fill_diagonal(Z, 0)
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), (Z + Z.T) / 2, atol=1e-12)


def keeps_known_pairs(method):
    together, apart = np.array([[0, 26], [1, 51]]), np.array([[0, 1], [2, 3]])
    for cut in ("spectral", "modularity"):
        model = model_of(method, constraints="hard", cut=cut)
        labels = model.fit(SUBSPACES.data, must_link=together, cannot_link=apart).labels_
        assert all(labels[i] == labels[j] for i, j in together)
        assert all(labels[i] != labels[j] for i, j in apart)


def takes_every_cut(method):
    """The modularity cut finds K clusters, most of them right; at this size "auto" is the spectral one."""
    found = {cut: model_of(method, cut=cut).fit_predict(SUBSPACES.data) for cut in ("spectral", "modularity", "auto")}
    assert all(len(np.unique(labels)) == 4 for labels in found.values())
    assert clustering_accuracy(SUBSPACES.target, found["modularity"]) >= (0.5 if method.key == "knn" else 0.9)
    assert np.array_equal(found["auto"], found["spectral"])
    assert np.array_equal(found["modularity"], model_of(method, cut="modularity").fit_predict(SUBSPACES.data))


CHECKS = (
    passes_the_checks_of_scikit_learn,
    has_the_fitted_attributes_of_every_clusterer,
    finds_noiseless_independent_subspaces,
    gives_the_same_labels_for_the_same_seed,
    keeps_float32,
    gives_the_plain_graph_on_request,
    keeps_known_pairs,
    takes_every_cut,
)
