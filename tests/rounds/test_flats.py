"""Mixtures of subspaces: the density, the step, what they find, and that one cloud is nothing to them."""

import numpy as np
import pytest

from masked_subspace import RMSC
from masked_subspace._common.rows import unit_rows
from masked_subspace.datasets import make_subspaces
from masked_subspace.label.agreement import adjusted_rand_index, agreement
from masked_subspace.metrics import clustering_accuracy
from masked_subspace.rounds import flats
from masked_subspace.rounds.flats import AFFINE, FLATS, LINEAR, Flats, beyond_clouds, flat_votes, suits_flats


def planes(n_subspaces=3, dim=2, ambient=3, seed=0, **more):
    return make_subspaces(n_subspaces, dim=dim, ambient=ambient, per_subspace=80, noise=0.01, random_state=seed, **more)


def model_of(d, seed=0):
    """Two components with shares .3 and .7."""
    rng = np.random.default_rng(seed)
    scatters = np.stack([A @ A.T + 0.1 * np.eye(d) for A in rng.standard_normal((2, d, d))])
    return Flats.of(np.array([3.0, 7.0]), scatters, 0.0)


def test_the_density_of_each_component_has_its_share_of_all_directions():
    angles = np.linspace(0, 2 * np.pi, 20_000, endpoint=False)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    model = model_of(2)
    np.testing.assert_allclose(np.exp(model.log_joint(model.sizes(circle))).mean(axis=1), [0.3, 0.7], rtol=1e-6)
    sphere = unit_rows(np.random.default_rng(1).standard_normal((400_000, 3)))
    model = model_of(3)
    np.testing.assert_allclose(np.exp(model.log_joint(model.sizes(sphere))).mean(axis=1), [0.3, 0.7], rtol=0.02)


def test_the_largest_share_of_a_row_is_its_label():
    model, rows = model_of(4), unit_rows(np.random.default_rng(2).standard_normal((50, 4)))
    shares = model.shares_of(rows)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.labels(rows))


def test_no_step_makes_the_samples_less_likely_and_the_last_one_changes_nothing(monkeypatch):
    monkeypatch.setattr(flats, "_RIDGE", 0.0)  # the ridge is added after the step, which it may undo a little
    monkeypatch.setattr(flats, "_TOL", 0.0)
    rows = unit_rows(make_subspaces(2, dim=2, ambient=4, per_subspace=60, noise=0.2, random_state=0).data)
    start = flats._start(rows, 2, np.random.default_rng(0))
    likelihoods = [start.improved(rows, steps)[1] for steps in range(1, 40)]
    assert min(np.diff(likelihoods)) > -1e-12
    settled = start.improved(rows, 2000)[0]
    again = settled.improved(rows, 1)[0]
    np.testing.assert_allclose(again.sizes(rows), settled.sizes(rows), rtol=1e-6)


