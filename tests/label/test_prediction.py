"""What the clusters of one part of the samples say of the rest, and the rows on which that is measured."""

import numpy as np
import pytest

from masked_subspace.label.agreement import _affine_subspaces, leading_rows, predicted_labels, squared_distances


def _affine_subspace(members):
    return _affine_subspaces([members])[0]


@pytest.mark.parametrize("shape", [(60, 150), (200, 150)], ids=["wide", "tall"])
def test_leading_rows_have_the_products_of_the_centred_rows(shape):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(shape[0], 20)) @ rng.normal(size=(20, shape[1])) + 3
    leading, centred = leading_rows(rows), rows - rows.mean(axis=0)
    assert leading.shape[1] <= 100
    np.testing.assert_allclose(leading @ leading.T, centred @ centred.T, atol=1e-8 * np.abs(centred @ centred.T).max())


def test_few_features_stay_as_they_are():
    rows = np.random.default_rng(0).normal(size=(30, 100))
    assert leading_rows(rows) is rows


def test_columns_of_zeros_have_no_part_in_the_leading_rows():
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(300, 120))
    bordered = np.zeros((300, 150))
    bordered[:, 10:130] = rows
    np.testing.assert_allclose(np.abs(leading_rows(bordered)), np.abs(leading_rows(rows)), atol=1e-8)


@pytest.mark.parametrize("size", [4, 9, 30])
def test_clusters_of_one_size_together_have_the_subspaces_they_have_alone(size):
    rng = np.random.default_rng(size)
    clusters = [rng.normal(size=(size, 2)) @ rng.normal(size=(2, 12)) + rng.normal(size=12) for _ in range(3)]
    clusters.append(rng.normal(size=(size + 1, 12)))
    together = _affine_subspaces(clusters)
    for (mean, basis), rows in zip(together, clusters, strict=True):
        np.testing.assert_allclose(mean, rows.mean(axis=0))
        centred = rows - mean
        directions, singular, _ = np.linalg.svd(centred.T, full_matrices=False)
        share = np.cumsum(singular**2) / (singular**2).sum()
        rank = min(int(np.searchsorted(share, 0.9)) + 1, 9, len(rows) - 1, 6)
        assert basis.shape == (12, rank)
        np.testing.assert_allclose(basis @ basis.T, directions[:, :rank] @ directions[:, :rank].T, atol=1e-8)


@pytest.mark.parametrize("shape", [(12, 30), (60, 30)], ids=["wide", "tall"])
def test_a_cluster_is_its_mean_and_the_directions_of_nine_tenths_of_its_energy(shape):
    rng = np.random.default_rng(0)
    members = rng.normal(size=shape) * np.linspace(4, 0.1, 30) + 5
    mean, basis = _affine_subspace(members)
    _, values, Vt = np.linalg.svd(members - members.mean(axis=0), full_matrices=False)
    share = np.cumsum(values**2) / np.sum(values**2)
    rank = min(int((share < 0.9).sum()) + 1, 9, len(members) - 1)
    assert basis.shape == (30, rank)
    np.testing.assert_allclose(mean, members.mean(axis=0))
    np.testing.assert_allclose(basis @ basis.T, Vt[:rank].T @ Vt[:rank], atol=1e-8)


def test_half_of_few_features_and_one_less_than_the_members_at_most():
    rng = np.random.default_rng(0)
    assert _affine_subspace(rng.normal(size=(50, 4)))[1].shape == (4, 2)
    assert _affine_subspace(rng.normal(size=(50, 100)))[1].shape == (100, 9)
    assert _affine_subspace(rng.normal(size=(3, 40)))[1].shape == (40, 2)


def test_distances_are_those_to_the_affine_subspaces():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20, 8)) + 3
    subspaces = [(rng.normal(size=8), np.linalg.qr(rng.normal(size=(8, rank)))[0]) for rank in (2, 1, 3)]
    found = squared_distances(rows, subspaces)
    for column, (mean, basis) in zip(found.T, subspaces, strict=True):
        apart = (rows - mean) - (rows - mean) @ basis @ basis.T
        np.testing.assert_allclose(column, (apart**2).sum(axis=1), atol=1e-10)


def test_samples_are_predicted_by_the_other_folds_alone():
    """Two places; in the first fold the labels are swapped, and each fold repeats what the other one says."""
    rng = np.random.default_rng(0)
    place = np.tile([0, 1], 20)
    samples = 9.0 * np.eye(6)[place] + 0.1 * rng.normal(size=(40, 6))
    fold = np.repeat([0, 1], 20)
    labels = np.where(fold == 0, 1 - place, place)
    np.testing.assert_array_equal(predicted_labels(samples, labels, 2, fold), 1 - labels)


@pytest.mark.parametrize("large", [0, 1])
def test_a_cluster_with_one_sample_in_the_other_folds_predicts_nothing(large):
    """Its only other sample is no subspace, though the two stand together."""
    rng = np.random.default_rng(0)
    samples = np.vstack([rng.normal(size=(20, 4)), [[50.0, 0, 0, 0], [50.0, 0, 0, 0]]])
    labels, fold = np.repeat([large, 1 - large], [20, 2]), np.arange(22) % 2
    np.testing.assert_array_equal(predicted_labels(samples, labels, 2, fold), np.full(22, large))
