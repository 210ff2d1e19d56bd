"""Views of sparse samples have the inner products of the same views of arrays, as coordinates and as implicit rows."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from masked_subspace._common.rows import products_of
from masked_subspace._common.sparse import samples as samples_module
from masked_subspace._common.sparse.implicit import ImplicitRows
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace.rows.preparation import VIEWS, Preparation, View
from masked_subspace.rows.sparse_preparation import directions_kept

SEEN = [name for name, view in VIEWS.items() if not view.words]


def counts(n=40, d=15, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.6, size=(n, d)).astype(float) * np.linspace(1, 4, d)
    X[:, 0] += 1  # no row of zeros
    return X


@pytest.mark.parametrize("shape", [(40, 15), (14, 30)], ids=["tall", "wide"])
@pytest.mark.parametrize("form", ["coordinates", "implicit"])
@pytest.mark.parametrize("name", SEEN)
def test_every_view_of_sparse_samples_is_that_of_their_array(monkeypatch, name, form, shape):
    if form == "implicit":
        monkeypatch.setattr(samples_module, "COORDINATES_UP_TO", 0)
    X = counts(*shape)
    expected = Preparation.learn(X, VIEWS[name]).apply(X)
    sparse = SparseSamples.of(csr_array(X))
    learnt = Preparation.learn(sparse, VIEWS[name])
    found = learnt.apply(sparse)
    np.testing.assert_allclose(products_of(found, found), expected @ expected.T, atol=1e-8)
    new = SparseSamples.of(csr_array(counts(5, shape[1], seed=1)))
    told = Preparation.learn(X, VIEWS[name]).apply(counts(5, shape[1], seed=1))
    np.testing.assert_allclose(products_of(learnt.apply(new), found), told @ expected.T, atol=1e-6)


@pytest.mark.parametrize(("smallest", "kept"), [(2e-4, 4), (5e-5, 3)])
def test_directions_below_a_ten_thousandth_of_the_first_are_dropped_in_any_unit(monkeypatch, smallest, kept):
    monkeypatch.setattr(samples_module, "COORDINATES_UP_TO", 0)
    U, V = (np.linalg.qr(np.random.default_rng(seed).normal(size=(n, 4)))[0] for seed, n in ((0, 20), (1, 4)))
    view = View("whitened", center=False, whitening=0.5)
    for unit in (1e-2, 1.0, 1e3):
        sparse = SparseSamples.of(csr_array(unit * (U * [1, 0.5, 0.1, smallest]) @ V.T))
        assert Preparation.learn(sparse, view, normalize=False).apply(sparse).shape == (20, kept)
        assert Preparation.learn(sparse, view, normalize=False, directions=2).apply(sparse).shape == (20, 2)


def test_a_record_tells_how_many_directions_whitened_views_keep_of_many(monkeypatch):
    sparse = SparseSamples.of(csr_array(np.eye(510)))
    assert directions_kept(sparse, [VIEWS["whitened"]]) == {}  # coordinates keep all
    monkeypatch.setattr(samples_module, "COORDINATES_UP_TO", 0)
    assert directions_kept(sparse, [VIEWS["plain"], VIEWS["whitened"]]) == {"directions": 500}
    assert directions_kept(sparse, [VIEWS["plain"]]) == {}
    assert directions_kept(SparseSamples.of(csr_array(np.eye(500))), [VIEWS["whitened"]]) == {}


def test_few_sparse_samples_become_arrays_and_more_stay_implicit(monkeypatch):
    sparse = SparseSamples.of(csr_array(counts()))
    always = SparseSamples.of(csr_array(counts()), always_coordinates=True)
    for most, kinds in ((40, [np.ndarray, np.ndarray]), (39, [ImplicitRows, np.ndarray])):
        monkeypatch.setattr(samples_module, "COORDINATES_UP_TO", most)
        found = [Preparation.learn(one, VIEWS["plain"]).apply(one) for one in (sparse, always)]
        assert [type(rows) for rows in found] == kinds