def test_clusters_that_are_given_satisfy_tylers_equation(monkeypatch):
    monkeypatch.setattr(flats, "_RIDGE", 0.0)
    monkeypatch.setattr(flats, "_FIRST_STEPS", 400)
    rows = unit_rows(np.random.default_rng(0).standard_normal((90, 3)) * [3, 2, 1])
    labels = np.repeat([0, 1], 45)
    model = Flats.of_labels(rows, labels, 2)
    for cluster, triangle in enumerate(model.triangles):
        own, inverse = rows[labels == cluster], triangle @ triangle.T
        size = np.einsum("ij,jk,ik->i", own, inverse, own)
        np.testing.assert_allclose(3 * (own / size[:, None]).T @ own / len(own), np.linalg.inv(inverse), atol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_planes_that_cross_in_space_are_found(seed):
    data = planes(seed=seed)
    model = RMSC(3, random_state=0).fit(data.data)
    assert clustering_accuracy(data.target, model.labels_) > 0.93
    assert next(one["way"] for one in model.choices_ if one["taken"]) == LINEAR
    assert [one.dim for one in model.subspaces_] == [2, 2, 2]
    assert model.structure_ > 0.8


def test_new_samples_go_to_the_plane_they_lie_in():
    X, y = (lambda data: (data.data, data.target))(planes(seed=3))
    old = np.random.default_rng(0).permutation(len(X)) < 160
    model = RMSC(3, random_state=0).fit(X[old])
    found = model.predict(X[~old])
    assert clustering_accuracy(np.r_[y[old], y[~old]], np.r_[model.labels_, found]) > 0.93
    shares = model.predict_proba(X[~old])
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(shares.argmax(axis=1), found)
    np.testing.assert_array_equal(model.predict(X[old]), model.labels_)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("change", ["as it is", "units", "far away", "beside a constant", "beside a rare answer"])
def test_new_samples_are_seen_as_those_of_the_fit(change, affine):
    X, y = (lambda data: (data.data, data.target))(planes(dim=1 + (not affine), affine=affine, seed=3))
    rare = (np.arange(len(X)) % 40 == 0).astype(float)
    X = {
        "as it is": X,
        "units": X * [1, 1, 1000],
        "far away": X + 1000 * affine,
        "beside a constant": np.column_stack([X, np.full(len(X), 1e3)]),
        "beside a rare answer": np.column_stack([X, rare]),
    }[change]
    old = np.random.default_rng(0).permutation(len(X)) < 160
    model = RMSC(3, random_state=0).fit(X[old])
    if next(one["way"] for one in model.choices_ if one["taken"]) not in FLATS:
        return
    right = clustering_accuracy(y[old], model.labels_)
    found = model.predict(X[~old])
    assert clustering_accuracy(np.r_[y[old], y[~old]], np.r_[model.labels_, found]) > right - 0.03
    np.testing.assert_array_equal(model.predict_proba(X[~old]).argmax(axis=1), found)


def test_samples_that_are_not_centred_on_purpose_are_seen_by_flats_too():
    data = planes(seed=1)
    assert clustering_accuracy(data.target, RMSC(3, center=False, random_state=0).fit_predict(data.data)) > 0.93


def test_there_is_no_second_round_which_would_cut_graphs():
    X = planes(seed=1).data
    one, two = (RMSC(3, max_rounds=rounds, random_state=0).fit(X) for rounds in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert (two.n_rounds_, two.structure_) == (1, one.structure_)


def test_lines_that_miss_the_origin_are_affine():
    data = planes(dim=1, affine=True)
    votes = flat_votes(data.data, 3, AFFINE, 0)
    assert len(votes) == 6
    assert min(clustering_accuracy(data.target, vote) for vote in votes) == 1
    assert clustering_accuracy(data.target, flat_votes(data.data, 3, LINEAR, 0)[0]) < 1


def test_lengths_signs_and_units_say_nothing_of_a_linear_subspace():
    X, rng = planes(seed=1).data, np.random.default_rng(0)
    other = X * rng.choice([-3.0, 0.5, 2.0], (len(X), 1)) * [1000.0, 1.0, 0.01]
    for one, two in zip(flat_votes(X, 3, LINEAR, 0), flat_votes(other, 3, LINEAR, 0), strict=True):
        assert adjusted_rand_index(one, two) > 0.9  # draws are by content


def test_permuted_samples_have_permuted_votes():
    X, order = planes(seed=2).data, np.random.default_rng(5).permutation(240)
    for name in FLATS:
        for one, two in zip(flat_votes(X, 3, name, 0), flat_votes(X[order], 3, name, 0), strict=True):
            np.testing.assert_array_equal(one[order], two)


def test_agreement_counts_from_that_of_a_cloud_on():
    X = np.random.default_rng(0).standard_normal((300, 2)) + np.array([3.0, 0.0])
    agreed = agreement(flat_votes(X, 2, LINEAR, 0))
    assert agreed > 0.5  # from where it is seen, a cloud has an upper and a lower half
    assert beyond_clouds(agreed, X, 2, LINEAR, 0) < 0.4
    assert beyond_clouds(1.0, X, 2, LINEAR, 0) == 1
    assert beyond_clouds(0.0, X, 2, LINEAR, 0) == 0


def test_votes_that_cannot_lead_are_not_continued():
    assert len(flat_votes(np.random.default_rng(0).standard_normal((300, 8)), 3, LINEAR, 0)) == 2


def test_tables_with_enough_samples_are_asked():
    assert [suits_flats(np.zeros((n, 5)), 3) for n in (42, 43)] == [False, True]  # 30 are drawn of 43
    assert [suits_flats(np.zeros((99, d)), 2) for d in (1, 2)] == [False, True]


def test_samples_at_the_origin_and_copies_are_placed():
    X = planes().data
    X[:5], X[5:10] = 0, X[20]
    for name in FLATS:
        for vote in flat_votes(X, 3, name, 0):
            assert vote.shape == (240,)
            assert set(np.unique(vote)) <= {0, 1, 2}
