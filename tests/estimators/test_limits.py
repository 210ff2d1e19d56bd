"""Limit cases and invariances: what must be the same, is."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from masked_subspace import BMSC, GMSC, RMSC, BilevelClustering
from masked_subspace.estimators.bilevel import LabelPsi
from masked_subspace.label.labeler import GraphLabeler
from masked_subspace.masks import ConsensusMask, LabelMask, NeighborMask
from masked_subspace.metrics import clustering_accuracy, subspace_preserving_error
from masked_subspace.represent.representer import MaskedRepresenter

FIXED = {"sparsity": 1e-3, "penalty": 1.0, "penalty_growth": 1.5, "random_state": 0, "n_jobs": 1}


def assert_same_fit(a, b, tolerance=0.0):
    np.testing.assert_allclose(
        a.representation_matrix_.toarray(), b.representation_matrix_.toarray(), rtol=0, atol=tolerance
    )
    np.testing.assert_array_equal(a.labels_, b.labels_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_gmsc_with_a_zero_mask_is_bmsc(digits, dtype):
    X = digits[0].astype(dtype)
    basic = BMSC(10, **FIXED).fit(X)
    for zero in ({"soft_mask": np.zeros((len(X), len(X)))}, {"mask_weight": 0.0}):
        assert_same_fit(basic, GMSC(10, **FIXED, **zero).fit(X), 1e-10 if dtype == np.float64 else 1e-5)


def test_rmsc_with_one_round_is_gmsc(digits):
    labels = KMeans(10, n_init=1, random_state=0).fit_predict(digits[0])
    for init in (None, labels):
        one = RMSC(10, **FIXED, init=init, max_rounds=1, members=1).fit(digits[0])
        assert_same_fit(one, GMSC(10, **FIXED, soft_mask=init).fit(digits[0]))
        assert one.n_rounds_ == 1


def test_bilevel_assembled_by_hand_is_rmsc(digits):
    recursive = RMSC(10, **FIXED, mask_weight=0.5, mask_strength=1.5, max_rounds=3, members=1).fit(digits[0])
    by_hand = BilevelClustering(
        MaskedRepresenter(sparsity=1e-3, mask_weight=0.5, penalty=1.0, penalty_growth=1.5, n_jobs=1),
        GraphLabeler(10),
        LabelPsi(1.5),
        max_rounds=3,
        random_state=0,
        n_jobs=1,
    ).fit(digits[0])
    assert_same_fit(recursive, by_hand)
    assert recursive.n_rounds_ == by_hand.n_rounds_ > 1


def test_permuting_the_samples_permutes_the_result(digits):
    X = digits[0]
    order = np.random.default_rng(1).permutation(len(X))
    a = GMSC(10, **FIXED, soft_mask=digits[1]).fit(X)
    b = GMSC(10, **FIXED, soft_mask=digits[1][order]).fit(X[order])
    expected = a.representation_matrix_.toarray()[np.ix_(order, order)]
    np.testing.assert_allclose(b.representation_matrix_.toarray(), expected, atol=1e-9)
    # k-means starts elsewhere, so its labels may differ in a few samples; the graph may not.
    np.testing.assert_allclose(
        b.affinity_matrix_.toarray(), a.affinity_matrix_.toarray()[np.ix_(order, order)], atol=1e-9
    )


@pytest.mark.parametrize("scale", [0.01, 300.0])
def test_scaling_the_data_and_the_prices_changes_nothing(digits, scale):
    X = digits[0] / 16
    free = {"center": False, "normalize": False, "penalty_growth": 1.5, "random_state": 0}
    a = GMSC(10, sparsity=1e-2, mask_weight=0.1, penalty=1.0, soft_mask=digits[1], **free).fit(X)
    s2 = scale**2
    b = GMSC(10, sparsity=1e-2 * s2, mask_weight=0.1 * s2, penalty=s2, soft_mask=digits[1], **free).fit(scale * X)
    assert_same_fit(a, b, 1e-9)


@pytest.mark.parametrize("scale", [2.0**-7, 2.0**8])
def test_automatic_prices_follow_the_scale_of_the_data(digits, scale):
    """A power of two scales without rounding, so not even a near-tie may fall the other way."""
    free = {"center": False, "normalize": False, "random_state": 0}
    assert_same_fit(GMSC(10, **free).fit(digits[0]), GMSC(10, **free).fit(scale * digits[0]), 1e-12)


def test_float32_and_float64_give_the_same_partition(subspaces):
    X = subspaces.data
    for estimator in (BMSC(4, random_state=0), RMSC(4, random_state=0, members=1)):
        double = estimator.fit(X).labels_
        single = estimator.fit(X.astype(np.float32))
        assert single.representation_matrix_.dtype == np.float32
        assert adjusted_rand_score(double, single.labels_) == 1


@pytest.mark.parametrize("solver", ["dense", "sparse"])
def test_thread_count_changes_nothing(digits, solver):
    for dtype in (np.float64, np.float32):
        X = digits[0].astype(dtype)
        one, two = (GMSC(10, solver=solver, random_state=0, n_jobs=jobs).fit(X) for jobs in (1, 2))
        assert_same_fit(one, two, 1e-12 if dtype == np.float64 else 1e-5)


def test_same_seed_same_result(digits):
    a, b = (RMSC(10, random_state=7).fit(digits[0]) for _ in range(2))
    assert_same_fit(a, b)


SLOW = {"sparsity": 1e-3, "penalty": 0.1, "penalty_growth": 1.1, "center": False}


@pytest.mark.parametrize(
    "estimator",
    [
        BMSC(4, **SLOW),
        GMSC(4, **SLOW),
        RMSC(4, **SLOW),
        BilevelClustering(
            MaskedRepresenter(sparsity=1e-3, penalty=0.1, penalty_growth=1.1), n_clusters=4, center=False
        ),
    ],
    ids=lambda e: type(e).__name__,
)
def test_noiseless_independent_subspaces_are_found_exactly(subspaces, estimator):
    model = estimator.set_params(random_state=0).fit(subspaces.data)
    assert clustering_accuracy(subspaces.target, model.labels_) == 1
    assert subspace_preserving_error(model.representation_matrix_, subspaces.target) == 0


@pytest.mark.parametrize("estimator", [BMSC(4), GMSC(4), RMSC(4), RMSC(4, members=1)])
def test_defaults_find_noiseless_subspaces(subspaces, estimator):
    """The default continuation is fast and keeps a few links too many; the graph it leaves is clean."""
    model = estimator.set_params(random_state=0).fit(subspaces.data)
    assert clustering_accuracy(subspaces.target, model.labels_) == 1
    assert subspace_preserving_error(model.affinity_matrix_, subspaces.target) == 0


def test_soft_mask_from_clusterers_and_labels(digits):
    X, y = digits
    kmeans, mixture = KMeans(10, n_init=2), GaussianMixture(10, covariance_type="diag")
    one = GMSC(10, soft_mask=kmeans, random_state=0).fit(X)
    assert isinstance(one.soft_mask_, LabelMask)
    several = GMSC(10, soft_mask=[kmeans, mixture, y], random_state=0).fit(X)
    assert isinstance(several.soft_mask_, ConsensusMask)
    assert len(several.soft_mask_.labelings) == 3
    recursive = RMSC(10, init=[kmeans, y], random_state=0, members=1, max_rounds=1).fit(X)
    assert isinstance(recursive.soft_mask_, ConsensusMask)
    assert not hasattr(kmeans, "labels_")


def test_a_perfect_mask_helps(digits):
    X, y = digits
    free = GMSC(10, random_state=0).fit(X)
    told = GMSC(10, soft_mask=y, mask_weight=1.0, mask_strength=5.0, random_state=0).fit(X)
    assert subspace_preserving_error(told.representation_matrix_, y) < subspace_preserving_error(
        free.representation_matrix_, y
    )


def test_hard_mask_is_never_crossed(digits):
    X, y = digits
    same_class = y[:, None] == y[None, :]
    model = BMSC(10, hard_mask=same_class, random_state=0).fit(X)
    assert subspace_preserving_error(model.representation_matrix_, y) == 0
    near = BMSC(10, hard_mask=NeighborMask(5), solver="dense", random_state=0).fit(X)
    assert np.diff(near.representation_matrix_.indptr).max() <= 5


def test_every_round_is_recorded_and_the_last_mask_is_kept(digits):
    model = RMSC(10, random_state=0, members=1, max_rounds=3).fit(digits[0])
    assert model.n_rounds_ == len(model.history_) == len(model.round_affinities_) == len(model.round_labels_)
    for number, record in enumerate(model.history_, start=1):
        assert record["round"] == number
        assert record["objective"] == pytest.approx(record["objective_trace"][-1])
        assert {"mask_change", "sparsity", "seconds", "mask_residual", "sparsity_residual"} <= set(record)
    assert model.history_[-1]["mask_change"] < 1e-6 or model.n_rounds_ == 3
    assert model.affinity_matrix_.shape == (300, 300)
    assert abs(model.affinity_matrix_ - model.affinity_matrix_.T).max() == 0
    assert np.abs(model.affinity_matrix_.diagonal()).max() == 0


def test_the_printed_orientation_weakens_links_inside_clusters(digits):
    X, y = digits
    inside = {}
    for orientation in ("corrected", "paper"):
        Z = (
            GMSC(10, soft_mask=y, mask_weight=1.0, mask_strength=3.0, mask_orientation=orientation, random_state=0)
            .fit(X)
            .representation_matrix_
        )
        inside[orientation] = 1 - subspace_preserving_error(Z, y)
    assert inside["paper"] < inside["corrected"]
