"""The subspaces behind the clusters: directions, their number, distances."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.sparse import csr_array

from masked_subspace._common.rows import content_order
from masked_subspace._common.sparse.samples import SparseSamples
from masked_subspace.datasets import make_subspaces
from masked_subspace.label import subspaces
from masked_subspace.label.sparse_subspaces import centred_directions
from masked_subspace.label.subspaces import (
    distances_to,
    principal_directions,
    signal_dimension,
    subspace_of,
    subspaces_of,
)


def draws():
    """40 draws over what make_subspaces can do: 3–20 subspaces, dimensions 1–8, noise up to .1."""
    rng = np.random.default_rng(1)
    for seed in range(40):
        dim = int(rng.integers(1, 9))
        yield make_subspaces(
            int(rng.integers(3, 21)),
            dim,
            int(rng.choice([dim + 10, 30, 60, 100])),
            int(rng.integers(max(20, 4 * dim), 80)),
            noise=float(rng.choice([0, 0.01, 0.05, 0.1])),
            affine=bool(rng.integers(2)),
            random_state=seed,
        )


def test_the_dimension_is_right_within_one_for_nearly_all_clusters():
    errors = []
    for one in draws():
        found = subspaces_of(one.data, one.target, len(one.bases))
        errors += [abs(record.dim - one.bases.shape[1]) for record in found]
    assert len(errors) > 300
    assert np.mean(np.array(errors) <= 1) >= 0.95


@pytest.mark.parametrize("ambient", [12, 200])
@pytest.mark.parametrize("affine", [False, True])
def test_the_basis_is_orthonormal_and_spans_the_subspace(ambient, affine):
    drawn = make_subspaces(3, 4, ambient, 60, noise=1e-6, affine=affine, random_state=0)
    for cluster, record in enumerate(subspaces_of(drawn.data, drawn.target, 3)):
        assert record.dim == 4
        np.testing.assert_allclose(record.basis @ record.basis.T, np.eye(4), atol=1e-12)
        assert subspace_angles(record.basis.T, drawn.bases[cluster].T).max() < 1e-4
        assert record.explained == pytest.approx(1, abs=1e-6)
        assert record.size == 60


def test_distances_are_those_of_the_projection():
    drawn = make_subspaces(3, 2, 10, 40, affine=True, noise=0.02, random_state=0)
    found = subspaces_of(drawn.data, drawn.target, 3)
    record = found[1]
    away = drawn.data - record.mean
    expected = np.linalg.norm(away @ (np.eye(10) - record.basis.T @ record.basis), axis=1)
    np.testing.assert_allclose(distances_to(drawn.data, found)[:, 1], expected, atol=1e-12)
    assert (distances_to(drawn.data, found).argmin(axis=1) == drawn.target).mean() > 0.95


def test_distances_of_sparse_samples_are_those_of_arrays_and_nobody_is_near_an_empty_cluster():
    rng = np.random.default_rng(0)
    X = rng.random((24, 9)) * (rng.random((24, 9)) < 0.5) + 1e-3
    labels = np.repeat([0, 2], 12)
    dense = distances_to(X, subspaces_of(X, labels, 3))
    samples = SparseSamples.of(csr_array(X))
    sparse = distances_to(samples, subspaces_of(samples, labels, 3))
    np.testing.assert_allclose(sparse[:, [0, 2]], dense[:, [0, 2]], atol=1e-9)
    assert np.isinf(sparse[:, 1]).all()
    assert np.isinf(dense[:, 1]).all()


def test_white_noise_has_no_signal_and_one_strong_direction_is_found():
    rng = np.random.default_rng(0)
    for n, d in ((50, 200), (400, 30)):
        noise = rng.normal(size=(n, d))
        assert subspace_of(noise, np.arange(n)).dim == 0
        noise[:, 0] *= 6
        assert subspace_of(noise, np.arange(n)).dim == 1


def test_clusters_of_copies_of_one_and_of_nobody():
    copies = np.ones((5, 3))
    record = subspace_of(copies, np.arange(5))
    assert (record.dim, record.explained) == (0, 1.0)
    assert record.basis.shape == (0, 3)
    alone = subspace_of(copies * [1, 2, 3], np.array([2]))
    np.testing.assert_array_equal(alone.mean, [1, 2, 3])
    empty = subspaces_of(copies, np.zeros(5, dtype=int), 2)[1]
    assert empty.size == 0
    assert np.isinf(distances_to(copies, [empty])).all()
    assert signal_dimension(np.empty(0), 1, 3) == 0


@pytest.mark.parametrize("shape", [(9, 30), (30, 9)], ids=["fewer samples", "fewer features"])
def test_variances_are_those_of_samples_about_their_mean(shape):
    """Σ(x − mean)²/(n − 1) along each direction, whichever of the two products is taken."""
    rows = np.random.default_rng(0).standard_normal(shape) * np.linspace(1, 3, shape[1])
    variances, directions = principal_directions(rows - rows.mean(axis=0))
    assert len(variances) == min(shape[0] - 1, shape[1])
    np.testing.assert_allclose(directions @ directions.T, np.eye(len(variances)), atol=1e-12)
    np.testing.assert_allclose(variances, (rows @ directions.T).var(axis=0, ddof=1), rtol=1e-10)
    assert variances.sum() == pytest.approx(rows.var(axis=0, ddof=1).sum())


def test_the_dimension_is_the_first_that_noise_would_explain():
    """λ_{k + 1} ≤ 1.1 σ²(1 + √γ)² with σ² and γ of what is left after k directions, not of all of them."""
    rng = np.random.default_rng(0)
    differ = 0
    for _ in range(300):
        n, d = int(rng.integers(6, 40)), int(rng.integers(4, 60))
        variances = np.sort(rng.random(min(n - 1, d)) ** 4)[::-1]

        def first(left, variances=variances, n=n, d=d):
            for k, variance in enumerate(variances):
                gone = k if left else 0
                edge = (1 + np.sqrt((d - gone) / max(n - 1 - gone, 1))) ** 2
                if variance <= 1.1 * variances[k:].sum() / (d - k) * edge:
                    return k
            return len(variances)

        expected = first(True)
        if d - expected > 0.25 * (n - 1 - expected):  # with more samples a level cluster has more, see below
            assert signal_dimension(variances, n, d) == first(True)
        differ += first(True) != first(False)
    assert differ > 10
    assert signal_dimension(np.array([]), 1, 40) == 0


def test_level_directions_before_a_fall_are_signal():
    """A plane in space fills two directions of three evenly: beside their mean neither is above the edge of noise."""
    plane = np.array([0.5, 0.45, 1e-4])
    assert signal_dimension(plane, 80, 3) == 2
    assert signal_dimension(plane[:2], 80, 3) == 2  # the third is rounding
    assert signal_dimension(plane, 13, 3) == 2
    assert signal_dimension(plane, 12, 3) == 0  # too few samples to know the smallest variance
    assert signal_dimension(np.array([0.5, 0.45, 0.05]), 80, 3) == 0  # no fall to a tenth
    assert signal_dimension(np.array([0.5, 0.45, 0.4]), 80, 3) == 0  # noise
    assert signal_dimension(np.array([5.0, 0.5, 0.45, 0.4, 1e-4]), 80, 5) == 4  # after a long one, three level ones
    level = np.array([1.2, 1.1, 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.45, 0.01])
    assert signal_dimension(level, 100, 10) == 9
    level[7:9] = 0.4, 0.2
    assert signal_dimension(level, 100, 10) == 0  # not level before the fall


def test_white_noise_in_few_features_has_no_direction():
    rng = np.random.default_rng(0)
    for d in (2, 3, 5, 10):
        for _ in range(50):
            rows = rng.standard_normal((5 * d + 1, d))
            variances, _ = principal_directions(rows - rows.mean(axis=0))
            assert signal_dimension(variances, len(rows), d) in (0, 1)


@pytest.mark.parametrize(("n_features", "drawn"), [(20, 50), (21, 20)])
def test_of_a_large_cluster_some_samples_are_drawn(monkeypatch, n_features, drawn):
    """Of more samples and more features than 20 (2,000 outside of this test), whatever their order."""
    monkeypatch.setattr(subspaces, "_MOST_SAMPLES", 20)
    rng = np.random.default_rng(0)
    X, members = rng.normal(size=(70, n_features)), rng.permutation(70)[:50]
    rows = X[members]
    some = rows[content_order(rows)[np.random.default_rng(0).choice(50, 20, replace=False)]] if drawn < 50 else rows
    record, permuted = subspace_of(X, members), subspace_of(X, members[::-1])
    assert record.size == 50
    np.testing.assert_allclose(record.mean, some.mean(axis=0))
    np.testing.assert_allclose(permuted.mean, record.mean)


@pytest.mark.parametrize("shape", [(40, 12), (12, 40)], ids=["tall", "wide"])
def test_sparse_samples_have_the_variances_of_arrays_and_no_direction_that_is_rounding(shape):
    """Directions of 1, .01 and .0001 are there, one of 1e-9 is rounding: squares of rows have 16 digits."""
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.normal(size=(n, 4)))[0] for n in shape)
    rows = (U - U.mean(axis=0)) * [1, 1e-2, 1e-4, 1e-9] @ V.T
    expected = principal_directions(rows - rows.mean(axis=0))[0]
    mean, found, variances = centred_directions(SparseSamples.of(csr_array(rows)))
    assert len(expected) == len(variances) == len(found.values) == 3
    np.testing.assert_allclose(variances, expected, rtol=1e-5)
    np.testing.assert_allclose(mean, rows.mean(axis=0), atol=1e-12)
